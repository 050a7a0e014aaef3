"""Candidate matrix of principal Hessian directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.blocks.block import Block
from kernlens.blocks.table import BlockTable
from kernlens.methods.sdr.candidate import Candidate, ChiSquared, Spectrum, Whiten, trailing
from kernlens.methods.sdr.whitening import Whitening

#: Residuals of a smaller share of the target's standard deviation are rounding.
SMALLEST_RESIDUAL = 1e-6


@dataclass(frozen=True)
class HessianMoments:
    """Second moments of whitened inputs, weighted with centred numbers.

    Attributes
    ----------
    total : float
        Sum of the weights, the effective number of rows.
    hessians : ndarray of shape (n_responses, rank, rank)
        Means of ``r z z^T``.
    variances : ndarray of shape (n_responses,)
        Of the numbers.
    """

    total: float
    hessians: FloatArray
    variances: FloatArray


@dataclass(frozen=True)
class LinearTrend:
    """What is taken off the responses of a table: their mean and, if that is wanted, a line.

    Attributes
    ----------
    whitening : Whitening
    mean, scale : ndarray of shape (n_responses,)
        Of the responses.
    slopes : ndarray of shape (n_responses, rank)
        For responses of variance 1; zeros where nothing but the mean is taken off.
    """

    whitening: Whitening
    mean: FloatArray
    scale: FloatArray
    slopes: FloatArray

    def sums(self, block: Block) -> tuple[FloatArray, ...]:
        """Sums of ``r z z^T`` and of ``r^2`` over a block with numbers r."""
        whitened = self.whitening.apply(block.X)
        numbers = (block.y - self.mean[:, None]) / self.scale[:, None] - self.slopes @ whitened.T
        return weighted_products(whitened, numbers * block.weights), np.square(
            numbers
        ) @ block.weights


@dataclass(frozen=True)
class MeanHessian(Candidate):
    r"""Principal Hessian directions, :math:`M = \sum_t H_t^2` with :math:`H_t = E[r_t z z^\top]`.

    The numbers r_t are the centred targets (Li, 1992) or what linear regression leaves of them
    (Cook, 1998). For normal inputs H_t is the mean Hessian of the regression function (Stein's
    lemma); its eigenvectors are those of the square.

    Attributes
    ----------
    responses : ndarray of shape (n_responses, n_rows)
        Centred, of variance 1.
    residual : bool
        Whether linear trends are taken off first.
    """

    responses: FloatArray
    residual: bool

    def moments(self, whitened: FloatArray, weights: FloatArray) -> HessianMoments:
        shares = weights / weights.sum()
        numbers = self.numbers(whitened, shares)
        return HessianMoments(
            float(weights.sum()),
            weighted_products(whitened, shares * numbers),
            np.square(numbers) @ shares,
        )

    def moments_of_table(
        self, table: BlockTable, whiten: Whiten
    ) -> tuple[Whitening, HessianMoments]:
        """From responses in the place of targets, in two passes of O(n d^2)."""
        trend, total = _trend_of(table, whiten, self.residual)
        hessians, squares = table.sum(_sums_about, trend)
        variances = squares / total
        clear = np.sqrt(variances) > SMALLEST_RESIDUAL
        hessians = np.where(clear[:, None, None], hessians / total, 0.0)
        return trend.whitening, HessianMoments(total, hessians, np.where(clear, variances, 0.0))

    def matrix_of(self, moments: HessianMoments) -> FloatArray:
        total: FloatArray = np.sum([one @ one for one in moments.hessians], axis=0)
        return total

    @property
    def unit(self) -> float:
        # The matrix is a sum over targets, and noise adds up with their number.
        return float(len(self.responses))

    def numbers(self, whitened: FloatArray, shares: FloatArray) -> FloatArray:
        """What the products of inputs are weighted with, (n_responses, n_rows)."""
        if not self.residual:
            return self.responses
        # Whitened inputs have the regularised covariance 1: slopes are plain moments.
        slopes = (self.responses * shares) @ whitened
        left: FloatArray = self.responses - slopes @ whitened.T
        left = left - (left @ shares)[:, None]
        sizes = np.sqrt(np.square(left) @ shares)
        return np.where(sizes[:, None] > SMALLEST_RESIDUAL, left, 0.0)

    def chi_squared(self, k: int, spectrum: Spectrum, moments: HessianMoments) -> ChiSquared | None:
        r"""n times the sum of the last squared eigenvalues over ``2 var(r)`` (Li, 1992).

        It has (d - k)(d - k + 1) / 2 degrees of freedom for normal inputs.
        """
        if len(moments.variances) > 1:
            return None
        variance = float(moments.variances[0])
        left = len(spectrum.values) - k
        if variance == 0.0:
            return ChiSquared(0.0, left * (left + 1) // 2)
        statistic = moments.total * trailing(spectrum, k) / (2.0 * variance)
        return ChiSquared(statistic, left * (left + 1) // 2)


def weighted_products(whitened: FloatArray, numbers: FloatArray) -> FloatArray:
    """Sums of ``r z z^T`` over rows z (n_rows, rank), for every row of numbers r (k, n_rows)."""
    return np.array([(whitened.T * one) @ whitened for one in numbers])


def _trend_of(table: BlockTable, whiten: Whiten, residual: bool) -> tuple[LinearTrend, float]:
    """The whitening and the trend of all rows, and the sum of the weights."""
    mass, inputs, products, responses, squares, crossed = table.sum(_linear_sums)
    total = float(mass)
    mean, of_responses = inputs / total, responses / total
    whitening = whiten(mean, products / total - np.outer(mean, mean))
    variances = np.maximum(squares / total - np.square(of_responses), 0.0)
    scale = np.where(variances > 0.0, np.sqrt(variances), 1.0)
    # Whitened inputs have the regularised covariance 1: slopes are plain moments.
    slopes = (crossed / total - np.outer(of_responses, mean)) / scale[:, None] @ whitening.basis
    kept = slopes if residual else np.zeros_like(slopes)
    return LinearTrend(whitening, of_responses, scale, kept), total


def _linear_sums(block: Block) -> tuple[FloatArray, ...]:
    X, y, weights = block.X, block.y, block.weights
    weighted = y * weights
    return (
        weights.sum(),
        weights @ X,
        (X.T * weights) @ X,
        weighted.sum(axis=1),
        np.square(y) @ weights,
        weighted @ X,
    )


def _sums_about(block: Block, trend: LinearTrend) -> tuple[FloatArray, ...]:
    return trend.sums(block)
