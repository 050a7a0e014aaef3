"""The Lasso on random features: Algorithms 2 and 5."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.fits.mixture import AlphaMixture
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import Choice, FeatureFunction, Learned, Setting, best_of
from kernlens.methods.rkhs_weightings.solvers.lasso_path import LassoProblem
from kernlens.methods.rkhs_weightings.solvers.solver import ALPHAS, WeightingSolver, log_norms


class SparseLeastSquares(WeightingSolver):
    """Few features, by an l1 penalty on their coefficients."""

    alphas = tuple(10.0 ** np.arange(0.0, -4.5, -0.5))

    def losses(
        self, candidate: AnyInstantiation, rows: CanonicalRows, alphas: tuple[float, ...]
    ) -> list[float]:
        """Loss of least squares: which instantiation hardly depends on how it is regularised."""
        spectrum, _ = self._spectrum_of(candidate, rows)
        best = min(spectrum.loss(alpha * spectrum.unit) for alpha in ALPHAS)
        return [best] * len(alphas)

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Learned:
        """Fit with an instantiation, at the best of some alphas."""
        weighting, W = candidate.weighting(), self._weights(candidate)
        make = FeatureSpace.of_kitchen_sinks if self.plan.kitchen_sinks else FeatureSpace.of_scaled
        space = make(weighting, W)
        log_factor = 0.5 * self._log_factor(candidate, space)
        if self.plan.kitchen_sinks:
            # f = (1/T) sum_t a_t phi_t with lambda |a|_1 / T; the scaled features have T^(-1/2).
            log_factor += 0.5 * float(np.log(len(W)))
        choice = Choice.given(candidate, alphas[0])
        if len(alphas) > 1 and len(self.rows.X) > 1:
            cut = self._cut(len(self.rows.X))
            test, train = self._sum(space, slice(0, cut)), self._sum(space, slice(cut, None))
            system = train.merged(test)
            tried = self._path(candidate, train, test, alphas, log_factor)
            best = best_of(tried)
            # A mixture would not be sparse.
            choice = Choice(best, AlphaMixture.of_one(best.alpha), tuple(tried))
        else:
            system = self._sum(space, slice(None))
        problem = LassoProblem.of(system)
        unit = problem.feature_size
        penalty = self._shift(choice.best.alpha, unit, log_factor)
        c, converged = problem.solve(penalty)
        # One is kept of none, so that there is something to predict zero with.
        kept = np.flatnonzero(np.any(c != 0.0, axis=0))
        kept = kept if len(kept) else np.array([0])
        intercept = system.constant(c)
        squares = np.einsum("ij,jk,ik->i", c[:, kept], weighting.gram(W[kept], W[kept]), c[:, kept])
        if self.plan.kitchen_sinks:
            squares = np.sum(np.square(c), axis=1)
        function = FeatureFunction(
            W[kept],
            c[:, kept] * space.scales[kept],
            intercept,
            log_norms(np.maximum(squares, 0.0), space.log_scale),
        )
        losses = system.mean_losses(c, intercept)
        objective = float(losses.sum() + penalty * np.abs(c).sum())
        learned = self._learned(choice, function, unit, log_factor, objective)
        return learned if converged else replace(learned, status=Status.LASSO)

    def _path(
        self,
        candidate: AnyInstantiation,
        train: RidgeSystem,
        test: RidgeSystem,
        alphas: tuple[float, ...],
        log_factor: float,
    ) -> list[Setting]:
        """Losses on held-out rows, from one path."""
        problem = LassoProblem.of(train)
        penalties = self._shifts(alphas, problem.feature_size, log_factor)
        return [
            Setting(candidate, alpha, float(test.mean_losses(c, train.constant(c)).sum()))
            for alpha, (c, _) in zip(alphas, problem.path(penalties), strict=True)
        ]
