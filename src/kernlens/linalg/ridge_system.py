"""Ridge regression on explicit features: normal equations summed over blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh

FloatArray = NDArray[np.floating]
#: A function of some rows and their features, which it may overwrite, that returns what is summed.
BlockPart = Callable[[slice, FloatArray], tuple[FloatArray, ...]]


def accumulate_ridge(
    sum_over_blocks: Callable[[BlockPart], list[FloatArray]],
    y: FloatArray,
    weights: FloatArray,
    intercept: bool,
    shift: FloatArray,
) -> RidgeSystem:
    """Accumulate the weighted normal equations.

    Parameters
    ----------
    sum_over_blocks : callable
        Calls a function with every block of rows and its features, and sums what it returns.
    y : ndarray of shape (n_targets, n_samples)
    weights : ndarray of shape (n_samples,)
        Non-negative, positive sum.
    intercept : bool
        Whether a constant is fitted, too: features and targets are then centred.
    shift : ndarray of shape (n_columns,)
        Taken off the features first; the nearer to their mean, the less the centring cancels.
    """
    target_shift = y @ weights / weights.sum() if intercept else np.zeros(len(y))
    root_weights = np.sqrt(weights)
    uniform = bool(np.all(weights == 1.0))

    def part(rows: slice, A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        A -= shift
        root = root_weights[rows]
        if not uniform:
            A *= root[:, None]
        shifted = (y[:, rows] - target_shift[:, None]) * root
        # The same array on both sides: BLAS then computes half of a symmetric product.
        return A.T @ A, shifted @ A, root @ A

    gram, moments, sums = sum_over_blocks(part)
    total = float(weights.sum())
    if intercept:
        gram = gram - np.outer(sums, sums / total)
        # The shifted targets have mean zero: nothing to take away from the moments.
    return RidgeSystem(gram, moments, total, shift + sums / total, target_shift, intercept)


@dataclass(frozen=True)
class RidgeSystem:
    """Normal equations ``(A^T W A + alpha Wt) b = A^T W y``, factored for any number of alphas.

    Attributes
    ----------
    gram : ndarray of shape (n_centers, n_centers)
    moments : ndarray of shape (n_targets, n_centers)
    total : float
        Wt, the sum of the weights.
    feature_mean : ndarray of shape (n_centers,)
    target_mean : ndarray of shape (n_targets,)
    intercept : bool
    """

    gram: FloatArray
    moments: FloatArray
    total: float
    feature_mean: FloatArray
    target_mean: FloatArray
    intercept: bool

    def solve(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Return b (n_targets, n_centers) and the intercept (n_targets,)."""
        shifted = self.gram.copy()
        shifted.flat[:: len(shifted) + 1] += alpha * self.total
        try:
            factor = cholesky(shifted, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return self.solve_along([alpha])[0]
        b: FloatArray = cho_solve((factor, False), self.moments.T, check_finite=False).T
        return b, self._constant(b)

    def solve_along(self, alphas: list[float]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the solutions for several alphas from one eigendecomposition."""
        values, vectors = self._eigen
        rotated = self.moments @ vectors
        solutions: list[tuple[FloatArray, FloatArray]] = []
        for alpha in alphas:
            b = (rotated / (np.maximum(values, 0.0) + alpha * self.total)) @ vectors.T
            solutions.append((b, self._constant(b)))
        return solutions

    @cached_property
    def _eigen(self) -> tuple[FloatArray, FloatArray]:
        values, vectors = eigh(self.gram, check_finite=False)
        return values, vectors

    def _constant(self, b: FloatArray) -> FloatArray:
        if not self.intercept:
            return np.zeros(len(b))
        return self.target_mean - b @ self.feature_mean
