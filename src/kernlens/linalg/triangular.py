"""Products and factors of triangular matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from kernlens._blocks import split_range

FloatArray = NDArray[np.floating]

#: Columns of a triangular matrix that are worth a product of their own.
PANEL = 64


def multiply_upper(A: FloatArray, U: FloatArray) -> FloatArray:
    """Return ``A @ U`` for an upper triangular U, most of whose zeros are left out.

    Parameters
    ----------
    A : ndarray of shape (n, k)
    U : ndarray of shape (k, k)
    """
    product = np.empty_like(A)
    for panel in split_range(len(U), max(PANEL, len(U) // 4 + 1)):
        used = slice(0, panel.stop)
        np.matmul(A[:, used], U[used, panel], out=product[:, panel])
    return product


@dataclass(frozen=True)
class PivotedCholesky:
    """``M[kept][:, kept] = R^T R`` for as many rows of a semi-definite M as are independent.

    Attributes
    ----------
    kept : ndarray of shape (rank,)
        Rows, in the order of elimination.
    inverse_root : ndarray of shape (rank, rank)
        R^{-1}, upper triangular.
    condition : float
        Ratio of the extreme pivots, a lower bound of the condition number of what is kept.
    """

    kept: NDArray[np.integer]
    inverse_root: FloatArray
    condition: float

    @classmethod
    def of(cls, M: FloatArray, cutoff: float) -> PivotedCholesky:
        """Factorise; pivots below `cutoff` times the largest are taken for zero. O(n^3)."""
        largest = float(np.max(np.diagonal(M)))
        factor, pivots, rank, _ = dpstrf(M, tol=cutoff * largest, lower=0)
        root = np.triu(factor[:rank, :rank])
        inverse: FloatArray = solve_triangular(root, np.eye(rank), check_finite=False)
        diagonal = np.diagonal(root)
        condition = float((diagonal.max() / diagonal.min()) ** 2)
        return cls(pivots[:rank].astype(np.intp) - 1, inverse, condition)
