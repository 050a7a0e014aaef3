"""Candidates against each other within a time budget.

One candidate is finished first, whatever the time. Then come waves of candidates, the quick ones
first. Those of a wave predict the first split, learned from a small sample of its rows; the better
ones do so from four times as many, and so on (successive halving); and those that are left predict
the rows of all splits, the best first.

What is done next follows from what was seen, never from the budget: it says only where the sequence
ends. So more time finishes all that less time finishes, and then more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._execution import effective_n_jobs, map_blocks
from kernlens._reports import StopRequested
from kernlens.blocks.dask_workers import Workers
from kernlens.model_selection.auto.budget import Budget
from kernlens.model_selection.auto.candidates import MOST_DIRECTIONS, Candidate
from kernlens.model_selection.auto.scores import Score
from kernlens.model_selection.auto.splits import Split
from kernlens.model_selection.auto.stacking import MOST_MEMBERS
from kernlens.model_selection.auto.trials import Outcome, Trial, tried, tried_there

#: Rows of a first look at most, and how many times as many the next look has.
LOOK_ROWS = 2000
MORE_ROWS = 4
#: Share of the budget after which fits of splits are stopped, so that members can be fitted to all
#: rows.
LATEST = 0.9
#: A first look that takes this many times what it should is given up.
FAR_TOO_LONG = 8.0
#: How seconds grow with rows, when they must be guessed.
GROWTH = 1.3
#: Fits to all rows take as much longer than those to splits, when they must be guessed.
RESERVE = 1.3
#: How many candidates of a wave go on, at least, and which share of them.
AT_LEAST = 6
GOING_ON = 0.6


@dataclass
class Race:
    """Candidates, splits and the clock.

    Attributes
    ----------
    candidates : sequence of Candidate
    splits : sequence of Split
    y : ndarray of shape (n_rows,)
        Targets, or numbers of classes.
    weights : ndarray of shape (n_rows,) or None
    n_classes : int or None
    score : Score
    budget : Budget
    n_jobs : int or None
    seed : int
    workers : Workers or None
        Who fits; None for this process.
    tell : callable
        Told of every outcome: stage, number of outcomes so far, best score so far.
    finished : list of Trial
        Candidates that have predicted all rows, in the order in which they were finished.
    """

    candidates: Sequence[Candidate]
    splits: Sequence[Split]
    y: FloatArray
    weights: FloatArray | None
    n_classes: int | None
    score: Score
    budget: Budget
    n_jobs: int | None
    seed: int
    tell: Callable[[str, int, float], None] = lambda stage, number, best: None
    workers: Workers | None = None
    trials: list[Trial] = field(init=False)
    finished: list[Trial] = field(default_factory=list, init=False)
    _n_outcomes: int = field(default=0, init=False)
    _over: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.trials = [Trial(candidate) for candidate in self.candidates]

    def run(self) -> None:
        """Finish one candidate, and then wave after wave."""
        for trial in self.trials:
            if trial.candidate.ours and not any(one.candidate.ours for one in self.finished):
                self._finish(trial)
        for wave in sorted({trial.candidate.wave for trial in self.trials}):
            if not self._over:
                self._run_wave([one for one in self.trials if one.candidate.wave == wave])

    @property
    def eligible(self) -> list[Trial]:
        """Those of the finished that may be members, in the order in which this was known.

        A transformed target must predict y itself better than y does, so it waits for that one.
        """
        scores: dict[str, float] = {}
        found, waiting = [], []
        for trial in self.finished:
            scores[trial.candidate.name] = trial.score
            waiting.append(trial)
            for one in [*waiting]:
                plain = one.candidate.plain
                if plain and plain not in scores:
                    continue
                waiting.remove(one)
                if not plain or one.score > scores[plain]:
                    found.append(one)
        return found

    @property
    def best(self) -> float:
        """The best score so far, of a whole candidate if there is one, else of a look."""
        whole = [trial.score for trial in self.finished]
        looks = [trial.look[0] for trial in self.trials if trial.look is not None]
        return max(whole or looks, default=float("nan"))

    # Waves

    def _run_wave(self, trials: Sequence[Trial]) -> None:
        """Looks at more and more rows, then all splits for those that are left."""
        going = [one for one in trials if not self._complete(one) and not one.error]
        for n_rows in self._looks():
            going = self._better(going)
            self._look_at(going, n_rows)
            going = [one for one in going if one.look is not None]
        for trial in self._ahead(self._better(going)):
            if self._over or not self._worth(trial):
                self._over = True
                return
            self._finish(trial)

    def _better(self, trials: Sequence[Trial]) -> list[Trial]:
        """Those that go on, the best first; what they are compared with is always among them."""
        if any(one.look is None for one in trials):
            return list(trials)
        ranked = sorted(trials, key=lambda trial: -trial.first_score)
        ours = [trial for trial in ranked if trial.candidate.ours]
        others = [trial for trial in ranked if not trial.candidate.ours]
        number = max(AT_LEAST, round(GOING_ON * len(ours)))
        going = ours[:number]
        plain = {trial.candidate.plain for trial in going}
        going += [trial for trial in ours[number:] if trial.candidate.name in plain]
        return [*going[:1], *others, *going[1:]]

    def _ahead(self, trials: Sequence[Trial]) -> list[Trial]:
        """Those of a later wave whose look is better than any of what was finished before it.

        Opinions of weaker candidates are noise to a stack.
        """
        before = [
            one.first_score
            for one in self.finished
            if one.candidate.ours and np.isfinite(one.first_score)
        ]
        return [
            one
            for one in trials
            if one.candidate.wave == 0 or not before or one.first_score > max(before)
        ]

    # Looks

    def _looks(self) -> list[int]:
        """Numbers of rows that the first split is learned from, in turn."""
        n_train = len(self.splits[0].train)
        sizes = [min(LOOK_ROWS, n_train)]
        while sizes[-1] * MORE_ROWS < n_train:
            sizes.append(sizes[-1] * MORE_ROWS)
        return sizes

    def _look_at(self, trials: Sequence[Trial], n_rows: int) -> None:
        first = self.splits[0]
        whole = n_rows == len(first.train)
        drawn = np.random.default_rng(self.seed).permutation(len(first.train))
        rows: slice | IntArray = slice(None) if whole else drawn[:n_rows]

        def look(trial: Trial) -> None:
            expected = self._expected_look(trial, n_rows)
            late = self.budget.spent + expected + self._reserve() > LATEST * self.budget.seconds
            if self._over or self.budget.cancelled or late:
                self._over = True
                return
            outcome = self._tried(trial, 0, rows, self._limit(expected))
            if outcome is None or not outcome.whole:
                trial.error = trial.error or "stopped: a first look took too long"
                trial.look = None
                return
            value = self._score_of([0], [outcome.prediction])
            trial.look = (value, outcome.seconds, n_rows)
            if whole:
                trial.outcomes[0] = outcome
            self._report("first looks")

        map_blocks(look, [one for one in trials if not one.error], n_jobs=self.n_jobs)

    def _limit(self, expected: float) -> float:
        """Seconds after which a look is stopped."""
        latest = LATEST * self.budget.seconds
        return min(latest, self.budget.spent + FAR_TOO_LONG * expected) if expected else latest

    def _expected_look(self, trial: Trial, n_rows: int) -> float:
        """Seconds of a look: of the last one, or as those of others; 0 before any was seen."""
        if trial.look is not None:
            return trial.look[1] * (n_rows / trial.look[2]) ** GROWTH
        seen = [
            seconds / one.candidate.cost * (n_rows / rows) ** GROWTH
            for one in self.trials
            for seconds, rows in one.seen(self.splits)
        ]
        return trial.candidate.cost * float(np.median(seen)) if seen else 0.0

    # All splits

    def _worth(self, trial: Trial) -> bool:
        """Whether there is time for all splits, and for fits of the members to all rows."""
        left = [k for k in range(len(self.splits)) if k not in trial.outcomes]
        rounds = np.ceil(len(left) / effective_n_jobs(self.n_jobs))
        seconds = rounds * self.seconds_of_a_fit(trial) + self._reserve(trial)
        return bool(seconds < self.budget.left)

    def _reserve(self, *more: Trial) -> float:
        """Seconds that fits of members to all rows may take."""
        refits = [self.seconds_of_a_fit(one) for one in (*self.finished, *more)]
        if not refits:
            return 0.0
        together = sum(sorted(refits)[-MOST_MEMBERS:]) / effective_n_jobs(self.n_jobs)
        return RESERVE * max(max(refits), together)

    def seconds_of_a_fit(self, trial: Trial) -> float:
        """Seconds that a fit to a split takes, or will take."""
        if trial.outcomes:
            return trial.longest
        assert trial.look is not None
        _, seconds, n_rows = trial.look
        n_train = max(len(split.train) for split in self.splits)
        return seconds * (n_train / n_rows) ** GROWTH

    def _complete(self, trial: Trial) -> bool:
        return trial.complete(len(self.splits))

    def _finish(self, trial: Trial) -> None:
        """Predict all splits; nobody stops the first one of ours."""
        must = not any(one.candidate.ours for one in self.finished)
        left = [k for k in range(len(self.splits)) if k not in trial.outcomes]
        limit = None if must else LATEST * self.budget.seconds

        def go(number: int) -> Outcome | None:
            if self.budget.cancelled or trial.error:
                return None
            return self._tried(trial, number, slice(None), limit)

        for number, outcome in zip(left, map_blocks(go, left, n_jobs=self.n_jobs), strict=True):
            if outcome is not None and (outcome.whole or must):
                trial.outcomes[number] = outcome
        if self._complete(trial):
            numbers = range(len(self.splits))
            predictions = [trial.outcomes[k].prediction for k in numbers]
            trial.score = self._score_of(numbers, predictions)
            if must:
                self._count_as_look(trial)
            self.finished.append(trial)
            self._report(trial.candidate.name)

    def _count_as_look(self, trial: Trial) -> None:
        """The first split of the first candidate, if looks see all of its rows."""
        n_train = len(self.splits[0].train)
        if n_train == self._looks()[-1]:
            one = trial.outcomes[0]
            trial.look = (self._score_of([0], [one.prediction]), one.seconds, n_train)

    def _score_of(self, numbers: Sequence[int], predictions: Sequence[FloatArray]) -> float:
        """Score of the rows that some splits have left out, together."""
        test = np.concatenate([self.splits[number].test for number in numbers])
        weights = np.ones(len(test)) if self.weights is None else self.weights[test]
        return self.score.value(self.y[test], np.concatenate(predictions), weights)

    def _tried(
        self, trial: Trial, number: int, rows: slice | IntArray, limit: float | None
    ) -> Outcome | None:
        """An outcome, or None with the reason in the trial; stopped after `limit` seconds."""
        split = self.splits[number]
        asked: dict[str, Any] = {
            "n_classes": self.n_classes,
            "n_directions": MOST_DIRECTIONS,
            "seed": self.seed,
        }
        try:
            if self.workers is not None:
                found: Outcome | None = self.workers.run(
                    tried_there,
                    trial.candidate,
                    *map(self.workers.sent, (split, self.y, self.weights)),
                    wanted=lambda: not self.budget.cancelled,
                    seconds=None if limit is None else limit - self.budget.spent,
                    rows=rows,
                    **asked,
                )
                return found
            return tried(
                trial.candidate,
                split,
                self.y,
                self.weights,
                stop=None if limit is None else self.budget.ends_after(limit),
                rows=rows,
                clock=self.budget.clock,
                **asked,
            )
        except StopRequested:
            trial.error = "stopped: the time was over"
        except (ValueError, MemoryError) as error:
            trial.error = str(error).splitlines()[0] if str(error) else type(error).__name__
        return None

    def _report(self, stage: str) -> None:
        self._n_outcomes += 1
        self.tell(stage, self._n_outcomes, self.best)
