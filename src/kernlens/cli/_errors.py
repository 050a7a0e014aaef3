"""What a subcommand raises when it cannot do what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class CommandError(Exception):
    """One sentence for the user; the program prints it and exits with 1."""


@contextmanager
def explained(before: str = "") -> Iterator[None]:
    """Turn the sentences that the library raises into those of the program."""
    try:
        yield
    except (ValueError, ImportError, MemoryError, NotImplementedError) as error:
        sentence = " ".join(str(error).split()) or "the memory of the machine is too small."
        raise CommandError(before + sentence) from error


def near(name: str, names: list[str]) -> str:
    """The end of a sentence about a name that is none: those that are like it, or some of all."""
    small = {one.lower(): one for one in reversed(names)}
    found = [small[match] for match in get_close_matches(name.lower(), list(small), n=3)]
    if found:
        return f"; names like it are {', '.join(map(repr, found))}"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"; there are {', '.join(map(repr, names[:8]))}{more}" if names else ""
