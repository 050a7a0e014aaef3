"""Results of blocks put together, in one order whatever computes them.

Results are joined in groups of eight by the numbers of their blocks, then the groups in groups of
eight, and so on. A sum has the same rounding in one process and on any number of workers, few
results exist at a time, and workers join what lies with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Generic, TypeVar

from kernlens._array import FloatArray

Value = TypeVar("Value")

#: Results that are joined at a time.
GROUP = 8


def join(merge: Callable[[Value, Value], Value], parts: Sequence[Value]) -> Value:
    """Merge results from the first to the last."""
    return reduce(merge, parts)


def add(one: tuple[FloatArray, ...], other: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    """The sums of two tuples of arrays, part by part; neither is changed."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def merge_present(
    merge: Callable[[Value, Value], Value], one: Value | None, other: Value | None
) -> Value | None:
    """Merge two results, either of which may be missing."""
    if one is None or other is None:
        return other if one is None else one
    return merge(one, other)


class Folding(Generic[Value]):
    """Joins results as they come, in the order of the blocks."""

    def __init__(self, merge: Callable[[Value, Value], Value]) -> None:
        self._merge = merge
        #: Results of every level that wait for others.
        self._levels: list[list[Value]] = []

    def push(self, value: Value, level: int = 0) -> None:
        """Take the next result."""
        if level == len(self._levels):
            self._levels.append([])
        waiting = self._levels[level]
        waiting.append(value)
        if len(waiting) == GROUP:
            self._levels[level] = []
            self.push(join(self._merge, waiting), level + 1)

    def result(self) -> Value:
        """Everything joined; the last group of every level has fewer members."""
        rest: list[Value] = []
        for waiting in self._levels:
            whole = [*waiting, *rest]
            rest = [join(self._merge, whole)] if whole else []
        return rest[0]


def fold_with(joined: Callable[[list[Any]], Any], parts: list[Any]) -> Any:
    """The same for results that are somewhere else, which `joined` joins there."""
    while len(parts) > 1:
        parts = [joined(parts[lo : lo + GROUP]) for lo in range(0, len(parts), GROUP)]
    return parts[0]
