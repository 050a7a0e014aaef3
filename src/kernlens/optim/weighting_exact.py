"""Kernel ridge regression with the implicit kernel: infinitely many features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernlens._rows import CanonicalRows
from kernlens.linalg.dense_kernel import DenseKernel
from kernlens.losses import SquaredLoss
from kernlens.optim.instantiations import AnyInstantiation
from kernlens.optim.kernel_fit import KernelFitter
from kernlens.optim.leave_one_out import RidgeSpectrum
from kernlens.optim.weighting_plan import DualFunction, Learned, Setting, best_of
from kernlens.optim.weighting_solver import (
    LEAVE_ONE_OUT_ROWS,
    WeightingSolver,
    kernel_unit,
    log_norms,
    small_weight,
)

FloatArray = NDArray[np.floating]


class Exact(WeightingSolver):
    """One dense solve."""

    _spectrum: RidgeSpectrum | None = None

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Learned:
        """Fit with an instantiation, at the best of some alphas. O(n^2 d + n^3)."""
        log_factor = candidate.log_unit(self.plan.kernel_penalty)
        tried: list[Setting] = []
        rows = self.rows
        X = rows.X.astype(np.float64, copy=False)
        if len(alphas) > 1:
            part = rows.take(slice(0, LEAVE_ONE_OUT_ROWS))
            self._spectrum, _ = self._spectrum_of(candidate, part)
            tried = self._along(candidate, alphas, self._spectrum, log_factor)
        best = best_of(tried) if tried else Setting(candidate, alphas[0])
        K = candidate.kernel(self.plan.kernel_penalty).matrix(X, X)
        intercept = self.plan.intercept
        unit = kernel_unit(K, rows.weights, intercept)
        shift = self._shift(best.alpha, unit, log_factor)
        fitter = KernelFitter(SquaredLoss(), rows.y, rows.weights, shift, "direct", intercept)
        fit = fitter(DenseKernel(K))
        squares = np.maximum(np.sum(fit.dual * fit.kernel_dual, axis=1), 0.0)
        function = DualFunction(X, fit.dual, fit.intercept, log_norms(squares, 0.0))
        return self._learned(best, function, unit, log_factor, 2.0 * fit.value, tried)

    def left_out(self, learned: Learned) -> tuple[FloatArray, CanonicalRows]:
        """Predictions of some rows by fits without them, and the rows.

        Of repeated rows one is left out, or as much as rows of small weight have.
        """
        candidate = learned.setting.instantiation
        part = self.rows.take(slice(0, LEAVE_ONE_OUT_ROWS))
        spectrum = self._spectrum
        if spectrum is None:
            spectrum, _ = self._spectrum_of(candidate, part)
        log_factor = candidate.log_unit(self.plan.kernel_penalty)
        shift = self._shift(learned.setting.alpha, spectrum.unit, log_factor)
        return spectrum.predictions(shift, small_weight(self.rows.weights)), part

    def _spectrum_of(
        self, candidate: AnyInstantiation, rows: CanonicalRows
    ) -> tuple[RidgeSpectrum, float]:
        X = rows.X.astype(np.float64, copy=False)
        K = candidate.kernel(self.plan.kernel_penalty).matrix(X, X)
        log_factor = candidate.log_unit(self.plan.kernel_penalty)
        spectrum = RidgeSpectrum.of_kernel(K, rows.y, rows.weights, self.plan.intercept)
        return spectrum, log_factor
