"""The number of directions of a fit, by what predicts rows that were held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._array import IntArray
from kernlens._rows import CanonicalRows
from kernlens.base.learner import Learned, Learner
from kernlens.fits.direction_count import LearnedOnPart, count_directions

#: Directions are learned again, and scored, on at most this many rows.
MOST_ROWS = 2000
#: Fewer rows say nothing about the number of directions.
FEWEST_ROWS = 15
N_FOLDS = 3


def counted_directions(
    learner: Learner[Any], rows: CanonicalRows, strata: IntArray | None, learned: Learned
) -> int | None:
    """How many directions predict, or None if there are too few rows to say.

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
    """
    known = np.flatnonzero(~np.isnan(rows.y).any(axis=0))[:MOST_ROWS]
    if len(known) < FEWEST_ROWS:
        return None
    some = rows.in_order(known)
    classes = None if strata is None else strata[known]
    parts = []
    for train, test in some.folds(N_FOLDS, classes):
        part = some.in_order(np.flatnonzero(train))
        of_part = None if classes is None else classes[train]
        found = learner.directions_on(part, of_part, learned)
        parts.append(LearnedOnPart(part, some.take(test), found.components, found.importances))
    return count_directions(parts).number if parts else None
