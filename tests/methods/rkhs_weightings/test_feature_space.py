"""Features in coordinates of Euclidean norm against the dense formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens.features.weightings import RidgeWeighting, StumpWeighting
from kernlens.methods.rkhs_weightings import feature_space
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace, decision_in_blocks


def weightings(n=3, r=0.4):
    ridge = [RidgeWeighting(ramp, exp, n, r) for ramp in (False, True) for exp in (False, True)]
    return [*ridge, StumpWeighting(n, r, 1.3)]


every = pytest.mark.parametrize("weighting", weightings(), ids=range(5))


def rows(m=40, n=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) + 0.5
    return X, np.stack([X[:, 0] ** 2, np.sin(X[:, 1])]), rng.uniform(0.1, 3.0, m)


def scaled(weighting, W, X):
    """Features over the root of the unit, and the matrices of both norms."""
    features, logs = weighting.expectation(W)
    square = np.exp(weighting.log_square_gram(W))
    return features.evaluate(X) * np.exp(logs), {"rkhs": weighting.gram(W, W), "l2": square}


def dense_system(P, y, weights, intercept):
    centered = P - intercept * (weights @ P / weights.sum())
    targets = y - intercept * (y @ weights / weights.sum())[:, None]
    return (centered.T * weights) @ centered, (targets * weights) @ centered


def assert_close(actual, expected, tolerance=1e-10):
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()


@every
@pytest.mark.parametrize("penalty", ["rkhs", "l2"])
def test_products_are_those_of_the_penalised_norm(weighting, penalty):
    X, _, _ = rows()
    W = weighting.sample(7, np.random.default_rng(1))
    space = FeatureSpace.of_weighting(weighting, W, penalty)
    F, M = scaled(weighting, W, X)
    P = space.matrix(X) * np.exp(space.log_scale)
    assert_close(P @ P.T, F @ np.linalg.pinv(M[penalty], rcond=1e-15) @ F.T, 1e-7)
    assert sorted(space.kept) == list(range(7))


@every
@pytest.mark.parametrize("well", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_system_is_that_of_the_dense_features(monkeypatch, weighting, well, intercept):
    X, y, weights = rows(m=200)
    # Several blocks of rows, of which the last one is short.
    monkeypatch.setattr(feature_space, "BLOCK_ENTRIES", 64 * 7)
    W = weighting.sample(7, np.random.default_rng(1))
    space = FeatureSpace.of_weighting(weighting, W, "rkhs")
    space = replace(space, condition=1.0 if well else np.inf)
    assert space.well_conditioned(1e-8) is well
    P = space.matrix(X)
    gram, moments = dense_system(P, y, weights, intercept)
    system = space.system(X, y, weights, intercept)
    assert_close(system.gram, gram, 1e-8 if well else 1e-11)
    assert_close(system.moments, moments, 1e-8 if well else 1e-11)
    assert_close(system.feature_mean, weights @ P / weights.sum(), 1e-8)
    assert np.isclose(system.total, weights.sum())
    b, constant = system.solve(1e-2)
    assert intercept or not constant.any()
    expected = np.linalg.solve(gram + 1e-2 * weights.sum() * np.eye(7), moments.T).T
    assert_close(b, expected, 1e-7)
    # Coefficients of the features themselves give the same function.
    values = decision_in_blocks(space.features, X, space.coefficients(b), None)
    assert_close(values + constant[:, None], b @ P.T + constant[:, None], 1e-10)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_and_threads_change_nothing_but_rounding(monkeypatch, n_jobs):
    X, y, weights = rows(m=300)
    weighting = RidgeWeighting(True, False, 3, 0.5)
    W = weighting.sample(9, np.random.default_rng(1))
    space = FeatureSpace.of_weighting(weighting, W, "rkhs")
    whole = space.system(X, y, weights)
    monkeypatch.setattr(feature_space, "BLOCK_ENTRIES", 1)
    parts = space.system(X, y, weights, n_jobs=n_jobs)
    assert_close(parts.gram, whole.gram, 1e-11)
    assert_close(parts.moments, whole.moments, 1e-11)


def test_kitchen_sinks_are_base_predictors_over_the_root_of_their_number():
    X, y, weights = rows()
    weighting = RidgeWeighting(True, False, 3, 0.5)
    W = weighting.sample(6, np.random.default_rng(1))
    space = FeatureSpace.of_kitchen_sinks(weighting, W)
    expected = np.maximum(X @ W.T, 0.0) / np.sqrt(6)
    assert_close(space.matrix(X), expected, 1e-14)
    gram, moments = dense_system(expected, y, weights, True)
    system = space.system(X, y, weights)
    assert_close(system.gram, gram, 1e-12)
    assert_close(system.moments, moments, 1e-12)
    # f = (1/T) sum_t a_t phi_t with a = b sqrt(T).
    b = np.arange(12.0).reshape(2, 6)
    assert_close(space.coefficients(b) @ np.maximum(X @ W.T, 0.0).T, b @ expected.T, 1e-14)


@every
def test_features_of_the_lasso_are_those_of_the_weighting_up_to_a_factor(weighting):
    X, _, _ = rows()
    W = weighting.sample(6, np.random.default_rng(1))
    space = FeatureSpace.of_scaled(weighting, W)
    F, _ = scaled(weighting, W, X)
    assert_close(space.matrix(X) * np.exp(space.log_scale), F, 1e-12)
    assert space.scales.max() == 1.0


@every
@pytest.mark.parametrize("penalty", ["rkhs", "l2"])
def test_repeated_weights_are_left_out(weighting, penalty):
    X, _, _ = rows()
    W = weighting.sample(5, np.random.default_rng(1))
    once = FeatureSpace.of_weighting(weighting, W, penalty)
    twice = FeatureSpace.of_weighting(weighting, np.concatenate([W, W[:3]]), penalty)
    assert len(twice.kept) == 5
    P, Q = once.matrix(X), twice.matrix(X)
    assert_close(Q @ Q.T, P @ P.T, 1e-8)


@pytest.mark.parametrize("weighting", weightings(784, 0.95), ids=range(5))
@pytest.mark.parametrize("penalty", ["rkhs", "l2"])
def test_many_columns_neither_vanish_nor_explode(weighting, penalty):
    X, y, weights = rows(m=20, n=784)
    W = weighting.sample(30, np.random.default_rng(1))
    space = FeatureSpace.of_weighting(weighting, W, penalty)
    P = space.matrix(X)
    assert np.all(np.isfinite(P)) and np.abs(P).max() > 1e-6
    assert np.isfinite(space.log_scale)
    b, _ = space.system(X, y, weights).solve(1e-6)
    assert np.all(np.isfinite(space.coefficients(b)))


def test_single_precision_features_are_summed_in_double():
    X, y, weights = rows(m=500)
    weighting = RidgeWeighting(True, False, 3, 0.5)
    W = weighting.sample(8, np.random.default_rng(1))
    space = FeatureSpace.of_weighting(weighting, W, "rkhs")
    assert space.matrix(X.astype(np.float32)).dtype == np.float32
    low, high = (space.system(rows, y, weights) for rows in (X.astype(np.float32), X))
    assert low.gram.dtype == np.float64
    assert_close(low.gram, high.gram, 1e-3)
