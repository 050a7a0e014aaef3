"""Probabilities from scores of the squared loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax

from kernlens.base.calibration import (
    RARE,
    STRETCHES,
    TRUSTS,
    Calibration,
    calibrate,
    evened,
)


def test_trusted_scores_of_two_classes_are_probabilities():
    scores = np.linspace(-0.8, 0.8, 33)[None]
    odds = Calibration(0.8, 1.0).log_odds(scores)
    np.testing.assert_allclose(expit(odds), (1 + scores) / 2, rtol=1e-12)
    np.testing.assert_allclose(Calibration(0.8, 2.5).log_odds(scores), 2.5 * odds, rtol=1e-12)


def test_trusted_scores_of_several_classes_are_probabilities():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([3.0, 3.0, 3.0], 50).T
    scores = 2 * p - 1
    odds = Calibration(-scores.min() + 1e-9, 1.0).log_odds(scores)
    np.testing.assert_allclose(softmax(odds, axis=0), p, rtol=1e-10)


@pytest.mark.parametrize("trusted", [0.0, 0.5, 0.9])
def test_odds_increase_with_the_score_without_a_kink(trusted):
    scores = np.linspace(-4, 4, 4001)[None]
    odds = Calibration(trusted, 1.0).log_odds(scores)[0]
    assert np.all(np.diff(odds) > 0)
    np.testing.assert_allclose(odds, -odds[::-1], atol=1e-9)
    slopes = np.diff(odds) / np.diff(scores[0])
    assert np.abs(np.diff(slopes)).max() < 0.05 * slopes.max()


def test_no_score_is_a_certainty():
    odds = Calibration(TRUSTS[-1], 1.0).log_odds(np.array([[-100.0, -3.0, 3.0, 100.0]]))
    assert np.all((expit(odds) > 1e-9) & (expit(odds) < 1 - 1e-9))


def test_the_most_probable_class_is_that_of_the_largest_score():
    scores = np.random.default_rng(0).normal(0, 1.5, (4, 200))
    odds = Calibration(0.7, 3.0).log_odds(scores)
    np.testing.assert_array_equal(odds.argmax(axis=0), scores.argmax(axis=0))
    np.testing.assert_allclose(softmax(odds, axis=0).sum(axis=0), 1.0, rtol=1e-12)


def likelihood(scores, y, weights, trusted, stretch):
    odds = Calibration(trusted, stretch).log_odds(scores)
    if len(scores) == 1:
        p = expit(y[0] * odds[0])
    else:
        p = softmax(odds, axis=0)[y.argmax(axis=0), np.arange(y.shape[1])]
    return np.average(np.log(p), weights=weights)


@pytest.mark.parametrize("shrink", [1.0, 0.5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_is_the_most_likely_of_all(n_classes, shrink):
    rng = np.random.default_rng(0)
    m = 400
    p = rng.dirichlet(np.full(n_classes, 0.4), m).T
    labels = np.array([rng.choice(n_classes, p=column) for column in p.T])
    y = 2.0 * np.eye(n_classes)[:, labels] - 1.0
    # Scores with noise, of which large ones are not to be believed, or drawn in too far.
    scores = shrink * (2 * p - 1) + 0.15 * rng.normal(size=p.shape)
    if n_classes == 2:
        scores, y = scores[1:], y[1:]
    weights = rng.uniform(0.5, 2.0, m)
    found = calibrate(scores, y, weights)
    best = max(
        likelihood(scores, y, weights, trusted, stretch)
        for trusted in np.linspace(TRUSTS[0], TRUSTS[-1], 60)
        for stretch in np.linspace(1.0, STRETCHES[-1], 60)
    )
    value = likelihood(scores, y, weights, found.trusted, found.stretch)
    assert value >= best - 1e-3
    assert found.loss(scores, y, weights) == pytest.approx(-value, rel=1e-12)
    if shrink < 1.0:
        assert found.stretch > 1.2


def test_scores_at_their_word_are_left_alone():
    rng = np.random.default_rng(1)
    p = rng.uniform(0, 1, 4000)
    y = np.where(rng.random(4000) < p, 1.0, -1.0)[None]
    found = calibrate((2 * p - 1)[None], y, np.ones(4000))
    assert found.stretch == pytest.approx(1.0, abs=0.1)
    probabilities = expit(found.log_odds((2 * p - 1)[None])[0])
    np.testing.assert_allclose(probabilities, p, atol=0.03)


def test_the_noisier_the_scores_the_less_they_are_trusted():
    rng = np.random.default_rng(1)
    p = rng.uniform(0, 1, 3000)
    y = np.where(rng.random(3000) < p, 1.0, -1.0)[None]
    found = [
        calibrate((2 * p - 1 + noise * rng.normal(size=3000))[None], y, np.ones(3000)).trusted
        for noise in (0.02, 0.1, 0.25)
    ]
    assert found[0] > found[1] > found[2]


# Rare classes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rare_classes_count_more_and_log_odds_are_shifted_back(n_classes):
    shares = np.array([0.97, 0.03]) if n_classes == 2 else np.array([0.9, 0.02, 0.08])
    labels = np.repeat(np.arange(n_classes), (1000 * shares).astype(int))
    y = 2.0 * np.eye(n_classes)[:, labels] - 1.0
    y = y[1:] if n_classes == 2 else y
    weights, shift = evened(y, np.full(1000, 0.3))
    totals = np.bincount(labels, weights) / 300.0
    np.testing.assert_allclose(
        totals, np.where(shares < RARE / n_classes, RARE / n_classes, shares)
    )
    # The best constant score of the evened rows gives the shares of the rows as they are.
    best = 2.0 * totals / totals.sum() - 1.0
    scores = np.repeat((best[1:] if n_classes == 2 else best)[:, None], 1000, axis=1)
    odds = Calibration(0.99, 1.0, shift).log_odds(scores)
    found = expit(odds[0, 0]) if n_classes == 2 else softmax(odds[:, 0])
    np.testing.assert_allclose(found, shares[1] if n_classes == 2 else shares, rtol=1e-12)
    calibrated = calibrate(scores, y, weights, shift)
    odds = calibrated.log_odds(scores)
    found = expit(odds[0, 0]) if n_classes == 2 else softmax(odds[:, 0])
    np.testing.assert_allclose(found, shares[1] if n_classes == 2 else shares, rtol=1e-3)


def test_ordinary_classes_count_as_they_are():
    y = np.where(np.arange(100) < 11, 1.0, -1.0)[None]
    weights, shift = evened(y, np.ones(100))
    np.testing.assert_array_equal(weights, 1.0)
    np.testing.assert_array_equal(shift, 0.0)
    # A class without weight is none.
    none = np.where(np.arange(100) < 11, 0.0, 1.0)
    np.testing.assert_array_equal(evened(y, none)[0], none)
    np.testing.assert_array_equal(evened(y, none)[1], 0.0)


def test_log_odds_with_a_shift_are_those_without_and_it():
    scores = np.linspace(-2.0, 2.0, 9)[None]
    plain, shifted = Calibration(0.8, 2.0), Calibration(0.8, 2.0, np.array([-3.0]))
    np.testing.assert_allclose(shifted.log_odds(scores), plain.log_odds(scores) - 3.0)
    np.testing.assert_array_equal(shifted.slopes(scores), plain.slopes(scores))
