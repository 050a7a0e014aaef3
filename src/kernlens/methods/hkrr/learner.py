"""From rows to a fitted hyper-kernel: start, search, learning, last fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.fits.held_out import Split
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.fits.table_fit import TableFit, fit_centers
from kernlens.fits.tuned_alpha import tune_alpha, tune_scale
from kernlens.fits.tuned_ridge import Tuned, settle_refit, tune_refit
from kernlens.methods.hkrr.objective import HyperKernelObjective, HyperKernelPoint
from kernlens.methods.hkrr.plan import Choice, LearnedKernel
from kernlens.methods.hkrr.problem import constant_loss, held_out_constant
from kernlens.methods.hkrr.search import SHARE, SettingSearch, Visited, direction_strengths
from kernlens.methods.hkrr.stages import SPARSE, START_ALPHA, Stages
from kernlens.methods.hkrr.varpro import Watch
from kernlens.optim.lbfgs import Progress
from kernlens.penalties.operator_ball import project_on_ball
from kernlens.subspace import estimate_n_directions, truncated

#: First maps that are learned from, the best of those compared.
N_STARTS = 3
#: A search is stuck if it explains less than this share; it is started again, so many times.
STUCK = 0.02
RESTARTS = 2
#: Learned maps give way to the plain one if that lowers the held-out loss by this share, or by the
#: second if `n_components` was given, and maps of all columns to those of the columns that matter.
PLAIN_GAIN = 0.01
GIVEN_GAIN = 0.1
SCREEN_GAIN = 0.1
#: The constant is kept unless its held-out loss is higher by this number over the rows, as it would
#: be if a few coefficients fitted noise; alpha is then so large that hardly a function is left.
CONSTANT_GAIN = 4.0
CONSTANT_ALPHA = 1e4
#: Share of the loss of the constant at which a search among classes has nothing left to gain.
CLASS_FLOOR = 0.01
#: Rows that the directions are measured on.
SLOPE_ROWS = 5000


@dataclass
class HyperKernelLearner(Stages, Learner[LearnedKernel]):
    """Learns a map and a function, and keeps the best map if interrupted.

    Attributes
    ----------
    stage : callable or None
        Name of a stage -> callback of its iterations.
    searched : SettingSearch or None
        The search of settings, if there was one.
    """

    stage: Stage | None = None
    searched: SettingSearch | None = field(default=None, init=False)
    _seen: HyperKernelPoint | None = field(default=None, init=False)
    _seen_alpha: float = field(default=START_ALPHA, init=False)

    def learn(self) -> LearnedKernel:
        """Choose the settings, learn the map, fit the function."""
        start, kept = self.plan.start, self.plan.kept
        if start is not None and self.unscreened is None:
            # What an earlier fit has left out stays out.
            used = np.asarray(start.any(axis=0))
            if not used.all() and used.any():
                return self._with_columns(used).learn()
        if kept is not None and start is not None:
            result = self._minimize_on_many([start], kept.alpha)
            return self._finish(result, kept.tuned, kept.alpha, kept.search)
        if self.plan.searches:
            return self._learn_with_search()
        alpha = self.plan.path[-1]
        result = self._minimize_on_many([self._approach() if start is None else start], alpha)
        return self._finish(result, Tuned(1.0, alpha, np.nan), alpha)

    def fit_all(self, table: FitTable, learned: LearnedKernel) -> LearnedKernel:
        """The same map and centres with coefficients from all rows, a tuned alpha chosen again."""
        before = learned.function
        start = TableFit(before.coefficients, before.intercept, learned.refit_alpha)
        tuned = self.plan.refit_centers is not None and learned.status is not Status.CONSTANT
        found = fit_centers(table, self.problem.ridge, before.B, before.Z, start, choose=tuned)
        function = replace(before, coefficients=found.coefficients, intercept=found.intercept)
        sample, point = self._point_of(function, found.alpha)[1:]
        return replace(
            learned,
            function=function,
            directions=_directions(point, sample.weights),
            refit_alpha=found.alpha,
        )

    def finish_interrupted(self) -> LearnedKernel:
        """The function on the best map of the stage that was interrupted."""
        W = self.first_map() if self._seen is None else self._seen.W
        if len(W) > self.widths[0]:
            W = truncated(W, self.widths[0])
        if self.problem.radius is not None:
            W = project_on_ball(W, self.problem.radius)
        alpha = self.plan.given_alpha or self._seen_alpha
        return self._finish(SolveResult(W, Status.INTERRUPTED, 0), Tuned(1.0, alpha, np.nan), alpha)

    def left_out(self, learned: LearnedKernel) -> LeftOut:
        """Predict every part with a map learned on the others, with the settings that were chosen.

        The parts are those of the search of settings. No row is returned if there are too few of
        them, or of a class, to leave any out.
        """
        rows, strata = self.search_rows()
        nothing = rows.take(slice(0, 0))
        parts = [LeftOut(nothing.y, nothing.y, nothing.weights)]
        for train, test in self.folds():
            of_train = None if strata is None else strata[train]
            held = rows.take(test)
            decision = self._again(rows.take(train), of_train, learned).function.decision(held.X)
            parts.append(LeftOut(decision, held.y, held.weights))
        return LeftOut.joined(parts)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedKernel
    ) -> Directions:
        """Directions of a map learned on other rows, with the settings that were chosen.

        By squares, as the map itself: directions do not need the loss of classes.
        """
        by_squares = replace(self, problem=self.learning)
        learned = replace(learned, refit_alpha=learned.squares_alpha)
        return by_squares._again(rows, strata, learned).directions

    def _again(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedKernel
    ) -> LearnedKernel:
        plan = self.plan.with_settings(learned.alpha, len(learned.W))
        part = replace(self, rows=rows, strata=strata, plan=plan, stage=None, unscreened=None)
        if learned.screened:
            part = part.screened()
        return part.learn_again(learned)

    def learn_again(self, learned: LearnedKernel) -> LearnedKernel:
        """Learn from the beginning, with the settings of another fit."""
        if learned.plain:
            result = SolveResult(self.plain_map(), learned.status, 0)
        else:
            result = self._minimize_on_many([self._approach()], learned.alpha)
        tuned = Tuned(learned.scale, learned.refit_alpha, np.nan)
        return self._finish(result, tuned, learned.alpha)

    def _learn_with_search(self) -> LearnedKernel:
        choice = self._choose()
        if self.plan.screen and self.plan.start is None:
            fewer = self.screened()
            if 0 < np.count_nonzero(fewer.used) <= SPARSE * len(fewer.used):
                other = fewer._choose()
                if other.last.loss < (1.0 - SCREEN_GAIN) * choice.last.loss:
                    return fewer._learn_chosen(other)
        return self._learn_chosen(choice)

    def _choose(self) -> Choice:
        """Settings of the map and of the last fit by squares, on held-out rows."""
        search = self.searched = self._search()
        eligible = self._eligible(search)
        best = min(eligible, key=lambda setting: setting.loss)
        chosen = search.smoothest(eligible) if self._cautious else best
        record = search.record(chosen, eligible)
        if self.plan.refit_centers is None:
            tuned = Tuned(1.0, chosen.alpha, chosen.loss)
            return Choice(chosen.alpha, chosen.maps, list(search.splits), record, tuned, tuned)
        splits = self.tuning_splits(list(search.splits))
        tuned = self._tune(splits, chosen.maps, chosen.alpha)
        last = self._tune_last(splits, chosen.maps, tuned)
        choice = Choice(chosen.alpha, chosen.maps, splits, record, tuned, last)
        return self._or_constant(self._or_plain(choice))

    @property
    def _cautious(self) -> bool:
        """Whether alphas that gain nothing that can be seen are left alone; given ones are not."""
        # Squares are flat where classes are told apart, and small alphas lose on other rows.
        return not self.problem.loss.quadratic and self.plan.alphas is None

    def _or_plain(self, choice: Choice) -> Choice:
        """All columns alike, if that predicts better than the learned map."""
        if self.problem.radius is not None or not self.forms_square_maps:
            return choice
        same = [self.plain_map()] * len(choice.splits)
        tuned = self._tune(choice.splits, same, choice.alpha)
        last = self._tune_last(choice.splits, same, tuned)
        gain = PLAIN_GAIN if self.plan.n_components is None else GIVEN_GAIN
        if last.loss >= (1.0 - gain) * choice.last.loss:
            return choice
        return replace(choice, maps=same, tuned=tuned, last=last, instead=Status.PLAIN)

    def _or_constant(self, choice: Choice) -> Choice:
        """Hardly any function, if none predicts better than the constant."""
        loss = self.problem.loss
        nothing = float(np.mean([held_out_constant(loss, split) for split in choice.splits]))
        if choice.last.loss < (1.0 - CONSTANT_GAIN / self.rows.weights.sum()) * nothing:
            return choice
        constant = Tuned(1.0, CONSTANT_ALPHA, nothing)
        return replace(choice, tuned=constant, last=constant, instead=Status.CONSTANT)

    def _learn_chosen(self, choice: Choice) -> LearnedKernel:
        """Learn the map on all rows, and end with the settings of the last fit for it."""
        tuned, alpha = choice.tuned, choice.alpha
        last = self._tune_scale(choice)
        if choice.instead is not None:
            result = SolveResult(choice.maps[0], choice.instead, 0)
            return self._finish(result, last, alpha, choice.record, tuned.alpha)
        result = self._minimize_on_many(choice.maps, alpha)
        if self.plan.refit_centers is not None:
            W, bounds = result.solution.W, self.score_bounds
            tuned = settle_refit(
                self.learning.ridge, choice.splits, choice.maps, W, tuned, alpha, bounds
            )
            if self.problem.loss.quadratic:
                last = tuned
            else:
                last = replace(last, scale=last.scale * tuned.scale / choice.tuned.scale)
        return self._finish(result, last, alpha, choice.record, tuned.alpha)

    def _tune(self, splits: list[Split], maps: Sequence[FloatArray], alpha: float) -> Tuned:
        """Length scale and alpha of the last fit by squares."""
        return tune_refit(self.learning.ridge, splits, maps, alpha, self.score_bounds)

    def _tune_last(self, splits: list[Split], maps: Sequence[FloatArray], tuned: Tuned) -> Tuned:
        """Alpha for the loss of classes, of which squares know nothing."""
        if self.problem.loss.quadratic:
            return tuned
        alpha, loss = tune_alpha(self.problem.ridge, splits, [tuned.scale * B for B in maps])
        return Tuned(tuned.scale, alpha, loss)

    def _tune_scale(self, choice: Choice) -> Tuned:
        """The length scale for the loss of classes, near that for squares."""
        given = self.plan.refit_centers is None or choice.instead is Status.CONSTANT
        if given or self.problem.loss.quadratic:
            return choice.last
        return tune_scale(self.problem.ridge, choice.splits, choice.maps, choice.last)

    def _search(self) -> SettingSearch:
        splits = self.splits()
        nothing = constant_loss(self.learning.loss, self.rows)
        search = SettingSearch(
            self.learning,
            splits,
            self.plan.path,
            self.score_bounds,
            self._progress("choosing settings"),
            self._watch,
            CLASS_FLOOR * nothing if self._cautious else 0.0,
        )
        starts = self.first_maps(splits[0])
        for attempt in range(RESTARTS + 1):
            tried = starts[attempt * N_STARTS : (attempt + 1) * N_STARTS]
            if not tried:
                break
            search.attempt = attempt
            self._follow_widths(search, tried)
            if search.best.loss < (1.0 - STUCK) * nothing:
                break
        return search

    def _follow_widths(self, search: SettingSearch, starts: Sequence[FloatArray]) -> None:
        """The widest maps first; narrower ones begin with what mattered to them."""
        already = len(search.visited)
        settled = search.settle(starts)
        widest = self.widths[0]
        if settled.n_components > widest:
            search.follow(search.narrowed(settled, widest))
        else:
            search.follow(settled.maps)
        for width in self.widths[1:]:
            search.follow(search.narrowed(_turning_point(search, already), width))
        if self.plan.n_components is None:
            self._narrow_while_it_helps(search, already)

    def _narrow_while_it_helps(self, search: SettingSearch, already: int) -> None:
        """Follow maps reduced to as many directions as matter, fewer and fewer."""
        while True:
            best = min(search.visited[already:], key=lambda setting: setting.loss)
            width = min(search.n_directions(best), best.n_components - 1)
            if width < 1:
                return
            turn = _turning_point(search, already)
            smaller = [alpha for alpha in self.plan.path if alpha <= turn.alpha]
            already = len(search.visited)
            search.follow(search.narrowed(turn, width), smaller)
            if min(setting.loss for setting in search.visited[already:]) >= best.loss:
                return

    def _eligible(self, search: SettingSearch) -> list[Visited]:
        """Settings to choose from; with a given alpha, those at the end of the approach to it."""
        alpha = self.plan.given_alpha
        return [setting for setting in search.visited if alpha in (None, setting.alpha)]

    def _approach(self) -> FloatArray:
        """Without a search: go down to the given alpha on the rows of the learning."""
        rows = self.learning_rows()
        Z = self.draw_centers(rows, self.plan.centers.number)
        split = self.splits()[0]
        search = SettingSearch(
            self.learning,
            [Split(rows, split.test, Z)],
            self.plan.path[:-1],
            progress=self._progress("approaching alpha"),
            watch=self._watch,
        )
        self._follow_widths(search, self.first_maps(split)[:N_STARTS])
        return search.visited[-1].maps[0]

    def _minimize_on_many(self, maps: Sequence[FloatArray], alpha: float) -> SolveResult:
        """Learn on as many rows as pays, from the best of some maps."""
        rows = self.learning_rows()
        Z = self.draw_centers(rows, self.plan.centers.number)
        objective = self.learning.objective(rows, Z, alpha)
        points = objective.compared(B * self.used for B in maps)
        start = min(points, key=lambda point: self.learning.value(objective, point))
        watch = self._watch(alpha)
        watch(start)
        return self.learning.minimize(
            objective,
            start,
            max_iter=self.plan.max_iter,
            tol=self.plan.tol,
            progress=self._progress("learning the map"),
            watch=watch,
        )

    def _watch(self, alpha: float) -> Watch:
        """Remember the lowest point so far, should the fit be interrupted."""

        def remember(point: HyperKernelPoint) -> None:
            if self._seen is None or point.value < self._seen.value:
                self._seen, self._seen_alpha = point, alpha

        return remember

    def _finish(
        self,
        result: SolveResult,
        tuned: Tuned,
        alpha: float,
        search: SearchRecord | None = None,
        squares_alpha: float | None = None,
    ) -> LearnedKernel:
        """Fit the function on all rows, and measure its directions."""
        end = result.solution
        W = (end.W if isinstance(end, HyperKernelPoint) else end) * self.used
        B = tuned.scale * W
        n_centers = self.plan.refit_centers or self.plan.centers.number
        Z = self.draw_centers(self.rows, n_centers, B, tuned.alpha)
        coefficients, intercept = self.problem.ridge.function(self.rows, B, Z, tuned.alpha)
        function = ProjectedKernelFunction(
            B, Z, coefficients, intercept, self.problem.kernel, self.problem.n_jobs
        )
        objective, sample, point = self._point_of(function, tuned.alpha)
        value = result.history[-1] if result.history else self._value(objective, point, W, alpha)
        return LearnedKernel(
            function=function,
            directions=_directions(point, sample.weights),
            alpha=alpha,
            objective=value,
            history=result.history,
            n_iter=result.n_iter,
            status=result.status,
            search=search,
            W=W,
            scale=tuned.scale,
            unit=self.unit,
            refit_alpha=tuned.alpha,
            squares_alpha=tuned.alpha if squares_alpha is None else squares_alpha,
            plain=result.status is Status.PLAIN,
            screened=self.unscreened is not None,
        )

    def _point_of(
        self, function: ProjectedKernelFunction, alpha: float
    ) -> tuple[HyperKernelObjective, CanonicalRows, HyperKernelPoint]:
        """A function where directions are measured: the objective there, its rows, the point."""
        sample = self.rows.take(slice(0, SLOPE_ROWS))
        objective = self.problem.objective(sample, function.Z, alpha)
        point = objective.with_coefficients(function.B, function.coefficients, function.intercept)
        return objective, sample, point

    def _value(
        self, objective: HyperKernelObjective, point: HyperKernelPoint, W: FloatArray, alpha: float
    ) -> float:
        """Without a learning that ended: of the function that is kept, or of classes by squares."""
        if not self.problem.loss.quadratic:
            rows = self.learning_rows()
            Z = self.draw_centers(rows, self.plan.centers.number)
            objective = self.learning.objective(rows, Z, alpha)
            point = objective.at(W)
        return self.learning.value(objective, point)

    def _progress(self, name: str) -> Progress | None:
        return None if self.stage is None else self.stage(name)


def _turning_point(search: SettingSearch, already: int) -> Visited:
    """Where narrower maps branch off: the step before the best of this round."""
    path = search.visited[already:]
    best = min(range(len(path)), key=lambda k: path[k].loss)
    step_before = path[max(best - 1, 0)]
    same_width = step_before.n_components == path[best].n_components
    return step_before if same_width else path[best]


def _directions(point: HyperKernelPoint, weights: FloatArray) -> Directions:
    """Directions along which the function at a point varies."""
    slopes, directions = direction_strengths(point, weights)
    # Squares of steep ones overflow.
    steepest = float(slopes.max()) or 1.0
    return Directions(
        directions,
        slopes,
        steepest * np.linalg.norm((slopes / steepest)[:, None] * directions, axis=0),
        estimate_n_directions(slopes, directions.shape[1], SHARE),
    )
