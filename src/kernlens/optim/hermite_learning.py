"""From rows to a fitted RegFeaL: first fit, choice of the setting, learning, last fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._blocks import map_blocks
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.kernels.hermite import COARSE, Precision
from kernlens.optim.hermite_descent import DescentRule, descend
from kernlens.optim.hermite_directions import Directions
from kernlens.optim.hermite_objective import HermiteObjective, HermitePoint
from kernlens.optim.hermite_plan import HermiteProblem, LearnedHermite, Setting, Tried
from kernlens.optim.hyper_kernel_search import Bounds, Split, clip_decision
from kernlens.optim.lbfgs import Progress

FloatArray = NDArray[np.floating]

#: Iterations spent on a setting of a search, and the decrease they end at. On the first split all
#: settings get the first ones, the best of them the others; the best of these go to all splits.
FIRST_ITER = 3
SEARCH_ITER = 8
SEARCH_TOL = 1e-3
SECOND_ROUND = 16
#: Splits that a refit is tuned on where every fit of it takes several Newton steps.
NEWTON_SPLITS = 2
FINALISTS = 6


@dataclass(frozen=True)
class _Outcome:
    """Held-out losses of a setting on one split, and the directions reached."""

    own_loss: float
    refit_loss: float
    directions: Directions


def _best(found: dict[int, _Outcome], number: int) -> list[int]:
    """The settings with the lowest losses, lowest first."""
    return sorted(found, key=lambda k: min(found[k].own_loss, found[k].refit_loss))[:number]


def _winner(tried: Sequence[Tried]) -> Tried:
    """The best of the settings that went through all splits."""
    most = max(len(one.directions) for one in tried)
    return min((one for one in tried if len(one.directions) == most), key=lambda one: one.loss)


@dataclass
class HermiteLearner:
    """Choose a setting, learn directions, fit the function.

    Attributes
    ----------
    problem : HermiteProblem
    search_problem : HermiteProblem
        The same, or with a cheaper loss and as many settings, for the choice of the setting.
    rows : CanonicalRows
        All rows, standardised.
    splits : sequence of Split
        Parts of the first of them to learn from and to score on.
    bounds : tuple of ndarray of shape (n_targets,), or None
        Of the predictions that are scored.
    report : callable or None
        Name of a stage -> callback of its iterations.
    """

    problem: HermiteProblem
    search_problem: HermiteProblem
    rows: CanonicalRows
    splits: Sequence[Split]
    bounds: Bounds | None = None
    report: Callable[[str], Progress] | None = None
    _seen: tuple[Setting, Directions] | None = field(default=None, init=False)

    def learn(self) -> LearnedHermite:
        """Go through all stages."""
        plan = self.problem.plan
        start = plan.start
        if len(plan.settings) == 1 and plan.refit is None:
            return self._finish(plan.settings[0], self._starts(plan.settings[0], start), ())
        tried = self._search(start)
        best = _winner(tried)
        starts = [*best.directions, *self._starts(best.setting, start)]
        return self._finish(best.setting, starts, tried)

    def finish_interrupted(self) -> LearnedHermite:
        """The function on the directions that were reached last."""
        plan = self.problem.plan
        setting, directions = self._seen or (
            plan.settings[0],
            Directions.equal(self.rows.X.shape[1], plan.r),
        )
        point = self.problem.objective(self._last_rows(), setting, last=True).at(directions)
        learning = self.problem.objective(self._learning_rows(), setting).at(directions)
        result = SolveResult(learning, Status.INTERRUPTED, 0, (learning.value,))
        return LearnedHermite(directions, setting, point.function, None, result, ())

    def _starts(self, setting: Setting, given: Directions | None) -> list[Directions]:
        """Where the learning at a setting starts, on the rows it is done on."""
        if given is not None:
            return [given]
        return [self._first_directions(self.problem, self._learning_rows(), setting)]

    def _first_directions(
        self,
        problem: HermiteProblem,
        rows: CanonicalRows,
        setting: Setting,
        precision: Precision | None = None,
    ) -> Directions:
        """Directions of a function of all columns alike, the leading ones of feature learning."""
        plan = problem.plan
        equal = Directions.equal(rows.X.shape[1], plan.r)
        if plan.structure != "features":
            return equal
        point = problem.objective(rows, setting, precision=precision).at(equal)
        M, _ = point.derivatives
        return equal.reweighted(M, 0.0, rotate=True).leading(plan.max_directions)

    def _search(self, given: Directions | None) -> tuple[Tried, ...]:
        """Try every setting on the first split, and the best ones on the others."""
        settings = self.problem.plan.settings
        plain = self._best_plain_setting()
        first = given or self._first_directions(
            self.search_problem, self.splits[0].train, plain, COARSE
        )
        found = self._round(self.splits[0], dict.fromkeys(range(len(settings)), first), FIRST_ITER)
        best = _best(found, SECOND_ROUND)
        found |= self._round(
            self.splits[0], {k: found[k].directions for k in best}, SEARCH_ITER - FIRST_ITER
        )
        finalists = _best({k: found[k] for k in best}, FINALISTS)
        rounds = [{k: found[k] for k in finalists}]
        for split in self.splits[1:]:
            start = given or self._first_directions(self.search_problem, split.train, plain, COARSE)
            rounds.append(self._round(split, dict.fromkeys(finalists, start), SEARCH_ITER))
        others = [k for k in _best(found, len(found)) if k not in finalists]
        outcomes = {k: [round_[k] for round_ in rounds] for k in finalists}
        outcomes |= {k: [found[k]] for k in others}
        return tuple(
            Tried(
                settings[k],
                float(np.mean([outcome.own_loss for outcome in several])),
                float(np.mean([outcome.refit_loss for outcome in several])),
                tuple(outcome.directions for outcome in several),
            )
            for k, several in outcomes.items()
        )

    def _round(
        self, split: Split, starts: dict[int, Directions], n_iter: int
    ) -> dict[int, _Outcome]:
        """Learn at some settings on one split, each from its own start."""
        progress = None if self.report is None else self.report("choosing settings")

        def attempt(k: int) -> _Outcome:
            point = self._descend_shortly(split.train, k, starts[k], n_iter)
            if progress is not None:
                progress(k, point.value)
            scores = self._scores(point, split, quick=n_iter < SEARCH_ITER - FIRST_ITER)
            return _Outcome(*scores, point.directions)

        # Settings side by side: their own loops are too short to share a machine's cores.
        outcomes = map_blocks(attempt, list(starts), n_jobs=self.problem.n_jobs)
        return dict(zip(starts, outcomes, strict=True))

    def _best_plain_setting(self) -> Setting:
        """The setting at which a function of all columns alike predicts best."""
        settings, split = self.search_problem.plan.settings, self.splits[0]
        if len(settings) == 1 or self.search_problem.plan.structure != "features":
            return settings[0]
        equal = Directions.equal(self.rows.X.shape[1], self.problem.plan.r)

        def loss(setting: Setting) -> float:
            objective = self.search_problem.objective(split.train, setting, precision=COARSE)
            return self._own_loss(objective.at(equal), split)

        losses = map_blocks(loss, settings, n_jobs=self.problem.n_jobs)
        return settings[int(np.argmin(losses))]

    def _descend_shortly(
        self, rows: CanonicalRows, k: int, start: Directions, n_iter: int
    ) -> HermitePoint:
        """Some iterations of the search at its setting of number k."""
        plan = self.search_problem.plan
        objective = self.search_problem.objective(rows, plan.settings[k], precision=COARSE)
        rule = replace(
            plan.descent,
            max_iter=min(n_iter, plan.descent.max_iter),
            tol=max(SEARCH_TOL, plan.descent.tol),
        )
        setting = self.problem.plan.settings[k]
        point: HermitePoint = self._descend(objective, setting, start, rule).solution
        return point

    def _descend(
        self,
        objective: HermiteObjective,
        setting: Setting,
        start: Directions,
        rule: DescentRule,
        progress: Progress | None = None,
    ) -> SolveResult:
        def remember(point: HermitePoint) -> None:
            self._seen = setting, point.directions

        if self.problem.plan.structure == "none":
            rule = replace(rule, max_iter=0)
        return descend(objective, start, rule, progress=progress, watch=remember)

    def _scores(self, point: HermitePoint, split: Split, *, quick: bool) -> tuple[float, float]:
        """Held-out losses of the function and of the refit."""
        plan = self.search_problem.plan
        own = self._own_loss(point, split) if plan.own else np.inf
        if plan.refit is None:
            return own, np.inf
        return own, plan.refit.held_out(split, self._map(point.directions), quick=quick)

    def _own_loss(self, point: HermitePoint, split: Split) -> float:
        decision = point.function.decision(split.test.X @ point.directions.R)
        loss = self.search_problem.loss
        losses = loss.values(split.test.y, clip_decision(decision, self.bounds))
        return float(np.average(losses, weights=split.test.weights))

    def _map(self, directions: Directions) -> FloatArray:
        """The relevant directions, (n_relevant, n_features), in proportion to their shares."""
        kept = directions.leading(directions.relevant(len(directions.R)))
        weighted: FloatArray = (kept.R * (kept.shares / kept.shares.max())).T
        return weighted

    def _learning_rows(self) -> CanonicalRows:
        return self.rows.take(slice(0, self.problem.plan.learn_rows))

    def _last_rows(self) -> CanonicalRows:
        """All rows, unless there are too many for the kernel of all polynomials."""
        return self._learning_rows() if self.problem.plan.last_rule is None else self.rows

    def _finish(
        self, setting: Setting, starts: Sequence[Directions], tried: tuple[Tried, ...]
    ) -> LearnedHermite:
        plan = self.problem.plan
        rows = self._learning_rows()
        start = starts[0]
        objective = self.problem.objective(rows, setting)
        if len(starts) > 1:
            start = min(starts, key=lambda directions: objective.at(directions).value)
        progress = None if self.report is None else self.report("learning directions")
        result = self._descend(objective, setting, start, plan.descent, progress)
        directions = result.solution.directions.without_small(0.0)
        last = self.problem.objective(self._last_rows(), setting, last=True).at(directions)
        refitted = None
        if tried and (best := _winner(tried)).refit_loss < best.own_loss:
            assert plan.refit is not None
            most = len(best.directions) if self.problem.loss.quadratic else NEWTON_SPLITS
            maps = [self._map(found) for found in best.directions[:most]]
            splits = list(self.splits)[: len(maps)]
            refitted = plan.refit.fit(self.rows, self._map(directions), splits, maps)
        return LearnedHermite(directions, setting, last.function, refitted, result, tried)
