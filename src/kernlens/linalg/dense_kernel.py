"""A kernel matrix that is held whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray


@dataclass(frozen=True)
class DenseKernel:
    """A matrix as an operator.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
        Symmetric.
    """

    matrix: FloatArray

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    @property
    def n_jobs(self) -> int:
        """One, because the matrix is there and its products are left to BLAS."""
        return 1

    @property
    def cheap_products(self) -> bool:
        """False, because a product reads every entry."""
        return False

    @property
    def row_cost(self) -> int:
        """One for every row."""
        return len(self.matrix)

    @property
    def pair_cost(self) -> float:
        """Infinite: whoever holds the matrix says how it is solved with."""
        return float("inf")

    def matvec(self, v: FloatArray) -> FloatArray:
        """Return ``v K`` for `v` of shape (n_targets, n_samples)."""
        product: FloatArray = v @ self.matrix
        return product

    def submatrix(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> FloatArray:
        """Return ``K[rows][:, columns]``, (n_rows, n_columns)."""
        return self.matrix[np.ix_(rows, columns)]
