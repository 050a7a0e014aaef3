"""From what the user passes to an automatic estimator to checked targets, weights and rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_y, _num_samples

from kernlens._array import FloatArray, IntArray
from kernlens._rows import relative_weights
from kernlens._validation import check_weights, plain_complaints
from kernlens.base.arrays import regression_targets
from kernlens.model_selection.auto.splits import Rows
from kernlens.tables.reading import take_rows

#: Folds need some rows on both sides.
FEWEST_ROWS = 4


def checked_numbers(y: Any) -> FloatArray:
    """One target, as numbers."""
    _check_rows_of(y)
    with np.errstate(over="ignore", invalid="ignore"), plain_complaints("y"):
        checked = _check_y(y, multi_output=False, y_numeric=True)
    return regression_targets(column_or_1d(checked, warn=True))[0]


def checked_labels(y: Any) -> NDArray[Any]:
    """Labels, one per row."""
    _check_rows_of(y)
    flat = column_or_1d(y, warn=True)
    labels: NDArray[Any] = _check_y(flat, multi_output=False)
    return labels


def _check_rows_of(y: Any) -> None:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    _check_number(_num_samples(y))


def _check_number(n_rows: int) -> None:
    if n_rows < FEWEST_ROWS:
        raise ValueError(
            f"Found array with {n_rows} sample(s) while a minimum of {FEWEST_ROWS} is "
            "required: rows are left out to compare candidates."
        )


def check_parts(splits: Rows | None, labels: NDArray[Any]) -> None:
    """Refuse rows to learn from, chosen by the user, that have one class only."""
    for train, _ in splits or ():
        if len(set(labels[train].tolist())) < 2:
            raise ValueError(
                "cv gives rows to learn from that have one class only, "
                f"{labels[train[:1]].tolist()[0]!r}; give parts with two classes at least."
            )


def checked_rows(
    X: Any, y: NDArray[Any], sample_weight: Any, groups: Any, splits: Rows | None
) -> tuple[Any, NDArray[Any], FloatArray | None, Any, Rows | None]:
    """Rows of positive weight.

    Parameters
    ----------
    X, y, sample_weight, groups
        As given to `fit`.
    splits : list of (train, test) or None
        Places of rows, if the user has chosen them.

    Returns
    -------
    X : table
        As given, or as an array if it is a list or the like.
    y : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,) or None
        Over the largest one.
    groups : ndarray of shape (n_rows,) or None
    splits : list of (train, test) or None
    """
    if not hasattr(X, "shape"):
        X = check_array(X, dtype=None, ensure_all_finite=False)
    if groups is not None:
        groups = column_or_1d(groups)
        check_consistent_length(y, groups)
    check_consistent_length(X, y)
    _check_number(_num_samples(X))
    if sample_weight is None:
        return X, y, None, groups, splits
    weights = relative_weights(check_weights(sample_weight, np.empty((len(y), 1))))[0]
    kept = np.flatnonzero(weights > 0.0)
    if len(kept) < FEWEST_ROWS:
        raise ValueError(
            f"sample_weight is positive for {len(kept)} rows; at least {FEWEST_ROWS} are needed."
        )
    if len(kept) < len(y):
        X, y, weights = take_rows(X, kept), y[kept], weights[kept]
        groups = None if groups is None else groups[kept]
        if splits is not None:
            splits = [(_among(kept, train), _among(kept, test)) for train, test in splits]
            splits = [(train, test) for train, test in splits if len(train) and len(test)]
            if not splits:
                raise ValueError("Rows of positive weight are on both sides of no pair of cv.")
    return X, y, weights, groups, splits


def _among(kept: IntArray, rows: IntArray) -> IntArray:
    """Places of rows among those that are kept; the others are left out."""
    there = rows[np.isin(rows, kept)]
    return np.searchsorted(kept, there)
