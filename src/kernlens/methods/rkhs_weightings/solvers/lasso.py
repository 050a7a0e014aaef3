"""The Lasso on random features: Algorithms 2 and 5."""

from __future__ import annotations

import numpy as np

from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.learner import LeftOut
from kernlens.fits.mixture import AlphaMixture
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import Choice, Setting, Solution, best_of
from kernlens.methods.rkhs_weightings.solvers.lasso_path import LassoProblem
from kernlens.methods.rkhs_weightings.solvers.solver import ALPHAS, WeightingSolver, log_norms

#: The sums keep the digits that a ridge of this size, relative to the features, needs.
SMALLEST = 1.0


class SparseLeastSquares(WeightingSolver):
    """Few features, by an l1 penalty on their coefficients."""

    name = "lasso"
    alphas = tuple(10.0 ** np.arange(0.0, -4.5, -0.5))
    penalties = ("rkhs",)
    tells_alphas_apart = False
    sums_blocks = True

    @property
    def mixes(self) -> bool:
        """A mixture would not be sparse."""
        return False

    def losses(
        self, candidate: AnyInstantiation, rows: CanonicalRows, alphas: tuple[float, ...]
    ) -> list[float]:
        """Loss of least squares: which instantiation hardly depends on how it is regularised."""
        spectrum, _ = self._spectrum_of(candidate, rows)
        best = min(spectrum.loss(alpha * spectrum.unit) for alpha in ALPHAS)
        return [best] * len(alphas)

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Solution:
        """Fit with an instantiation, at the best of some alphas."""
        space = self._scaled_space(candidate)
        if len(alphas) > 1 and len(self.rows.X) > 1:
            cut = self._cut(len(self.rows.X))
            test, train = self._sum(space, slice(0, cut)), self._sum(space, slice(cut, None))
            return self._solve_best(space, candidate, alphas, train, test)
        choice = Choice.given(candidate, alphas[0])
        return self._solve(space, choice, self._sum(space, slice(None)))

    def fit_all(self, table: FitTable, solution: Solution, alphas: tuple[float, ...]) -> Solution:
        """Fit all rows of a table with the instantiation found, at the best of some alphas."""
        candidate = solution.setting.instantiation
        space = self._scaled_space(candidate)
        if len(alphas) > 1:
            train, test = self._systems_of(table, space, SMALLEST)
            return self._solve_best(space, candidate, alphas, train, test)
        system = space.system_of_table(table.table, self.plan.intercept, SMALLEST)
        assert system is not None
        return self._solve(space, Choice.given(candidate, alphas[0]), system)

    def _solve_best(
        self,
        space: FeatureSpace,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        train: RidgeSystem,
        test: RidgeSystem,
    ) -> Solution:
        """The solution of all rows at the alpha that is best for those held out."""
        tried = self._path(candidate, train, test, alphas, self._log_size(candidate, space))
        best = best_of(tried)
        choice = Choice(best, AlphaMixture.of_one(best.alpha), tuple(tried))
        return self._solve(space, choice, train.merged(test))

    def _scaled_space(self, candidate: AnyInstantiation) -> FeatureSpace:
        make = FeatureSpace.of_kitchen_sinks if self.plan.kitchen_sinks else FeatureSpace.of_scaled
        return make(candidate.weighting(), self._weights(candidate))

    def _log_size(self, candidate: AnyInstantiation, space: FeatureSpace) -> float:
        """Logarithm of the paper's unit of alpha."""
        log_factor = 0.5 * self._log_factor(candidate, space)
        if self.plan.kitchen_sinks:
            # f = (1/T) sum_t a_t phi_t with lambda |a|_1 / T; the scaled features have T^(-1/2).
            log_factor += 0.5 * float(np.log(len(space.kept)))
        return log_factor

    def _solve(self, space: FeatureSpace, choice: Choice, system: RidgeSystem) -> Solution:
        """The solution with all rows."""
        candidate = choice.best.instantiation
        weighting, W = candidate.weighting(), self._weights(candidate)
        log_factor = self._log_size(candidate, space)
        problem = LassoProblem.of(system)
        unit = problem.feature_size
        penalty = self._shift(choice.best.alpha, unit, log_factor)
        c, converged = problem.solve(penalty)
        # A function without a feature has one of coefficient zero.
        kept = np.flatnonzero(np.any(c != 0.0, axis=0))
        kept = kept if len(kept) else np.array([0])
        intercept = system.constant(c)
        squares = np.einsum("ij,jk,ik->i", c[:, kept], weighting.gram(W[kept], W[kept]), c[:, kept])
        if self.plan.kitchen_sinks:
            squares = np.sum(np.square(c), axis=1)
        function = self._function(
            candidate,
            W[kept],
            c[:, kept] * space.scales[kept],
            intercept,
            log_norms(np.maximum(squares, 0.0), space.log_scale),
        )
        losses = system.mean_losses(c, intercept)
        objective = float(losses.sum() + penalty * np.abs(c).sum())
        return Solution(
            choice.best,
            choice.mixture,
            function,
            self._log_unit(unit, log_factor),
            objective,
            Status.CONVERGED if converged else Status.LASSO,
            history=(objective,),
            tried=choice.tried,
        )

    def left_out(self, solution: Solution) -> LeftOut:
        """Predictions of a fifth of the rows by a fit without it."""
        return self._left_out_of_one_fit(solution)

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
