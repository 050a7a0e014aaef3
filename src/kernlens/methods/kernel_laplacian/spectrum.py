"""Eigenfunctions of the regularised Laplacian: the functions of most variance per gradient energy.

    maximise  var(f) / (E(f) + alpha |f|_H^2),   E(f) = mean |T_i grad f(x_i)|^2,

where every function is uncorrelated with those before it. In a basis that makes energy and norm
diagonal, e + alpha, this is an ordinary symmetric eigenproblem. For many points and small alpha the
inverse ratios are the eigenvalues of the Laplacian of the law of the points, without the 0 of the
constant. For few points and tiny alpha there are functions that are flat at every point and still
vary, or that single out one of them: alpha must be large enough for the leading functions to be
spread over the points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from kernlens._array import FloatArray
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis
from kernlens.methods.kernel_laplacian.function import LaplacianFunction, function_in_basis
from kernlens.subspace import row_signs

#: Number of points that signs and spreads are measured on.
SAMPLE = 500
#: A variance below this share of the sum over all functions is rounding.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Eigenfunctions:
    """Functions of mean 0 and variance 1 over the points, uncorrelated.

    Attributes
    ----------
    function : LaplacianFunction
        One target per eigenfunction.
    eigenvalues : ndarray of shape (n_components,)
        ``E(f) + alpha |f|^2``, increasing.
    """

    function: LaplacianFunction
    eigenvalues: FloatArray


class LaplacianSpectrum:
    """The eigenproblem of some points, for any alpha.

    Parameters
    ----------
    basis : EnergyBasis
    points : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
        Positive.
    n_jobs : int or None
    """

    def __init__(
        self, basis: EnergyBasis, points: FloatArray, weights: FloatArray, n_jobs: int | None
    ) -> None:
        self.basis = basis
        self._sample, self._sample_weights = points[:SAMPLE], weights[:SAMPLE]
        # No targets: only the sums of the features are of interest.
        shift = basis.features(self._sample).mean(axis=0)
        nothing = np.zeros((1, len(points)))
        self._system = basis.ridge_system(points, nothing, weights, shift, n_jobs)

    def leading(self, alpha: float, n_components: int) -> Eigenfunctions:
        """The first eigenfunctions. O(q^3) for q basis functions.

        Parameters
        ----------
        alpha : float
            Positive.
        n_components : int
            There may be fewer. Where nothing varies there is one, which is zero.
        """
        scales = 1.0 / np.sqrt(self.basis.energies + alpha)
        covariance = self._system.scaled(scales).gram / self._system.total
        q = len(scales)
        first = max(0, q - n_components)
        ratios, vectors = eigh(covariance, subset_by_index=[first, q - 1], check_finite=False)
        ratios, vectors = ratios[::-1], vectors[:, ::-1]
        # A variance that is rounding counts as zero.
        varies = ratios > ROUNDING * np.trace(covariance)
        if varies.any():
            sizes = np.sqrt(ratios[varies])
            coefficients = (vectors[:, varies] / sizes * scales[:, None]).T
            eigenvalues = 1.0 / ratios[varies]
        else:
            coefficients, eigenvalues = np.zeros((1, q)), np.zeros(1)
        intercept = -coefficients @ self._system.feature_mean
        function = function_in_basis(self.basis, coefficients, intercept)
        return Eigenfunctions(self._with_signs(function), eigenvalues)

    def _with_signs(self, function: LaplacianFunction) -> LaplacianFunction:
        """Make the value of largest size of every function on the first points positive."""
        signs = row_signs(function.decision(self._sample))
        return replace(
            function,
            coefficients=function.coefficients * signs[:, None],
            intercept=function.intercept * signs,
        )

    def spread(self, found: Eigenfunctions) -> float:
        """Least share of the points that a function is spread over, by mean(f^2)^2 / mean(f^4)."""
        values = found.function.decision(self._sample)
        shares = self._sample_weights / self._sample_weights.sum()
        squares, fourths = np.square(values) @ shares, np.power(values, 4) @ shares
        real = fourths > 0.0
        if not real.any():
            return 1.0
        return float(np.min(np.square(squares[real]) / fourths[real]))
