"""Solve exactly, with an atom for every value and every derivative, by dense matrices.

With Q = V diag(q) V^T the deformed kernel of the labelled rows is

    K_LL - D (Q + (alpha / mu) I)^{-1} D^T = K_LL - (D V) diag(ratio / (1 + ratio q)) (D V)^T

for every ratio mu / alpha: the Schur complement of the system, factored once.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from kernlens._array import FloatArray
from kernlens.fits.kernel_fit import KernelFitter
from kernlens.linalg.dense_kernel import DenseKernel
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.losses import SquaredLoss
from kernlens.methods.kernel_laplacian.derivative_system import DerivativeSystem
from kernlens.methods.kernel_laplacian.function import KernelFunction
from kernlens.methods.kernel_laplacian.plan import LabelledPoints, Learned, Penalties
from kernlens.methods.kernel_laplacian.solvers.solver import (
    LEAVE_ONE_OUT_ROWS,
    SAMPLE,
    LaplacianSolver,
)


def derivative_system(solver: LaplacianSolver) -> DerivativeSystem:
    """The derivatives at all points, weighted by their shares."""
    rows = solver.rows
    roots = np.sqrt(rows.weights / rows.weights.sum())
    frames = roots
    if solver.frames is not None:
        frames = solver.frames.take(slice(None)) * roots[:, None, None]
    return DerivativeSystem(solver.plan.kernel, rows.points, frames, solver.n_jobs)


def atoms_of(
    rows: LabelledPoints, system: DerivativeSystem, a: FloatArray, b: FloatArray, c: FloatArray
) -> KernelFunction:
    """The functions with coefficients a (t, n_labelled), b (t, n, r) and intercepts c (t,)."""
    return KernelFunction(rows.on_points(a), c, system.kernel, rows.points, system.spread(b))


class ExactSolver(LaplacianSolver):
    """Dense Schur complement; O((n r)^3), and (n r)^2 numbers held."""

    @cached_property
    def _system(self) -> DerivativeSystem:
        return derivative_system(self)

    @cached_property
    def _spectral(self) -> tuple[FloatArray, FloatArray]:
        """q and V."""
        values, vectors = eigh(self._system.full_gram(), overwrite_a=True, check_finite=False)
        return np.maximum(values, 0.0), vectors

    def _rotated(self, X: FloatArray) -> FloatArray:
        """``D V`` of points, (n_x, n r)."""
        rotated: FloatArray = self._system.derivatives_at(X, slice(None)) @ self._spectral[1]
        return rotated

    @cached_property
    def _sample(self) -> tuple[FloatArray, FloatArray]:
        X = self.rows.points[:SAMPLE]
        return self.plan.kernel.matrix(X, X), self._rotated(X)

    @cached_property
    def _labelled(self) -> tuple[FloatArray, FloatArray]:
        X = self.rows.labelled_points
        return self.plan.kernel.matrix(X, X), self._rotated(X)

    def _deformed(self, K: FloatArray, rotated: FloatArray, ratio: float) -> FloatArray:
        damped = rotated * np.sqrt(ratio / (1.0 + ratio * self._spectral[0]))
        return K - damped @ damped.T

    def sample_kernel(self, ratio: float) -> FloatArray:
        return self._deformed(*self._sample, ratio)

    def spectrum(self, ratio: float) -> RidgeSpectrum:
        part = self.rows.with_labels(slice(0, LEAVE_ONE_OUT_ROWS))
        K, rotated = self._labelled
        n = len(part.labelled)
        kernel = self._deformed(K[:n, :n], rotated[:n], ratio)
        return RidgeSpectrum.of_kernel(kernel, part.y, part.label_weights)

    def fit(self, penalties: Penalties) -> Learned:
        """Solve with the deformed kernel for a, then b = -(Q + alpha / mu)^{-1} D^T a."""
        rows, ratio = self.rows, penalties.ratio
        if "_spectral" in self.__dict__ or ratio == 0.0:
            kernel = self._labelled_kernel(ratio)
            factor = None
        else:
            # One ratio only: a factorisation is much cheaper than all eigenvectors.
            X = rows.labelled_points
            D = self._system.derivatives_at(X, slice(None))
            Q = self._system.full_gram()
            Q.flat[:: len(Q) + 1] += 1.0 / ratio
            factor = cho_factor(Q, overwrite_a=True, check_finite=False)
            kernel = self.plan.kernel.matrix(X, X) - D @ cho_solve(factor, D.T, check_finite=False)
        fitter = KernelFitter(SquaredLoss(), rows.y, rows.label_weights, penalties.alpha, "direct")
        fit = fitter(DenseKernel(kernel))
        b = np.zeros((len(rows.y), len(rows.points) * self._system.n_directions))
        if factor is not None:
            b = -cho_solve(factor, D.T @ fit.dual.T, check_finite=False).T
        elif ratio > 0.0:
            values, vectors = self._spectral
            inner = (fit.dual @ self._labelled[1]) * (ratio / (1.0 + ratio * values))
            b = -inner @ vectors.T
        shaped = b.reshape(len(b), len(rows.points), -1)
        function = atoms_of(rows, self._system, fit.dual, shaped, fit.intercept)
        return Learned(function, penalties, 2.0 * fit.value)

    def _labelled_kernel(self, ratio: float) -> FloatArray:
        if ratio == 0.0:
            X = self.rows.labelled_points
            return self.plan.kernel.matrix(X, X)
        return self._deformed(*self._labelled, ratio)
