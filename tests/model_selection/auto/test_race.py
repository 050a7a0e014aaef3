"""Who is tried, who goes on, and what the clock allows."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from kernlens.model_selection.auto.budget import Budget
from kernlens.model_selection.auto.candidates import Candidate
from kernlens.model_selection.auto.race import Race
from kernlens.model_selection.auto.scores import REGRESSION_SCORES
from kernlens.model_selection.auto.splits import Split, chosen_rows
from kernlens.model_selection.auto.stacking import Stacker, squared_shares


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


def race_of(toys, budget_seconds, n_rows=60, cv=3, waves=1):
    clock = Clock()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 2))
    candidates = [
        Candidate(
            name,
            lambda k, seed, s=s, e=e: Toy(clock, s, e),
            kind,
            cost=s,
            wave=place * waves // len(toys),
        )
        for place, (name, (s, e, kind)) in enumerate(toys.items())
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
    assert [one.candidate.name for one in race.finished] == ["fair", "good", "line"]
    assert clock.now < 30.0


def test_a_broken_candidate_says_why():
    race, _ = race_of(TOYS, 30.0)
    race.run()
    broken = next(one for one in race.trials if one.candidate.name == "broken")
    assert broken.error == "The toy is broken. Give another one." and not broken.outcomes


def members_of(n_toys, rng):
    """Toys of random seconds and errors; those of the second wave are slow."""
    kinds = ("family", "family", "family", "line", "trees")
    return {
        f"toy {k}": (float(rng.uniform(0.1, 3.0)), float(rng.uniform(0.1, 2.0)), kinds[k % 5])
        for k in range(n_toys)
    }


@pytest.mark.parametrize("seed", range(4))
def test_more_time_finishes_the_same_and_then_more(seed):
    toys = members_of(12, np.random.default_rng(seed))
    finished, scores = [], []
    for seconds in (1e-3, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 1000.0):
        race, clock = race_of(toys, seconds, waves=3)
        race.run()
        finished.append([one.candidate.name for one in race.finished])
        scores.append(stack_score(race))
        first = 3 * race.finished[0].longest
        assert clock.now <= max(1.2 * seconds, first)
    for few, many in itertools.pairwise(finished):
        assert many[: len(few)] == few
    assert len(finished[-1]) > 2 * len(finished[0])
    assert scores == sorted(scores)


def stack_score(race):
    """Score of the stack of all rows left out."""
    places = np.concatenate([split.test for split in race.splits])
    fold = np.concatenate([np.full(len(s.test), k) for k, s in enumerate(race.splits)])
    numbers = range(len(race.splits))
    predictions = np.array(
        [np.concatenate([one.outcomes[k].prediction for k in numbers]) for one in race.finished]
    )
    ones = np.ones(len(places))
    y = race.y[places]
    stack = Stacker(predictions, y, ones, fold, squared_shares, race.score).best()
    return race.score.value(y, stack.prediction, ones)


def test_large_tables_are_looked_at_in_growing_samples():
    race, _ = race_of(members_of(20, np.random.default_rng(0)), 1e4, n_rows=30_000, cv=2)
    seen = []
    plain = race._tried

    def tried(trial, number, rows, limit):
        seen.append((trial.candidate.name, number, len(race.splits[number].train[rows])))
        return plain(trial, number, rows, limit)

    race._tried = tried
    race.run()
    looks = {size: {n for n, _, rows in seen if rows == size} for size in (2000, 8000)}
    whole = {name for name, _, rows in seen if rows > 8000}
    assert whole < looks[8000] | {"toy 0"} and looks[8000] < looks[2000]


def test_every_outcome_is_told():
    race, _ = race_of(TOYS, 30.0)
    told = []
    race.tell = lambda stage, number, best: told.append((stage, number, best))
    race.run()
    assert [number for _, number, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][2] == race.best == max(one.score for one in race.finished)


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


@pytest.mark.parametrize("order", list(itertools.permutations(["plain", "log", "root"])))
def test_transformed_targets_are_members_only_if_they_predict_better(order):
    errors = {"plain": 0.5, "log": 0.4, "root": 0.6}
    race, _ = race_of({name: (1.0, errors[name], "family") for name in order}, 1e4)
    for trial in race.trials:
        if trial.candidate.name != "plain":
            trial.candidate = replace(trial.candidate, plain="plain")
    race.run()
    names = [one.candidate.name for one in race.eligible]
    assert len(race.finished) == 3 and set(names) == {"plain", "log"}
    for number in range(1, 4):
        race.finished, whole = race.finished[:number], race.finished
        assert [one.candidate.name for one in race.eligible] == names[: len(race.eligible)]
        race.finished = whole
