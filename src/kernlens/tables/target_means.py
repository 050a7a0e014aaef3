"""Means of the target in the levels of categories, by scikit-learn's TargetEncoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import TargetEncoder
from sklearn.utils import check_random_state

from kernlens._array import FloatArray, IntArray

#: Different whole numbers that are taken for classes, at most.
MOST_CLASSES = 10


def encode_target(y: ArrayLike, task: str) -> tuple[FloatArray, list[str]]:
    """Targets (n_samples, n_targets) whose means are taken, and what tells their names apart.

    Two classes are one target, more have one each.
    """
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] > 1 and target.dtype.kind in "biuf":
        return target.astype(np.float64), [f" {k}" for k in range(target.shape[1])]
    target = target.reshape(len(target), -1)[:, 0]
    if task == "classification" or (task == "auto" and _are_classes(target)):
        classes, codes = np.unique(target.astype(str), return_inverse=True)
        if target.dtype.kind in "biuf":
            classes, codes = np.unique(target, return_inverse=True)
        if len(classes) <= 2:
            return codes[:, None].astype(np.float64), [""]
        return np.eye(len(classes))[codes], [f"={label}" for label in classes.tolist()]
    return target.astype(np.float64)[:, None], [""]


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


def fit_encoders(codes: IntArray, T: FloatArray) -> list[TargetEncoder]:
    """One encoder of all columns for every target."""
    return [TargetEncoder(target_type="continuous").fit(codes, target) for target in T.T]


def encode(encoders: list[TargetEncoder], codes: IntArray) -> FloatArray:
    """Means (n_samples, n_columns * n_targets): the targets of the first column come first."""
    means = np.stack([encoder.transform(codes) for encoder in encoders], axis=2)
    found: FloatArray = means.reshape(len(codes), -1)
    return found


def cross_encode(codes: IntArray, T: FloatArray, n_folds: int, random_state: Any) -> FloatArray:
    """Means of the other folds, for the rows of a fit."""
    folds = balanced_folds(T, codes, min(n_folds, len(T)), random_state)
    means = np.empty((len(T), codes.shape[1] * T.shape[1]))
    for fold in np.unique(folds):
        rest = folds != fold
        if not rest.any():
            means[~rest] = np.repeat(T.mean(axis=0)[None], codes.shape[1], axis=0).ravel()
            continue
        means[~rest] = encode(fit_encoders(codes[rest], T[rest]), codes[~rest])
    return means
