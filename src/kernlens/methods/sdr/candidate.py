"""What the methods of inverse regression share: a matrix whose range is the wanted subspace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.blocks.table import BlockTable
from kernlens.methods.sdr.whitening import Whitening
from kernlens.subspace import leading_directions

#: From a mean (n_inputs,) and a covariance (n_inputs, n_inputs) to a whitening.
Whiten = Callable[[FloatArray, FloatArray], Whitening]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of a candidate matrix of whitened inputs.

    Attributes
    ----------
    values : ndarray of shape (rank,)
        Non-negative, decreasing.
    vectors : ndarray of shape (rank, rank)
        Eigenvectors, one per column.
    """

    values: FloatArray
    vectors: FloatArray


@dataclass(frozen=True)
class ChiSquared:
    """A statistic, and the degrees of freedom of its law if the hypothesis is true."""

    statistic: float
    degrees: int


class Candidate(ABC):
    """A semi-definite matrix of whitened inputs whose range estimates the wanted subspace.

    It follows from moments that are means over rows, so that blocks of rows can be summed up.
    """

    @abstractmethod
    def moments(self, whitened: FloatArray, weights: FloatArray) -> Any:
        """Moments of whitened inputs (n_rows, rank) with weights (n_rows,)."""

    @abstractmethod
    def moments_of_table(self, table: BlockTable, whiten: Whiten) -> tuple[Whitening, Any]:
        """The whitening of all rows of a table, by `whiten`, and the moments under it."""

    @abstractmethod
    def matrix_of(self, moments: Any) -> FloatArray:
        """The matrix (rank, rank) that moments give."""

    def matrix(self, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        """The matrix of rows."""
        return self.matrix_of(self.moments(whitened, weights))

    def most_directions(self, rank: int) -> int:
        """Number of directions that the matrix can have, of `rank` inputs."""
        return rank

    @property
    def unit(self) -> float:
        """What a criterion divides the eigenvalues by: the size of the matrix beside others'."""
        return 1.0

    def chi_squared(self, k: int, spectrum: Spectrum, moments: Any) -> ChiSquared | None:
        """The test that there are at most k directions; None where there is no theory."""
        return None

    def spectrum_of(self, moments: Any) -> Spectrum:
        """Eigenvalues and eigenvectors of the matrix that moments give."""
        vectors, values = leading_directions(self.matrix_of(moments))
        return Spectrum(values, vectors.T)

    def spectrum(self, whitened: FloatArray, weights: FloatArray) -> Spectrum:
        """The same of rows."""
        return self.spectrum_of(self.moments(whitened, weights))


def trailing(spectrum: Spectrum, k: int) -> float:
    """Sum of the eigenvalues after the first k."""
    return float(np.sum(spectrum.values[k:]))
