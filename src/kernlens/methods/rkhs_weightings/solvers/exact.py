"""Kernel ridge regression with the implicit kernel: infinitely many features."""

from __future__ import annotations

import numpy as np

from kernlens._rows import CanonicalRows
from kernlens.base.learner import LeftOut
from kernlens.fits.kernel_fit import KernelFitter
from kernlens.linalg.dense_kernel import DenseKernel
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.losses import SquaredLoss
from kernlens.methods.rkhs_weightings.function import KernelFunction
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import Choice, Solution
from kernlens.methods.rkhs_weightings.solvers.solver import (
    WeightingSolver,
    kernel_unit,
    log_norms,
)


class Exact(WeightingSolver):
    """A dense solve for every alpha that is mixed."""

    name = "exact"
    draws = False

    _spectrum: RidgeSpectrum | None = None

    @classmethod
    def n_bytes(cls, n_samples: int, n_inputs: int, n_weights: int) -> float:
        """Memory of a fit, the formula of the documentation."""
        return 8.0 * (4.0 * n_samples * n_inputs + 4.0 * float(n_samples) ** 2)

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Solution:
        """Fit with an instantiation, at the best of some alphas, or mixed. O(n^2 d + n^3)."""
        log_factor = candidate.log_unit(self.plan.kernel_penalty)
        choice = Choice.given(candidate, alphas[0])
        rows = self.rows
        X = rows.X.astype(np.float64, copy=False)
        if len(alphas) > 1:
            part = rows.take(slice(0, self.plan.limits.leave_one_out))
            self._spectrum, _ = self._spectrum_of(candidate, part)
            choice = self._choice_by_single_rows(candidate, alphas, self._spectrum, log_factor)
        K = candidate.kernel(self.plan.kernel_penalty).matrix(X, X)
        intercept = self.plan.intercept
        unit = kernel_unit(K, rows.weights, intercept)

        def fitter(alpha: float) -> KernelFitter:
            shift = self._shift(alpha, unit, log_factor)
            return KernelFitter(SquaredLoss(), rows.y, rows.weights, shift, "direct", intercept)

        mixture = choice.mixture
        fits = [fitter(alpha)(DenseKernel(K)) for alpha in mixture.alphas]
        dual = mixture.mean([fit.dual for fit in fits])
        kernel_dual = mixture.mean([fit.kernel_dual for fit in fits])
        constant = mixture.mean([fit.intercept for fit in fits])
        squares = np.maximum(np.sum(dual * kernel_dual, axis=1), 0.0)
        function = KernelFunction(
            candidate, X, dual, constant, log_norms(squares, 0.0), self.plan.kernel_penalty
        )
        # The fitter has factors of one half in both parts.
        objective = 2.0 * fitter(choice.best.alpha).objective(dual, constant, kernel_dual)
        return Solution(
            choice.best,
            choice.mixture,
            function,
            self._log_unit(unit, log_factor),
            objective,
            history=(objective,),
            tried=choice.tried,
        )

    def left_out(self, solution: Solution) -> LeftOut:
        """Predictions of some rows by fits without them.

        One of repeated rows is left out, or as much as rows of small weight have.
        """
        candidate = solution.setting.instantiation
        part = self.rows.take(slice(0, self.plan.limits.leave_one_out))
        spectrum = self._spectrum
        if spectrum is None:
            spectrum, _ = self._spectrum_of(candidate, part)
        log_factor = candidate.log_unit(self.plan.kernel_penalty)
        mixture, small = solution.mixture, self._small_weights[: len(part.X)]
        shifts = self._shifts(mixture.alphas, spectrum.unit, log_factor)
        decision = mixture.mean([spectrum.predictions(shift, small) for shift in shifts])
        return LeftOut(decision, part.y, part.weights)

    def _spectrum_of(
        self, candidate: AnyInstantiation, rows: CanonicalRows
    ) -> tuple[RidgeSpectrum, float]:
        X = rows.X.astype(np.float64, copy=False)
        K = candidate.kernel(self.plan.kernel_penalty).matrix(X, X)
        log_factor = candidate.log_unit(self.plan.kernel_penalty)
        spectrum = RidgeSpectrum.of_kernel(K, rows.y, rows.weights, self.plan.intercept)
        return spectrum, log_factor
