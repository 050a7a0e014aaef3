"""Choosing a setting of RegFeaL on rows that are held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._array import IntArray
from kernlens._execution import map_blocks
from kernlens._rows import CanonicalRows
from kernlens.base.fit_data import Stage
from kernlens.base.search import SearchRecord
from kernlens.fits.held_out import Bounds, Split, held_out_loss
from kernlens.kernels.hermite import COARSE
from kernlens.methods.regfeal.descent import descend
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.objective import HermitePoint
from kernlens.methods.regfeal.plan import HermiteProblem, Setting, Tried
from kernlens.methods.regfeal.refits import draw_centers

#: Rows that settings are chosen on.
SEARCH_ROWS = 1250
#: Centres of the refit while it is tuned.
TUNE_CENTERS = 300
#: Iterations spent on a setting of a search, and the decrease they end at. On the first split all
#: settings get the first ones, the best of them the others; the best of these go to all splits.
FIRST_ITER = 3
SEARCH_ITER = 8
SEARCH_TOL = 1e-3
SECOND_ROUND = 16
FINALISTS = 6
#: Splits that plain fits are compared on. Those within the share of the best one are taken for
#: equal.
PLAIN_SPLITS = 2
PLAIN_TIE = 0.02


def split_rows(
    rows: CanonicalRows, n_folds: int, seed: int, strata: IntArray | None
) -> list[Split]:
    """Folds of the first rows, with the centres that a refit is tuned with.

    There is none if rows, or those of a class, are too few to hold any out.
    """
    part = rows.take(slice(0, SEARCH_ROWS))
    strata = None if strata is None else strata[:SEARCH_ROWS]
    splits = []
    for train, test in part.folds(n_folds, strata):
        kept = part.take(train)
        splits.append(Split(kept, part.take(test), draw_centers(kept, TUNE_CENTERS, seed)))
    return splits


def split_nothing(rows: CanonicalRows, seed: int) -> list[Split]:
    """One split whose rows are scored by fits that have seen them, if there is no other."""
    part = rows.take(slice(0, SEARCH_ROWS))
    return [Split(part, part, draw_centers(part, TUNE_CENTERS, seed))]


def winner(tried: Sequence[Tried]) -> Tried:
    """The best of the settings that went through all splits."""
    most = max(len(one.directions) for one in tried)
    return min((one for one in tried if len(one.directions) == most), key=lambda one: one.loss)


def record_of(tried: Sequence[Tried], chosen: Tried) -> SearchRecord | None:
    """What was tried, as every family writes it down; None if there was nothing to choose."""
    if not tried:
        return None
    settings = {"alpha": np.array([one.setting.alpha for one in tried])}
    rhos = [one.setting.rho for one in tried]
    if None not in rhos:
        settings["rho"] = np.array(rhos, dtype=np.float64)
    if any(one.plain for one in tried):
        settings["plain"] = np.array([one.plain for one in tried])
    return SearchRecord(
        settings,
        np.array([one.loss for one in tried]),
        next(k for k, one in enumerate(tried) if one is chosen),
        {
            "own_loss": np.array([one.own_loss for one in tried]),
            "refit_loss": np.array([one.refit_loss for one in tried]),
            "n_folds": np.array([len(one.directions) for one in tried]),
        },
    )


@dataclass(frozen=True)
class _Outcome:
    """Held-out losses of a setting on one split, and the directions reached."""

    own_loss: float
    refit_loss: float
    directions: WeightedDirections

    @property
    def loss(self) -> float:
        return min(self.own_loss, self.refit_loss)


def _best(found: dict[Setting, _Outcome], number: int) -> list[Setting]:
    """The settings with the lowest losses, lowest first."""
    return sorted(found, key=lambda setting: found[setting].loss)[:number]


def _joined(setting: Setting, outcomes: Sequence[_Outcome], *, plain: bool = False) -> Tried:
    return Tried(
        setting,
        float(np.mean([outcome.own_loss for outcome in outcomes])),
        float(np.mean([outcome.refit_loss for outcome in outcomes])),
        tuple(outcome.directions for outcome in outcomes),
        plain,
    )


@dataclass(frozen=True)
class SettingSearch:
    """Compares settings on splits of the rows.

    Attributes
    ----------
    problem : HermiteProblem
        In the form for a search.
    splits : sequence of Split
        At least one.
    bounds : tuple of ndarray of shape (n_targets,), or None
        Bounds of the predictions that are scored.
    watch : callable
        Told the setting and every point that is reached.
    stage : callable or None
        Name of a stage -> callback of its iterations.
    """

    problem: HermiteProblem
    splits: Sequence[Split]
    bounds: Bounds | None
    watch: Callable[[Setting, HermitePoint], None]
    stage: Stage | None = None

    def best_plain_setting(self) -> Setting:
        """The setting at which a function of all columns alike predicts best.

        Among nearly equal ones it is the one with the smoothest function, which has seen least of
        the noise.
        """
        settings, splits = self.problem.plan.settings, self.splits[:PLAIN_SPLITS]
        if len(settings) == 1 or not self.problem.plan.learns_directions:
            return settings[0]

        def loss(setting: Setting) -> float:
            return float(np.mean([self._plain_loss(setting, split) for split in splits]))

        losses = map_blocks(loss, settings, n_jobs=self.problem.n_jobs)
        close = float(np.min(losses)) * (1.0 + PLAIN_TIE)
        candidates = [k for k, value in enumerate(losses) if value <= close]
        return settings[
            min(
                candidates,
                key=lambda k: (settings[k].sequence.log(np.ones(1, np.int64))[0], losses[k]),
            )
        ]

    def try_plain(self, setting: Setting, n_splits: int) -> Tried:
        """A function of all columns alike, and a refit on the directions it varies along."""
        outcomes = []
        for split in self.splits[:n_splits]:
            start = self._start(split, setting)
            refit_loss = self._refit_loss(start, split, quick=False)
            outcomes.append(_Outcome(self._plain_loss(setting, split), refit_loss, start))
        return _joined(setting, outcomes, plain=True)

    def run(self, plain: Setting) -> tuple[Tried, ...]:
        """Try every setting on the first split, and the best ones on the others.

        All start from the directions of a plain fit at the setting `plain`.
        """
        settings, first = self.problem.plan.settings, self.splits[0]
        start = self._start(first, plain)
        found = self._round(first, dict.fromkeys(settings, start), FIRST_ITER)
        best = _best(found, SECOND_ROUND)
        found |= self._round(
            first, {one: found[one].directions for one in best}, SEARCH_ITER - FIRST_ITER
        )
        finalists = _best({one: found[one] for one in best}, FINALISTS)
        rounds = [{one: found[one] for one in finalists}]
        for split in self.splits[1:]:
            start = self._start(split, plain)
            rounds.append(self._round(split, dict.fromkeys(finalists, start), SEARCH_ITER))
        others = [one for one in _best(found, len(found)) if one not in finalists]
        return (
            *(_joined(one, [round_[one] for round_ in rounds]) for one in finalists),
            *(_joined(one, [found[one]]) for one in others),
        )

    def _start(self, split: Split, plain: Setting) -> WeightedDirections:
        """Where all settings start on a split."""
        given = self.problem.plan.start
        return self.problem.first_directions(split.train, plain, COARSE) if given is None else given

    def _round(
        self, split: Split, starts: dict[Setting, WeightedDirections], n_iter: int
    ) -> dict[Setting, _Outcome]:
        """Learn at some settings on one split, each from its own start."""
        progress = None if self.stage is None else self.stage("choosing settings")
        quick = n_iter < SEARCH_ITER - FIRST_ITER

        def attempt(numbered: tuple[int, Setting]) -> _Outcome:
            number, setting = numbered
            point = self._descend(split.train, setting, starts[setting], n_iter)
            if progress is not None:
                progress(number, point.value)
            own = self._own_loss(point, split) if self.problem.plan.own else np.inf
            refit = self._refit_loss(point.directions, split, quick=quick)
            return _Outcome(own, refit, point.directions)

        # Settings side by side: their own loops are too short to share a machine's cores.
        outcomes = map_blocks(attempt, list(enumerate(starts)), n_jobs=self.problem.n_jobs)
        return dict(zip(starts, outcomes, strict=True))

    def _descend(
        self, rows: CanonicalRows, setting: Setting, start: WeightedDirections, n_iter: int
    ) -> HermitePoint:
        """Some iterations at a setting."""
        rule = self.problem.plan.descent_within(n_iter, SEARCH_TOL)
        objective = self.problem.objective(rows, setting, precision=COARSE)
        end = descend(objective, start, rule, watch=lambda point: self.watch(setting, point))
        point: HermitePoint = end.solution
        return point

    def _plain_loss(self, setting: Setting, split: Split) -> float:
        objective = self.problem.objective(split.train, setting, precision=COARSE)
        return self._own_loss(objective.at(self.problem.equal_directions(split.train)), split)

    def _own_loss(self, point: HermitePoint, split: Split) -> float:
        decision = point.function.decision(split.test.X)
        return held_out_loss(self.problem.loss, split.test, decision, self.bounds)

    def _refit_loss(self, directions: WeightedDirections, split: Split, *, quick: bool) -> float:
        refit = self.problem.plan.refit
        if refit is None:
            return np.inf
        return refit.held_out(split, directions.projection(), quick=quick)
