"""A kernel matrix that is held whole."""

from __future__ import annotations

from dataclasses import dataclass

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

    def matvec(self, dual: FloatArray) -> FloatArray:
        """``dual @ K`` for dual (n_targets, n_samples)."""
        product: FloatArray = dual @ self.matrix
        return product
