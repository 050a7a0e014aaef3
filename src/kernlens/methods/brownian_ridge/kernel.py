"""The Brownian kernel of rows, ``B(x, z) = (|x| + |z| - |x - z|) / 2``, in blocks.

It is the covariance of Lévy's Brownian motion. In one dimension it is the kernel of BKerNN, whose
paper calls the fit with this kernel BKRR.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths, with_finite_squares
from kernlens._lazy import lazy
from kernlens.linalg.kernel_blocks import KernelBlock, KernelBlocks

#: Share of the length of a row within which it is at a centre: a little more than the rounding of
#: centres to their first digits.
SAME_ROW = 2.0**-23


def brownian_kernel(X: FloatArray, Z: FloatArray) -> FloatArray:
    """Values for rows (n, d) and (m, d), (n, m).

    By ``|x| - |x - z| = (2 x . z - |z|^2) / (|x| + |x - z|)``: far from all centres the difference
    itself has no digits left.
    """
    lengths = squared_lengths(Z)
    ahead = X @ (2.0 * Z.T)
    ahead -= lengths
    # Exact distances: those of a matrix product are off by the root of the rounding near zero,
    # where this kernel has a kink.
    total = cdist(X, Z)
    total += np.sqrt(squared_lengths(X))[:, None]
    values: FloatArray = np.divide(ahead, total, out=np.zeros_like(ahead), where=total > 0.0)
    values += np.sqrt(lengths)
    values *= 0.5
    return values


def slopes_of_expansion(X: FloatArray, Z: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Gradients at X of ``sum_j a_tj B(x, z_j)``, (n_targets, n, d).

    .. math:: \\frac12 \\sum_j a_j \\Bigl(\\frac{x}{|x|} - \\frac{x - z_j}{|x - z_j|}\\Bigr)

    The kernel has kinks at zero and at the centres; what has one adds nothing there. Learners see
    the first digits of their rows only: a row that was learned from is near its centre, not at it,
    and the way from one to the other says nothing.
    """
    distances = cdist(X, Z)
    lengths = np.sqrt(squared_lengths(X))
    apart = distances > SAME_ROW * lengths[:, None]
    inverse = np.divide(1.0, distances, out=np.zeros_like(distances), where=apart)
    ahead = X * np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)[:, None]
    gradients = np.empty((len(coefficients), *X.shape))
    for target, a in enumerate(coefficients):
        C = inverse * a
        gradients[target] = 0.5 * (a.sum() * ahead - C.sum(axis=1)[:, None] * X + C @ Z)
    return gradients


class BrownianBlocks(KernelBlocks):
    """The Brownian kernel of rows against centres, one block of rows at a time.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_inputs)
    Z : ndarray of shape (n_centers, n_inputs)
    n_jobs : int or None
    """

    def __init__(self, X: FloatArray, Z: FloatArray, n_jobs: int | None = None) -> None:
        self.X, self.Z, self.n_jobs = with_finite_squares(X), Z, n_jobs

    @lazy
    def center_kernel(self) -> tuple[FloatArray, FloatArray]:
        """Values of the centres among themselves, (n_centers, n_centers), and no slopes."""
        values = brownian_kernel(self.Z, self.Z)
        return 0.5 * (values + values.T), np.empty((len(self.Z), 0))

    def _block(self, rows: slice) -> KernelBlock:
        values = brownian_kernel(self.X[rows], self.Z)
        return KernelBlock(rows, self.X[rows], values, np.empty((len(values), 0)))
