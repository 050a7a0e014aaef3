"""Scores against scikit-learn's, their standard errors against repetition, and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from kernlens.model_selection.auto.classifier import best_sharpness, sharpened
from kernlens.model_selection.auto.intervals import conformal_margins
from kernlens.model_selection.auto.scores import CLASSIFICATION_SCORES, REGRESSION_SCORES


def test_scores_of_numbers_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, prediction, weights = rng.standard_normal((3, 50))
    weights = np.abs(weights)
    r2 = metrics.r2_score(y, prediction, sample_weight=weights)
    mae = metrics.mean_absolute_error(y, prediction, sample_weight=weights)
    assert REGRESSION_SCORES["r2"].value(y, prediction, weights) == pytest.approx(r2)
    found = REGRESSION_SCORES["neg_mean_absolute_error"].value(y, prediction, weights)
    assert found == pytest.approx(-mae)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_of_classes_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 60)
    p = rng.dirichlet(np.ones(n_classes), 60)
    w = rng.uniform(0.5, 2.0, 60)
    values = {
        name: score.value(y.astype(float), p, w) for name, score in CLASSIFICATION_SCORES.items()
    }
    assert values["neg_log_loss"] == pytest.approx(-metrics.log_loss(y, p, sample_weight=w))
    assert values["accuracy"] == pytest.approx(
        metrics.accuracy_score(y, p.argmax(axis=1), sample_weight=w)
    )
    if n_classes == 2:
        auc = metrics.roc_auc_score(y, p[:, 1], sample_weight=w)
    else:
        auc = np.mean([metrics.roc_auc_score(y == k, p[:, k], sample_weight=w) for k in range(4)])
    assert values["roc_auc"] == pytest.approx(auc)


def test_a_constant_target_has_a_score():
    value = REGRESSION_SCORES["r2"].value
    assert value(np.ones(4), np.ones(4), np.ones(4)) == 1.0
    assert value(np.ones(4), np.zeros(4), np.ones(4)) == 0.0


def test_standard_errors_are_those_of_repetition():
    score = REGRESSION_SCORES["neg_mean_absolute_error"]
    values, errors = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = rng.standard_normal(100)
        value, error = score.with_error(y, np.zeros(100), np.ones(100))
        values.append(value)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.2)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_contain_new_errors_as_often_as_they_should(coverage):
    """The mean over data sets is at least what was asked for, and at most 2 / (n + 1) more."""
    inside = []
    for seed in range(2000):
        errors = np.random.default_rng(seed).gamma(2.0, size=60)
        low, high = conformal_margins(errors[:-1], coverage)
        inside.append(low <= errors[-1] <= high)
    wide = 2.5 * np.sqrt(coverage * (1.0 - coverage) / len(inside))
    assert coverage - wide < np.mean(inside) < coverage + 2.0 / 60 + wide


def test_too_few_rows_have_no_bounds():
    assert conformal_margins(np.zeros(5), 0.99) == (-np.inf, np.inf)


def test_sharpness_is_found_again():
    rng = np.random.default_rng(0)
    true = rng.dirichlet(np.ones(3), 20_000)
    y = np.array([rng.choice(3, p=row) for row in true]).astype(float)
    mild = sharpened(true, 1.0 / 1.4)
    assert best_sharpness(mild, y, np.ones(len(y))) == pytest.approx(1.4, abs=0.06)
    np.testing.assert_allclose(sharpened(mild, 1.4), true, atol=1e-9)
