"""Means of the target in the levels of categories, by scikit-learn's TargetEncoder."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import f as f_distribution
from sklearn.preprocessing import TargetEncoder
from sklearn.utils import check_random_state

from kernlens._array import FloatArray, IntArray
from kernlens._validation import check_magnitude

#: Level of the test whether a category of many levels says something of the target.
LEVEL = 0.05
#: Variance within levels that is no more than rounding, over that between them.
TINY = 1e-12
#: Different whole numbers that are taken for classes, at most.
MOST_CLASSES = 10


def encode_target(y: ArrayLike, task: str) -> tuple[FloatArray, list[str]]:
    """Targets (n_samples, n_targets) whose means are taken, and what tells their names apart.

    Two classes are one target, more have one each.
    """
    target = _checked(y)
    if target.ndim == 2 and target.shape[1] > 1 and target.dtype.kind in "biuf":
        return target.astype(np.float64), [f" {k}" for k in range(target.shape[1])]
    if target.ndim == 2 and target.shape[1] > 1:
        parts = [encode_target(column, task) for column in target.T]
        names = [f" {k}{name}" for k, (_, found) in enumerate(parts) for name in found]
        return np.hstack([columns for columns, _ in parts]), names
    target = target.reshape(len(target), -1)[:, 0]
    if task == "classification" or (task == "auto" and _are_classes(target)):
        classes, codes = np.unique(target.astype(str), return_inverse=True)
        if target.dtype.kind in "biuf":
            classes, codes = np.unique(target, return_inverse=True)
        if len(classes) <= 2:
            return codes[:, None].astype(np.float64), [""]
        return np.eye(len(classes))[codes], [f"={label}" for label in classes.tolist()]
    if target.dtype.kind in "OSU":
        other = next(value for value in target if not isinstance(value, Real))
        raise ValueError(
            f"y must be numbers with task='regression', got {str(other)!r}; give other targets, or "
            "task='classification'."
        )
    return target.astype(np.float64)[:, None], [""]


def _checked(y: ArrayLike) -> NDArray[Any]:
    """Targets as an array; numbers have a value in every row, and squares."""
    target = np.asarray(y)
    if target.ndim > 2:
        raise ValueError(f"y must have one or two dimensions, got {target.ndim}.")
    if target.dtype == object and all(isinstance(value, Real) for value in target.flat):
        # Numbers in a column of objects are no classes.
        target = target.astype(np.float64)
    if target.dtype.kind in "iuf":
        if np.isnan(target).any():
            raise ValueError("y has missing values; leave their rows out.")
        check_magnitude(target, "y")
    return target


def _are_classes(target: NDArray[Any]) -> bool:
    if target.dtype.kind not in "iuf":
        return True
    values = np.unique(target)
    return len(values) <= MOST_CLASSES and bool((values == np.round(values)).all())


def balanced_folds(T: FloatArray, codes: IntArray, n_folds: int, random_state: Any) -> IntArray:
    """Fold of every row, such that all folds have much the same targets.

    Rows in the order of their targets and levels are dealt out, one to each fold in turn, in an
    order that is drawn for every turn. Nothing depends on the order of the rows themselves.
    """
    n_rows = len(T)
    order = np.lexsort((*codes.T, *T.T))
    n_turns = -(-n_rows // n_folds)
    drawn = check_random_state(random_state).random_sample((n_turns, n_folds))
    folds = np.empty(n_rows, dtype=np.int64)
    folds[order] = np.argsort(drawn, axis=1).ravel()[:n_rows]
    return folds


def differ(codes: IntArray, T: FloatArray) -> bool:
    """Whether the means of some target differ between the levels of a column more than by chance.

    One-way analysis of variance, at `LEVEL` shared between the targets.
    """
    tests = [_variances(codes, target) for target in T.T]
    return any(
        between > 0.0 and f_distribution.sf(between / max(within, TINY * between), k, rest) < limit
        for between, within, k, rest, _ in tests
        for limit in [LEVEL / len(tests)]
        if k > 0 and rest > 0
    )


def _variances(codes: IntArray, target: FloatArray) -> tuple[float, float, int, int, float]:
    """Mean squares between and within levels, their degrees of freedom, and rows per level.

    Rows per level are those of the expectation ``E(between) = within + rows * variance of means``.
    """
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    n_rows, k = len(target), len(counts) - 1
    rest = n_rows - k - 1
    deviations = target - target.mean()
    means = np.bincount(place, deviations) / counts
    between = float(counts @ means**2) / max(k, 1)
    within = float(np.sum((deviations - means[place]) ** 2)) / max(rest, 1)
    rows = (n_rows - float(counts @ counts) / n_rows) / max(k, 1)
    return between, within, k, rest, rows


def shrinkage(codes: IntArray, target: FloatArray) -> float:
    """Rows that the overall mean counts as in the mean of a level.

    That of the best linear prediction of a random effect: the variance within levels over that of
    the means, both by the method of moments; all rows if the means vary no more than by chance.
    """
    between, within, k, rest, rows = _variances(codes, target)
    if k == 0 or rest <= 0 or between <= within or rows <= 0.0:
        return float(len(target))
    return min(within * rows / (between - within), float(len(target)))


def fit_encoders(codes: IntArray, T: FloatArray) -> list[TargetEncoder]:
    """One encoder for every column and target: the targets of the first column come first."""
    return [
        TargetEncoder(target_type="continuous", smooth=shrinkage(column, target)).fit(
            column[:, None], target
        )
        for column in codes.T
        for target in T.T
    ]


def encode(encoders: list[TargetEncoder], codes: IntArray) -> FloatArray:
    """Means (n_samples, n_columns * n_targets): the targets of the first column come first."""
    columns = np.repeat(codes, len(encoders) // codes.shape[1], axis=1).T[:, :, None]
    pairs = zip(encoders, columns, strict=True)
    return np.hstack([encoder.transform(column) for encoder, column in pairs])


def cross_encode(codes: IntArray, T: FloatArray, n_folds: int, random_state: Any) -> FloatArray:
    """Means of the other folds, for the rows of a fit.

    They are moved by the difference of the overall means: a level that the other folds do not have
    gets the same number in every fold, for that number would tell the fold, and so of its targets.
    """
    folds = balanced_folds(T, codes, min(n_folds, len(T)), random_state)
    overall = np.tile(T.mean(axis=0), codes.shape[1])
    means = np.tile(overall, (len(T), 1))
    for fold in np.unique(folds):
        rest = folds != fold
        if rest.any():
            shift = overall - np.tile(T[rest].mean(axis=0), codes.shape[1])
            means[~rest] = encode(fit_encoders(codes[rest], T[rest]), codes[~rest]) + shift
    return means
