"""A table as blocks of rows: what can be asked of it, wherever the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeVar

from kernlens._array import FloatArray
from kernlens.blocks.block import Block, present_rows
from kernlens.blocks.folding import add, merge_present

Value = TypeVar("Value")


@dataclass(frozen=True)
class Chain:
    """A function of a block, after steps that turn it into other blocks."""

    steps: tuple[Callable[[Block], Block], ...]
    function: Callable[..., Any]

    def __call__(self, block: Block, *args: Any) -> Any:
        for step in self.steps:
            block = step(block)
        return self.function(block, *args)


@dataclass(frozen=True)
class OfPresent:
    """A function of blocks with rows, where others have no result."""

    function: Callable[..., Any]

    def __call__(self, block: Block, *args: Any) -> Any:
        return self.function(block, *args) if len(block) else None


@dataclass(frozen=True)
class BlockTable(ABC):
    """Blocks of rows, and functions of them that run where the rows are.

    A function is a plain one, which can be sent to another process, and returns something small.
    It is called with one block, which it must not change, and with `args`, which are sent once.

    Attributes
    ----------
    n_features : int
    names : tuple of str or None
        Of the columns.
    target_ndim : int
        1 for one target per row, 2 for a table of targets.
    steps : tuple of callable
        What every block goes through first.
    """

    n_features: int
    names: tuple[str, ...] | None
    target_ndim: int
    steps: tuple[Callable[[Block], Block], ...] = ()

    def through(self, step: Callable[[Block], Block]) -> Self:
        """The same table with blocks turned into others; nothing is computed now."""
        return replace(self, steps=(*self.steps, step))

    def map(self, function: Callable[..., Value], *args: Any) -> list[Value]:
        """What a function returns for every block, in their order."""
        return self._map(Chain(self.steps, function), args)

    def fold(
        self,
        function: Callable[..., Value],
        merge: Callable[[Value, Value], Value],
        *args: Any,
    ) -> Value:
        """What a function returns for every block, merged in an order that the blocks say alone."""
        return self._fold(Chain(self.steps, function), merge, args)

    def fold_present(
        self,
        function: Callable[..., Value],
        merge: Callable[[Value, Value], Value],
        *args: Any,
    ) -> Value | None:
        """The same of rows of positive weight, which are all that it sees; None without any."""
        present = self.through(present_rows)
        return present.fold(OfPresent(function), partial(merge_present, merge), *args)

    def sum(
        self, function: Callable[..., tuple[FloatArray, ...]], *args: Any
    ) -> tuple[FloatArray, ...]:
        """The sums over all blocks of the arrays that a function returns."""
        return self.fold(function, add, *args)

    @abstractmethod
    def _map(self, function: Chain, args: tuple[Any, ...]) -> list[Any]: ...

    @abstractmethod
    def _fold(self, function: Chain, merge: Callable[..., Any], args: tuple[Any, ...]) -> Any: ...
