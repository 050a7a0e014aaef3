"""Nyström features in which the norm of the function space is the plain Euclidean one.

With T^T T = K_zz + jitter (upper Cholesky factor), the features A = K T^{-1} turn the fit

    min_a  loss(K a) + (alpha/2) a^T (K_zz + jitter) a      (HKRR, equation (5))

into ridge regression on A with b = T a. Its normal equations A^T A + alpha lose far fewer digits
than K^T K + alpha K_zz, whose condition number is that of K_zz times larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh, solve_triangular

from kernlens._blocks import split_range
from kernlens.linalg.kernel_blocks import KernelBlock, KernelBlocks

FloatArray = NDArray[np.floating]

#: Added to the diagonal of the centre kernel, which is 1. Coefficients are then at most
#: 1 / sqrt(jitter) times the size of the function, so that sums of them keep ten digits.
JITTER = 1e-10
#: Columns of the triangular factor that are worth a matrix product of their own.
PANEL = 64


class WhitenedFeatures:
    """Features A (n_samples, n_centers) of rows given in blocks.

    Parameters
    ----------
    blocks : KernelBlocks
        Kernel of the rows against the centres.
    jitter : float
        Relative to the diagonal, which is 1; raised tenfold until the factorisation exists.
    """

    def __init__(self, blocks: KernelBlocks, jitter: float = JITTER) -> None:
        self.blocks = blocks
        self.root, self.jitter = _factor(blocks.centre_kernel[0], jitter)

    @cached_property
    def _inverse_root(self) -> FloatArray:
        identity = np.eye(len(self.root))
        inverse: FloatArray = solve_triangular(self.root, identity, check_finite=False)
        return inverse

    def of(self, block: KernelBlock) -> FloatArray:
        """Return the features of one block, (n_block, n_centers)."""
        A = np.empty_like(block.values)
        # T^{-1} is upper triangular: in panels of columns, most of its zeros are left out.
        for panel in split_range(len(self.root), max(PANEL, len(self.root) // 4 + 1)):
            used = slice(0, panel.stop)
            np.matmul(block.values[:, used], self._inverse_root[used, panel], out=A[:, panel])
        return A

    def matrix(self) -> FloatArray:
        """Return the features of all rows, (n_samples, n_centers)."""
        return np.concatenate(self.blocks.map(self.of))

    def coefficients(self, whitened: FloatArray) -> FloatArray:
        """Return a = T^{-1} b for b (n_targets, n_centers), in the kernel's own coordinates."""
        solved: FloatArray = solve_triangular(self.root, whitened.T, check_finite=False)
        return solved.T

    def whitened(self, coefficients: FloatArray) -> FloatArray:
        """Return b = T a for a (n_targets, n_centers)."""
        return coefficients @ self.root.T

    def ridge_system(self, y: FloatArray, weights: FloatArray, intercept: bool) -> RidgeSystem:
        """Accumulate the weighted normal equations over the blocks.

        Parameters
        ----------
        y : ndarray of shape (n_targets, n_samples)
        weights : ndarray of shape (n_samples,)
            Non-negative, positive sum.
        intercept : bool
            Whether a constant is fitted, too: features and targets are then centred.
        """
        # The centres stand for the rows: taking their mean away first, what remains of the mean
        # is small and centring the sums does not cancel.
        shift = self.root.mean(axis=1) if intercept else np.zeros(len(self.root))
        target_shift = y @ weights / weights.sum() if intercept else np.zeros(len(y))

        root_weights = np.sqrt(weights)
        uniform = bool(np.all(weights == 1.0))

        def part(block: KernelBlock) -> tuple[FloatArray, FloatArray, FloatArray]:
            A = self.of(block)
            A -= shift
            root = root_weights[block.rows]
            if not uniform:
                A *= root[:, None]
            shifted = (y[:, block.rows] - target_shift[:, None]) * root
            # The same array on both sides: BLAS then computes half of a symmetric product.
            return A.T @ A, shifted @ A, root @ A

        gram, moments, sums = self.blocks.sum(part)
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


def _factor(matrix: FloatArray, jitter: float) -> tuple[FloatArray, float]:
    """Upper Cholesky factor of ``matrix + jitter I``, with the jitter that it took."""
    while True:
        raised = matrix.copy()
        raised.flat[:: len(matrix) + 1] += jitter
        try:
            return cholesky(raised, overwrite_a=True, check_finite=False), jitter
        except LinAlgError:
            # Repeated centres, or a kernel so wide that all centres look alike.
            if not jitter < 1.0:
                raise
            jitter = max(10.0 * jitter, float(np.finfo(np.float64).eps))
