"""The number of directions of a fit, by what predicts rows that were held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._rows import CanonicalRows
from kernlens.base.learner import Learned, Learner
from kernlens.base.linear_part import Line
from kernlens.fits.direction_count import LearnedOnPart, count_directions

#: Directions are learned again, and scored, on at most this many rows.
MOST_ROWS = 2000
#: Fewer rows say nothing about the number of directions.
FEWEST_ROWS = 15
N_FOLDS = 3


def counted_directions(
    learner: Learner[Any],
    rows: CanonicalRows,
    strata: IntArray | None,
    learned: Learned,
    line: Line | None = None,
) -> int | None:
    """How many directions predict, or None if there are too few rows to say.

    Where all rows but fewer than there are folds have the same target, nothing can be shown to
    predict the others, and there are 0 directions.

    Directions are learned again on two thirds of the rows, three times, with the settings that
    were chosen on all of them.

    Parameters
    ----------
    learner : Learner
    rows : CanonicalRows
        In the order of a hash; targets are NaN where there is none.
    strata : ndarray of shape (n_rows,) or None
        Classes to be spread evenly over folds.
    learned : Learned
    line : Line or None
        What was taken off the targets before: directions are those of both parts together.
    """
    known = np.flatnonzero(~np.isnan(rows.y).any(axis=0))[:MOST_ROWS]
    if len(known) < FEWEST_ROWS:
        return None
    some = rows.in_order(known)
    whole = some if line is None else replace(some, y=some.y + line.values[:, known])
    if _rows_beside_the_most_frequent(whole.y) < N_FOLDS:
        return 0
    classes = None if strata is None else strata[known]
    parts = []
    for train, test in some.folds(N_FOLDS, classes):
        order = np.flatnonzero(train)
        of_part = None if classes is None else classes[train]
        found = learner.directions_on(some.in_order(order), of_part, learned)
        found = found if line is None else line.joined(found)
        parts.append(
            LearnedOnPart(
                whole.in_order(order), whole.take(test), found.components, found.importances
            )
        )
    return count_directions(parts).number if parts else None


def _rows_beside_the_most_frequent(y: FloatArray) -> int:
    """Rows that have other targets (n_targets, n_rows) than most of them."""
    counts = np.unique(y, axis=1, return_counts=True)[1]
    return int(counts.sum() - counts.max())
