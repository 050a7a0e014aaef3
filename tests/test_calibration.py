"""Probabilities from scores of the squared loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax

from kernlens.optim.calibration import LARGEST, SMALLEST, calibrate, log_odds


def test_trusted_scores_of_two_classes_are_probabilities():
    scores = np.linspace(-0.8, 0.8, 33)[None]
    np.testing.assert_allclose(expit(log_odds(scores, 0.8)), (1 + scores) / 2, rtol=1e-12)


def test_trusted_scores_of_several_classes_are_probabilities():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([3.0, 3.0, 3.0], 50).T
    scores = 2 * p - 1
    trusted = -scores.min() + 1e-9
    np.testing.assert_allclose(softmax(log_odds(scores, trusted), axis=0), p, rtol=1e-10)


@pytest.mark.parametrize("trusted", [0.0, 0.5, 0.9])
def test_odds_increase_with_the_score_without_a_kink(trusted):
    scores = np.linspace(-4, 4, 4001)[None]
    odds = log_odds(scores, trusted)[0]
    assert np.all(np.diff(odds) > 0)
    np.testing.assert_allclose(odds, -odds[::-1], atol=1e-9)
    slopes = np.diff(odds) / np.diff(scores[0])
    # The tangent: the slope has no jump.
    assert np.abs(np.diff(slopes)).max() < 0.02 * slopes.max()


def test_the_most_probable_class_is_that_of_the_largest_score():
    scores = np.random.default_rng(0).normal(0, 1.5, (4, 200))
    odds = log_odds(scores, 0.7)
    np.testing.assert_array_equal(odds.argmax(axis=0), scores.argmax(axis=0))
    probabilities = softmax(odds, axis=0)
    np.testing.assert_allclose(probabilities.sum(axis=0), 1.0, rtol=1e-12)
    assert np.all(np.isfinite(np.log(probabilities)))


def likelihood(scores, y, weights, trusted):
    odds = log_odds(scores, trusted)
    if len(scores) == 1:
        p = expit(y[0] * odds[0])
    else:
        p = softmax(odds, axis=0)[y.argmax(axis=0), np.arange(y.shape[1])]
    return np.average(np.log(p), weights=weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_is_the_most_likely_of_all(n_classes):
    rng = np.random.default_rng(0)
    m = 400
    p = rng.dirichlet(np.ones(n_classes), m).T
    labels = np.array([rng.choice(n_classes, p=column) for column in p.T])
    y = 2.0 * np.eye(n_classes)[:, labels] - 1.0
    # Scores with noise, of which large ones are not to be believed.
    scores = 2 * p - 1 + 0.15 * rng.normal(size=p.shape)
    if n_classes == 2:
        scores, y = scores[1:], y[1:]
    weights = rng.uniform(0.5, 2.0, m)
    found = calibrate(scores, y, weights)
    grid = np.linspace(SMALLEST, LARGEST, 400)
    best = max(likelihood(scores, y, weights, trusted) for trusted in grid)
    value = likelihood(scores, y, weights, found)
    assert value >= best - 1e-3
    # None around is better, up to the digits asked for.
    for other in found + np.array([-0.02, -0.01, 0.01, 0.02]):
        assert value >= likelihood(scores, y, weights, max(other, SMALLEST)) - 1e-5


def test_the_noisier_the_scores_the_less_they_are_trusted():
    rng = np.random.default_rng(1)
    p = rng.uniform(0, 1, 3000)
    y = np.where(rng.random(3000) < p, 1.0, -1.0)[None]
    found = [
        calibrate((2 * p - 1 + noise * rng.normal(size=3000))[None], y, np.ones(3000))
        for noise in (0.02, 0.1, 0.25)
    ]
    assert found[0] > found[1] > found[2]
    # Probabilities at their word are found to be that.
    np.testing.assert_allclose(calibrate((2 * p - 1)[None], y, np.ones(3000)), LARGEST, atol=0.05)
