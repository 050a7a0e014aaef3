"""Resamples of rows as counts: how often every row is in each of them."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray, IntArray

#: Folds of one partition at most.
MOST_FOLDS = 10


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


def partition_sizes(n_resamples: int) -> list[int]:
    """Numbers of folds of the partitions that give so many resamples, nearly equal.

    Parts of a tenth of the rows, and several partitions, rather than many small parts: without a
    few rows a learner that cuts targets into slices, or chooses a setting, may change as much by
    what happens to the rows that stay as by those that were left out.
    """
    n_partitions = -(-n_resamples // MOST_FOLDS)
    return [len(part) for part in np.array_split(np.arange(n_resamples), n_partitions)]


def fold_counts(
    n_rows: int, n_resamples: int, rng: np.random.RandomState, strata: IntArray | None = None
) -> FloatArray:
    """All rows but those of one fold, for every fold of every partition, (n_resamples, n_rows).

    Rows of every stratum are spread evenly over the folds.
    """
    parts = [_one_partition(n_rows, size, rng, strata) for size in partition_sizes(n_resamples)]
    return np.concatenate(parts)


def _one_partition(
    n_rows: int, n_folds: int, rng: np.random.RandomState, strata: IntArray | None
) -> FloatArray:
    order = rng.permutation(n_rows)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(n_rows, dtype=np.intp)
    fold[order] = np.arange(n_rows) % n_folds
    kept: FloatArray = (fold != np.arange(n_folds)[:, None]).astype(np.float64)
    return kept
