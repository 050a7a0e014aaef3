"""Shares of a stack against brute force, and what is dropped from it."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.model_selection.auto.scores import (
    CLASSIFICATION_SCORES,
    REGRESSION_SCORES,
    best_shift,
    pinball,
)
from kernlens.model_selection.auto.stacking import (
    Stacker,
    absolute_shares,
    likelihood_shares,
    quantile_shares,
    squared_shares,
)

GRID = [
    np.array([a, b, 1.0 - a - b]) for a in np.linspace(0, 1, 41) for b in np.linspace(0, 1 - a, 41)
]


def numbers(seed=0, n_rows=200):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(n_rows)
    noises = np.array([0.5, 0.8, 1.5])[:, None] * rng.standard_normal((3, n_rows))
    return y + noises, y, rng.uniform(0.5, 2.0, n_rows)


def probabilities(seed=0, n_rows=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    scores = rng.standard_normal((3, n_rows, 3))
    scores[np.arange(3)[:, None], np.arange(n_rows), y] += np.array([2.0, 1.0, 0.2])[:, None]
    raised = np.exp(scores)
    return (
        raised / raised.sum(axis=2, keepdims=True),
        y.astype(float),
        rng.uniform(0.5, 2.0, n_rows),
    )


@pytest.mark.parametrize("seed", range(3))
def test_squared_shares_are_the_best_of_a_grid(seed):
    predictions, y, weights = numbers(seed)

    def loss(shares):
        return np.average((shares @ predictions - y) ** 2, weights=weights)

    found = squared_shares(predictions, y, weights)
    assert found.sum() == pytest.approx(1.0) and (found >= 0.0).all()
    assert loss(found) <= min(map(loss, GRID)) * (1.0 + 1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_absolute_shares_are_the_best_of_a_grid(seed):
    predictions, y, weights = numbers(seed)

    def loss(shares):
        return np.average(np.abs(shares @ predictions - y), weights=weights)

    found = absolute_shares(predictions, y, weights)
    assert loss(found) <= min(map(loss, GRID)) * (1.0 + 2e-3)
    assert loss(found) < loss(np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_quantile_shares_are_the_best_of_a_grid(level):
    predictions, y, weights = numbers()
    predictions = predictions + np.array([3.0, -1.0, 0.0])[:, None]

    def loss(shares):
        errors = y - shares @ predictions
        shift = best_shift(y, shares @ predictions, weights, level)
        return pinball(errors - shift, weights, level)

    found = quantile_shares(level)(predictions, y, weights)
    assert found.sum() == pytest.approx(1.0) and (found >= 0.0).all()
    assert loss(found) <= min(map(loss, GRID)) * 1.01
    assert loss(found) < 0.8 * loss(np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize("seed", range(3))
def test_likelihood_shares_are_the_best_of_a_grid(seed):
    predictions, y, weights = probabilities(seed)

    def loss(shares):
        mean = np.tensordot(shares, predictions, axes=1)
        return -np.average(np.log(mean[np.arange(len(y)), y.astype(int)]), weights=weights)

    found = likelihood_shares(predictions, y, weights)
    assert found.sum() == pytest.approx(1.0)
    assert loss(found) <= min(map(loss, GRID)) + 1e-6


def stacker(predictions, y, weights, weigh, score, n_folds=4):
    fold = np.arange(len(y)) % n_folds
    return Stacker(predictions, y, weights, fold, weigh, score)


def test_a_member_that_adds_nothing_is_dropped():
    predictions, y, weights = numbers(n_rows=1000)
    copy = predictions[:1] + 1e-9
    noise = 5.0 * np.random.default_rng(1).standard_normal((1, len(y)))
    everything = np.vstack([predictions[:2], copy, noise])
    stack = stacker(everything, y, weights, squared_shares, REGRESSION_SCORES["r2"]).best()
    assert set(stack.members) in ({0, 1}, {1, 2})
    assert stack.shares[0] >= stack.shares[1] > 0.0


def test_the_best_alone_is_kept_where_a_stack_gains_nothing():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(300)
    predictions = np.array([y + 0.01 * rng.standard_normal(300), rng.standard_normal(300)])
    stack = stacker(predictions, y, np.ones(300), squared_shares, REGRESSION_SCORES["r2"]).best()
    assert stack.members == (0,)
    np.testing.assert_array_equal(stack.prediction, predictions[0])


def test_rows_are_predicted_with_shares_of_other_folds():
    """Changing the targets of a fold moves no prediction of that fold."""
    predictions, y, weights = numbers()

    def make(targets):
        return stacker(predictions, targets, weights, squared_shares, REGRESSION_SCORES["r2"])

    out = np.arange(len(y)) % 4 == 2
    other = np.where(out, y[::-1], y)
    first, second = make(y).of([0, 1, 2]), make(other).of([0, 1, 2])
    np.testing.assert_array_equal(first.crossed[out], second.crossed[out])
    assert np.abs(first.crossed[~out] - second.crossed[~out]).max() > 1e-6


def test_probabilities_are_stacked():
    predictions, y, weights = probabilities()
    score = CLASSIFICATION_SCORES["neg_log_loss"]
    stack = stacker(predictions, y, weights, likelihood_shares, score).best()
    single = max(score.value(y, one, weights) for one in predictions)
    assert score.value(y, stack.prediction, weights) >= single
    np.testing.assert_allclose(stack.prediction.sum(axis=1), 1.0)


def test_more_candidates_never_make_a_worse_stack():
    """Each one more may only be added: those before it are as they were."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.standard_normal(80)
        noises = rng.uniform(0.5, 1.5, (10, 1)) * rng.standard_normal((10, 80))
        values = []
        for number in range(1, 11):
            one = stacker(
                y + noises[:number], y, np.ones(80), squared_shares, REGRESSION_SCORES["r2"]
            )
            values.append(one.score.value(y, one.best().prediction, one.weights))
        assert values == sorted(values)
