"""Weights are relative: a number times all of them changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import ESTIMATORS, FINDERS, UNSUPERVISED, decision, family_of, light
from kernlens import BKerNNRegressor, RKHSWeightingRegressor
from kernlens._rows import canonical_rows
from kernlens._validation import check_weights


def sample(estimator, n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 1).astype(int) if is_classifier(estimator()) else y), rng.random(n) + 0.1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_factor_changes_nothing(estimator):
    X, y, weights = sample(estimator)
    model = light(estimator, **({"alpha": "auto"} if family_of(estimator).iterative else {}))
    expected = decision(model.fit(X, y, sample_weight=weights), X)
    for factor in (1e-300, 1e99):
        found = decision(model.fit(X, y, sample_weight=factor * weights), X)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("estimator", UNSUPERVISED)
def test_a_factor_changes_nothing_without_targets(estimator):
    X, _, weights = sample(estimator)
    model = estimator(random_state=0)
    method = "transform" if hasattr(model, "transform") else "predict"
    expected = getattr(model.fit(X, sample_weight=weights), method)(X)
    found = getattr(model.fit(X, sample_weight=2.0**-700 * weights), method)(X)
    np.testing.assert_array_equal(found, expected)


def test_survey_weights_that_sum_to_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    y = np.abs(X[:, 0])
    model = BKerNNRegressor(n_particles=20, random_state=0, n_jobs=1)
    assert model.fit(X, y, sample_weight=np.full(100, 0.01)).score(X, y) > 0.99


@pytest.mark.parametrize("factor", [1e-200, 1e80])
def test_a_factor_of_all_batches_changes_nothing(factor):
    X, y, weights = sample(RKHSWeightingRegressor)
    streams = [light(RKHSWeightingRegressor), light(RKHSWeightingRegressor)]
    for batch in (slice(0, 20), slice(20, 40)):
        # The second batch counts ten times as much as the first.
        heavier = weights[batch] * (1.0 if batch.start == 0 else 10.0)
        streams[0].partial_fit(X[batch], y[batch], sample_weight=heavier)
        streams[1].partial_fit(X[batch], y[batch], sample_weight=factor * heavier)
    np.testing.assert_allclose(streams[1].predict(X), streams[0].predict(X), rtol=1e-7)
    alike = light(RKHSWeightingRegressor)
    for batch in (slice(0, 20), slice(20, 40)):
        alike.partial_fit(X[batch], y[batch], sample_weight=weights[batch])
    assert np.abs(alike.predict(X) - streams[0].predict(X)).max() > 1e-3


def test_weights_sum_to_the_effective_number_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 2)), rng.standard_normal((1, 6))
    rows, unit = canonical_rows(X, y, np.full(6, 1e-320)).with_relative_weights()
    np.testing.assert_array_equal(rows.weights, 1.0)
    assert unit == 1e-320
    weights = np.array([1.0, 1.0, 1.0, 0.0, 3.0, 1e-7])
    rows, unit = canonical_rows(X, y, weights).with_relative_weights()
    assert rows.weights.sum() == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    np.testing.assert_allclose(np.sort(rows.weights * unit), [1e-7, 1.0, 1.0, 1.0, 3.0])


def test_what_is_lost_beside_the_largest_weight_is_zero():
    X = np.zeros((4, 1))
    np.testing.assert_array_equal(check_weights([1e90, 1e-250, 1e75, 1e60], X) > 0, [1, 0, 1, 0])


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *FINDERS, *UNSUPERVISED])
def test_the_order_of_repeated_rows_with_any_weights_does_not_matter(estimator):
    rng = np.random.default_rng(2)
    X = rng.integers(1, 4, (30, 3)).astype(float)
    y = np.abs(X[:, 0] - X[:, 1])
    y = (y > 0.5).astype(int) if is_classifier(estimator()) else y
    rows, order = np.tile(np.arange(30), 3), rng.permutation(90)
    weights = rng.random(90)
    model = estimator(random_state=0) if estimator in UNSUPERVISED else light(estimator)
    one = model.fit(X[rows], y[rows], sample_weight=weights)
    values = [_values(one, X)]
    rows, weights = rows[order], weights[order]
    values.append(_values(model.fit(X[rows], y[rows], sample_weight=weights), X))
    np.testing.assert_array_equal(values[0], values[1])


def _values(model, X):
    if hasattr(model, "score"):
        return decision(model, X)
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)
