"""Candidates against each other within a time budget.

Every candidate has a first look: it predicts the first split, from at most `LOOK_ROWS` rows. The
better half goes on, the best first, and predicts the rows of all splits as long as time is left for
fits of the members to all rows. What was begun is finished, unless it would take far too long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import effective_n_jobs, map_blocks
from kernlens._reports import StopRequested
from kernlens.model_selection.auto.budget import Budget
from kernlens.model_selection.auto.candidates import MOST_DIRECTIONS, Candidate
from kernlens.model_selection.auto.scores import Score
from kernlens.model_selection.auto.splits import Split
from kernlens.model_selection.auto.trials import Outcome, Trial, tried

#: Rows of a first look at most.
LOOK_ROWS = 2000
#: Share of the budget for first looks.
LOOKS = 0.4
#: Share of it after which a first look is stopped.
LATEST_LOOK = 0.6
#: Share of it after which fits of splits are stopped, so that members can be fitted to all rows.
LATEST = 0.9
#: How seconds grow with rows, when they must be guessed.
GROWTH = 1.3
#: How many candidates go on, at least, and which share of them.
AT_LEAST = 5
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
    tell : callable
        Told of every outcome: stage, number of outcomes so far, best score so far.
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
    trials: list[Trial] = field(init=False)
    _n_outcomes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.trials = [Trial(candidate) for candidate in self.candidates]

    def run(self) -> None:
        """Look at all candidates, and go on with the better ones."""
        self._look_at_all()
        for trial in self.ranked():
            if trial.complete(len(self.splits)) or not self._worth(trial):
                continue
            self._finish(trial)

    @property
    def finished(self) -> list[Trial]:
        """Candidates that have predicted all rows."""
        return [trial for trial in self.trials if trial.complete(len(self.splits))]

    @property
    def best(self) -> float:
        """The best score of a first look so far."""
        looks = [trial.look[0] for trial in self.trials if trial.look is not None]
        return max(looks, default=float("nan"))

    def ranked(self) -> list[Trial]:
        """Those that go on, the best first; what they are compared with is always among them."""
        seen = sorted(
            (trial for trial in self.trials if trial.look is not None),
            key=lambda trial: -trial.first_score,
        )
        ours = [trial for trial in seen if trial.candidate.ours]
        others = [trial for trial in seen if not trial.candidate.ours]
        number = max(AT_LEAST, round(GOING_ON * len(ours)))
        return [*ours[:1], *others, *ours[1:number]]

    # First looks

    def _look_at_all(self) -> None:
        first = self.splits[0]
        whole = len(first.train) <= LOOK_ROWS
        rng = np.random.default_rng(self.seed)
        rows = slice(None) if whole else rng.permutation(len(first.train))[:LOOK_ROWS]
        n_rows = min(len(first.train), LOOK_ROWS)

        def look(trial: Trial) -> None:
            # Somebody must be there at the end, and there is a line to compare with.
            must = trial.candidate.ours and not any(t.look for t in self.trials if t.candidate.ours)
            expected = trial.candidate.cost * self._unit()
            late = self.budget.spent + expected > LOOKS * self.budget.seconds
            if self.budget.cancelled or (late and not must):
                return
            outcome = self._tried(trial, 0, rows, None if must else LATEST_LOOK)
            if outcome is None or not outcome.whole:
                return
            value = self._score_of(0, outcome.prediction)
            trial.look = (value, outcome.seconds, n_rows)
            if whole:
                trial.outcomes[0] = outcome
            self._report("first looks")

        map_blocks(look, self.trials, n_jobs=self.n_jobs)

    def _unit(self) -> float:
        """Seconds of a first look over its cost, as seen so far; 0 before anything was seen."""
        seen = [one.look[1] / one.candidate.cost for one in self.trials if one.look is not None]
        return float(np.median(seen)) if seen else 0.0

    def _score_of(self, number: int, prediction: FloatArray) -> float:
        test = self.splits[number].test
        weights = np.ones(len(test)) if self.weights is None else self.weights[test]
        return self.score.value(self.y[test], prediction, weights)

    # All splits

    def _worth(self, trial: Trial) -> bool:
        """Whether there is time for all splits, and for fits of the members to all rows."""
        if not any(one.candidate.ours for one in self.finished):
            return not self.budget.cancelled
        left = [k for k in range(len(self.splits)) if k not in trial.outcomes]
        n_threads = effective_n_jobs(self.n_jobs)
        seconds = self.seconds_of_a_fit(trial)
        rounds = np.ceil(len(left) / n_threads)
        refits = [self.seconds_of_a_fit(one) for one in (*self.finished, trial)]
        at_end = max(max(refits), sum(sorted(refits)[-6:]) / n_threads)
        return rounds * seconds + 1.3 * at_end < self.budget.left

    def seconds_of_a_fit(self, trial: Trial) -> float:
        """Seconds that a fit to a split takes, or will take."""
        if trial.outcomes:
            return trial.longest
        assert trial.look is not None
        _, seconds, n_rows = trial.look
        n_train = max(len(split.train) for split in self.splits)
        return seconds * (n_train / n_rows) ** GROWTH

    def _finish(self, trial: Trial) -> None:
        first = not any(one.candidate.ours for one in self.finished)
        left = [k for k in range(len(self.splits)) if k not in trial.outcomes]

        def go(number: int) -> Outcome | None:
            if self.budget.cancelled:
                return None
            return self._tried(trial, number, slice(None), None if first else LATEST)

        for number, outcome in zip(left, map_blocks(go, left, n_jobs=self.n_jobs), strict=True):
            if outcome is not None and (outcome.whole or first):
                trial.outcomes[number] = outcome
                self._report(trial.candidate.name)

    def _tried(
        self, trial: Trial, number: int, rows: slice | np.ndarray, latest: float | None
    ) -> Outcome | None:
        """An outcome, or None with the reason in the trial."""
        try:
            return tried(
                trial.candidate,
                self.splits[number],
                self.y,
                self.weights,
                n_classes=self.n_classes,
                n_directions=MOST_DIRECTIONS,
                seed=self.seed,
                stop=None
                if latest is None
                else self.budget.ends_after(latest * self.budget.seconds),
                rows=rows,
                clock=self.budget.clock,
            )
        except StopRequested:
            trial.error = "stopped: the time was over"
        except (ValueError, MemoryError) as error:
            trial.error = str(error).splitlines()[0] if str(error) else type(error).__name__
        return None

    def _report(self, stage: str) -> None:
        self._n_outcomes += 1
        self.tell(stage, self._n_outcomes, self.best)
