"""The fits of the RKHS weightings paper: its systems, its printed features, its data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf

from kernlens import (
    PaperAlpha,
    PaperWidth,
    RandomKitchenSinksRegressor,
    RKHSWeightingRegressor,
)
from kernlens.experiments.data import DataFolder
from kernlens.experiments.rkhs_weightings import errata, fits, learners, sets
from kernlens.experiments.rkhs_weightings.printed import PrintedWeighting
from kernlens.methods.rkhs_weightings.instantiations import Instantiation
from reference import rkhs_weightings as reference

N_COLUMNS, LAMBDA = 3, 1e-3


def drawn(n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, N_COLUMNS))
    y = np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)
    return X, y


def setting(name, method, r=0.3, lam=LAMBDA):
    return fits.Setting(Instantiation(name, N_COLUMNS, r), method, lam)


@pytest.mark.parametrize("name", fits.NAMES.values())
def test_algorithm_4_is_the_solution_of_the_system_of_the_paper(name):
    X, y = drawn()
    model = fits.fit(setting(name, fits.RW), X, y, 15, 1)
    oracle = reference.with_correlation(name, N_COLUMNS, 1.0, 0.3)
    Phi, G = reference.table_features(oracle, model.W, X), oracle.kernel(model.W, model.W)
    a = reference.least_squares(Phi, G, y, LAMBDA)
    np.testing.assert_allclose(model.decision(X), Phi @ a, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["sign", "relu", "stumps"])
def test_algorithm_1_is_the_solution_of_the_corrected_system(name):
    X, y = drawn()
    model = fits.fit(setting(name, fits.RKS), X, y, 15, 1)
    Phi = reference.with_correlation(name, N_COLUMNS, 1.0, 0.3).base(model.W, X)
    a = reference.kitchen_sinks(Phi, y, LAMBDA)
    np.testing.assert_allclose(model.decision(X), Phi @ a / 15, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", fits.NAMES.values())
def test_the_exact_kernel_is_the_limit_of_the_estimator_with_the_same_lambda(name):
    X, y = drawn()
    # The estimator centres columns, and takes off the mean of y.
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    model = fits.fit_kernel(setting(name, fits.EXACT), X, y)
    estimator = RKHSWeightingRegressor(
        **{"instantiation": name, "solver": "exact", "alpha": PaperAlpha(LAMBDA)},
        **{"correlation": PaperWidth(correlation=0.3), "bias": 0.0, "fit_intercept": False},
        **{"truncate": None, "linear_part": False, "n_directions": 1},
    ).fit(X, y)
    np.testing.assert_allclose(model.decision(X), estimator.predict(X), rtol=1e-5, atol=1e-6)


def test_the_lasso_of_kitchen_sinks_is_that_of_the_estimator():
    X, y = drawn(100)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    estimator = RandomKitchenSinksRegressor(
        **{"base": "relu", "solver": "lasso", "alpha": PaperAlpha(0.05), "bias": 0.0},
        **{"fit_intercept": False, "truncate": None, "linear_part": False, "n_directions": 1},
        **{"n_random_features": 20, "random_state": 0},
    ).fit(X, y)
    own = setting("relu", fits.RKS)
    W = own.weights(20, 0)
    small, large = learners.lasso_path(own, X, y, W, [1e-4, 10.0])
    assert np.count_nonzero(large.b) < np.count_nonzero(small.b)
    loss = np.mean(np.square(estimator.predict(X) - y))
    # Between almost no penalty and one that leaves almost nothing.
    losses = [np.mean(np.square(model.decision(X) - y)) for model in (small, large)]
    assert losses[0] < loss < losses[1]


@pytest.mark.parametrize("method", [fits.RKS, fits.RW])
def test_the_lasso_satisfies_its_conditions_in_the_units_of_the_paper(method):
    """Slopes of the loss are lambda in size where coefficients are not zero, else at most that."""
    X, y = drawn()
    own, lam, T = setting("relu", method), 0.02, 12
    model = learners.lasso_path(own, X, y, own.weights(T, 3), [lam])[0]
    oracle = reference.with_correlation("relu", N_COLUMNS, 1.0, 0.3)
    if method == fits.RKS:
        # f = (1/T) sum_t a_t phi_t, penalty (lambda / T) sum_t |a_t|
        F, bound = oracle.base(model.W, X) / T, lam / T
    else:
        F, bound = reference.table_features(oracle, model.W, X), lam
    slopes = 2.0 * F.T @ (y - model.decision(X)) / len(y)
    used = model.b != 0.0
    assert 0 < used.sum() < T
    np.testing.assert_allclose(np.abs(slopes[used]), bound, rtol=1e-4)
    assert np.all(np.abs(slopes) <= bound * (1 + 1e-4))


def test_the_descent_goes_towards_the_least_squares_fit():
    X, y = drawn()
    own = setting("sign", fits.RW, lam=0.1)
    running = learners.Running.begin(
        own, X, y, batch_size=40, features_per_step=1, radius=100.0, seed=0
    )
    distances = []
    limit = fits.fit_kernel(own, X, y).decision(X)
    for n_steps in (30, 970):
        running.go_on(n_steps)
        distances.append(np.mean(np.square(running.decision(X) - limit)))
    assert distances[1] < 0.2 * distances[0]


def test_printed_features_are_those_of_table_3_letter_by_letter():
    """But for the factor 1 / sigma of RWExpRelu, which is 1 here."""
    rng = np.random.default_rng(1)
    X, U = rng.standard_normal((6, N_COLUMNS)), rng.standard_normal((5, N_COLUMNS))
    sigma, r = 1.0, 0.2
    g = sigma / np.sqrt(2 * r)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    inner = (X / norms) @ U.T
    growth = np.exp(sigma**2 / (8 * g**4) * np.sum(U**2, axis=1))
    sign = growth * erf(sigma / (np.sqrt(8 * np.pi) * g**2) * inner)
    bell = np.sqrt(2) * sigma * np.exp(-(inner**2) / (2 * sigma**2))
    edge = np.sqrt(np.pi) * inner * (1 + erf(inner / (np.sqrt(2) * sigma)))
    ramp = growth / (np.sqrt(2 * np.pi) * sigma**2) * sigma * norms / np.sqrt(2) * (bell + edge)
    for is_ramp, printed in ((False, sign), (True, ramp)):
        weighting = PrintedWeighting(is_ramp, True, N_COLUMNS, r)
        features, log_factors = weighting.expectation(U)
        found = features.evaluate(X) * np.exp(log_factors + 0.5 * weighting.log_unit)
        rescaled = printed * np.exp(-np.sum(U**2, axis=1) / (4 * g**2))
        np.testing.assert_allclose(found, rescaled, rtol=1e-10)
        # They are not the expectations: these are.
        name = "exp_relu" if is_ramp else "exp_sign"
        oracle = reference.with_correlation(name, N_COLUMNS, sigma, r)
        assert np.abs(printed / reference.table_features(oracle, U, X) - 1).max() > 0.2


def test_a_choice_is_the_setting_of_least_error_and_lambdas_are_told_apart():
    X, y = drawn(60)
    split = sets.Split(X[:40], y[:40] - y.mean(), X[40:], y[40:] - y.mean(), True)
    tried = fits.settings_of("RWRelu", fits.RW, N_COLUMNS, 2)
    best = fits.choose(tried, split, 30, 40, 1)
    assert best in tried
    # An error that no sensible lambda has.
    worst = fits.choose([tried[14], best], split, 30, 40, 1)
    assert tried[14].lam == 1.0 and worst == best


def test_bounds_are_those_of_the_estimator():
    X, y = drawn()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    estimator = RKHSWeightingRegressor(
        **{"instantiation": "relu", "solver": "least_squares", "alpha": PaperAlpha(LAMBDA)},
        **{"correlation": PaperWidth(correlation=0.3), "bias": 0.0, "fit_intercept": False},
        **{"truncate": None, "linear_part": False, "n_directions": 1},
        **{"n_random_features": 300, "random_state": 0},
    ).fit(X, y)
    model = fits.fit(setting("relu", fits.RW), X, y, 300, 0)
    found = model.log10_bounds(X, y)
    # Other weights, of the same function in the limit.
    for value, kind in zip(found, ("rkhs", "l2"), strict=True):
        bound = estimator.generalization_bound(kind=kind, form="printed")
        assert value == pytest.approx(np.log10(bound), abs=0.05)


def test_splits_have_the_sizes_of_the_paper_and_units_of_training_rows():
    for name, train, test in (("cancer", 426, 143), ("diabetes", 331, 111), ("wine", 133, 45)):
        split = sets.load_split(name, DataFolder())
        assert (len(split.X), len(split.test_X)) == (train, test)
        np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(split.X.std(axis=0), 1.0)
        if split.regression:
            assert split.y.std() == pytest.approx(1.0)
        else:
            assert set(split.y) == {-1.0, 1.0}
        nothing = split.scores(np.zeros(train), np.zeros(test))
        assert nothing["train_mse"] == pytest.approx(1.0)
        perfect = split.scores(split.y, split.test_y)
        assert perfect.get("test_r2", 1.0) == 1.0
        assert perfect.get("test_error", 0.0) == 0.0


def test_distances_to_the_published_errors_vanish_at_them():
    known = errata.published("wine", "RWExpRelu")
    assert known == (0.032, 0.101)
    cell = {
        **{"dataset": "wine", "instantiation": "RWExpRelu", "method": fits.RW},
        **{"kappas": [10.0], "T": 30, "seed": 0},
    }
    found = errata.run(cell, DataFolder())
    errors = np.array(found.curves["errors"][0])
    least = np.linalg.norm(np.log(errors) - np.log(known), axis=1).min()
    assert found.scores["distance"] == pytest.approx(least, abs=0.01)
