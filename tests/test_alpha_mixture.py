"""Mixtures of ridge solutions: weights against every support, functions against their parts."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import (
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens._rows import canonical_rows
from kernlens.optim.alpha_mixture import EVENNESS, AlphaMixture, around, mixing_weights
from kernlens.optim.functional_gradient import FunctionalGradient
from kernlens.optim.instantiations import Instantiation
from kernlens.optim.weighting_exact import Exact
from kernlens.optim.weighting_least_squares import LeastSquares
from kernlens.optim.weighting_plan import WeightingPlan
from kernlens.optim.weighting_solver import feature_decision
from reference.alpha_mixture import mean_products, simplex_minimum

DECADES = tuple(10.0 ** np.arange(-8.0, 1.5, 0.5))
LIGHT = {"n_random_features": 30, "random_state": 0, "alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]}
WEIGHTING = {"instantiation": "sign", "correlation": 0.6}
intercepts = pytest.mark.parametrize("intercept", [True, False])


def with_evenness(products):
    return products + EVENNESS * np.trace(products) / len(products) * np.eye(len(products))


def data(n=100, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    # A strong smooth part and a weak rough one: no single alpha is good for both.
    signal = 2.0 * X[:, 0] + np.sin(5.0 * X[:, 1])
    return X, signal + 0.7 * rng.normal(size=n), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("seed", range(6))
def test_weights_are_the_best_of_all_supports(k, seed):
    rng = np.random.default_rng(seed)
    # Errors of neighbours are alike, and some solutions are far worse than others.
    errors = np.cumsum(rng.normal(size=(k, 50)) * rng.uniform(0.1, 2.0, (k, 1)), axis=0)
    products = errors @ errors.T / 50
    weights = mixing_weights(products)
    np.testing.assert_allclose(weights, simplex_minimum(with_evenness(products)), atol=1e-10)
    assert np.isclose(weights.sum(), 1.0, rtol=1e-14) and np.all(weights >= 0.0)


def test_weights_do_not_depend_on_the_unit_of_the_errors_or_their_order():
    errors = np.random.default_rng(0).normal(size=(4, 30)) + 1.0
    products, order = errors @ errors.T, [2, 0, 3, 1]
    expected = mixing_weights(products)
    assert expected.max() < 0.9
    for unit in (1e-200, 1e200):
        np.testing.assert_allclose(mixing_weights(unit * products), expected, rtol=1e-9)
    shuffled = mixing_weights(products[np.ix_(order, order)])
    np.testing.assert_allclose(shuffled, expected[order], rtol=1e-9)


def test_equal_solutions_share_the_weight_and_perfect_ones_have_it():
    np.testing.assert_allclose(mixing_weights(np.ones((4, 4))), 0.25)
    np.testing.assert_allclose(mixing_weights(np.zeros((3, 3))), 1.0 / 3.0)
    errors = np.array([[1.0, -1.0, 2.0], [0.0, 0.0, 0.0], [2.0, 2.0, 1.0]])
    assert mixing_weights(errors @ errors.T)[1] > 0.99


def test_products_that_rounding_has_made_indefinite_are_taken():
    products = np.ones((3, 3)) - 1e-13 * np.eye(3)
    np.testing.assert_allclose(mixing_weights(products), 1.0 / 3.0)


def test_around_takes_decades_of_a_fine_grid_and_all_of_a_coarse_one():
    np.testing.assert_allclose(around(1e-3, DECADES), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    np.testing.assert_allclose(around(10.0, DECADES), [0.1, 1.0, 10.0])
    assert around(0.3, (0.3, 0.4, 0.2)) == (0.2, 0.3, 0.4)
    assert around(5.0, (5.0,)) == (5.0,)
    assert around(1.0, (1.0, 1e9, 1.0)) == (1.0,)


def test_mean_of_solutions():
    mixture = AlphaMixture((0.1, 1.0), (0.25, 0.75))
    np.testing.assert_allclose(mixture.mean([np.array([4.0]), np.array([8.0])]), [7.0])
    assert AlphaMixture.of_one(0.3) == AlphaMixture((0.3,), (1.0,))


MAKERS = [
    (RKHSWeightingRegressor, WEIGHTING | {"solver": "least_squares"}),
    (RKHSWeightingRegressor, WEIGHTING | {"solver": "least_squares", "penalty": "l2"}),
    (RKHSWeightingRegressor, WEIGHTING | {"solver": "exact"}),
    (RandomKitchenSinksRegressor, {"base": "sign", "solver": "least_squares"}),
    (RandomKitchenSinksRegressor, {"base": "sign", "solver": "exact"}),
]


@pytest.mark.parametrize(("estimator", "settings"), MAKERS)
@intercepts
def test_a_mixture_is_the_mean_of_fits_with_its_alphas(estimator, settings, intercept):
    X, y, weights = data()
    settings = LIGHT | settings | {"truncate": False, "fit_intercept": intercept}
    mixed = estimator(**settings).fit(X, y, weights)
    parts, shares = mixed.alpha_mixture_["alpha"], mixed.alpha_mixture_["weight"]
    assert shares.max() < 0.95
    singles = [estimator(**settings | {"alpha": a}).fit(X, y, weights) for a in parts]
    expected = sum(w * one.predict(X) for w, one in zip(shares, singles, strict=True))
    np.testing.assert_allclose(mixed.predict(X), expected, rtol=1e-9, atol=1e-9)
    name = "dual_coef_" if settings["solver"] == "exact" else "coef_"
    combined = sum(w * getattr(one, name) for w, one in zip(shares, singles, strict=True))
    np.testing.assert_allclose(getattr(mixed, name), combined, rtol=1e-6, atol=1e-8)


def values(solver, learned, X):
    """Of a fitted function at rows, (n_targets, n_samples)."""
    candidate, function = learned.setting.instantiation, learned.function
    if isinstance(solver, LeastSquares):
        return feature_decision(function, candidate.weighting(), X, False, 1)
    kernel = candidate.kernel(solver.plan.kernel_penalty)
    return function.dual @ kernel.matrix(function.support, X) + function.intercept[:, None]


def errors_without_single_rows(solver, candidate, alpha):
    """Errors at rows by fits without them, lambda times the sum of the weights kept."""
    rows, found = solver.rows, []
    for row in range(len(rows.X)):
        others = rows.take(np.flatnonzero(np.arange(len(rows.X)) != row))
        ratio = rows.weights.sum() / others.weights.sum()
        part = type(solver)(solver.plan, others, 1)
        learned = part.fit(candidate, (alpha * ratio,))
        found.append(values(part, learned, rows.X[row : row + 1])[:, 0] - rows.y[:, row])
    return np.array(found).T


@pytest.mark.parametrize("kind", [LeastSquares, Exact])
@intercepts
def test_weights_are_those_of_fits_without_single_rows(kind, intercept):
    X, y, weights = data(16)
    candidate = Instantiation("sign", 3, 0.6, 1.0)
    plan = WeightingPlan(
        candidates=(candidate,),
        alphas=tuple(LIGHT["alpha"]),
        mixed=True,
        solver="any",
        penalty="rkhs",
        kitchen_sinks=False,
        paper_units=True,
        intercept=intercept,
        n_weights=30,
        descent=FunctionalGradient(),
        seed=0,
    )
    solver = kind(plan, canonical_rows(X, np.stack([y, X[:, 2] * y]), weights), 1)
    learned = solver.fit(candidate, plan.alphas)
    alphas = around(learned.setting.alpha, plan.alphas)
    errors = [errors_without_single_rows(solver, candidate, alpha) for alpha in alphas]
    products = mean_products(np.array(errors), solver.rows.weights)
    assert learned.setting.alpha == alphas[np.argmin(np.diagonal(products))]
    expected = dict(zip(alphas, simplex_minimum(with_evenness(products)), strict=True))
    assert max(expected.values()) < 0.99
    found = dict(zip(learned.mixture.alphas, learned.mixture.weights, strict=True))
    assert set(found) == {alpha for alpha, weight in expected.items() if weight > 0.0}
    for alpha, weight in found.items():
        assert np.isclose(weight, expected[alpha], atol=1e-7)


def test_weights_follow_from_the_rows_held_out_of_many():
    X, y, weights = data(2600)
    settings = LIGHT | WEIGHTING | {"solver": "least_squares", "truncate": False}
    model = RKHSWeightingRegressor(**settings).fit(X, y, weights)
    shares = model.alpha_mixture_["weight"]
    assert len(shares) > 1 and np.isclose(shares.sum(), 1.0)
    parts = [
        RKHSWeightingRegressor(**settings | {"alpha": a}).fit(X, y, weights).predict(X)
        for a in model.alpha_mixture_["alpha"]
    ]
    expected = sum(w * part for w, part in zip(shares, parts, strict=True))
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("estimator", [RKHSWeightingClassifier, RandomKitchenSinksClassifier])
@pytest.mark.parametrize("solver", ["least_squares", "exact"])
def test_without_mixing_there_is_the_best_alone(estimator, solver):
    X, y, weights = data()
    settings = LIGHT | {"solver": solver, "alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]}
    single = estimator(**settings, mix_alphas=False).fit(X, y > 1.0, weights)
    assert single.alpha_mixture_["alpha"].tolist() == [single.alpha_]
    assert single.alpha_mixture_["weight"].tolist() == [1.0]
    mixed = estimator(**settings).fit(X, y > 1.0, weights)
    assert mixed.alpha_ == single.alpha_
    assert np.abs(mixed.predict_proba(X) - single.predict_proba(X)).max() > 1e-6
    np.testing.assert_array_equal(mixed.alpha_search_["loss"], single.alpha_search_["loss"])


def test_batches_are_mixed_like_the_rows_together():
    X, y, weights = data(3000)
    y = (y - y.mean()) / y.std()
    settings = LIGHT | WEIGHTING | {"solver": "least_squares", "truncate": False}
    stream = RKHSWeightingRegressor(**settings)
    for part in (slice(0, 1500), slice(1500, None)):
        stream.partial_fit(X[part], y[part], weights[part])
    parts = []
    for alpha in stream.alpha_mixture_["alpha"]:
        one = RKHSWeightingRegressor(**settings | {"alpha": alpha})
        for part in (slice(0, 1500), slice(1500, None)):
            one.partial_fit(X[part], y[part], weights[part])
        parts.append(one.predict(X))
    assert len(parts) > 1
    shares = stream.alpha_mixture_["weight"]
    expected = sum(w * part for w, part in zip(shares, parts, strict=True))
    np.testing.assert_allclose(stream.predict(X), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("solver", ["lasso", "sfgd"])
def test_other_learners_have_one_alpha(solver):
    X, y, _ = data()
    model = RKHSWeightingRegressor(**LIGHT | WEIGHTING | {"solver": solver, "correlation": 0.1})
    model.fit(X, y)
    assert model.alpha_mixture_["alpha"].tolist() == [model.alpha_]
