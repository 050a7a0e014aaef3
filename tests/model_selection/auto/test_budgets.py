"""Whole fits by a clock of their own: the budget is held, and more time never scores worse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from kernlens import AutoLensRegressor
from kernlens.model_selection.auto import regressor as regressor_module
from kernlens.model_selection.auto.candidates import Candidate

BUDGETS = (1e-3, 10.0, 20.0, 40.0, 80.0, 160.0, 1000.0)


class Toy(RegressorMixin, BaseEstimator):
    """Knows a part of the truth, and takes its time."""

    def __init__(self, clock, seconds, part):
        self.clock, self.seconds, self.part = clock, seconds, part

    def fit(self, X, y):
        self.clock[0] += self.seconds
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.sin(X[:, 0] + self.part) + self.part * X[:, 1]


@pytest.fixture
def fits(monkeypatch):
    """Fit with a budget, every one with the same portfolio; seconds pass in toys alone."""
    clock = [0.0]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(80)
    toys = tuple(
        Candidate(
            f"toy {k}",
            lambda width, seed, s=seconds, p=part: Toy(clock, s, p),
            cost=seconds,
            wave=k // 4,
        )
        for k, (seconds, part) in enumerate(
            zip(rng.uniform(0.2, 2.0, 10), rng.uniform(-1.0, 1.0, 10), strict=True)
        )
    )
    monkeypatch.setattr(regressor_module, "REGRESSORS", toys)
    monkeypatch.setattr(AutoLensRegressor, "_clock", staticmethod(lambda: clock[0]))

    def fit(seconds):
        clock[0] = 0.0
        return AutoLensRegressor(time_budget=seconds, n_jobs=1, random_state=0).fit(X, y)

    return fit


def test_more_time_never_scores_worse_and_every_budget_is_held(fits):
    models = [fits(seconds) for seconds in BUDGETS]
    for seconds, model in zip(BUDGETS[1:], models[1:], strict=True):
        assert model.seconds_ <= 1.2 * seconds
    scores = [model.best_score_ for model in models]
    assert all(few <= many for few, many in itertools.pairwise(scores))
    assert scores[-1] > scores[0]
    assert models[0].leaderboard_["score"].notna().sum() == 1


def test_a_short_budget_still_finishes_the_first_candidate(fits):
    model = fits(1e-3)
    assert model.member_names_ == ["toy 0"]
    assert len(model.errors_) == 80


def test_progress_has_the_best_score_so_far(fits):
    seen = []
    X = np.random.default_rng(1).standard_normal((60, 3))
    model = AutoLensRegressor(time_budget=200.0, n_jobs=1, random_state=0, callback=seen.append)
    model.fit(X, np.sin(X[:, 0]))
    whole = [one.objective for one in seen if one.stage != "first looks"]
    assert whole == sorted(whole)
    board = model.leaderboard_
    singles = board[board["candidate"].str.startswith("toy")]
    assert whole[-1] == pytest.approx(singles["score"].max())
