"""Least squares on random features: Algorithms 1 and 4."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.block_data import FitTable
from kernlens.base.learner import LeftOut
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.methods.rkhs_weightings.feature_space import (
    LARGEST_SINGLE,
    FeatureSpace,
    fits_single_precision,
)
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import Choice, Setting, Solution
from kernlens.methods.rkhs_weightings.solvers.solver import (
    WeightingSolver,
    feature_unit,
    log_norms,
)

#: Sums of products in single precision have errors of about 1e-7 of the largest: they are good
#: enough for alphas from here on, and penalties of up to this condition number.
SINGLE_ALPHA = 1e-5
SINGLE_CONDITION = 1e4
SAMPLE_ROWS = 200


@dataclass(frozen=True, kw_only=True)
class SystemSolution(Solution):
    """A solution with the normal equations that it solves.

    Attributes
    ----------
    space : FeatureSpace
        Features.
    system : RidgeSystem
        Their normal equations.
    shifts : tuple of float
        Regularisations of the alphas that are mixed, in units of the features.
    """

    space: FeatureSpace
    system: RidgeSystem
    shifts: tuple[float, ...]


class LeastSquares(WeightingSolver):
    """Ridge regression in coordinates where the penalty is the Euclidean norm."""

    name = "least_squares"
    streams = True
    sums_blocks = True

    @property
    def compares_kinds_on_all_rows(self) -> bool:
        """Whether rows held out of many decide among the best instantiations of every kind."""
        return len(self.rows.X) > self.plan.limits.leave_one_out

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> SystemSolution:
        """Fit with an instantiation, at the best of some alphas, or mixed."""
        space = self._space(candidate)
        if len(alphas) > 1 and self.compares_kinds_on_all_rows:
            cut = self._cut(len(self.rows.X))
            test, train = (
                self._summed(candidate, space, part, alphas)
                for part in (slice(0, cut), slice(cut, None))
            )
            choice = self._choice_by_part(candidate, space, alphas, train, test)
            return self._solve(space, choice, train.merged(test))
        choice = Choice.given(candidate, alphas[0])
        if len(alphas) > 1:
            spectrum, log_factor = self._spectrum_of(candidate, self.rows)
            choice = self._choice_by_single_rows(candidate, alphas, spectrum, log_factor)
        return self._solve(space, choice, self._summed(candidate, space, slice(None), alphas))

    def fit_all(
        self, table: FitTable, solution: Solution, alphas: tuple[float, ...]
    ) -> SystemSolution:
        """Fit all rows of a table with the instantiation found, at the best of some alphas."""
        candidate = solution.setting.instantiation
        space = self._space(candidate)
        smallest = self._smallest(candidate, space, alphas)
        if len(alphas) > 1:
            train, test = self._systems_of(table, space, smallest)
            choice = self._choice_by_part(candidate, space, alphas, train, test)
            return self._solve(space, choice, train.merged(test))
        system = space.system_of_table(table.table, self.plan.intercept, smallest)
        assert system is not None
        return self._solve(space, Choice.given(candidate, alphas[0]), system)

    def learn_batch(
        self,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        sums: dict[str, Any] | None,
    ) -> SystemSolution:
        """Add the rows to the normal equations; with several alphas a share of them chooses."""
        space = self._space(candidate)
        parts = {"train": slice(None)}
        if len(alphas) > 1:
            cut = self._cut(len(self.rows.X))
            parts = {"test": slice(0, cut), "train": slice(cut, None)}
        # What was held out before stays, also if there is nothing to choose now.
        systems = {name: RidgeSystem(**arrays) for name, arrays in (sums or {}).items()}
        for name, part in parts.items():
            if len(self.rows.X[part]):
                system = self._summed(candidate, space, part, alphas)
                systems[name] = system.merged(systems[name]) if name in systems else system
        train, test = systems.get("train"), systems.get("test")
        choice = Choice.given(candidate, alphas[0])
        if train is not None and test is not None and len(alphas) > 1:
            choice = self._choice_by_part(candidate, space, alphas, train, test)
        together = reduce(RidgeSystem.merged, (one for one in (train, test) if one is not None))
        solution = self._solve(space, choice, together)
        kept = {name: system.arrays() for name, system in systems.items()}
        return replace(solution, sums=kept)

    def left_out(self, solution: Solution) -> LeftOut:
        """Predictions of some rows by fits without them.

        One of repeated rows is left out, or as much as rows of small weight have.
        """
        assert isinstance(solution, SystemSolution)
        part = self.rows.take(slice(0, self.plan.limits.leave_one_out))
        P = solution.space.matrix(part.X).astype(np.float64, copy=False)
        left = np.minimum(part.weights, self._small_weights[: len(part.X)])
        predictions = [
            solution.system.left_out(P, part.y, left, shift) for shift in solution.shifts
        ]
        return LeftOut(solution.mixture.mean(predictions), part.y, part.weights)

    def _summed(
        self,
        candidate: AnyInstantiation,
        space: FeatureSpace,
        part: slice,
        alphas: tuple[float, ...],
    ) -> RidgeSystem:
        """Normal equations of some rows, with the digits that the alphas need."""
        smallest = self._smallest(candidate, space, alphas)
        return self._sum(space, part, self._precision(space, alphas), smallest)

    def _smallest(
        self, candidate: AnyInstantiation, space: FeatureSpace, alphas: tuple[float, ...]
    ) -> float:
        """The smallest regularisation, relative to the features."""
        if not self.plan.paper_units:
            return min(alphas)
        # In units of the features, which a few rows tell.
        P = space.matrix(self.rows.X[:SAMPLE_ROWS].astype(np.float64, copy=False))
        unit = float(np.square(P).sum(axis=1).mean()) or 1.0
        return self._shift(min(alphas), unit, self._log_factor(candidate, space)) / unit

    def _precision(self, space: FeatureSpace, alphas: tuple[float, ...]) -> type[np.floating]:
        """Single if the rows are, and if neither alpha nor the penalty asks for more digits."""
        enough = min(alphas) >= SINGLE_ALPHA and space.condition <= SINGLE_CONDITION
        ordinary = fits_single_precision(self.rows.X) and np.abs(self.rows.y).max() < LARGEST_SINGLE
        if ordinary and enough and not self.plan.paper_units:
            return np.float32
        return np.float64

    def _choice_by_part(
        self,
        candidate: AnyInstantiation,
        space: FeatureSpace,
        alphas: tuple[float, ...],
        train: RidgeSystem,
        test: RidgeSystem,
    ) -> Choice:
        """Choose among the alphas by the errors on rows held out of the sums."""
        unit, log_factor = feature_unit(train), self._log_factor(candidate, space)
        shifts = self._shifts(alphas, unit, log_factor)
        solutions = dict(zip(alphas, train.solve_along(shifts), strict=True))
        tried = [
            Setting(candidate, alpha, float(test.mean_losses(*solution).sum()))
            for alpha, solution in solutions.items()
        ]

        def products(some: tuple[float, ...]) -> FloatArray:
            b = np.array([solutions[alpha][0] for alpha in some])
            constant = np.array([solutions[alpha][1] for alpha in some])
            summed: FloatArray = test.error_products(b, constant).sum(axis=0)
            return summed

        return self._choice(tried, products)

    def _solve(self, space: FeatureSpace, choice: Choice, system: RidgeSystem) -> SystemSolution:
        """The solution with all rows."""
        candidate, mixture = choice.best.instantiation, choice.mixture
        unit, log_factor = feature_unit(system), self._log_factor(candidate, space)
        shifts = self._shifts(mixture.alphas, unit, log_factor)
        b = mixture.mean([system.solve(shift)[0] for shift in shifts])
        intercept = system.constant(b)
        squares = np.sum(np.square(b), axis=1)
        function = self._function(
            candidate,
            self._weights(candidate)[space.kept],
            space.coefficients(b),
            intercept,
            log_norms(squares, space.log_scale),
        )
        penalty = self._shift(choice.best.alpha, unit, log_factor) * squares.sum()
        objective = float(system.mean_losses(b, intercept).sum() + penalty)
        return SystemSolution(
            choice.best,
            choice.mixture,
            function,
            self._log_unit(unit, log_factor),
            objective,
            history=(objective,),
            tried=choice.tried,
            space=space,
            system=system,
            shifts=tuple(shifts),
        )
