"""Blocks that this process reads: of arrays, memory maps, files, or anything that gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from kernlens._execution import as_worker, effective_n_jobs, map_blocks, split_range
from kernlens.blocks.block import Block, make_block
from kernlens.blocks.folding import Folding
from kernlens.blocks.table import BlockTable, Chain

#: Reads one block.
Read = Callable[[], Block]


@dataclass(frozen=True)
class LocalTable(BlockTable):
    """Blocks that are read one after another, as many at a time as there are threads.

    Attributes
    ----------
    blocks : callable
        Begins anew, and gives what reads the blocks, one after another.
    n_jobs : int or None
        Threads.
    """

    blocks: Callable[[], Iterator[Read]] = iter  # type: ignore[assignment]
    n_jobs: int | None = 1

    def _results(self, function: Chain, args: tuple[Any, ...]) -> Iterator[Any]:
        n_threads = effective_n_jobs(self.n_jobs)

        def result(read: Read) -> Any:
            with as_worker():
                return function(read(), *args)

        waiting = self.blocks()
        while some := list(islice(waiting, n_threads)):
            yield from map_blocks(result, some, n_jobs=n_threads)

    def _map(self, function: Chain, args: tuple[Any, ...]) -> list[Any]:
        return list(self._results(function, args))

    def _fold(self, function: Chain, merge: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        folding: Folding[Any] = Folding(merge)
        for value in self._results(function, args):
            folding.push(value)
        return folding.result()


def of_arrays(X: Any, y: Any, weights: Any, block_rows: int, n_jobs: int | None) -> LocalTable:
    """Slices of arrays; those of memory maps are read when they are needed."""
    targets = y if isinstance(y, np.ndarray) else np.asarray(y)
    if len(X) == 0 or len(targets) != len(X) or (weights is not None and len(weights) != len(X)):
        raise ValueError(
            f"X has {len(X)} rows and y {len(targets)}; a table needs rows, each with its target "
            "and, if there are weights, its weight."
        )

    def read(number: int, rows: slice) -> Block:
        return make_block(X[rows], targets[rows], _part(weights, rows), number, X.shape[1])

    def blocks() -> Iterator[Read]:
        for number, rows in enumerate(split_range(len(X), block_rows)):
            yield partial(read, number, rows)

    return LocalTable(int(X.shape[1]), None, targets.ndim, blocks=blocks, n_jobs=n_jobs)


def of_parts(make: Callable[[], Any], n_jobs: int | None) -> LocalTable:
    """Tuples (X, y) or (X, y, sample_weight) of an iterable that `make` begins anew."""
    first = next(iter(make()), None)
    if first is None:
        raise ValueError("The iterable has no blocks; give tuples (X, y) or (X, y, sample_weight).")
    block = _block_of(0, first, None)
    names = getattr(first[0], "columns", None)

    def blocks() -> Iterator[Read]:
        for number, part in enumerate(make()):
            yield partial(_block_of, number, part, block.X.shape[1])

    given = None if names is None else tuple(str(name) for name in names)
    return LocalTable(block.X.shape[1], given, block.y.ndim, blocks=blocks, n_jobs=n_jobs)


def _block_of(number: int, part: Any, n_features: int | None) -> Block:
    if not isinstance(part, tuple) or len(part) not in (2, 3):
        raise ValueError(
            f"Block {number} is a {type(part).__name__}; give tuples (X, y) or "
            "(X, y, sample_weight)."
        )
    X, y, *weights = part
    return make_block(X, y, weights[0] if weights else None, number, n_features)


def _part(weights: Any, rows: slice) -> Any:
    return None if weights is None else weights[rows]
