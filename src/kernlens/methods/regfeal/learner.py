"""From rows to a fitted RegFeaL: first fit, choice of the setting, learning, last fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.fits.held_out import Bounds, Split, held_out_loss
from kernlens.kernels.hermite import COARSE, Precision
from kernlens.methods.regfeal.descent import DescentRule, descend
from kernlens.methods.regfeal.directions import Directions
from kernlens.methods.regfeal.objective import HermiteObjective, HermitePoint
from kernlens.methods.regfeal.plan import HermiteProblem, LearnedHermite, Setting, Tried
from kernlens.optim.lbfgs import Progress

#: Iterations spent on a setting of a search, and the decrease they end at. On the first split all
#: settings get the first ones, the best of them the others; the best of these go to all splits.
FIRST_ITER = 3
SEARCH_ITER = 8
SEARCH_TOL = 1e-3
SECOND_ROUND = 16
FINALISTS = 6
#: Splits that a refit is tuned on where every fit of it takes several Newton steps.
NEWTON_SPLITS = 2
#: Splits that plain fits are compared on. Learned directions must lower the held-out loss of the
#: best one by the first share; those within the second share of it are taken for equal.
PLAIN_SPLITS = 2
PLAIN_GAIN = 0.05
PLAIN_TIE = 0.02


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
        if len(plan.settings) == 1 and plan.refit is None:
            return self._finish(plan.settings[0], self._starts(plan.settings[0]), ())
        plain = self._best_plain_setting()
        tried = self._search(plain)
        best = _winner(tried)
        if self._may_stay_plain:
            kept = self._try_plain(plain, len(best.directions))
            if best.loss > (1.0 - PLAIN_GAIN) * kept.loss:
                return self._stay_plain(kept, (kept, *tried))
        starts = [*best.directions, *self._starts(best.setting)]
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
        refitted = None
        if plan.refit is not None and not plan.own:
            B = self._map(directions)
            refitted = plan.refit.fit(self.rows, B, self.splits[:1], [B])
        return LearnedHermite(directions, setting, point.function, refitted, result, ())

    def _starts(self, setting: Setting) -> list[Directions]:
        """Where the learning at a setting may start, on the rows it is done on."""
        plan = self.problem.plan
        first = plan.start or self._first_directions(self.problem, self._learning_rows(), setting)
        if plan.previous is None:
            return [first]
        # Directions learned before have a lower objective from the start, but perhaps too few
        # directions: both go some way before they are compared.
        objective = self.problem.objective(self._learning_rows(), setting)
        rule = replace(plan.descent, max_iter=min(SEARCH_ITER, plan.descent.max_iter))
        ends = [
            self._descend(objective, setting, start, rule).solution
            for start in (plan.previous, first)
        ]
        return [end.directions for end in ends]

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

    @property
    def _may_stay_plain(self) -> bool:
        """Whether directions are to be learned only if they predict better than a plain fit."""
        plan = self.problem.plan
        chosen = len(plan.settings) > 1 and plan.start is None
        return plan.structure == "features" and plan.own and chosen

    def _try_plain(self, number: int, n_splits: int) -> Tried:
        """A function of all columns alike, and a refit on the directions it varies along."""
        setting = self.search_problem.plan.settings[number]
        equal = Directions.equal(self.rows.X.shape[1], self.problem.plan.r)
        own, refit, found = [], [], []
        for split in self.splits[:n_splits]:
            objective = self.search_problem.objective(split.train, setting, precision=COARSE)
            directions = self._search_start(split, number)
            own.append(self._own_loss(objective.at(equal), split))
            refit.append(self._refit_loss(directions, split, quick=False))
            found.append(directions)
        plain = self.problem.plan.settings[number]
        return Tried(plain, float(np.mean(own)), float(np.mean(refit)), tuple(found))

    def _stay_plain(self, kept: Tried, tried: tuple[Tried, ...]) -> LearnedHermite:
        """The function of all columns alike, or the refit on its leading directions."""
        rows, setting = self._learning_rows(), kept.setting
        directions = Directions.equal(self.rows.X.shape[1], self.problem.plan.r)
        learning = self.problem.objective(rows, setting).at(directions)
        result = SolveResult(learning, Status.PLAIN, 0, (learning.value,))
        refitted = None
        if kept.refit_loss < kept.own_loss:
            directions = self._first_directions(self.problem, rows, setting)
            refitted = self._fitted_refit(directions, kept)
        last = self.problem.objective(self._last_rows(), setting, last=True).at(directions)
        return LearnedHermite(directions, setting, last.function, refitted, result, tried)

    def _search_start(self, split: Split, plain: int) -> Directions:
        """Where all settings start on a split."""
        problem = self.search_problem
        if problem.plan.start is not None:
            return problem.plan.start
        return self._first_directions(problem, split.train, problem.plan.settings[plain], COARSE)

    def _search(self, plain: int) -> tuple[Tried, ...]:
        """Try every setting on the first split, and the best ones on the others."""
        settings = self.problem.plan.settings
        first = self._search_start(self.splits[0], plain)
        found = self._round(self.splits[0], dict.fromkeys(range(len(settings)), first), FIRST_ITER)
        best = _best(found, SECOND_ROUND)
        found |= self._round(
            self.splits[0], {k: found[k].directions for k in best}, SEARCH_ITER - FIRST_ITER
        )
        finalists = _best({k: found[k] for k in best}, FINALISTS)
        rounds = [{k: found[k] for k in finalists}]
        for split in self.splits[1:]:
            start = self._search_start(split, plain)
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

    def _best_plain_setting(self) -> int:
        """Number of the setting at which a function of all columns alike predicts best.

        Of nearly equal ones the one with the smoothest function, which has seen least of the noise.
        """
        settings, splits = self.search_problem.plan.settings, self.splits[:PLAIN_SPLITS]
        if len(settings) == 1 or self.search_problem.plan.structure != "features":
            return 0
        equal = Directions.equal(self.rows.X.shape[1], self.problem.plan.r)

        def loss(setting: Setting) -> float:
            objectives = [
                self.search_problem.objective(split.train, setting, precision=COARSE)
                for split in splits
            ]
            pairs = zip(objectives, splits, strict=True)
            return float(np.mean([self._own_loss(one.at(equal), split) for one, split in pairs]))

        losses = map_blocks(loss, settings, n_jobs=self.problem.n_jobs)
        close = float(np.min(losses)) * (1.0 + PLAIN_TIE)
        candidates = [k for k, value in enumerate(losses) if value <= close]
        return min(
            candidates,
            key=lambda k: (settings[k].sequence.log(np.ones(1, np.int64))[0], losses[k]),
        )

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
        return own, self._refit_loss(point.directions, split, quick=quick)

    def _refit_loss(self, directions: Directions, split: Split, *, quick: bool) -> float:
        refit = self.search_problem.plan.refit
        if refit is None:
            return np.inf
        return refit.held_out(split, self._map(directions), quick=quick)

    def _own_loss(self, point: HermitePoint, split: Split) -> float:
        decision = point.function.decision(split.test.X @ point.directions.R)
        return held_out_loss(self.search_problem.loss, split.test, decision, self.bounds)

    def _map(self, directions: Directions) -> FloatArray:
        """The relevant directions, (n_relevant, n_features), in proportion to their shares."""
        kept = directions.leading(directions.relevant(len(directions.R)))
        weighted: FloatArray = (kept.R * (kept.shares / kept.shares.max())).T
        return weighted

    def _fitted_refit(self, directions: Directions, tried: Tried) -> Any:
        """The refit through `directions`, tuned with those of the splits."""
        refit = self.problem.plan.refit
        assert refit is not None
        most = len(tried.directions) if self.problem.loss.quadratic else NEWTON_SPLITS
        maps = [self._map(found) for found in tried.directions[:most]]
        splits = list(self.splits)[: len(maps)]
        return refit.fit(self.rows, self._map(directions), splits, maps)

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
            refitted = self._fitted_refit(directions, best)
        return LearnedHermite(directions, setting, last.function, refitted, result, tried)
