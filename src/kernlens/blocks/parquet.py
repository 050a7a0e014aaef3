"""Parquet files as blocks: their groups of rows, read when they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from kernlens.blocks.block import Block, make_block
from kernlens.blocks.local import LocalTable, Read


def of_parquet(
    files: str | Path | Sequence[str | Path],
    target: str | Sequence[str],
    weight: str | None,
    columns: Sequence[str] | None,
    n_jobs: int | None,
) -> LocalTable:
    """Groups of rows of files, in the order of their names."""
    fragments, names = _fragments(files)
    targets = [target] if isinstance(target, str) else list(target)
    others = [*targets, *([] if weight is None else [weight])]
    inputs = [name for name in names if name not in others] if columns is None else list(columns)
    missing = [name for name in (*inputs, *others) if name not in names]
    if missing:
        raise ValueError(f"The files have no column {missing[0]!r}; they have {names[:10]}.")

    def read(number: int, fragment: Any) -> Block:
        table = fragment.to_table(columns=[*inputs, *others])
        X = np.column_stack([_column(table, name, number) for name in inputs])
        y = [table.column(name).to_numpy() for name in targets]
        weights = None if weight is None else _column(table, weight, number)
        of_block = y[0] if isinstance(target, str) else np.column_stack(y)
        return make_block(X, of_block, weights, number, len(inputs))

    def blocks() -> Iterator[Read]:
        for number, fragment in enumerate(fragments):
            yield partial(read, number, fragment)

    ndim = 1 if isinstance(target, str) else 2
    return LocalTable(len(inputs), tuple(inputs), ndim, blocks=blocks, n_jobs=n_jobs)


def _fragments(files: str | Path | Sequence[str | Path]) -> tuple[list[Any], list[str]]:
    """Groups of rows of all files, and the names of their columns."""
    try:
        import pyarrow.dataset
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow to be read: python -m pip install "kernlens[parquet]".'
        ) from error
    given = [files] if isinstance(files, str | Path) else list(files)
    found = [path for one in given for path in paths_of(str(one))]
    if not found:
        raise ValueError(f"There is no file {given[0] if given else ''!s}.")
    dataset = pyarrow.dataset.dataset(found, format="parquet")
    groups = [group for file in dataset.get_fragments() for group in file.split_by_row_group()]
    return groups, list(dataset.schema.names)


def paths_of(pattern: str) -> list[str]:
    """Files that a path, a folder or a pattern means, by name."""
    if Path(pattern).is_dir():
        pattern = str(Path(pattern) / "*.parquet")
    return sorted(glob(pattern))


def _column(table: Any, name: str, number: int) -> Any:
    try:
        return table.column(name).to_numpy().astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"Column {name!r} has text or dates in block {number}; name the columns of numbers "
            "in `columns`."
        ) from None
