"""From rows to a fitted hyper-kernel: start, search, learning, last fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.fits.held_out import Split
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.fits.tuned_ridge import Tuned, settle_refit, tune_refit
from kernlens.methods.hkrr.objective import HyperKernelPoint
from kernlens.methods.hkrr.plan import LearnedKernel
from kernlens.methods.hkrr.problem import constant_loss
from kernlens.methods.hkrr.search import SHARE, SettingSearch, Visited, direction_strengths
from kernlens.methods.hkrr.stages import START_ALPHA, Stages
from kernlens.methods.hkrr.varpro import Watch
from kernlens.optim.lbfgs import Progress
from kernlens.penalties.operator_ball import project_on_ball
from kernlens.subspace import estimate_n_directions, truncated

#: First maps that are learned from, the best of those compared.
N_STARTS = 3
#: A search is stuck if it explains less than this share; it is started again, so many times.
STUCK = 0.02
RESTARTS = 2
#: Learned maps give way to the plain one if that lowers the held-out loss by this share.
PLAIN_GAIN = 0.01
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
        if kept is not None and start is not None:
            result = self._minimize_on_many([start], kept.alpha)
            return self._finish(result, kept.tuned, kept.alpha, kept.search)
        if self.plan.searches:
            return self._learn_with_search()
        alpha = self.plan.path[-1]
        result = self._minimize_on_many([self._approach() if start is None else start], alpha)
        return self._finish(result, Tuned(1.0, alpha, np.nan), alpha)

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
        """Directions of a map learned on other rows, with the settings that were chosen."""
        return self._again(rows, strata, learned).directions

    def _again(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedKernel
    ) -> LearnedKernel:
        plan = self.plan.with_settings(learned.alpha, len(learned.W))
        part = replace(self, rows=rows, strata=strata, plan=plan, stage=None)
        return part.learn_again(learned)

    def learn_again(self, learned: LearnedKernel) -> LearnedKernel:
        """Learn from the beginning, with the settings of another fit."""
        if learned.status is Status.PLAIN:
            result = SolveResult(self.plain_map(), Status.PLAIN, 0)
        else:
            result = self._minimize_on_many([self._approach()], learned.alpha)
        tuned = Tuned(learned.scale, learned.refit_alpha, np.nan)
        return self._finish(result, tuned, learned.alpha)

    def _learn_with_search(self) -> LearnedKernel:
        search = self.searched = self._search()
        eligible = self._eligible(search)
        chosen = min(eligible, key=lambda setting: setting.loss)
        record = search.record(chosen, eligible)
        if self.plan.refit_centers is None:
            result = self._minimize_on_many(chosen.maps, chosen.alpha)
            tuned = Tuned(1.0, chosen.alpha, chosen.loss)
            return self._finish(result, tuned, chosen.alpha, record)
        splits = self.tuning_splits(list(search.splits))
        tuned, plain = self._tune(splits, chosen)
        if plain:
            result = SolveResult(self.plain_map(), Status.PLAIN, 0)
            return self._finish(result, tuned, chosen.alpha, record)
        result = self._minimize_on_many(chosen.maps, chosen.alpha)
        tuned = settle_refit(
            self.problem.ridge,
            splits,
            chosen.maps,
            result.solution.W,
            tuned,
            chosen.alpha,
            self.plan.bounds,
        )
        return self._finish(result, tuned, chosen.alpha, record)

    def _search(self) -> SettingSearch:
        splits = self.splits()
        search = SettingSearch(
            self.problem,
            splits,
            self.plan.path,
            self.plan.bounds,
            self._progress("choosing settings"),
            self._watch,
        )
        nothing = constant_loss(self.problem.loss, self.rows)
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

    def _tune(self, splits: list[Split], chosen: Visited) -> tuple[Tuned, bool]:
        """Settings of the last fit, and whether they are for the plain map."""
        ridge, bounds = self.problem.ridge, self.plan.bounds
        tuned = tune_refit(ridge, splits, chosen.maps, chosen.alpha, bounds)
        given = self.plan.n_components is not None or self.problem.radius is not None
        if given or not self.forms_square_maps:
            return tuned, False
        same = [self.plain_map()] * len(splits)
        plain = tune_refit(ridge, splits, same, chosen.alpha, bounds)
        return (plain, True) if plain.loss < (1.0 - PLAIN_GAIN) * tuned.loss else (tuned, False)

    def _approach(self) -> FloatArray:
        """Without a search: go down to the given alpha on the rows of the learning."""
        rows = self.learning_rows()
        Z = self.draw_centers(rows, self.plan.centers.number)
        split = self.splits()[0]
        search = SettingSearch(
            self.problem,
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
        objective = self.problem.objective(rows, Z, alpha)
        points = [objective.at(B) for B in maps]
        start = min(points, key=lambda point: self.problem.value(objective, point))
        watch = self._watch(alpha)
        watch(start)
        return self.problem.minimize(
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
    ) -> LearnedKernel:
        """Fit the function on all rows, and measure its directions."""
        end = result.solution
        W = end.W if isinstance(end, HyperKernelPoint) else end
        B = tuned.scale * W
        n_centers = self.plan.refit_centers or self.plan.centers.number
        Z = self.draw_centers(self.rows, n_centers, B, tuned.alpha)
        coefficients, intercept = self.problem.ridge.function(self.rows, B, Z, tuned.alpha)
        sample = self.rows.take(slice(0, SLOPE_ROWS))
        objective = self.problem.objective(sample, Z, tuned.alpha)
        point = objective.with_coefficients(B, coefficients, intercept)
        # Without a learning that ended, the objective is that of the function that is kept.
        value = result.history[-1] if result.history else self.problem.value(objective, point)
        return LearnedKernel(
            function=ProjectedKernelFunction(
                B, Z, coefficients, intercept, self.problem.kernel, self.problem.n_jobs
            ),
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
        )

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
