"""Targets of blocks as numbers: each block by itself, with the classes of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
