"""From rows to a fitted hyper-kernel: start, search, learning, last fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.features.nystrom_centers import distinct_rows, leverage_centers, uniform_centers
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.optim.hyper_kernel import HyperKernelObjective, HyperKernelPoint
from kernlens.optim.hyper_kernel_problem import HyperKernelProblem, constant_loss
from kernlens.optim.hyper_kernel_refit import Tuned, tune_refit
from kernlens.optim.hyper_kernel_search import (
    Bounds,
    SettingSearch,
    Split,
    Visited,
    direction_strengths,
)
from kernlens.optim.lbfgs import Progress
from kernlens.optim.map_starts import (
    MEDIAN_ROWS,
    median_distance,
    random_map,
    subspace_map,
    truncated,
)
from kernlens.optim.operator_ball import project_on_ball
from kernlens.optim.varpro import Watch

FloatArray = NDArray[np.floating]

#: Rows that settings are searched on.
SEARCH_ROWS = 5000
#: Folds for up to so many rows; beyond, one split.
FOLDS = ((1000, 5), (3000, 3))
#: Centres while searching, and rows and centres while tuning the last fit.
SEARCH_CENTERS = 100
TUNE_CENTERS = 300
#: Rows that the map is learned on: within bounds, as many as keep an evaluation, of cost
#: n * centres^2, cheap.
LEARN_ROWS = (4_000, 10_000)
LEARN_WORK = 1e9
#: Alphas of the automatic search, tried downwards while predictions improve.
ALPHAS = tuple(10.0 ** -np.arange(1.0, 9.0))
#: A given alpha is approached from these multiples of it.
APPROACH = (100.0, 10.0, 1.0)
#: Components that a search starts with.
WIDE = 20
#: Alpha at which first maps are compared, and centres of the plain fit behind one of them.
START_ALPHA = 1e-3
SUBSPACE_CENTERS = 300
#: First maps that are learned from, the best of those compared.
N_STARTS = 3
#: A search is stuck if it explains less than this share; it is started again, so many times.
STUCK = 0.02
RESTARTS = 2
#: Learned maps give way to the plain one if that lowers the held-out loss by this share.
PLAIN_GAIN = 0.01
#: Beyond so many columns square matrices of their number are not formed unless asked for.
MOST_PLAIN = 1000
#: Rows that the directions are measured on.
SLOPE_ROWS = 5000


@dataclass(frozen=True)
class LearningPlan:
    """What is given and what is to be chosen.

    Attributes
    ----------
    n_components : tuple of int, or None
        Numbers of rows of B to choose from; None for the automatic choice.
    alphas : tuple of float, or None
        Values to choose from; None for the automatic grid.
    n_centers : int
        Centres while learning.
    centers : {"uniform", "leverage"}
        How they are drawn.
    refit_centers : int or None
        Centres of the last fit, None for no such fit.
    init : {"auto", "random", "subspace"} or ndarray of shape (n_components, n_features)
        First maps.
    n_init : int
        Random first maps that are compared.
    max_iter, tol : int, float
        Of the learning on all rows.
    bounds : tuple of ndarray of shape (n_targets,), or None
        Of the predictions that are scored.
    start : ndarray of shape (n_components, n_features) or None
        A map learned before, to start from as it is.
    """

    n_components: tuple[int, ...] | None
    alphas: tuple[float, ...] | None
    n_centers: int
    centers: str
    refit_centers: int | None
    init: str | FloatArray
    n_init: int
    max_iter: int
    tol: float
    bounds: Bounds | None = None
    start: FloatArray | None = None


@dataclass(frozen=True)
class LearnedKernel:
    """The outcome: a map, and the function on it.

    Attributes
    ----------
    W : ndarray of shape (n_components, n_features)
        The map as it was learned, divided by the length scale of the start.
    scale : float
        What the last fit multiplies it by.
    Z : ndarray of shape (n_centers, n_features)
        Centres of the last fit.
    coefficients, intercept : ndarray of shape (n_targets, n_centers), (n_targets,)
        The function, on ``scale * W``.
    slopes, directions : ndarray of shape (n_components,), (n_components, n_features)
        How fast the function varies, and along which directions.
    alpha, refit_alpha : float
        Regularisation while learning and in the last fit.
    value : float
        Objective at the end of the learning.
    result : SolveResult
        How the learning ended.
    visited : tuple of Visited
        Settings tried.
    """

    W: FloatArray
    scale: float
    Z: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    slopes: FloatArray
    directions: FloatArray
    alpha: float
    refit_alpha: float
    value: float
    result: SolveResult
    visited: tuple[Visited, ...]


@dataclass
class HyperKernelLearner:
    """Learn a map and a function on given rows.

    Attributes
    ----------
    problem : HyperKernelProblem
    rows : CanonicalRows
        All rows, in an order unrelated to their content.
    plan : LearningPlan
    seed : int
        All random choices follow from it.
    strata : ndarray of int of shape (n_rows,) or None
        Classes, spread evenly over the folds.
    stage : callable or None
        Name of a stage -> callback of its iterations.
    """

    problem: HyperKernelProblem
    rows: CanonicalRows
    plan: LearningPlan
    seed: int
    strata: NDArray[np.integer] | None = None
    stage: Callable[[str], Progress] | None = None
    _seen: HyperKernelPoint | None = field(default=None, init=False)
    _seen_alpha: float = field(default=START_ALPHA, init=False)

    def learn(self) -> LearnedKernel:
        """Choose the settings, learn the map, fit the function."""
        if not self._must_search:
            alpha = self._alphas[-1]
            start = self._approach() if self.plan.start is None else self.plan.start
            result = self._minimise_on_many([start], alpha)
            return self._finish(result, Tuned(1.0, alpha, np.nan), alpha, ())
        search = self._search()
        chosen = self._choose(search)
        tuned, plain = Tuned(1.0, chosen.alpha, chosen.loss), False
        if self.plan.refit_centers is not None:
            tuned, plain = self._tune(search, chosen)
        if plain:
            result = SolveResult(self._plain_map(), Status.PLAIN, 0)
        else:
            result = self._minimise_on_many(chosen.maps, chosen.alpha)
        return self._finish(result, tuned, chosen.alpha, tuple(search.visited))

    def go_on(self, W: FloatArray, tuned: Tuned, alpha: float) -> LearnedKernel:
        """Learn on from a map, with settings chosen before."""
        return self._finish(self._minimise_on_many([W], alpha), tuned, alpha, ())

    def finish_interrupted(self) -> LearnedKernel:
        """The function on the best map of the stage that was interrupted."""
        W = self.first_map() if self._seen is None else self._seen.W
        if len(W) > self._widths[0]:
            W = truncated(W, self._widths[0])
        if self.problem.radius is not None:
            W = project_on_ball(W, self.problem.radius)
        alpha = self._seen_alpha
        return self._finish(SolveResult(W, Status.INTERRUPTED, 0), Tuned(1.0, alpha, np.nan), alpha)

    def first_map(self) -> FloatArray:
        """A start that needs no work, for an interruption before anything was learned."""
        return self._normalised(self._random_maps(self._widths[0], 1)[0])

    # -- settings -----------------------------------------------------------------------------

    @property
    def _widths(self) -> tuple[int, ...]:
        """Numbers of components, widest first."""
        given = self.plan.n_components
        n_features = self.rows.X.shape[1]
        widths = (WIDE,) if given is None else given
        return tuple(sorted({min(k, n_features) for k in widths}, reverse=True))

    @property
    def _alphas(self) -> tuple[float, ...]:
        """Values along a path, largest first."""
        given = self.plan.alphas
        if given is None:
            return ALPHAS
        if len(given) == 1 and self.plan.start is None:
            return tuple(factor * given[0] for factor in APPROACH)
        return tuple(sorted(given, reverse=True))

    @property
    def _must_search(self) -> bool:
        plan = self.plan
        given = plan.alphas is not None and len(plan.alphas) == 1 and plan.n_components is not None
        return not given or len(self._widths) > 1 or plan.refit_centers is not None

    # -- search -------------------------------------------------------------------------------

    def _search(self) -> SettingSearch:
        splits = self._splits(min(self.plan.n_centers, SEARCH_CENTERS))
        search = SettingSearch(
            self.problem,
            splits,
            self._alphas,
            self.plan.bounds,
            self._report("choosing settings"),
            self._watch,
        )
        nothing = constant_loss(self.problem.loss, self.rows)
        starts = self._starts(splits[0])
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
        widest = self._widths[0]
        if settled.n_components > widest:
            search.follow(search.narrowed(settled, widest))
        else:
            search.follow(settled.maps)
        for width in self._widths[1:]:
            search.follow(search.narrowed(self._turning_point(search, already), width))
        if self.plan.n_components is None:
            self._narrow_while_it_helps(search, already)

    def _narrow_while_it_helps(self, search: SettingSearch, already: int) -> None:
        """Follow maps reduced to as many directions as matter, fewer and fewer."""
        while True:
            best = min(search.visited[already:], key=lambda setting: setting.loss)
            width = min(search.n_directions(best), best.n_components - 1)
            if width < 1:
                return
            turn = self._turning_point(search, already)
            smaller = [alpha for alpha in self._alphas if alpha <= turn.alpha]
            already = len(search.visited)
            search.follow(search.narrowed(turn, width), smaller)
            if min(setting.loss for setting in search.visited[already:]) >= best.loss:
                return

    def _turning_point(self, search: SettingSearch, already: int) -> Visited:
        """Where narrower maps branch off: the step before the best of this round."""
        path = search.visited[already:]
        best = min(range(len(path)), key=lambda k: path[k].loss)
        before = (
            best - 1
            if best > 0 and path[best - 1].n_components == path[best].n_components
            else best
        )
        return path[before]

    def _choose(self, search: SettingSearch) -> Visited:
        if self.plan.alphas is not None and len(self.plan.alphas) == 1:
            last = [v for v in search.visited if v.alpha == self._alphas[-1]]
            return min(last or search.visited, key=lambda setting: setting.loss)
        return search.best

    def _splits(self, n_centers: int) -> list[Split]:
        rows = self.rows.take(slice(0, SEARCH_ROWS))
        strata = None if self.strata is None else self.strata[:SEARCH_ROWS]
        n_folds = next((folds for most, folds in FOLDS if len(rows.X) <= most), None)
        masks = rows.folds(4, strata)[:1] if n_folds is None else rows.folds(n_folds, strata)
        splits = []
        for train, test in masks:
            part = rows.take(train)
            splits.append(Split(part, rows.take(test), self._centers(part, n_centers)))
        return splits or [Split(rows, rows, self._centers(rows, n_centers))]

    def _tune(self, search: SettingSearch, chosen: Visited) -> tuple[Tuned, bool]:
        """Settings of the last fit, and whether they are for the plain map."""
        n_centers = min(self.plan.refit_centers or 1, TUNE_CENTERS)
        splits = [
            replace(split, Z=self._centers(split.train, n_centers)) for split in search.splits
        ]
        bounds = self.plan.bounds
        tuned = tune_refit(self.problem, splits, chosen.maps, chosen.alpha, bounds)
        given = self.plan.n_components is not None or self.problem.radius is not None
        if given or self.rows.X.shape[1] > MOST_PLAIN:
            return tuned, False
        plain = tune_refit(
            self.problem, splits, [self._plain_map()] * len(splits), chosen.alpha, bounds
        )
        return (plain, True) if plain.loss < (1.0 - PLAIN_GAIN) * tuned.loss else (tuned, False)

    def _plain_map(self) -> FloatArray:
        """No feature learning: all directions alike."""
        return self._varying(np.eye(self.rows.X.shape[1])) / median_distance(self.rows.X)

    # -- starts -------------------------------------------------------------------------------

    def _starts(self, split: Split) -> list[FloatArray]:
        """First maps, the one that predicts best first.

        They are wide even if few components are wanted: narrow maps get stuck more often.
        """
        if self.plan.start is not None:
            return [self.plan.start]
        width = min(max(self._widths[0], WIDE), self.rows.X.shape[1])
        init = self.plan.init
        if not isinstance(init, str):
            return [self._normalised(init)]
        candidates = []
        if init in ("auto", "random"):
            candidates += self._random_maps(width, self.plan.n_init)
        few_columns = self.rows.X.shape[1] <= MOST_PLAIN
        if init == "subspace" or (init == "auto" and few_columns):
            Z = self._centers(split.train, SUBSPACE_CENTERS)
            plain = self.problem.objective(split.train, Z, START_ALPHA)
            candidates.append(subspace_map(plain, width, split.train.weights))
        maps = [self._normalised(B) for B in candidates]
        if len(maps) == 1:
            return maps
        objective = self.problem.objective(split.train, split.Z, START_ALPHA)
        scorer = SettingSearch(self.problem, [split], (), self.plan.bounds)
        losses = [scorer.held_out(objective.at(B, tol=1e-4), split.test) for B in maps]
        return [maps[k] for k in np.argsort(losses, kind="stable")]

    def _random_maps(self, width: int, number: int) -> list[FloatArray]:
        random = self._random(1)
        return [random_map(width, self.rows.X.shape[1], random) for _ in range(number)]

    def _normalised(self, B: FloatArray) -> FloatArray:
        """The map with a median distance of 1: the length scale follows the current B."""
        B = self._varying(B)
        return B / median_distance(self.rows.X[:MEDIAN_ROWS] @ B.T)

    def _varying(self, B: FloatArray) -> FloatArray:
        """The map blind to constant columns, which cannot matter."""
        return np.where(np.ptp(self.rows.X, axis=0) > 0.0, B, 0.0)

    # -- learning -----------------------------------------------------------------------------

    def _approach(self) -> FloatArray:
        """Without a search: go down to the given alpha on the rows of the learning."""
        rows = self._learning_rows()
        Z = self._centers(rows, self.plan.n_centers)
        split = self._splits(self.plan.n_centers)[0]
        everything = Split(rows, split.test, Z)
        search = SettingSearch(
            self.problem,
            [everything],
            self._alphas[:-1],
            progress=self._report("approaching alpha"),
            watch=self._watch,
        )
        self._follow_widths(search, self._starts(split)[:N_STARTS])
        return search.visited[-1].maps[0]

    def _learning_rows(self) -> CanonicalRows:
        affordable = int(LEARN_WORK / self.plan.n_centers**2)
        return self.rows.take(slice(0, int(np.clip(affordable, *LEARN_ROWS))))

    def _minimise_on_many(self, maps: Sequence[FloatArray], alpha: float) -> SolveResult:
        """Learn on as many rows as pays, from the best of some maps."""
        rows = self._learning_rows()
        objective = self.problem.objective(rows, self._centers(rows, self.plan.n_centers), alpha)
        points = [objective.at(B) for B in maps]
        start = min(points, key=lambda point: self.problem.value(objective, point))
        return self._minimise(objective, start, self.plan.max_iter, self.plan.tol)

    def _minimise(
        self,
        objective: HyperKernelObjective,
        start: HyperKernelPoint,
        max_iter: int,
        tol: float,
    ) -> SolveResult:
        self._watch(objective.fitter.alpha)(start)
        return self.problem.minimise(
            objective,
            start,
            max_iter=max_iter,
            tol=tol,
            progress=self._report("learning the map"),
            watch=self._watch(objective.fitter.alpha),
        )

    def _watch(self, alpha: float) -> Watch:
        """Remember the lowest point so far, should the fit be interrupted."""

        def remember(point: HyperKernelPoint) -> None:
            if self._seen is None or point.value < self._seen.value:
                self._seen, self._seen_alpha = point, alpha

        return remember

    # -- last fit -----------------------------------------------------------------------------

    def _finish(
        self,
        result: SolveResult,
        tuned: Tuned,
        alpha: float,
        visited: tuple[Visited, ...] = (),
    ) -> LearnedKernel:
        end = result.solution
        W, value = (end.W, end.value) if isinstance(end, HyperKernelPoint) else (end, np.nan)
        n_centers = self.plan.refit_centers or self.plan.n_centers
        B = tuned.scale * W
        Z = self._centers(self.rows, n_centers, B, tuned.alpha)
        objective = self.problem.objective(self.rows, Z, tuned.alpha)
        blocks = KernelBlocks(
            B, self.rows.X, Z, self.problem.kernel, self.problem.n_jobs, slopes=False
        )
        coefficients, intercept = objective.fitter.function(blocks)
        sample = self.rows.take(slice(0, SLOPE_ROWS))
        part = self.problem.objective(sample, Z, tuned.alpha).with_coefficients(
            B, coefficients, intercept
        )
        slopes, directions = direction_strengths(part, sample.weights)
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

    # -- helpers ------------------------------------------------------------------------------

    def _centers(
        self,
        rows: CanonicalRows,
        n_centers: int,
        B: FloatArray | None = None,
        alpha: float = START_ALPHA,
    ) -> FloatArray:
        candidates = distinct_rows(rows.group)
        if self.plan.centers == "uniform":
            return rows.X[uniform_centers(candidates, n_centers, self._random(0))]
        images = rows.X / median_distance(self.rows.X) if B is None else rows.X @ B.T
        chosen = leverage_centers(
            images,
            rows.weights,
            candidates,
            n_centers,
            self.problem.kernel.matrix,
            alpha,
            self._random(0),
        )
        return rows.X[chosen]

    def _random(self, stream: int) -> np.random.RandomState:
        return np.random.RandomState([self.seed, stream])

    def _report(self, name: str) -> Progress | None:
        return None if self.stage is None else self.stage(name)
