"""Fit of an RKHS weighting or of random kitchen sinks: choice of the setting, then the function."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray, IntArray
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.methods.rkhs_weightings.function import WeightedFunction
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import (
    LearnedWeighting,
    Setting,
    Solution,
    WeightingPlan,
    best_of,
)
from kernlens.methods.rkhs_weightings.solvers import SOLVERS, WeightingSolver
from kernlens.subspace import average_outer_product, leading_directions

#: Rougher instantiations than the best one on few rows that go on to all rows.
N_ROUGHER = 2
#: Rows that gradients are averaged over.
GRADIENT_ROWS = 1000


@dataclass
class WeightingLearner(Learner[LearnedWeighting]):
    """One fit, and what it has found so far.

    Attributes
    ----------
    plan : WeightingPlan
    rows : CanonicalRows
        Standardised, X with the column of the bias.
    n_jobs : int or None
        Threads.
    stage : callable or None
        Name of a stage -> callback of its iterations.
    """

    plan: WeightingPlan
    rows: CanonicalRows
    n_jobs: int | None = None
    stage: Stage | None = None
    solver: WeightingSolver = field(init=False)
    _tried: list[Setting] = field(default_factory=list, init=False)
    _searching: bool = field(default=True, init=False)
    _interrupted: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        make = SOLVERS[self.plan.solver]
        self.solver = make(self.plan, self.rows, self.n_jobs, self.stage)

    def learn(self) -> LearnedWeighting:
        """Choose the setting if there is a choice, and fit."""
        self._search()
        return self._finish(self._solve())

    def finish_interrupted(self) -> LearnedWeighting:
        """Fit with the best setting so far, or keep what the fit has reached."""
        self._interrupted = True
        if not self._searching:
            return self._finish(self._with_search(self.solver.finish_interrupted()))
        if not self._tried:
            raise KeyboardInterrupt
        return self._finish(self._solve())

    def fit_all(self, table: FitTable, learned: LearnedWeighting) -> LearnedWeighting:
        """Sum the normal equations over all rows, and choose alpha again."""
        before = learned.solution
        solution = self.solver.fit_all(table, before, self._alphas)
        if not solution.tried:
            # Where alpha is given, the sample has chosen the instantiation.
            solution = replace(solution, setting=before.setting, tried=before.tried)
        return self._finish(solution)

    def left_out(self, learned: LearnedWeighting) -> LeftOut:
        """Predictions of some rows by fits without them."""
        return self.solver.left_out(learned.solution)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedWeighting
    ) -> Directions:
        """Directions of a function learned on other rows, with the chosen setting."""
        setting = learned.solution.setting
        alphas = self.plan.alphas if self.plan.mixed else (setting.alpha,)
        plan = replace(
            self.plan, candidates=(setting.instantiation,), alphas=alphas, batch=False, sums=None
        )
        return WeightingLearner(plan, rows, self.n_jobs).learn().directions

    # The search

    @property
    def _alphas(self) -> tuple[float, ...]:
        return self.solver.alphas if self.plan.alphas is None else self.plan.alphas

    def _search(self) -> None:
        """Loss of every setting on rows left out of the first ones, if there is a choice."""
        candidates, alphas, solver = self.plan.candidates, self._alphas, self.solver
        chosen_by_fit = solver.mixes or not solver.chooses_alpha_in_search
        if len(candidates) == 1 and (len(alphas) == 1 or chosen_by_fit):
            return
        part = self.rows.take(slice(0, self.plan.limits.search))
        report = self.stage("choosing") if self.stage is not None else None
        for number, candidate in enumerate(candidates):
            losses = solver.losses(candidate, part, alphas)
            self._tried += [
                Setting(candidate, alpha, loss) for alpha, loss in zip(alphas, losses, strict=True)
            ]
            if report is not None:
                report(number, min(losses))

    def _remaining(self) -> tuple[float, ...]:
        """Alphas that the fit is still to choose from, or to mix."""
        solver = self.solver
        stopped = self._interrupted and solver.tells_alphas_apart
        chosen = solver.chooses_alpha_in_search and not solver.mixes
        if self._tried and (stopped or chosen):
            return (best_of(self._tried).alpha,)
        return self._alphas

    def _finalists(self) -> list[AnyInstantiation]:
        """The instantiations that are fitted on all rows.

        Few rows cannot tell how rough a function many of them allow. Where all are summed up and
        some held out of the sums, these decide among the best of every kind, and rougher ones of
        the best kind, which have a larger correlation.
        """
        if not self._tried:
            return [self.plan.candidates[0]]
        best = best_of(self._tried).instantiation
        several = self.solver.compares_kinds_on_all_rows and len(self._alphas) > 1
        if not several or self._interrupted:
            return [best]
        ordered = [one.instantiation for one in sorted(self._tried, key=lambda one: one.loss)]
        kinds = {one.name: one for one in reversed(ordered)} | {best.name: best}
        rougher = {
            one.correlation: one
            for one in ordered
            if one.name == best.name and one.correlation > best.correlation
        }
        return [*kinds.values(), *(rougher[r] for r in sorted(rougher)[:N_ROUGHER])]

    # The fit

    def _solve(self) -> Solution:
        """Fit what the search has left to compare on all rows, and take the best."""
        alphas, finalists = self._remaining(), self._finalists()
        self._searching = False
        fits = [self.solver.fit(one, alphas) for one in finalists]
        solution = fits[0]
        if len(fits) > 1:
            solution = min(fits, key=lambda fit: fit.setting.loss)
            solution = replace(solution, tried=tuple(one for fit in fits for one in fit.tried))
        return self._with_search(solution)

    def _with_search(self, solution: Solution) -> Solution:
        """Add what the search has compared, unless the fit has compared on other rows since."""
        if self._tried and self.solver.chooses_alpha_in_search:
            # The fit has seen a part of what the search has.
            return replace(solution, setting=best_of(self._tried), tried=tuple(self._tried))
        return solution if solution.tried else replace(solution, tried=tuple(self._tried))

    def _finish(self, solution: Solution) -> LearnedWeighting:
        function = solution.function.for_precision_of(self.rows.X)
        return LearnedWeighting(
            function=function,
            directions=self._directions(function),
            alpha=solution.setting.alpha,
            objective=solution.objective,
            history=solution.history,
            n_iter=solution.n_iter,
            status=Status.INTERRUPTED if self._interrupted else solution.status,
            search=self._record(solution),
            solution=solution,
        )

    def _record(self, solution: Solution) -> SearchRecord | None:
        tried, chosen = solution.tried, solution.setting
        if not tried:
            return None
        place = next(
            place
            for place, one in enumerate(tried)
            if one.instantiation is chosen.instantiation and one.alpha == chosen.alpha
        )
        axes: dict[str, NDArray[Any]] = {
            "alpha": np.array([one.alpha for one in tried]),
            "instantiation": np.array([one.instantiation.name for one in tried]),
        }
        notes: dict[str, NDArray[Any]] = {}
        if not self.plan.kitchen_sinks:
            correlations = np.array([one.instantiation.correlation for one in tried])
            # That of a user's own instantiation is not a number.
            known = bool(np.all(np.isfinite(correlations)))
            (axes if known else notes)["correlation"] = correlations
        return SearchRecord(axes, np.array([one.loss for one in tried]), place, notes)

    def _directions(self, function: WeightedFunction) -> Directions:
        """Directions from the average outer product of gradients."""
        rows = self.rows.take(slice(0, GRADIENT_ROWS))
        X = rows.X.astype(np.float64, copy=False)
        n_inputs = X.shape[1]
        n_columns = n_inputs if self.plan.n_columns is None else self.plan.n_columns
        if n_columns == 0:
            # Without a column that varies any direction does.
            return Directions(np.eye(1, n_inputs), np.zeros(1), np.zeros(n_inputs))
        # Several targets count alike: they have unit variance here.
        product = average_outer_product(function.smoothed_gradient(X), rows.weights)
        vectors, values = leading_directions(product[:n_columns, :n_columns])
        components = np.zeros((n_columns, n_inputs))
        components[:, :n_columns] = vectors
        return Directions(components, values, _shares(function, X, rows.weights, product))


class BatchLearner(WeightingLearner):
    """Learns from one batch of a stream, on top of what those before have summed up.

    A setting is searched for in the first batch only.
    """

    def _search(self) -> None:
        if self.plan.sums is None:
            super()._search()

    def _solve(self) -> Solution:
        alphas, candidate = self._alphas, self.plan.candidates[0]
        if self._tried:
            best = best_of(self._tried)
            candidate = best.instantiation
            alphas = (best.alpha,) if self.solver.descends else alphas
        self._searching = False
        return self._with_search(self.solver.learn_batch(candidate, alphas, self.plan.sums))

    def _with_search(self, solution: Solution) -> Solution:
        # Where the sums have chosen alpha once more, the search has chosen the instantiation only.
        return solution if solution.tried else super()._with_search(solution)


def _shares(
    function: WeightedFunction, X: FloatArray, weights: FloatArray, product: FloatArray
) -> FloatArray:
    """Importance of every input: the root of its mean squared slope.

    Stumps are functions of single columns, whose spread over the rows says it directly.
    """
    if not function.instantiation.additive:
        return np.sqrt(np.maximum(np.diagonal(product), 0.0))
    values = function.column_functions(X)
    centered = values - np.average(values, axis=1, weights=weights)[:, None]
    spread: FloatArray = np.sqrt(np.average(centered**2, axis=1, weights=weights).sum(axis=0))
    return spread
