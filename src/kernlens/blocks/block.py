"""Some rows of a table, checked where they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import BoolArray, FloatArray
from kernlens._rows import has_target
from kernlens._sized import Sized
from kernlens._validation import LARGEST_VALUE


@dataclass(frozen=True)
class Block(Sized):
    """Some rows of a table.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray
        As it was given, (n_rows,) or (n_rows, n_targets); as numbers of a fit, (n_targets, n_rows).
    weights : ndarray of shape (n_rows,)
    number : int
        Place of the block in the table, from 0 on.
    """

    X: FloatArray
    y: NDArray[Any]
    weights: FloatArray
    number: int

    def __len__(self) -> int:
        return len(self.X)


def make_block(X: Any, y: Any, weights: Any, number: int, n_features: int | None = None) -> Block:
    """A block of what a user, a file or a worker has; its shape and its numbers are checked.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,) or (n_rows, n_targets)
    weights : array-like of shape (n_rows,) or None
        None for ones.
    number : int
    n_features : int or None
        What the blocks before have; None where that is not known yet.
    """
    rows, targets = _numbers(X, number), np.asarray(y)
    if rows.ndim != 2 or (n_features is not None and rows.shape[1] != n_features):
        wanted = "two axes" if n_features is None else f"shape (rows, {n_features})"
        raise ValueError(f"X of block {number} has shape {rows.shape}; every block needs {wanted}.")
    given = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    for name, values in (("y", targets), ("sample_weight", given)):
        if values.shape[:1] != rows.shape[:1]:
            raise ValueError(
                f"Block {number} has {len(rows)} rows of X and {len(np.atleast_1d(values))} of "
                f"{name}; partition both alike."
            )
    return Block(rows, targets, given, number)


def some_rows(block: Block, rows: BoolArray) -> Block:
    """The block with the rows of a mask (n_rows,); targets are numbers of a fit."""
    if rows.all():
        return block
    return replace(block, X=block.X[rows], y=block.y[:, rows], weights=block.weights[rows])


def present_rows(block: Block) -> Block:
    """The block without rows of weight zero; targets are numbers of a fit."""
    return some_rows(block, block.weights > 0.0)


def labeled_rows(block: Block) -> Block:
    """The block without rows that have no target; targets are numbers of a fit."""
    return some_rows(block, has_target(block.y))


def check_block(block: Block, gaps: bool = False) -> None:
    """Refuse values that no fit can use, and say in which block they are.

    With `gaps`, rows of targets (n_targets, n_rows) may be without any, which is NaN.
    """
    place = f"block {block.number}"
    rows = np.flatnonzero(~np.isfinite(block.X).all(axis=1))
    if len(rows):
        column = int(np.argmin(np.isfinite(block.X[rows[0]])))
        raise ValueError(
            f"X has NaN or infinity in {place}, row {rows[0]}, column {column}; leave such rows "
            "out, or fill them in."
        )
    _check_size(block.X, "X", place)
    if gaps:
        missing = np.isnan(block.y)
        if np.isinf(block.y).any() or (missing.any(axis=0) & ~missing.all(axis=0)).any():
            raise ValueError(
                f"y has infinity, or NaN in some targets of a row only, in {place}; give all "
                "targets of a row or none."
            )
    elif block.y.dtype.kind == "f" and not np.isfinite(block.y).all():
        raise ValueError(f"y has NaN or infinity in {place}; leave these rows out.")
    weights = block.weights
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError(f"sample_weight is negative or no finite number in {place}.")
    _check_size(weights, "sample_weight", place)


def _check_size(values: FloatArray, name: str, place: str) -> None:
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"{name} has values as large as {largest:.3g} in {place}, whose squares overflow; "
            f"divide {name} by a constant."
        )


def _numbers(X: Any, number: int) -> FloatArray:
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"X has text or dates in block {number}; turn every column into numbers, for instance "
            "by the TablePreprocessor of a part of the rows."
        ) from None
