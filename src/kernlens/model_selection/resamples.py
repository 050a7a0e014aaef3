"""Resamples of rows as counts: how often every row is in each of them."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray, IntArray


def bootstrap_counts(
    n_rows: int, n_resamples: int, rng: np.random.RandomState, strata: IntArray | None = None
) -> FloatArray:
    """Rows drawn with replacement, as many as there are, within every stratum, (n_resamples, n).

    Parameters
    ----------
    n_rows : int
    n_resamples : int
    rng : numpy.random.RandomState
    strata : ndarray of shape (n_rows,) or None
        Numbers of classes; every resample has as many rows of each as there are.
    """
    counts = np.zeros((n_resamples, n_rows))
    groups = np.zeros(n_rows, dtype=np.intp) if strata is None else strata
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        shares = np.full(len(rows), 1.0 / len(rows))
        counts[:, rows] = rng.multinomial(len(rows), shares, size=n_resamples)
    return counts


def fold_counts(
    n_rows: int, n_folds: int, rng: np.random.RandomState, strata: IntArray | None = None
) -> FloatArray:
    """All rows but those of one fold, for every fold, (n_folds, n_rows).

    Rows of every stratum are spread evenly over the folds.
    """
    order = rng.permutation(n_rows)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(n_rows, dtype=np.intp)
    fold[order] = np.arange(n_rows) % n_folds
    kept: FloatArray = (fold != np.arange(n_folds)[:, None]).astype(np.float64)
    return kept
