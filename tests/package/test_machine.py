"""The memory of this process is the least that the machine and its control groups allow."""

from __future__ import annotations

import os

import pytest

from kernlens._machine import memory_limit
from kernlens._validation import check_memory

MIB = 2**20


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of 64 MiB: its ``limit`` is that of a process in some groups of some limits."""
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 * MIB // 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)

    def limit(membership, files):
        (tmp_path / "cgroup").write_text(membership)
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return memory_limit(tmp_path / "cgroup", tmp_path / "groups") / MIB

    return limit


V1 = "5:devices:/\n4:cpu,memory:/docker/abc\n"


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("", {}, 64),
        ("0::/a/b\n", {"a/b/memory.max": "max\n"}, 64),
        ("0::/a/b\n", {"a/b/memory.max": f"{16 * MIB}\n"}, 16),
        # More than is installed is no more than is installed.
        ("0::/a/b\n", {"a/b/memory.max": f"{128 * MIB}\n"}, 64),
        # Groups above hold too, up to the root.
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": f"{8 * MIB}"}, 8),
        ("0::/a/b\n", {"a/b/memory.max": f"{4 * MIB}", "a/memory.max": f"{8 * MIB}"}, 4),
        ("0::/\n", {"memory.max": f"{2 * MIB}"}, 2),
        ("0::/../hidden\n", {"memory.max": f"{2 * MIB}"}, 2),
        # Other groups and other controllers do not.
        ("0::/a\n", {"b/memory.max": f"{MIB}", "a/memory.high": f"{MIB}"}, 64),
        ("3:cpu:/a\n", {"a/memory.max": f"{MIB}", "memory/a/memory.limit_in_bytes": "1"}, 64),
        # Version 1, whose lack of a limit is a huge one.
        (V1, {"memory/docker/abc/memory.limit_in_bytes": f"{32 * MIB}\n"}, 32),
        (V1, {"memory/memory.limit_in_bytes": f"{32 * MIB}\n"}, 32),
        (V1, {"memory/docker/abc/memory.limit_in_bytes": f"{2**63 - 4096}\n"}, 64),
        # Both at once: the smaller.
        (
            V1 + "0::/a\n",
            {"memory/docker/memory.limit_in_bytes": f"{32 * MIB}", "a/memory.max": f"{16 * MIB}"},
            16,
        ),
        ("0::/a\n", {"a/memory.max": "no number"}, 64),
    ],
)
def test_the_smallest_limit_holds(machine, membership, files, expected):
    assert machine(membership, files) == expected


def test_a_system_that_does_not_say_has_no_limit(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert memory_limit(tmp_path / "none", tmp_path) == float("inf")
    monkeypatch.setattr("kernlens._validation.memory_limit", lambda: float("inf"))
    check_memory(1e30, "fit on fewer rows")


def test_this_machine_has_some_memory():
    assert memory_limit() > MIB


def test_the_sentence_names_need_limit_and_remedy(monkeypatch):
    monkeypatch.setattr("kernlens._validation.memory_limit", lambda: 2.0 * 2**30)
    check_memory(2.0 * 2**30, "fit on fewer rows")
    sentence = (
        r"^This fit needs about 3\.5 GiB and this process may use 2\.0 GiB; fit on fewer rows\.$"
    )
    with pytest.raises(MemoryError, match=sentence):
        check_memory(3.5 * 2**30, "fit on fewer rows")
