"""What the machine, or the container around this process, leaves to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

#: Where Linux says which control groups this process is in, and where their limits are.
MEMBERSHIP = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def memory_limit(membership: Path = MEMBERSHIP, groups: Path = GROUPS) -> float:
    """Return how many bytes this process may use; infinity if the system does not say.

    The smallest of what is installed and of what the control groups of the process allow.

    Parameters
    ----------
    membership : Path
        File with a line ``number:controllers:group`` for every hierarchy of groups.
    groups : Path
        Folder of the hierarchies.
    """
    limits = [_number_in(file) for file in _limit_files(membership, groups)]
    return min([_installed(), *limits])


def _installed() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        # Not every system tells.
        return float("inf")


def _limit_files(membership: Path, groups: Path) -> Iterator[Path]:
    """Files that may hold a limit, of the groups of this process and of all around them.

    Version 2 has one hierarchy, whose line names no controllers; version 1 one for the memory.
    """
    for line in _text_of(membership).splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            yield from _upwards(groups, group, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _upwards(groups / "memory", group, "memory.limit_in_bytes")


def _upwards(root: Path, group: str, name: str) -> Iterator[Path]:
    """A file in the folder of a group and in every folder above it, up to the root.

    A limit holds for all groups below, and inside a container the group's own folder is often
    hidden and its limit found at the root.
    """
    parts = [part for part in group.split("/") if part not in ("", "..")]
    for depth in range(len(parts), -1, -1):
        yield root.joinpath(*parts[:depth], name)


def _number_in(file: Path) -> float:
    """Return the number in a file; infinity if it has none, as in ``max``, or cannot be read."""
    try:
        return float(int(_text_of(file)))
    except ValueError:
        return float("inf")


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
