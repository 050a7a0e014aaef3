"""Row blocks as users make them, and what `fit` takes for blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from kernlens.blocks.checkpoints import checkpointed
from kernlens.blocks.dask_table import is_dask, of_dask
from kernlens.blocks.local import of_arrays, of_parts
from kernlens.blocks.parquet import of_parquet
from kernlens.blocks.table import BlockTable

#: Rows of a slice of an array.
BLOCK_ROWS = 2**16


class RowBlocks:
    """A table with targets, in blocks of rows, for a `fit` that never has all rows in memory.

    Pass it to `fit` as X, without y. Every pass over the rows reads the blocks again. Collections
    of Dask need none of this: ``fit(X, y)`` takes them as they are.

    Parameters
    ----------
    table : BlockTable
        Use the functions ``from_...`` to make one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import SIR, RowBlocks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20000, 5))
    >>> y = np.exp(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(20000)
    >>> SIR().fit(RowBlocks.from_arrays(X, y, block_rows=3000)).n_directions_
    1
    """

    def __init__(self, table: BlockTable) -> None:
        self.table = table

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        block_rows: int = BLOCK_ROWS,
        n_jobs: int | None = None,
    ) -> Self:
        """Slices of arrays, which may be memory maps.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : ndarray of shape (n_samples,) or None
        block_rows : int
            Rows of a block.
        n_jobs : int or None
            Threads, each with a block at a time.
        """
        return cls(of_arrays(X, y, sample_weight, int(block_rows), n_jobs))

    @classmethod
    def from_parquet(
        cls,
        files: str | Path | Sequence[str | Path],
        *,
        target: str | Sequence[str],
        sample_weight: str | None = None,
        columns: Sequence[str] | None = None,
        n_jobs: int | None = 1,
    ) -> Self:
        """Groups of rows of Parquet files.

        Parameters
        ----------
        files : path, pattern or sequence of them
            Files; a folder stands for the ``*.parquet`` in it.
        target : str or sequence of str
            Columns of the targets.
        sample_weight : str or None
            Column of the weights.
        columns : sequence of str or None
            Columns of X; None for all others.
        n_jobs : int or None
            Threads, each with a block at a time.
        """
        return cls(of_parquet(files, target, sample_weight, columns, n_jobs))

    @classmethod
    def from_iterable(
        cls, parts: Iterable[Any] | Callable[[], Iterable[Any]], *, n_jobs: int | None = 1
    ) -> Self:
        """Tuples ``(X, y)`` or ``(X, y, sample_weight)``.

        Parameters
        ----------
        parts : iterable or callable
            What can be begun anew: a list, or a function that returns an iterator.
        n_jobs : int or None
            Threads, each with a block at a time.
        """
        if isinstance(parts, Iterator):
            raise ValueError(
                "parts is an iterator, which ends after one pass, and a fit needs several; give a "
                "function that returns a new one."
            )
        return cls(of_parts(parts if callable(parts) else lambda: parts, n_jobs))


def is_blocks(X: Any) -> bool:
    """Whether X is a table in blocks: ours, or a collection of Dask."""
    return isinstance(X, RowBlocks) or is_dask(X)


def as_blocks(X: Any, y: Any = None, sample_weight: Any = None) -> BlockTable:
    """The table that `fit` was given."""
    if not isinstance(X, RowBlocks):
        if y is None:
            raise ValueError("fit needs y, a Dask collection with the partitions of X.")
        return checkpointed(of_dask(X, y, sample_weight))
    if y is not None or sample_weight is not None:
        raise ValueError(
            "These RowBlocks have their targets and weights already; call fit(X) without y and "
            "sample_weight."
        )
    return checkpointed(X.table)
