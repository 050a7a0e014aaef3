"""Nyström features in which the norm of the function space is the plain Euclidean one.

With T^T T = K_zz + jitter (upper Cholesky factor), the features A = K T^{-1} turn the fit

    min_a  loss(K a) + (alpha/2) a^T (K_zz + jitter) a      (HKRR, equation (5))

into ridge regression on A with b = T a. Its normal equations A^T A + alpha lose far fewer digits
than K^T K + alpha K_zz, whose condition number is that of K_zz times larger.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens.linalg.kernel_blocks import KernelBlock, KernelBlocks
from kernlens.linalg.raised_cholesky import raised_cholesky
from kernlens.linalg.ridge_system import RidgeSystem, accumulate_ridge
from kernlens.linalg.triangular import multiply_upper

#: Added to the diagonal of the centre kernel, which is 1. Coefficients are then at most
#: 1 / sqrt(jitter) times the size of the function, so that sums of them keep ten digits.
JITTER = 1e-10


class WhitenedFeatures:
    """Features A (n_samples, n_centers) of rows given in blocks.

    Parameters
    ----------
    blocks : KernelBlocks
        Kernel of the rows against the centres.
    jitter : float
        Relative to the diagonal, which is 1; raised tenfold until the factorisation exists.
    root : ndarray of shape (n_centers, n_centers) or None
        T, if it is known already from the same centres.
    """

    def __init__(
        self, blocks: KernelBlocks, jitter: float = JITTER, root: FloatArray | None = None
    ) -> None:
        self.blocks = blocks
        if root is not None:
            self.root, self.jitter = root, jitter
            return
        # Repeated centres, or a kernel so wide that all centres look alike, ask for a higher one.
        rounding = float(np.finfo(np.float64).eps)
        self.root, self.jitter = raised_cholesky(blocks.center_kernel[0], jitter, rounding)

    @lazy
    def _inverse_root(self) -> FloatArray:
        identity = np.eye(len(self.root))
        inverse: FloatArray = solve_triangular(self.root, identity, check_finite=False)
        return inverse

    def of(self, block: KernelBlock) -> FloatArray:
        """Return the features of one block, (n_block, n_centers)."""
        return multiply_upper(block.values, self._inverse_root)

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
        return accumulate_ridge(
            lambda part: self.blocks.sum(lambda block: part(block.rows, self.of(block))),
            y,
            weights,
            intercept,
            shift,
        )
