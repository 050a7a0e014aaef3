"""Products and factors of triangular matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpstrf

from kernlens._array import FloatArray
from kernlens._compiled import compiled
from kernlens._execution import split_range

#: Columns of a triangular matrix that are worth a product of their own.
PANEL = 64
#: Up to this ratio of pivots a factorisation without pivoting is good enough.
PLAIN_CONDITION = 1e4


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
    root : ndarray of shape (rank, rank)
        R, upper triangular.
    condition : float
        Ratio of the extreme pivots, a lower bound of the condition number of what is kept.
    """

    kept: NDArray[np.integer]
    root: FloatArray
    condition: float

    @classmethod
    def of(cls, M: FloatArray, cutoff: float) -> PivotedCholesky:
        """Factorise; pivots below `cutoff` times the largest are taken for zero. O(n^3)."""
        largest = float(np.max(np.diagonal(M)))
        # The transpose is the same matrix, in the order that LAPACK takes without a copy.
        factor, info = dpotrf(M.T, lower=0, clean=1)
        if info == 0 and _condition(factor) < min(PLAIN_CONDITION, 0.01 / cutoff):
            # Nothing is near zero, and pivots take twice as long.
            return cls(np.arange(len(M)), factor, _condition(factor))
        factor, pivots, rank, _ = dpstrf(M, tol=cutoff * largest, lower=0)
        root = np.triu(factor[:rank, :rank])
        return cls(pivots[:rank].astype(np.intp) - 1, root, _condition(root))


def _condition(root: FloatArray) -> float:
    diagonal = np.diagonal(root)
    smallest = float(diagonal.min())
    return float((diagonal.max() / smallest) ** 2) if smallest > 0.0 else np.inf


@compiled()
def mirror_upper(A: FloatArray) -> None:
    """Write the entries above the diagonal below it, in place, in blocks that stay in cache."""
    for low in range(0, A.shape[0], PANEL):
        for left in range(0, low + PANEL, PANEL):
            for j in range(left, min(left + PANEL, A.shape[0])):
                for i in range(max(low, j + 1), min(low + PANEL, A.shape[0])):
                    A[i, j] = A[j, i]


def divide_by_upper(A: FloatArray, R: FloatArray) -> FloatArray:
    """Return ``A @ R^{-1}`` for an upper triangular R, (n, k)."""
    quotient: FloatArray = solve_triangular(R, A.T, trans=1, check_finite=False)
    return quotient.T
