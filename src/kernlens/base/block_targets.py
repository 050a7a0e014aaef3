"""Targets of blocks as numbers: each block by itself, with the classes of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._validation import check_classes
from kernlens.base.arrays import regression_targets
from kernlens.blocks.block import Block
from kernlens.blocks.table import BlockTable

#: More labels are no classes.
MOST_CLASSES = 10_000


def numeric_targets(block: Block) -> Block:
    """The block with its targets as numbers, (n_targets, n_rows)."""
    try:
        return replace(block, y=regression_targets(block.y))
    except ValueError as error:
        raise ValueError(f"{error} (block {block.number})") from None


@dataclass(frozen=True)
class NumberedLabels:
    """The block with numbers of classes in place of labels, (n_targets, n_rows).

    Attributes
    ----------
    classes : tuple of ndarray
        Sorted labels of every target.
    """

    classes: tuple[NDArray[Any], ...]

    def __call__(self, block: Block) -> Block:
        columns = block.y.reshape(len(block.y), -1).T
        numbers = [np.searchsorted(c, y) for c, y in zip(self.classes, columns, strict=True)]
        return replace(block, y=np.array(numbers, dtype=np.float64))


@dataclass(frozen=True)
class LabelTotals:
    """The labels of a table with one target, and the sums of the weights of their rows.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        Sorted.
    totals : ndarray of shape (n_classes,)
        Positive.
    """

    labels: NDArray[Any]
    totals: FloatArray

    @classmethod
    def of(cls, table: BlockTable, estimator: str) -> LabelTotals:
        """Of all rows of positive weight; two passes."""
        found = labels_of(table, estimator)
        if len(found) != 1:
            raise ValueError(f"y has {len(found)} targets; {estimator} takes one column of labels.")
        (totals,) = table.through(NumberedLabels(found)).sum(_totals, len(found[0]))
        return cls(found[0], totals)


def _totals(block: Block, n_classes: int) -> tuple[FloatArray]:
    present = block.weights > 0.0
    numbers = block.y[0, present].astype(np.intp)
    totals: FloatArray = np.bincount(numbers, block.weights[present], n_classes).astype(np.float64)
    return (totals,)


@dataclass(frozen=True)
class LabelTargets:
    """From blocks with labels to blocks with targets and weights that follow from them.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        Sorted.
    targets : ndarray of shape (n_targets, n_classes)
        Of a row of every class.
    factors : ndarray of shape (n_classes,)
        What the weights of rows are multiplied by.
    """

    labels: NDArray[Any]
    targets: FloatArray
    factors: FloatArray

    def __call__(self, block: Block) -> Block:
        block = NumberedLabels((self.labels,))(block)
        # A label that only rows of weight zero have may have a number beyond the last one.
        numbers = np.minimum(block.y[0].astype(np.intp), len(self.labels) - 1)
        weights = block.weights * self.factors[numbers]
        return replace(block, y=self.targets[:, numbers], weights=weights)


def labels_of(table: BlockTable, estimator: str) -> tuple[NDArray[Any], ...]:
    """Sorted labels of every target, over rows of positive weight; at least two of each."""
    found = table.fold(_distinct, _union)
    for classes in found:
        if len(classes) > MOST_CLASSES:
            raise ValueError(
                f"y has more than {MOST_CLASSES} labels; {estimator} is for classes, and a "
                "regressor for numbers."
            )
        check_classes(classes, estimator)
    return found


def _distinct(block: Block) -> tuple[NDArray[Any], ...]:
    present = block.y[block.weights > 0.0]
    columns = present.reshape(len(present), -1).T
    if any(label is None for label in columns.ravel() if block.y.dtype.kind == "O"):
        raise ValueError(f"y has missing labels (None) in block {block.number}; leave them out.")
    try:
        return tuple(np.unique(column)[: MOST_CLASSES + 1] for column in columns)
    except TypeError:
        raise ValueError(
            f"y mixes labels of several types in block {block.number}; give all of one type."
        ) from None


def _union(
    one: tuple[NDArray[Any], ...], other: tuple[NDArray[Any], ...]
) -> tuple[NDArray[Any], ...]:
    joined = (np.union1d(a, b) for a, b in zip(one, other, strict=True))
    return tuple(labels[: MOST_CLASSES + 1] for labels in joined)
