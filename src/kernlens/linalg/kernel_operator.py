"""What a linear system asks of a kernel matrix, whether it is held whole or never formed."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray


class KernelOperator(Protocol):
    """A symmetric kernel matrix K of n_samples rows, by what is done with it."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def n_jobs(self) -> int | None:
        """Threads that blocks of rows may be handed to."""

    @property
    def cheap_products(self) -> bool:
        """Whether a product takes far fewer operations than there are entries in the matrix."""

    @property
    def row_cost(self) -> int:
        """Terms that are summed for an entry of a product."""

    @property
    def pair_cost(self) -> float:
        """Cost of an entry of the matrix in such terms; infinite if it is not to be formed."""

    @property
    def matrix(self) -> FloatArray:
        """The matrix itself, (n_samples, n_samples); not to be changed."""

    def matvec(self, v: FloatArray) -> FloatArray:
        """Return ``v K`` for `v` of shape (n_targets, n_samples)."""

    def submatrix(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> FloatArray:
        """Return ``K[rows][:, columns]``, (n_rows, n_columns)."""
