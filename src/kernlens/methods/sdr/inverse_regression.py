"""Candidate matrices of sliced inverse regression, SAVE and directional regression.

Inputs z are whitened, m_s is their mean in slice s of a target, V_s their covariance there, A_s the
mean of z z^T there, p_s the share of the slice, and C the covariance of all: the identity without
shrinkage. Several targets are sliced one by one and their matrices averaged (pooled marginal
slicing, Aragon, 1997).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.methods.sdr.candidate import (
    Candidate,
    ChiSquared,
    Spectrum,
    covariance,
    trailing,
)
from kernlens.methods.sdr.slices import Slices


@dataclass(frozen=True)
class SlicedCandidate(Candidate):
    """A matrix that is a mean over the slices of targets.

    Attributes
    ----------
    slices : sequence of Slices
        One partition per target.
    """

    slices: Sequence[Slices]

    def matrix(self, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        matrices = [self.of_slices(slices, whitened, weights) for slices in self.slices]
        mean: FloatArray = np.mean(matrices, axis=0)
        return mean

    @abstractmethod
    def of_slices(self, slices: Slices, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        """The matrix (rank, rank) of one target."""


class SlicedMeans(SlicedCandidate):
    r"""Sliced inverse regression, :math:`M = \sum_s p_s m_s m_s^\top` (Li, 1991)."""

    def of_slices(self, slices: Slices, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        return between_slices(slices, whitened, weights)

    def most_directions(self, rank: int) -> int:
        return min(rank, sum(slices.n_slices - 1 for slices in self.slices))

    def chi_squared(
        self, k: int, spectrum: Spectrum, whitened: FloatArray, weights: FloatArray
    ) -> ChiSquared | None:
        r"""n times the sum of the last eigenvalues (Li, 1991, theorem 5.1).

        It has (d - k)(H - k - 1) degrees of freedom with H slices and normal inputs.
        """
        if len(self.slices) > 1:
            return None
        degrees = (len(spectrum.values) - k) * (self.slices[0].n_slices - k - 1)
        return ChiSquared(float(weights.sum()) * trailing(spectrum, k), degrees)


class SlicedCovariances(SlicedCandidate):
    r"""SAVE, :math:`M = \sum_s p_s (C - V_s)^2` (Cook and Weisberg, 1991)."""

    def of_slices(self, slices: Slices, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        differences = self._differences(slices, whitened, weights)
        return _mean_square(differences, slices.shares(weights))

    def chi_squared(
        self, k: int, spectrum: Spectrum, whitened: FloatArray, weights: FloatArray
    ) -> ChiSquared | None:
        r"""The marginal dimension test of Shao, Cook and Weisberg (2007).

        With the last eigenvectors as columns of Q the statistic is
        :math:`(n / 2) \sum_s p_s \mathrm{tr}[(Q^\top (C - V_s) Q)^2]`, with
        (H - 1)(d - k)(d - k + 1) / 2 degrees of freedom for normal inputs.
        """
        if len(self.slices) > 1:
            return None
        (slices,) = self.slices
        rest = spectrum.vectors[:, k:]
        within = rest.T @ self._differences(slices, whitened, weights) @ rest
        squares = slices.shares(weights) @ np.sum(np.square(within), axis=(1, 2))
        left = rest.shape[1]
        degrees = (slices.n_slices - 1) * left * (left + 1) // 2
        return ChiSquared(0.5 * float(weights.sum() * squares), degrees)

    def _differences(self, slices: Slices, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        means = slices.means(whitened, weights)
        within = slices.second_moments(whitened, weights) - means[:, :, None] * means[:, None]
        differences: FloatArray = covariance(whitened, weights) - within
        return differences


class DirectionalMoments(SlicedCandidate):
    r"""Directional regression (Li and Wang, 2007).

    .. math:: M = 2 \sum_s p_s (A_s - C)^2 + 2 B^2 + 2\,\mathrm{tr}(B) B, \quad
        B = \sum_s p_s m_s m_s^\top .

    It is the mean over pairs of slices of the square of :math:`2 C - E[(z - z')(z - z')^\top]`.
    """

    @property
    def unit(self) -> float:
        # Twice what SAVE has where there is nothing to see.
        return 2.0

    def of_slices(self, slices: Slices, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        moments = slices.second_moments(whitened, weights) - covariance(whitened, weights)
        between = between_slices(slices, whitened, weights)
        spread = _mean_square(moments, slices.shares(weights))
        return 2.0 * (spread + between @ between + np.trace(between) * between)


def between_slices(slices: Slices, whitened: FloatArray, weights: FloatArray) -> FloatArray:
    """Covariance of the means of slices, (rank, rank)."""
    means = slices.means(whitened, weights)
    between: FloatArray = (means.T * slices.shares(weights)) @ means
    return between


def _mean_square(matrices: FloatArray, shares: FloatArray) -> FloatArray:
    """Weighted mean of the squares of symmetric matrices (n_slices, r, r)."""
    square: FloatArray = np.tensordot(shares, matrices @ matrices, axes=1)
    return square
