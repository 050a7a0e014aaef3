"""From rows to a fitted hyper-kernel: start, search, learning, last fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status
from kernlens.fits.held_out import Split
from kernlens.fits.tuned_ridge import Tuned, settle_refit, tune_refit
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.methods.hkrr.objective import HyperKernelPoint
from kernlens.methods.hkrr.plan import LearnedKernel
from kernlens.methods.hkrr.problem import constant_loss
from kernlens.methods.hkrr.rows import START_ALPHA, StageRows
from kernlens.methods.hkrr.search import (
    SettingSearch,
    Visited,
    direction_strengths,
)
from kernlens.methods.hkrr.varpro import Watch
from kernlens.optim.lbfgs import Progress
from kernlens.penalties.operator_ball import project_on_ball
from kernlens.subspace import truncated

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
class HyperKernelLearner:
    """Learn a map and a function.

    Attributes
    ----------
    stages : StageRows
        The problem, the rows and the plan.
    report : callable or None
        Name of a stage -> callback of its iterations.
    """

    stages: StageRows
    report: Callable[[str], Progress] | None = None
    _seen: HyperKernelPoint | None = field(default=None, init=False)
    _seen_alpha: float = field(default=START_ALPHA, init=False)

    def learn(self) -> LearnedKernel:
        """Choose the settings, learn the map, fit the function."""
        if not self.stages.plan.searches:
            alpha = self.stages.plan.path[-1]
            start = self._approach() if self.stages.plan.start is None else self.stages.plan.start
            result = self._minimise_on_many([start], alpha)
            return self._finish(result, Tuned(1.0, alpha, np.nan), alpha, ())
        search = self._search()
        chosen = self._choose(search)
        tuned, plain = Tuned(1.0, chosen.alpha, chosen.loss), False
        if self.stages.plan.refit_centers is not None:
            tuned, plain = self._tune(search, chosen)
        if plain:
            result = SolveResult(self.stages.plain_map(), Status.PLAIN, 0)
        else:
            result = self._minimise_on_many(chosen.maps, chosen.alpha)
        if self.stages.plan.refit_centers is not None and not plain:
            tuned = settle_refit(
                self.stages.problem.ridge,
                self.stages.tuning_splits(list(search.splits)),
                chosen.maps,
                result.solution.W,
                tuned,
                chosen.alpha,
                self.stages.plan.bounds,
            )
        return self._finish(result, tuned, chosen.alpha, tuple(search.visited))

    def go_on(self, W: FloatArray, tuned: Tuned, alpha: float) -> LearnedKernel:
        """Learn on from a map, with settings chosen before."""
        return self._finish(self._minimise_on_many([W], alpha), tuned, alpha, ())

    def finish_interrupted(self) -> LearnedKernel:
        """The function on the best map of the stage that was interrupted."""
        W = self.stages.first_map() if self._seen is None else self._seen.W
        if len(W) > self.stages.widths[0]:
            W = truncated(W, self.stages.widths[0])
        if self.stages.problem.radius is not None:
            W = project_on_ball(W, self.stages.problem.radius)
        alpha = self.stages.plan.given_alpha or self._seen_alpha
        return self._finish(SolveResult(W, Status.INTERRUPTED, 0), Tuned(1.0, alpha, np.nan), alpha)

    def _search(self) -> SettingSearch:
        splits = self.stages.splits()
        search = SettingSearch(
            self.stages.problem,
            splits,
            self.stages.plan.path,
            self.stages.plan.bounds,
            self._report("choosing settings"),
            self._watch,
        )
        nothing = constant_loss(self.stages.problem.loss, self.stages.rows)
        starts = self.stages.first_maps(splits[0])
        for attempt in range(RESTARTS + 1):
            tried = starts[attempt * N_STARTS : (attempt + 1) * N_STARTS]
            if not tried:
                break
            self._follow_widths(search, tried)
            if search.best.loss < (1.0 - STUCK) * nothing:
                break
        return search

    def _follow_widths(self, search: SettingSearch, starts: Sequence[FloatArray]) -> None:
        """The widest maps first; narrower ones begin with what mattered to them."""
        already = len(search.visited)
        settled = search.settle(starts)
        widest = self.stages.widths[0]
        if settled.n_components > widest:
            search.follow(search.narrowed(settled, widest))
        else:
            search.follow(settled.maps)
        for width in self.stages.widths[1:]:
            search.follow(search.narrowed(self._turning_point(search, already), width))
        if self.stages.plan.n_components is None:
            self._narrow_while_it_helps(search, already)

    def _narrow_while_it_helps(self, search: SettingSearch, already: int) -> None:
        """Follow maps reduced to as many directions as matter, fewer and fewer."""
        while True:
            best = min(search.visited[already:], key=lambda setting: setting.loss)
            width = min(search.n_directions(best), best.n_components - 1)
            if width < 1:
                return
            turn = self._turning_point(search, already)
            smaller = [alpha for alpha in self.stages.plan.path if alpha <= turn.alpha]
            already = len(search.visited)
            search.follow(search.narrowed(turn, width), smaller)
            if min(setting.loss for setting in search.visited[already:]) >= best.loss:
                return

    def _turning_point(self, search: SettingSearch, already: int) -> Visited:
        """Where narrower maps branch off: the step before the best of this round."""
        path = search.visited[already:]
        best = min(range(len(path)), key=lambda k: path[k].loss)
        step_before = path[max(best - 1, 0)]
        same_width = step_before.n_components == path[best].n_components
        return step_before if same_width else path[best]

    def _choose(self, search: SettingSearch) -> Visited:
        """The best setting; with a given alpha, the best at the end of the approach to it."""
        alpha = self.stages.plan.given_alpha
        eligible = [setting for setting in search.visited if alpha in (None, setting.alpha)]
        return min(eligible, key=lambda setting: setting.loss)

    def _tune(self, search: SettingSearch, chosen: Visited) -> tuple[Tuned, bool]:
        """Settings of the last fit, and whether they are for the plain map."""
        splits = self.stages.tuning_splits(list(search.splits))
        bounds = self.stages.plan.bounds
        tuned = tune_refit(self.stages.problem.ridge, splits, chosen.maps, chosen.alpha, bounds)
        given = self.stages.plan.n_components is not None or self.stages.problem.radius is not None
        if given or not self.stages.forms_square_maps:
            return tuned, False
        plain = tune_refit(
            self.stages.problem.ridge,
            splits,
            [self.stages.plain_map()] * len(splits),
            chosen.alpha,
            bounds,
        )
        return (plain, True) if plain.loss < (1.0 - PLAIN_GAIN) * tuned.loss else (tuned, False)

    def _approach(self) -> FloatArray:
        """Without a search: go down to the given alpha on the rows of the learning."""
        rows = self.stages.learning_rows()
        Z = self.stages.centers(rows, self.stages.plan.n_centers)
        split = self.stages.splits()[0]
        everything = Split(rows, split.test, Z)
        search = SettingSearch(
            self.stages.problem,
            [everything],
            self.stages.plan.path[:-1],
            progress=self._report("approaching alpha"),
            watch=self._watch,
        )
        self._follow_widths(search, self.stages.first_maps(split)[:N_STARTS])
        return search.visited[-1].maps[0]

    def _minimise_on_many(self, maps: Sequence[FloatArray], alpha: float) -> SolveResult:
        """Learn on as many rows as pays, from the best of some maps."""
        rows = self.stages.learning_rows()
        objective = self.stages.problem.objective(
            rows, self.stages.centers(rows, self.stages.plan.n_centers), alpha
        )
        points = [objective.at(B) for B in maps]
        start = min(points, key=lambda point: self.stages.problem.value(objective, point))
        watch = self._watch(alpha)
        watch(start)
        return self.stages.problem.minimise(
            objective,
            start,
            max_iter=self.stages.plan.max_iter,
            tol=self.stages.plan.tol,
            progress=self._report("learning the map"),
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
        visited: tuple[Visited, ...] = (),
    ) -> LearnedKernel:
        end = result.solution
        W = end.W if isinstance(end, HyperKernelPoint) else end
        n_centers = self.stages.plan.refit_centers or self.stages.plan.n_centers
        B = tuned.scale * W
        Z = self.stages.centers(self.stages.rows, n_centers, B, tuned.alpha)
        objective = self.stages.problem.objective(self.stages.rows, Z, tuned.alpha)
        blocks = KernelBlocks(
            B,
            self.stages.rows.X,
            Z,
            self.stages.problem.kernel,
            self.stages.problem.n_jobs,
            slopes=False,
        )
        coefficients, intercept = objective.fitter.function(blocks)
        sample = self.stages.rows.take(slice(0, SLOPE_ROWS))
        part = self.stages.problem.objective(sample, Z, tuned.alpha).with_coefficients(
            B, coefficients, intercept
        )
        slopes, directions = direction_strengths(part, sample.weights)
        # Without a learning that ended, the objective is that of the function that is kept.
        kept = part.value + self.stages.problem.penalty_value(objective, B)
        value = result.history[-1] if result.history else kept
        return LearnedKernel(
            W,
            tuned.scale,
            Z,
            coefficients,
            intercept,
            slopes,
            directions,
            alpha,
            tuned.alpha,
            value,
            result,
            visited,
        )

    def _report(self, name: str) -> Progress | None:
        return None if self.report is None else self.report(name)
