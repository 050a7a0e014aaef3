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
from kernlens.blocks.table import BlockTable
from kernlens.methods.sdr.candidate import Candidate, ChiSquared, Spectrum, Whiten, trailing
from kernlens.methods.sdr.slice_moments import SliceMoments, sums_of_slices
from kernlens.methods.sdr.slices import Slices
from kernlens.methods.sdr.whitening import Whitening

#: Moments in the slices of every target.
Moments = Sequence[SliceMoments]


@dataclass(frozen=True)
class SlicedCandidate(Candidate):
    """A matrix that is a mean over the slices of targets.

    Attributes
    ----------
    slices : sequence of Slices
        One partition per target.
    """

    slices: Sequence[Slices]

    def moments(self, whitened: FloatArray, weights: FloatArray) -> Moments:
        return [SliceMoments.of_rows(slices, whitened, weights) for slices in self.slices]

    def moments_of_table(self, table: BlockTable, whiten: Whiten) -> tuple[Whitening, Moments]:
        sums = sums_of_slices(table, [slices.borders for slices in self.slices])
        whitening = whiten(sums[0].mean, sums[0].covariance)
        return whitening, [one.whitened(whitening) for one in sums]

    def matrix_of(self, moments: Moments) -> FloatArray:
        mean: FloatArray = np.mean([self.of_slices(one) for one in moments], axis=0)
        return mean

    @abstractmethod
    def of_slices(self, moments: SliceMoments) -> FloatArray:
        """The matrix (rank, rank) of one target."""


class SlicedMeans(SlicedCandidate):
    r"""Sliced inverse regression, :math:`M = \sum_s p_s m_s m_s^\top` (Li, 1991)."""

    def of_slices(self, moments: SliceMoments) -> FloatArray:
        return moments.between

    def most_directions(self, rank: int) -> int:
        return min(rank, sum(slices.n_slices - 1 for slices in self.slices))

    def chi_squared(self, k: int, spectrum: Spectrum, moments: Moments) -> ChiSquared | None:
        r"""n times the sum of the last eigenvalues (Li, 1991, theorem 5.1).

        It has (d - k)(H - k - 1) degrees of freedom with H slices and normal inputs.
        """
        if len(moments) > 1:
            return None
        degrees = (len(spectrum.values) - k) * (len(moments[0].shares) - k - 1)
        return ChiSquared(moments[0].total * trailing(spectrum, k), degrees)


class SlicedCovariances(SlicedCandidate):
    r"""SAVE, :math:`M = \sum_s p_s (C - V_s)^2` (Cook and Weisberg, 1991)."""

    def of_slices(self, moments: SliceMoments) -> FloatArray:
        return _mean_square(_differences(moments), moments.shares)

    def chi_squared(self, k: int, spectrum: Spectrum, moments: Moments) -> ChiSquared | None:
        r"""The marginal dimension test of Shao, Cook and Weisberg (2007).

        With the last eigenvectors as columns of Q the statistic is
        :math:`(n / 2) \sum_s p_s \mathrm{tr}[(Q^\top (C - V_s) Q)^2]`, with
        (H - 1)(d - k)(d - k + 1) / 2 degrees of freedom for normal inputs.
        """
        if len(moments) > 1:
            return None
        (one,) = moments
        rest = spectrum.vectors[:, k:]
        within = rest.T @ _differences(one) @ rest
        squares = one.shares @ np.sum(np.square(within), axis=(1, 2))
        left = rest.shape[1]
        degrees = (len(one.shares) - 1) * left * (left + 1) // 2
        return ChiSquared(0.5 * float(one.total * squares), degrees)


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

    def of_slices(self, moments: SliceMoments) -> FloatArray:
        between = moments.between
        spread = _mean_square(moments.seconds - moments.covariance, moments.shares)
        return 2.0 * (spread + between @ between + np.trace(between) * between)


def _differences(moments: SliceMoments) -> FloatArray:
    """Covariance of all less that of every slice, (n_slices, rank, rank)."""
    means = moments.means
    within = moments.seconds - means[:, :, None] * means[:, None]
    differences: FloatArray = moments.covariance - within
    return differences


def _mean_square(matrices: FloatArray, shares: FloatArray) -> FloatArray:
    """Weighted mean of the squares of symmetric matrices (n_slices, r, r)."""
    square: FloatArray = np.tensordot(shares, matrices @ matrices, axes=1)
    return square
