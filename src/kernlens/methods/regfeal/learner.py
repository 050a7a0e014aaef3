"""From rows to a fitted RegFeaL: first fit, choice of the setting, learning, last fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._lazy import lazy
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.fit_data import Stage
from kernlens.base.function import FittedFunction
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.fits.held_out import Bounds, Split
from kernlens.methods.regfeal.descent import DescentRule, descend
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.function import PolynomialFunction
from kernlens.methods.regfeal.objective import HermiteObjective, HermitePoint
from kernlens.methods.regfeal.plan import (
    HermitePlan,
    HermiteProblem,
    LearnedHermite,
    Setting,
    Tried,
)
from kernlens.methods.regfeal.search import (
    FIRST_ITER,
    SEARCH_ITER,
    SEARCH_TOL,
    SettingSearch,
    record_of,
    split_nothing,
    winner,
)
from kernlens.optim.lbfgs import Progress

#: Share of the held-out loss of a refit that a shorter descent must take away.
CLEAR_GAIN = 0.1
#: Iterations of descents that may end early, as in the search.
SHORT = (FIRST_ITER, SEARCH_ITER)
#: A descent that somebody else has ended is not gone on with.
ENDED_BY_OTHERS = (Status.INTERRUPTED, Status.STOPPED)
#: Splits that a refit is tuned on where every fit of it takes several Newton steps.
NEWTON_SPLITS = 2
#: Iterations after which directions learned before are compared with new ones.
COMPARE_ITER = 8
#: Share by which learned directions must lower the held-out loss of the best plain fit.
PLAIN_GAIN = 0.05


@dataclass
class HermiteLearner(Learner[LearnedHermite]):
    """Choose a setting, learn directions, fit the function.

    Attributes
    ----------
    problem : HermiteProblem
    rows : CanonicalRows
        All rows, standardised.
    splits : sequence of Split
        Parts of the first of them to learn from and to score on; may be empty.
    bounds : tuple of ndarray of shape (n_targets,), or None
        Bounds of the predictions that are scored.
    stage : callable or None
        Name of a stage -> callback of its iterations.
    """

    problem: HermiteProblem
    rows: CanonicalRows
    splits: Sequence[Split]
    bounds: Bounds | None = None
    stage: Stage | None = None
    _seen: tuple[Setting, WeightedDirections] | None = field(default=None, init=False)

    def learn(self) -> LearnedHermite:
        """Go through all stages."""
        plan = self.plan
        if len(plan.settings) == 1 and plan.refit is None:
            return self._finish(plan.settings[0], self._starts(plan.settings[0]))
        search = self._search
        plain = search.best_plain_setting()
        tried = search.run(plain)
        best = winner(tried)
        if self._may_stay_plain:
            kept = search.try_plain(plain, len(best.directions))
            if best.loss > (1.0 - PLAIN_GAIN) * kept.loss:
                return self._stay_plain(kept, (kept, *tried))
        starts = [*best.directions, *self._starts(best.setting)]
        return self._finish(best.setting, starts, best, tried)

    def fit_all(self, table: FitTable, learned: LearnedHermite) -> LearnedHermite:
        """The same directions and settings, with coefficients from all rows."""
        function = learned.function
        if isinstance(function, PolynomialFunction):
            objective = self.problem.objective(self.rows, learned.setting, last=True)
            return replace(learned, function=objective.fit_all(table, learned.weighted, function))
        refit = self.plan.refit
        assert refit is not None
        return replace(learned, function=refit.fit_all(table, function, learned.tuned))

    def finish_interrupted(self) -> LearnedHermite:
        """The function on the directions that were reached last."""
        plan = self.plan
        first = plan.settings[0], self.problem.equal_directions(self.rows)
        setting, directions = self._seen or first
        learning = self.problem.objective(self._learning_rows, setting).at(directions)
        result = SolveResult(learning, Status.INTERRUPTED, 0, (learning.value,))
        if plan.refit is None or plan.own:
            function = self._last_function(setting, directions)
            return self._learned(setting, directions, function, result)
        splits = self._search_splits[:1]
        tuned = plan.refit.tune(splits, [directions.projection()])
        refitted = plan.refit.fit(self.rows, directions.projection(), tuned)
        return self._learned(setting, directions, refitted, result, tuned=tuned, refitted=True)

    def left_out(self, learned: LearnedHermite) -> LeftOut:
        """Predict every fold with directions learned on the others, at the chosen setting.

        Many rows have folds of the first ones only; rows too few to hold any out have none.
        """
        parts = [self._left_out_of(split, learned) for split in self.splits]
        if parts:
            return LeftOut.joined(parts)
        return LeftOut(np.empty((len(self.rows.y), 0)), self.rows.y[:, :0], np.empty(0))

    @property
    def plan(self) -> HermitePlan:
        """What is asked for."""
        return self.problem.plan

    @lazy
    def _search_splits(self) -> Sequence[Split]:
        return self.splits or split_nothing(self.rows, self.plan.seed)

    @lazy
    def _directions_problem(self) -> HermiteProblem:
        """What directions are learned with: the loss of the search, if there was one to choose."""
        return self.problem.for_search() if len(self.plan.settings) > 1 else self.problem

    @property
    def _search(self) -> SettingSearch:
        return SettingSearch(
            self.problem.for_search(),
            self._search_splits,
            self.bounds,
            self._remember,
            self.stage,
        )

    def _remember(self, setting: Setting, point: HermitePoint) -> None:
        self._seen = setting, point.directions

    @property
    def _may_stay_plain(self) -> bool:
        """Whether directions are to be learned only if they predict better than a plain fit."""
        chosen = len(self.plan.settings) > 1 and self.plan.start is None
        return self.plan.learns_directions and self.plan.own and chosen

    @property
    def _learning_rows(self) -> CanonicalRows:
        return self.rows.take(slice(0, self.plan.learn_rows))

    def _starts(self, setting: Setting) -> list[WeightedDirections]:
        """Where the learning at a setting may start, on the rows it is done on."""
        plan, rows = self.plan, self._learning_rows
        first = plan.start or self._directions_problem.first_directions(rows, setting)
        if plan.previous is None:
            return [first]
        # Directions learned before have a lower objective from the start, but perhaps too few
        # directions: both go some way before they are compared.
        objective = self._directions_problem.objective(rows, setting)
        rule = plan.descent_within(COMPARE_ITER)
        ends = [
            self._descend(objective, setting, start, rule).solution
            for start in (plan.previous, first)
        ]
        return [end.directions for end in ends]

    def _descend(
        self,
        objective: HermiteObjective,
        setting: Setting,
        start: WeightedDirections,
        rule: DescentRule,
        progress: Progress | None = None,
    ) -> SolveResult:
        def remember(point: HermitePoint) -> None:
            self._remember(setting, point)

        return descend(objective, start, rule, progress=progress, watch=remember)

    def _finish(
        self,
        setting: Setting,
        starts: Sequence[WeightedDirections],
        best: Tried | None = None,
        tried: tuple[Tried, ...] = (),
    ) -> LearnedHermite:
        """Learn directions at the chosen setting, from the best start, and fit the function."""
        result = self._learn_directions(setting, starts)
        tuned = n_short = None
        if best is not None and best.refit_is_better:
            tuned = self._tuned(best)
            if result.status not in ENDED_BY_OTHERS:
                result, n_short = self._as_far_as_it_helps(setting, result, best, tuned)
        directions = result.solution.directions.without_small(0.0)
        learned = self._end(setting, directions, result, best, tried, tuned)
        return replace(learned, n_short=n_short)

    def _as_far_as_it_helps(
        self, setting: Setting, end: SolveResult, best: Tried, tuned: Any
    ) -> tuple[SolveResult, int | None]:
        """A descent as short as those of the search, if its map is clearly better to refit.

        The setting was chosen by maps after few iterations. More of them lower the objective, and
        may let go of a direction that the refit needs. All maps that are compared have seen the
        held-out rows, so that none has an advantage.
        """
        refit = self.plan.refit
        assert refit is not None
        short = {n_iter: self._short_descent(setting, n_iter) for n_iter in SHORT}
        splits = list(self._search_splits)[: len(best.directions)]

        def loss(result: SolveResult) -> float:
            return refit.through_one(splits, result.solution.directions.projection(), tuned)

        losses = {n_iter: loss(result) for n_iter, result in short.items()}
        n_iter = min(losses, key=losses.__getitem__)
        if losses[n_iter] >= (1.0 - CLEAR_GAIN) * loss(end):
            return end, None
        return replace(short[n_iter], status=Status.EARLY), n_iter

    def _short_descent(self, setting: Setting, n_iter: int) -> SolveResult:
        """At most so many iterations from the first directions, as in the search."""
        objective = self._directions_problem.objective(self._learning_rows, setting)
        rule = self.plan.descent_within(n_iter, SEARCH_TOL)
        return self._descend(objective, setting, self._starts(setting)[0], rule)

    def _learn_directions(
        self,
        setting: Setting,
        starts: Sequence[WeightedDirections],
        tol: float = 0.0,
    ) -> SolveResult:
        objective = self._directions_problem.objective(self._learning_rows, setting)
        start = starts[0]
        if len(starts) > 1:
            start = min(starts, key=lambda directions: objective.at(directions).value)
        progress = None if self.stage is None else self.stage("learning directions")
        rule = self.plan.descent_within(tol=tol)
        return self._descend(objective, setting, start, rule, progress)

    def _stay_plain(self, kept: Tried, tried: tuple[Tried, ...]) -> LearnedHermite:
        """The function of all columns alike, or the refit on its leading directions."""
        rows, setting = self._learning_rows, kept.setting
        directions = self.problem.equal_directions(rows)
        learning = self._directions_problem.objective(rows, setting).at(directions)
        result = SolveResult(learning, Status.PLAIN, 0, (learning.value,))
        if kept.refit_is_better:
            directions = self._directions_problem.first_directions(rows, setting)
        tuned = self._tuned(kept) if kept.refit_is_better else None
        return self._end(setting, directions, result, kept, tried, tuned)

    def _end(
        self,
        setting: Setting,
        directions: WeightedDirections,
        result: SolveResult,
        best: Tried | None,
        tried: tuple[Tried, ...],
        tuned: Any,
    ) -> LearnedHermite:
        """RegFeaL's own function, or the refit if that predicts held-out rows better."""
        if best is None or not best.refit_is_better:
            function = self._last_function(setting, directions)
            return self._learned(setting, directions, function, result, best, tried)
        refit = self.plan.refit
        assert refit is not None
        refitted = refit.fit(self.rows, directions.projection(), tuned)
        return self._learned(
            setting, directions, refitted, result, best, tried, tuned=tuned, refitted=True
        )

    def _tuned(self, tried: Tried) -> Any:
        """Settings of the refit, tuned with the directions of the splits."""
        refit = self.plan.refit
        assert refit is not None
        most = len(tried.directions) if self.problem.loss.quadratic else NEWTON_SPLITS
        maps = [found.projection() for found in tried.directions[:most]]
        return refit.tune(list(self._search_splits)[: len(maps)], maps)

    def _last_function(self, setting: Setting, directions: WeightedDirections) -> FittedFunction:
        """On all rows, unless there are too many for the kernel of all polynomials."""
        rows = self._learning_rows if self.plan.last_rule is None else self.rows
        return self.problem.objective(rows, setting, last=True).at(directions).function

    def _learned(
        self,
        setting: Setting,
        directions: WeightedDirections,
        function: FittedFunction,
        result: SolveResult,
        best: Tried | None = None,
        tried: tuple[Tried, ...] = (),
        **others: Any,
    ) -> LearnedHermite:
        return LearnedHermite(
            function=function,
            directions=linear_features(directions),
            alpha=setting.alpha,
            objective=float(result.history[-1]),
            history=result.history,
            n_iter=max(1, result.n_iter),
            status=result.status,
            search=None if best is None else record_of(tried, best),
            weighted=directions,
            setting=setting,
            tried=tried,
            **others,
        )

    def _left_out_of(self, split: Split, learned: LearnedHermite) -> LeftOut:
        function = self._on(split.train)._again(learned)
        return LeftOut(function.decision(split.test.X), split.test.y, split.test.weights)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedHermite
    ) -> Directions:
        """Directions learned on other rows, at the chosen setting, as long as in a search."""
        return linear_features(self._on(rows)._directions_again(learned, SEARCH_TOL))

    def _on(self, rows: CanonicalRows) -> HermiteLearner:
        # Directions of an earlier fit have seen all rows.
        problem = replace(self.problem, plan=replace(self.plan, previous=None))
        return HermiteLearner(problem, rows, ())

    def _again(self, learned: LearnedHermite) -> FittedFunction:
        """What was learned from other rows, learned from these."""
        directions = self._directions_again(learned)
        if learned.refitted and self.plan.refit is not None:
            return self.plan.refit.fit(self.rows, directions.projection(), learned.tuned)
        return self._last_function(learned.setting, directions)

    def _directions_again(self, learned: LearnedHermite, tol: float = 0.0) -> WeightedDirections:
        setting = learned.setting
        if learned.n_short is not None:
            short: HermitePoint = self._short_descent(setting, learned.n_short).solution
            return short.directions.without_small(0.0)
        if learned.status is not Status.PLAIN:
            starts = self._starts(setting)
            end: HermitePoint = self._learn_directions(setting, starts, tol).solution
            return end.directions.without_small(0.0)
        if learned.refitted:
            return self._directions_problem.first_directions(self._learning_rows, setting)
        return self.problem.equal_directions(self.rows)


def linear_features(found: WeightedDirections) -> Directions:
    """Directions as every feature learner has them, with the importances of the inputs."""
    # M_f is R Diag(D) R^T with D proportional to this power of the shares.
    slopes: FloatArray = found.R * found.shares ** (1.0 / found.r)
    return Directions(
        found.R.T,
        found.shares,
        np.linalg.norm(slopes, axis=1),
        found.relevant(len(found.R)),
    )
