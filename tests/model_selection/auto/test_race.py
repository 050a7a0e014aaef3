"""Who is tried, who goes on, and what the clock allows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from kernlens.model_selection.auto.budget import Budget
from kernlens.model_selection.auto.candidates import Candidate
from kernlens.model_selection.auto.race import Race
from kernlens.model_selection.auto.scores import REGRESSION_SCORES
from kernlens.model_selection.auto.splits import Split, chosen_rows


class Clock:
    """Time that passes only where somebody works."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Toy(RegressorMixin, BaseEstimator):
    """Predicts the first column with an error of its own, and takes its time."""

    def __init__(self, clock, seconds, error):
        self.clock, self.seconds, self.error = clock, seconds, error

    def fit(self, X, y):
        self.clock.now += self.seconds
        if self.error is None:
            raise ValueError("The toy is broken. Give another one.")
        return self

    def predict(self, X):
        return X[:, 0] + self.error * X[:, 1]


def race_of(toys, budget_seconds, n_rows=60, cv=3):
    clock = Clock()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 2))
    candidates = [
        Candidate(name, lambda k, seed, s=s, e=e: Toy(clock, s, e), kind, cost=s)
        for name, (s, e, kind) in toys.items()
    ]
    rows = chosen_rows(cv, X, X[:, 0], None, False)
    splits = [Split(train, test, X[train], X[test], ("a", "b")) for train, test in rows]
    budget = Budget(budget_seconds, clock)
    race = Race(candidates, splits, X[:, 0], None, None, REGRESSION_SCORES["r2"], budget, 1, 0)
    return race, clock


TOYS = {
    "line": (0.1, 1.0, "line"),
    "fair": (1.0, 0.5, "family"),
    "good": (1.0, 0.1, "family"),
    "broken": (1.0, None, "family"),
    "slow": (50.0, 0.05, "family"),
}


def test_one_candidate_is_finished_however_short_the_time():
    race, _ = race_of(TOYS, 1e-3)
    race.run()
    assert [one.candidate.name for one in race.finished if one.candidate.ours] == ["fair"]


def test_the_best_is_finished_first_and_the_line_is_always_there():
    race, clock = race_of({k: v for k, v in TOYS.items() if k != "slow"}, 30.0)
    race.run()
    names = {one.candidate.name for one in race.finished}
    assert names == {"line", "fair", "good"}
    assert race.ranked()[0].candidate.name == "good"
    assert clock.now < 30.0


def test_a_broken_candidate_says_why():
    race, _ = race_of(TOYS, 30.0)
    race.run()
    broken = next(one for one in race.trials if one.candidate.name == "broken")
    assert broken.error == "The toy is broken. Give another one." and not broken.outcomes


def test_more_time_never_finishes_less():
    finished = []
    for seconds in (1.0, 5.0, 20.0, 1000.0):
        race, _ = race_of(TOYS, seconds)
        race.run()
        finished.append({one.candidate.name for one in race.finished})
    assert all(few <= many for few, many in itertools.pairwise(finished))
    assert "slow" in finished[-1]


def test_every_outcome_is_told():
    race, _ = race_of(TOYS, 30.0)
    told = []
    race.tell = lambda stage, number, best: told.append((stage, number, best))
    race.run()
    assert [number for _, number, _ in told] == list(range(1, len(told) + 1))
    assert max(best for *_, best in told) == race.best


def test_an_interruption_reaches_the_caller():
    race, _ = race_of(TOYS, 30.0)

    def stop(stage, number, best):
        raise KeyboardInterrupt

    race.tell = stop
    with pytest.raises(KeyboardInterrupt):
        race.run()


@pytest.mark.parametrize("classes", [False, True])
def test_groups_stay_together(classes):
    y = np.arange(60) % 2
    groups = np.repeat(np.arange(12), 5)
    rows = np.random.default_rng(0).standard_normal((60, 2))
    for cv in (None, 4):
        for train, test in chosen_rows(cv, rows, y.astype(float), groups, classes):
            assert not set(groups[train]) & set(groups[test])


def test_many_rows_are_left_out_once():
    rows = np.random.default_rng(0).standard_normal((20_000, 2))
    (split,) = chosen_rows(None, rows, np.zeros(20_000), None, False)
    assert len(split[1]) == 4000


@pytest.mark.parametrize("classes", [False, True])
def test_folds_follow_from_the_content_of_rows(classes):
    rng = np.random.default_rng(0)
    rows, y = rng.standard_normal((50, 3)), rng.integers(0, 2, 50).astype(float)
    order = np.r_[rng.permutation(50), 7, 7, 7]
    one = chosen_rows(5, rows, y, None, classes)
    two = chosen_rows(5, 1000.0 * rows[order] - 3.0, y[order], None, classes)
    for (_, test), (_, again) in zip(one, two, strict=True):
        assert set(test) == set(order[again])


def test_classes_of_one_row_are_always_learned_from():
    rows = np.random.default_rng(0).standard_normal((30, 2))
    y = np.r_[np.zeros(15), np.ones(14), 2.0]
    splits = chosen_rows(3, rows, y, None, True)
    assert len(splits) == 2
    assert all(len(np.unique(y[train])) == 3 for train, _ in splits)
