"""Which rows stand for all of them: centres of a Nyström approximation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from kernlens._array import FloatArray
from kernlens._execution import split_range

#: ``(U, V) -> k(U, V)``, with k(u, u) = 1.
KernelMatrix = Callable[[FloatArray, FloatArray], FloatArray]

CENTER_CHOICES = ("uniform", "leverage")

#: Rows that the leverage scores are measured against, at most.
PILOT = 500


def distinct_rows(group: NDArray[np.integer]) -> NDArray[np.integer]:
    """First row of every group of rows with the same X, given increasing group numbers."""
    return np.flatnonzero(np.r_[True, group[1:] != group[:-1]])


def uniform_centers(
    candidates: NDArray[np.integer], n_centers: int, random: np.random.RandomState
) -> NDArray[np.integer]:
    """Draw rows uniformly without replacement; all of them if there are not more.

    A longer draw from the same state begins with the shorter one.
    """
    return random.permutation(candidates)[:n_centers]


def leverage_centers(
    images: FloatArray,
    weights: FloatArray,
    candidates: NDArray[np.integer],
    n_centers: int,
    kernel_matrix: KernelMatrix,
    alpha: float,
    random: np.random.RandomState,
) -> NDArray[np.integer]:
    """Draw rows without replacement with probabilities given by approximate leverage scores.

    HKRR, Remark 6 (after Rudi, Camoriano and Rosasco, 2015): rows that the others explain badly are
    drawn more often, so that fewer centres are needed.

    Parameters
    ----------
    images : ndarray of shape (n_samples, n_components)
        Rows mapped by B.
    weights : ndarray of shape (n_samples,)
        Sample weights.
    candidates : ndarray of int
        Rows to draw from.
    n_centers : int
        How many.
    kernel_matrix : callable
        Mother kernel.
    alpha : float
        Regularisation at which the scores are taken.
    random : RandomState

    Returns
    -------
    ndarray of int
        Distinct row numbers.
    """
    if len(candidates) <= n_centers:
        return random.permutation(candidates)
    pilot = images[random.permutation(candidates)[:PILOT]]
    scores = leverage_scores(images, weights, pilot, kernel_matrix, alpha)[candidates]
    # Exponential clocks: the first n_centers to ring are a weighted draw without replacement.
    clocks = random.exponential(size=len(candidates)) / np.maximum(scores, np.finfo(float).tiny)
    return candidates[np.argsort(clocks)[:n_centers]]


def leverage_scores(
    images: FloatArray,
    weights: FloatArray,
    pilot: FloatArray,
    kernel_matrix: KernelMatrix,
    alpha: float,
) -> FloatArray:
    """Approximate ridge leverage scores ``[K (K + alpha n)^{-1}]_ii``, (n_samples,).

    With the pilot rows as centres, whitened features A and sum of weights Wt, the score of row i is

        a_i^T (A^T W A + alpha Wt)^{-1} a_i + (1 - |a_i|^2) / (alpha Wt),

    where the last term is what the pilot does not see of the row; a score is at most 1. Exact (with
    unit weights) if every row is in the pilot. O(n p^2) for p pilot rows, in blocks.
    """
    total = float(weights.sum())
    root = cholesky(kernel_matrix(pilot, pilot) + 1e-10 * np.eye(len(pilot)))
    blocks = split_range(len(images), 1000)

    def features(rows: slice) -> FloatArray:
        A: FloatArray = solve_triangular(root, kernel_matrix(pilot, images[rows]), trans=1)
        return A

    gram = sum(((A := features(rows)) * weights[rows]) @ A.T for rows in blocks)
    regular = cholesky(gram + alpha * total * np.eye(len(pilot)))
    scores = np.empty(len(images))
    for rows in blocks:
        A = features(rows)
        seen = np.sum(np.square(solve_triangular(regular, A, trans=1)), axis=0)
        unseen = np.maximum(1.0 - np.sum(A**2, axis=0), 0.0) / (alpha * total)
        scores[rows] = np.minimum(seen + unseen, 1.0)
    return scores
