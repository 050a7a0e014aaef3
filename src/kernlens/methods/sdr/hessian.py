"""Candidate matrix of principal Hessian directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.methods.sdr.candidate import Candidate, ChiSquared, Spectrum, trailing

#: Residuals of a smaller share of the target's standard deviation are rounding.
SMALLEST_RESIDUAL = 1e-6


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

    def matrix(self, whitened: FloatArray, weights: FloatArray) -> FloatArray:
        shares = weights / weights.sum()
        hessians = [
            (whitened.T * (shares * numbers)) @ whitened
            for numbers in self.numbers(whitened, shares)
        ]
        total: FloatArray = np.sum([hessian @ hessian for hessian in hessians], axis=0)
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

    def chi_squared(
        self, k: int, spectrum: Spectrum, whitened: FloatArray, weights: FloatArray
    ) -> ChiSquared | None:
        r"""n times the sum of the last squared eigenvalues over ``2 var(r)`` (Li, 1992).

        It has (d - k)(d - k + 1) / 2 degrees of freedom for normal inputs.
        """
        if len(self.responses) > 1:
            return None
        shares = weights / weights.sum()
        variance = float(np.square(self.numbers(whitened, shares)[0]) @ shares)
        left = len(spectrum.values) - k
        if variance == 0.0:
            return ChiSquared(0.0, left * (left + 1) // 2)
        statistic = float(weights.sum()) * trailing(spectrum, k) / (2.0 * variance)
        return ChiSquared(statistic, left * (left + 1) // 2)
