"""From rows to a fitted RegFeaL: first fit, choice of the setting, learning, last fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._blocks import map_blocks
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.optim.hermite_descent import DescentRule, descend
from kernlens.optim.hermite_directions import Directions
from kernlens.optim.hermite_objective import HermitePoint
from kernlens.optim.hermite_plan import HermiteProblem, LearnedHermite, Setting, Tried
from kernlens.optim.hyper_kernel_search import Bounds, Split, clip_decision
from kernlens.optim.lbfgs import Progress

FloatArray = NDArray[np.floating]

#: Rows that settings are chosen on, and that directions are learned on at the chosen one.
SEARCH_ROWS = 1250
LEARN_ROWS = 2000
#: Iterations that are worth spending on a setting of a search, and the decrease they end at.
SEARCH_ITER = 8
SEARCH_TOL = 1e-3
#: Settings that go on from the first split to the others.
FINALISTS = 8


@dataclass
class HermiteLearner:
    """Choose a setting, learn directions, fit the function.

    Attributes
    ----------
    problem : HermiteProblem
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
        best = min(tried, key=lambda one: one.loss)
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
        result = SolveResult(point, Status.INTERRUPTED, 0, (point.value,))
        return LearnedHermite(directions, setting, point.function, None, result, ())

    def _starts(self, setting: Setting, given: Directions | None) -> list[Directions]:
        """Where the learning at a setting starts, on the rows it is done on."""
        if given is not None:
            return [given]
        return [self._first_directions(self._learning_rows(), setting)]

    def _first_directions(self, rows: CanonicalRows, setting: Setting) -> Directions:
        """Directions of a function of all columns alike, the leading ones of feature learning."""
        plan = self.problem.plan
        equal = Directions.equal(rows.X.shape[1], plan.r)
        if plan.structure != "features":
            return equal
        point = self.problem.objective(rows, setting).at(equal)
        M, _ = point.derivatives
        return equal.reweighted(M, 0.0, rotate=True).leading(plan.max_directions)

    def _search(self, given: Directions | None) -> tuple[Tried, ...]:
        """Try every setting on the first split, and the best ones on the others."""
        plan = self.problem.plan
        progress = None if self.report is None else self.report("choosing settings")
        plain = self._best_plain_setting()
        found: dict[int, list[tuple[float, float, Directions]]] = {}
        ranked = list(range(len(plan.settings)))
        for split in self.splits:
            start = given or self._first_directions(split.train, plain)

            def attempt(
                number: int, split: Split = split, start: Directions = start
            ) -> tuple[float, float, Directions]:
                point = self._descend_shortly(split.train, plan.settings[number], start)
                if progress is not None:
                    progress(number, point.value)
                return (*self._scores(point, split), point.directions)

            # Settings side by side: their own loops are too short to share a machine's cores.
            outcomes = map_blocks(attempt, ranked, n_jobs=self.problem.n_jobs)
            for number, outcome in zip(ranked, outcomes, strict=True):
                found.setdefault(number, []).append(outcome)
            if len(ranked) > FINALISTS:
                ranked.sort(key=lambda number: min(found[number][0][:2]))
                ranked = ranked[:FINALISTS] if len(self.splits) > 1 else ranked
        return tuple(
            Tried(
                plan.settings[number],
                float(np.mean([own for own, _, _ in found[number]])),
                float(np.mean([refit for _, refit, _ in found[number]])),
                tuple(directions for _, _, directions in found[number]),
            )
            for number in ranked
        )

    def _best_plain_setting(self) -> Setting:
        """The setting at which a function of all columns alike predicts best."""
        settings, split = self.problem.plan.settings, self.splits[0]
        if len(settings) == 1 or self.problem.plan.structure != "features":
            return settings[0]
        equal = Directions.equal(self.rows.X.shape[1], self.problem.plan.r)

        def loss(setting: Setting) -> float:
            return self._own_loss(self.problem.objective(split.train, setting).at(equal), split)

        losses = map_blocks(loss, settings, n_jobs=self.problem.n_jobs)
        return settings[int(np.argmin(losses))]

    def _descend_shortly(
        self, rows: CanonicalRows, setting: Setting, start: Directions
    ) -> HermitePoint:
        plan = self.problem.plan
        rule = replace(
            plan.descent,
            max_iter=min(SEARCH_ITER, plan.descent.max_iter),
            tol=max(SEARCH_TOL, plan.descent.tol),
        )
        return self._descend(rows, setting, start, rule).solution

    def _descend(
        self,
        rows: CanonicalRows,
        setting: Setting,
        start: Directions,
        rule: DescentRule,
        progress: Progress | None = None,
    ) -> SolveResult:
        def remember(point: HermitePoint) -> None:
            self._seen = setting, point.directions

        objective = self.problem.objective(rows, setting)
        if self.problem.plan.structure == "none":
            rule = replace(rule, max_iter=0)
        return descend(objective, start, rule, progress=progress, watch=remember)

    def _scores(self, point: HermitePoint, split: Split) -> tuple[float, float]:
        """Held-out losses of the function and of the refit."""
        plan = self.problem.plan
        own = self._own_loss(point, split) if plan.own else np.inf
        if plan.refit is None:
            return own, np.inf
        return own, plan.refit.held_out([split], [self._map(point.directions)])

    def _own_loss(self, point: HermitePoint, split: Split) -> float:
        decision = point.function.decision(split.test.X @ point.directions.R)
        losses = self.problem.loss.values(split.test.y, clip_decision(decision, self.bounds))
        return float(np.average(losses, weights=split.test.weights))

    def _map(self, directions: Directions) -> FloatArray:
        """The relevant directions, (n_relevant, n_features), in proportion to their shares."""
        kept = directions.leading(directions.relevant(len(directions.R)))
        weighted: FloatArray = (kept.R * (kept.shares / kept.shares.max())).T
        return weighted

    def _learning_rows(self) -> CanonicalRows:
        return self.rows.take(slice(0, LEARN_ROWS)) if self._samples_rows else self.rows

    def _last_rows(self) -> CanonicalRows:
        """All rows, unless the last fit is the kernel one."""
        return self._learning_rows() if self.problem.plan.last_rule is None else self.rows

    @property
    def _samples_rows(self) -> bool:
        """Whether directions are learned on some of the rows: with the exact kernel."""
        return self.problem.plan.rule is None

    def _finish(
        self, setting: Setting, starts: Sequence[Directions], tried: tuple[Tried, ...]
    ) -> LearnedHermite:
        plan = self.problem.plan
        rows = self._learning_rows()
        start = starts[0]
        if len(starts) > 1:
            objective = self.problem.objective(rows, setting)
            start = min(starts, key=lambda directions: objective.at(directions).value)
        progress = None if self.report is None else self.report("learning directions")
        result = self._descend(rows, setting, start, plan.descent, progress)
        directions = result.solution.directions.without_small(0.0)
        last = self.problem.objective(self._last_rows(), setting, last=True).at(directions)
        best = min(tried, key=lambda one: one.loss, default=None)
        refitted = None
        if plan.refit is not None and best is not None and best.refit_loss < best.own_loss:
            maps = [self._map(found) for found in best.directions]
            splits = list(self.splits)[: len(maps)]
            refitted = plan.refit.fit(self.rows, self._map(directions), splits, maps)
        return LearnedHermite(directions, setting, last.function, refitted, result, tried)
