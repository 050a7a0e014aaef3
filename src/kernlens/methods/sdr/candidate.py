"""What the methods of inverse regression share: a matrix whose range is the wanted subspace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.subspace import leading_directions


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
    """A semi-definite matrix of whitened inputs whose range estimates the wanted subspace."""

    @abstractmethod
    def matrix(self, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        """The matrix (rank, rank) of whitened inputs (n_rows, rank) with weights (n_rows,)."""

    def most_directions(self, rank: int) -> int:
        """Number of directions that the matrix can have, of `rank` inputs."""
        return rank

    @property
    def unit(self) -> float:
        """What a criterion divides the eigenvalues by: the size of the matrix beside others'."""
        return 1.0

    def chi_squared(
        self, k: int, spectrum: Spectrum, whitened: FloatArray, weights: FloatArray
    ) -> ChiSquared | None:
        """The test that there are at most k directions; None where there is no theory."""
        return None

    def spectrum(self, whitened: FloatArray, weights: FloatArray) -> Spectrum:
        """Eigenvalues and eigenvectors of the matrix."""
        vectors, values = leading_directions(self.matrix(whitened, weights))
        return Spectrum(values, vectors.T)


def covariance(whitened: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted mean of ``x x^T`` of centred inputs, (rank, rank)."""
    product: FloatArray = (whitened.T * (weights / weights.sum())) @ whitened
    return product


def trailing(spectrum: Spectrum, k: int) -> float:
    """Sum of the eigenvalues after the first k."""
    return float(np.sum(spectrum.values[k:]))
