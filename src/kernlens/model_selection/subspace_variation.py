"""How much subspaces vary between resamples: alignment, average projection, ladle, intervals.

All functions take directions as orthonormal rows of one and the same space.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from kernlens._array import FloatArray

#: What is left of a row of length 1 without the rows before it, below which it is one of them.
SAME = 1e-8


def orthonormal_rows(directions: FloatArray) -> FloatArray:
    """Orthonormal rows with the same leading spans, each with a positive share of its row, (r, d).

    Rows that depend on those before them are left out.
    """
    basis = np.empty((0, directions.shape[1]))
    for row in directions:
        rest = row - (row @ basis.T) @ basis
        # Once more, because the first difference is as exact as the row is long.
        rest = rest - (rest @ basis.T) @ basis
        length = float(np.linalg.norm(rest))
        if length > SAME * float(np.linalg.norm(row)):
            basis = np.vstack([basis, rest / length])
    return basis


def aligned_with(reference: FloatArray, directions: FloatArray) -> FloatArray:
    """The basis of a subspace that is nearest to a reference, (k, d).

    The orthogonal Procrustes problem ``min_Q |Q directions - reference|_F`` over orthogonal Q,
    solved by the singular vectors of ``reference directions^T`` (Schönemann, 1966). What a fit
    finds is a subspace: its basis may turn from one resample to the next, and only what is left
    after turning back is uncertain. With fewer directions than the reference some rows are shorter
    than 1.

    Parameters
    ----------
    reference : ndarray of shape (k, d)
        Orthonormal rows.
    directions : ndarray of shape (r, d)
        Orthonormal rows.
    """
    left, _, right = np.linalg.svd(reference @ directions.T, full_matrices=False)
    turned: FloatArray = left @ right @ directions
    return turned


def angles_to(reference: FloatArray, directions: FloatArray) -> FloatArray:
    """Angle between every direction of the reference (k, d) and a subspace, in radians, (k,)."""
    inside = reference @ directions.T @ directions
    across = np.linalg.norm(reference - inside, axis=1)
    return np.arctan2(across, np.linalg.norm(inside, axis=1))


def average_projection(samples: list[FloatArray]) -> FloatArray:
    """Mean of the orthogonal projections on subspaces, (d, d).

    Its eigenvalues lie between 0 and 1: 1 for what every subspace contains.
    """
    mean: FloatArray = np.mean([rows.T @ rows for rows in samples], axis=0)
    return mean


def ladle(
    importances: FloatArray, reference: FloatArray, samples: list[FloatArray], most: int
) -> FloatArray:
    r"""The ladle criterion of 0, 1, ..., `most` directions; the smallest value is chosen.

    .. math::

        g(k) = \frac{f(k)}{1 + \sum_{i \le m} f(i)} + \frac{\lambda_{k+1}}{1 + \sum_{i \le m}
        \lambda_{i+1}}, \qquad f(k) = \mathrm{mean}_b \bigl(1 - |\det(B_k B_{b,k}^\top)|\bigr),

    where B_k has the first k directions of all rows, B_{b,k} those of a resample, m is `most` and
    the eigenvalues :math:`\lambda` are divided by the largest (Luo and Li, 2016, Biometrika 103,
    section 3). Beyond the true number eigenvalues are small, and directions vary from one resample
    to the next.

    Parameters
    ----------
    importances : ndarray of shape (r,)
        Non-negative, decreasing.
    reference : ndarray of shape (r, d)
        Orthonormal rows.
    samples : list of ndarray of shape (r_b, d)
        Orthonormal rows; missing ones count as orthogonal to the reference.
    most : int
        Largest number that is compared.

    Returns
    -------
    ndarray of shape (most + 1,)
    """
    largest = float(importances.max(initial=0.0))
    relative = importances / largest if largest > 0.0 else importances
    values = np.zeros(most + 1)
    n_known = min(len(relative), most + 1)
    values[:n_known] = relative[:n_known]
    variation = np.zeros(most + 1)
    for k in range(1, most + 1):
        variation[k] = np.mean([1.0 - _overlap(reference, rows, k) for rows in samples])
    criterion: FloatArray = variation / (1.0 + variation.sum()) + values / (1.0 + values.sum())
    return criterion


def _overlap(reference: FloatArray, rows: FloatArray, k: int) -> float:
    """``|det(B_k B_{b,k}^T)|``: the product of the cosines of the principal angles."""
    if min(len(reference), len(rows)) < k:
        return 0.0
    return abs(float(np.linalg.det(reference[:k] @ rows[:k].T)))


def reflected_interval(estimate: FloatArray, samples: FloatArray, coverage: float) -> FloatArray:
    """Bounds of the entries of an estimate, from how far resamples lie from it, (2, *shape).

    The interval is ``[e - q_high, e - q_low]`` with the quantiles q of ``samples - e``, known as
    the basic bootstrap interval (Davison and Hinkley, 1997, section 5.2). Directions have length 1,
    so that noise shortens large entries in every resample as it did in the estimate; reflecting the
    quantiles undoes the first of these, which percentiles would count twice.

    Parameters
    ----------
    estimate : ndarray
    samples : ndarray of shape (n_resamples, *shape)
    coverage : float
        Share of data sets whose interval contains the truth.
    """
    tail = 0.5 * (1.0 - coverage)
    low, high = np.quantile(samples - estimate, [tail, 1.0 - tail], axis=0)
    return np.stack([estimate - high, estimate - low])


def jackknife_interval(
    estimate: FloatArray, samples: FloatArray, coverage: float, sizes: Sequence[int]
) -> FloatArray:
    """Bounds of the entries of an estimate, from fits that leave out one of K folds, (2, *shape).

    The jackknife's standard error (Efron and Tibshirani, 1993, chapter 11), the root mean square of
    those of all partitions into folds, times a quantile of Student's law. What a single fold moves
    may have long tails, and the sum of all folds, which is what the estimate deviates by, is nearly
    normal: quantiles of single folds, widened, would be too narrow.

    Parameters
    ----------
    estimate : ndarray
    samples : ndarray of shape (n_resamples, *shape)
        Fold after fold, partition after partition.
    coverage : float
        Share of data sets whose interval contains the truth.
    sizes : sequence of int
        K of every partition.
    """
    parts = np.split(samples, np.cumsum(sizes)[:-1])
    variance = np.mean([(len(part) - 1.0) * np.var(part, axis=0) for part in parts], axis=0)
    freedom = sum(size - 1.0 for size in sizes)
    reach = float(stdtrit(freedom, 0.5 * (1.0 + coverage))) * np.sqrt(variance)
    return np.stack([estimate - reach, estimate + reach])


def reproducibility(degrees: FloatArray, sizes: Sequence[int] | None) -> FloatArray:
    """Shares of directions that are not noise, from angles (n_resamples, k), (k,).

    A direction b + e, with b the truth and e the noise of the rows, has a bootstrap resample
    b + e + e' with as much noise again across it: the mean squared sine of the angle is
    S = v / (1 + v) with v = |e|^2 / |b + e|^2, and 1 - v is the share of b. Fits that leave out one
    of K folds share their rows: they deviate sqrt(K - 1) times less. `sizes` has K of every
    partition into folds, and is None for bootstrap resamples.
    """
    squares = np.square(np.sin(np.radians(degrees)))
    if sizes is not None:
        noise: FloatArray = np.repeat(np.subtract(sizes, 1.0), sizes) @ squares / len(squares)
    else:
        across = np.mean(squares, axis=0)
        noise = across / np.maximum(1.0 - across, 0.5)
    return 1.0 - noise.clip(0.0, 1.0)
