"""Solve exactly, with an atom for every value and every derivative, by dense matrices.

With Q = V diag(q) V^T the deformed kernel of the labelled rows is

    K_LL - D (Q + (alpha / mu) I)^{-1} D^T = K_LL - (D V) diag(ratio / (1 + ratio q)) (D V)^T

for every ratio mu / alpha: the Schur complement of the system, factored once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve, eigh

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens.fits.kernel_fit import KernelFitter
from kernlens.linalg.dense_kernel import DenseKernel
from kernlens.linalg.raised_cholesky import raised_cholesky
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.losses import SquaredLoss
from kernlens.methods.kernel_laplacian.derivative_system import DerivativeSystem
from kernlens.methods.kernel_laplacian.function import AtomFunction
from kernlens.methods.kernel_laplacian.plan import (
    SMALLEST_RATIO,
    LabeledPoints,
    Penalties,
    Solution,
)
from kernlens.methods.kernel_laplacian.rows_left_out import RowsLeftOut
from kernlens.methods.kernel_laplacian.solvers.solver import (
    LEAVE_ONE_OUT_ROWS,
    SAMPLE,
    LaplacianSolver,
)

#: From coefficients a (t, n_labeled) of values to those of derivatives, (t, n r).
_Derivatives = Callable[[FloatArray], FloatArray]


def derivative_system(solver: LaplacianSolver) -> DerivativeSystem:
    """The derivatives at all points, weighted by their shares."""
    rows = solver.rows
    roots = np.sqrt(rows.weights / rows.weights.sum())
    frames = roots
    if solver.frames is not None:
        frames = solver.frames.take(slice(None)) * roots[:, None, None]
    return DerivativeSystem(solver.plan.kernel, rows.points, frames, solver.n_jobs)


def atoms_of(
    rows: LabeledPoints, system: DerivativeSystem, a: FloatArray, b: FloatArray, c: FloatArray
) -> AtomFunction:
    """The functions with coefficients a (t, n_labeled), b (t, n, r) and intercepts c (t,)."""
    return AtomFunction(
        coefficients=rows.on_points(a),
        intercept=c,
        kernel=system.kernel,
        centers=rows.points,
        slopes=system.spread(b),
    )


class ExactSolver(LaplacianSolver):
    """Dense Schur complement; O((n r)^3), and (n r)^2 numbers held."""

    @lazy
    def _system(self) -> DerivativeSystem:
        return derivative_system(self)

    @lazy
    def _spectral(self) -> tuple[FloatArray, FloatArray]:
        """The eigenvalues q and the eigenvectors V of the Gram matrix Q of all derivatives."""
        values, vectors = eigh(self._system.full_gram(), overwrite_a=True, check_finite=False)
        # By rows, because the rows of points are looked at.
        return np.maximum(values, 0.0), np.ascontiguousarray(vectors)

    def _rotated(self, X: FloatArray) -> FloatArray:
        """``D V`` of points, (n_x, n r)."""
        rotated: FloatArray = self._system.derivatives_at(X, slice(None)) @ self._spectral[1]
        return rotated

    @lazy
    def _sample(self) -> tuple[FloatArray, FloatArray]:
        X = self.rows.points[:SAMPLE]
        return self.plan.kernel.matrix(X, X), self._rotated(X)

    @lazy
    def _labeled(self) -> tuple[FloatArray, FloatArray]:
        X = self.rows.labeled_points
        return self.plan.kernel.matrix(X, X), self._rotated(X)

    def _deformed(self, K: FloatArray, rotated: FloatArray, ratio: float) -> FloatArray:
        damped = rotated * np.sqrt(ratio / (1.0 + ratio * self._spectral[0]))
        return K - damped @ damped.T

    def sample_kernel(self, ratio: float) -> FloatArray:
        return self._deformed(*self._sample, ratio)

    def spectrum(self, ratio: float) -> RidgeSpectrum:
        part = self.rows.with_labels(slice(0, LEAVE_ONE_OUT_ROWS))
        K, rotated = self._labeled
        n = len(part.labeled)
        kernel = self._deformed(K[:n, :n], rotated[:n], ratio)
        return RidgeSpectrum.of_kernel(kernel, part.y, part.label_weights)

    def rows_left_out(self, ratio: float, spectrum: RidgeSpectrum) -> RowsLeftOut:
        values, vectors = self._spectral
        rotated = self._labeled[1][: len(spectrum.weights)]
        root = 1.0 / np.sqrt(1.0 + ratio * values)
        weighted = rotated * root
        r = self._system.n_directions
        of_points = vectors.reshape(len(self.rows.points), r, -1)

        def derivatives(rows: slice) -> tuple[FloatArray, FloatArray]:
            own = of_points[self.rows.labeled[rows]] * root
            cross = weighted @ own.reshape(-1, len(values)).T
            # I - ratio k_dd is (I + ratio Q)^{-1}, without a difference.
            return cross.reshape(len(rotated), -1, r), own @ own.transpose(0, 2, 1)

        return RowsLeftOut(spectrum, derivatives, self._shares, ratio, len(rotated), r)

    @staticmethod
    def numbers_held(n_atoms: float) -> float:
        """The Gram matrix of all atoms, its eigenvectors, and what LAPACK needs for them."""
        return 4.0 * n_atoms**2

    def fit(self, penalties: Penalties, *, searched: bool = False) -> Solution:
        """Solve with the deformed kernel for a, then b = -(Q + alpha / mu)^{-1} D^T a.

        After a search there are eigenvectors for all ratios; for a single one a factorisation is
        much cheaper.
        """
        rows, ratio = self.rows, penalties.ratio
        if ratio == 0.0:
            kernel, derivatives = self._without_gradients()
        elif searched:
            kernel, derivatives = self._by_eigenvectors(ratio)
        else:
            kernel, derivatives = self._by_factorization(ratio)
        fitter = KernelFitter(SquaredLoss(), rows.y, rows.label_weights, penalties.alpha, "direct")
        fit = fitter(DenseKernel(kernel))
        b = derivatives(fit.dual).reshape(len(rows.y), len(rows.points), -1)
        function = atoms_of(rows, self._system, fit.dual, b, fit.intercept)
        return Solution(function, 2.0 * fit.value)

    def _without_gradients(self) -> tuple[FloatArray, _Derivatives]:
        X = self.rows.labeled_points
        n_derivatives = len(self.rows.points) * self._system.n_directions
        return self.plan.kernel.matrix(X, X), lambda a: np.zeros((len(a), n_derivatives))

    def _by_eigenvectors(self, ratio: float) -> tuple[FloatArray, _Derivatives]:
        values, vectors = self._spectral
        K, rotated = self._labeled

        def derivatives(a: FloatArray) -> FloatArray:
            inner = (a @ rotated) * (ratio / (1.0 + ratio * values))
            b: FloatArray = -inner @ vectors.T
            return b

        return self._deformed(K, rotated, ratio), derivatives

    def _by_factorization(self, ratio: float) -> tuple[FloatArray, _Derivatives]:
        X = self.rows.labeled_points
        D = self._system.derivatives_at(X, slice(None))
        Q = self._system.full_gram()
        shift = 1.0 / max(ratio, SMALLEST_RATIO)
        # Where the ratio is huge, the shift is below rounding and is raised to it.
        rounding = np.finfo(np.float64).eps * float(np.trace(Q))
        factor = raised_cholesky(Q, shift, rounding)[0], False

        def derivatives(a: FloatArray) -> FloatArray:
            b: FloatArray = -cho_solve(factor, D.T @ a.T, check_finite=False).T
            return b

        K = self.plan.kernel.matrix(X, X)
        return K - D @ cho_solve(factor, D.T, check_finite=False), derivatives
