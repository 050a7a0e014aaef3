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
from kernlens.kernels.hermite import ROUGH
from kernlens.methods.regfeal.descent import descend
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.objective import HermitePoint
from kernlens.methods.regfeal.plan import HermiteProblem, Setting, Tried
from kernlens.methods.regfeal.refits import draw_centers

#: Rows that settings are chosen on, and those of a split that directions are learned from.
SEARCH_ROWS = 1250
LEARN_ROWS = 1000
#: Centres of the refit while it is tuned, and at a first look.
TUNE_CENTERS = 300
FIRST_CENTERS = 150
#: Rows that many settings get a first look on: so many a column, within these bounds, because
#: directions among many columns need more. And the settings that are looked at longer.
FIRST_ROWS_A_COLUMN = 16
FIRST_ROWS = (320, 500)
SECOND_ROUND = 10
#: Iterations of the first look, of a whole search, and the decrease they end at.
FIRST_ITER = 3
SEARCH_ITER = 8
SEARCH_TOL = 1e-3
#: Settings that go to the second split, and those of them that go to all others; a second one does
#: only if the best is not better by this share.
FINALISTS = 4
LAST_TWO = 2
CLEAR_LEAD = 0.05
#: Splits that plain fits are compared on, and how many settings after a look on fewer rows. Those
#: within the share of the best one are taken for equal.
PLAIN_SPLITS = 2
PLAIN_FINALISTS = 8
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
        kept = part.take(np.flatnonzero(train)[:LEARN_ROWS])
        splits.append(Split(kept, part.take(test), draw_centers(kept, TUNE_CENTERS, seed)))
    return splits


def with_fewer_rows(split: Split, n_rows: int, seed: int) -> Split:
    """The split with the first rows to learn from only, and as many to score on."""
    if len(split.train.X) <= n_rows:
        return split
    kept = split.train.take(slice(0, n_rows))
    return Split(kept, split.test, draw_centers(kept, FIRST_CENTERS, seed))


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


def _still_running(tried: dict[Setting, list[_Outcome]]) -> list[Setting]:
    """The best settings so far, without those that the best one is clearly ahead of."""
    losses = {setting: _joined(setting, outcomes).loss for setting, outcomes in tried.items()}
    best = sorted(losses, key=lambda setting: losses[setting])[:LAST_TWO]
    return [one for one in best if losses[best[0]] >= (1.0 - CLEAR_LEAD) * losses[one]]


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
        if len(settings) > PLAIN_FINALISTS:
            losses = self._plain_losses(settings, [self._first_look(split) for split in splits])
            order = np.argsort(losses, kind="stable")[:PLAIN_FINALISTS]
            settings = tuple(settings[k] for k in np.sort(order))
        losses = self._plain_losses(settings, splits)
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
        """Look at every setting on few rows of the first split, at the best ones on all of them.

        The best of these go on to the second split, and two of them to the others. All start from
        the directions of a plain fit at the setting `plain`.
        """
        settings, first = self.problem.plan.settings, self.splits[0]
        looked: dict[Setting, _Outcome] = {}
        if len(settings) > SECOND_ROUND:
            few = self._first_look(first)
            start = self._start(few, plain)
            looked = self._round(few, dict.fromkeys(settings, start), FIRST_ITER)
            starts = {one: looked[one].directions for one in _best(looked, SECOND_ROUND)}
            found = self._round(first, starts, SEARCH_ITER - FIRST_ITER)
        else:
            start = self._start(first, plain)
            found = self._round(first, dict.fromkeys(settings, start), SEARCH_ITER)
        tried = self._over_splits({one: [found[one]] for one in _best(found, FINALISTS)}, plain)
        others = [(one, looked | found) for one in _best(looked | found, len(settings))]
        return (
            *(_joined(one, outcomes) for one, outcomes in tried.items()),
            *(_joined(one, [among[one]]) for one, among in others if one not in tried),
        )

    def _over_splits(
        self, tried: dict[Setting, list[_Outcome]], plain: Setting
    ) -> dict[Setting, list[_Outcome]]:
        """Take settings from the first split on to the others, fewer of them from the third on."""
        running = list(tried)
        for number, split in enumerate(self.splits[1:]):
            if number == 1:
                running = _still_running(tried)
            start = self._start(split, plain)
            for one, outcome in self._round(
                split, dict.fromkeys(running, start), SEARCH_ITER
            ).items():
                tried[one].append(outcome)
        return tried

    def _first_look(self, split: Split) -> Split:
        n_rows = int(np.clip(FIRST_ROWS_A_COLUMN * split.train.X.shape[1], *FIRST_ROWS))
        return with_fewer_rows(split, n_rows, self.problem.plan.seed)

    def _plain_losses(self, settings: Sequence[Setting], splits: Sequence[Split]) -> list[float]:
        def loss(setting: Setting) -> float:
            return float(np.mean([self._plain_loss(setting, split) for split in splits]))

        return map_blocks(loss, settings, n_jobs=self.problem.n_jobs)

    def _start(self, split: Split, plain: Setting) -> WeightedDirections:
        """Where all settings start on a split."""
        given = self.problem.plan.start
        return self.problem.first_directions(split.train, plain, ROUGH) if given is None else given

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
        objective = self.problem.objective(rows, setting, precision=ROUGH)
        end = descend(objective, start, rule, watch=lambda point: self.watch(setting, point))
        point: HermitePoint = end.solution
        return point

    def _plain_loss(self, setting: Setting, split: Split) -> float:
        objective = self.problem.objective(split.train, setting, precision=ROUGH)
        return self._own_loss(objective.at(self.problem.equal_directions(split.train)), split)

    def _own_loss(self, point: HermitePoint, split: Split) -> float:
        decision = point.function.decision(split.test.X)
        return held_out_loss(self.problem.loss, split.test, decision, self.bounds)

    def _refit_loss(self, directions: WeightedDirections, split: Split, *, quick: bool) -> float:
        refit = self.problem.plan.refit
        if refit is None:
            return np.inf
        return refit.held_out(split, directions.projection(), quick=quick)
