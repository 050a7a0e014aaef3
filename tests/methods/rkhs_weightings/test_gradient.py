"""Gradients of predictions and of log-odds against central differences, for both functions."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import (
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.features.weightings import CustomWeighting
from kernlens.methods.rkhs_weightings.instantiations import INSTANTIATIONS

SCALES = np.array([1.0, 3.0, 0.2, 1.0])


def data(m=80, seed=0):
    """Rows, of which the third column is constant, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4)) * SCALES + 5.0
    X[:, 2] = 1.7
    Z = (X - 5.0) / SCALES
    return X, np.abs(Z[:, 0] + Z[:, 1]) + np.sin(2.0 * Z[:, 3])


def between(X, seed=1):
    """Rows between the training rows, none of them on a kink of the exact kernels."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(len(X), size=(12, 2))
    return 0.37 * X[pairs[:, 0]] + 0.63 * X[pairs[:, 1]] + 0.01 * rng.normal(size=(12, 4))


def differences(function, X, relative=1e-5):
    """Central differences of a function (n, ...) in every column, (n, ..., n_features)."""
    columns = []
    for column, scale in enumerate(SCALES):
        step = np.zeros(X.shape[1])
        step[column] = relative * scale
        columns.append((function(X + step) - function(X - step)) / (2.0 * step[column]))
    return np.stack(columns, axis=-1)


def assert_gradient(model, function, X, tolerance=1e-6):
    expected = differences(function, X)
    found = model.gradient(X)
    assert found.shape == expected.shape
    assert np.abs(found * SCALES).max() > 1e-3
    assert np.abs((found - expected) * SCALES).max() <= tolerance * np.abs(expected * SCALES).max()
    np.testing.assert_array_equal(found[..., 2], 0.0)


@pytest.mark.parametrize("penalty", ["rkhs", "l2"])
@pytest.mark.parametrize("solver", ["exact", "least_squares"])
@pytest.mark.parametrize("name", INSTANTIATIONS)
def test_gradient_of_a_weighting(name, solver, penalty):
    X, y = data()
    model = RKHSWeightingRegressor(
        instantiation=name, solver=solver, penalty=penalty, correlation=0.4, alpha=1e-2,
        n_random_features=30, truncate=None, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert_gradient(model, model.predict, between(X))


@pytest.mark.parametrize("solver", ["lasso", "sfgd"])
def test_gradient_of_other_solvers(solver):
    X, y = data()
    model = RKHSWeightingRegressor(
        instantiation="relu", solver=solver, correlation=0.1, alpha=1e-2, n_random_features=100,
        truncate=None, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert_gradient(model, model.predict, between(X))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("bias", [0.0, 3.0])
def test_gradient_of_several_targets(standardize, bias):
    X, y = data()
    model = RKHSWeightingRegressor(
        instantiation="relu", correlation=0.4, alpha=1e-2, standardize=standardize, bias=bias,
        truncate=None,
    ).fit(X, np.column_stack([y, 10.0 * X[:, 1] + y**2]))  # fmt: skip
    assert model.gradient(X).shape == (80, 2, 4)
    assert_gradient(model, model.predict, between(X))


@pytest.mark.parametrize("base", ["relu", "sign", "stumps"])
def test_gradient_of_the_kernel_of_kitchen_sinks(base):
    X, y = data()
    model = RandomKitchenSinksRegressor(base=base, solver="exact", alpha=1e-2, truncate=None)
    model.fit(X, y)
    assert_gradient(model, model.predict, between(X), 1e-5)


def test_gradient_of_ramps_and_of_steps():
    X, y = data()
    rows = between(X)
    settings = {"alpha": 1e-2, "n_random_features": 30, "truncate": None, "random_state": 0}
    ramps = RandomKitchenSinksRegressor(base="relu", **settings).fit(X, y)
    assert_gradient(ramps, ramps.predict, rows)
    for base in ("sign", "stumps"):
        steps = RandomKitchenSinksRegressor(base=base, **settings).fit(X, y)
        np.testing.assert_array_equal(steps.gradient(rows), 0.0)
        # Their directions are those of smoothed steps all the same.
        assert np.ptp(steps.feature_importances_) > 0.05
        np.testing.assert_array_equal(steps.sensitivity(rows), np.zeros(4))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", ["exact", "least_squares"])
@pytest.mark.parametrize("estimator", [RKHSWeightingClassifier, RandomKitchenSinksClassifier])
def test_gradient_of_log_odds(estimator, solver, n_classes):
    X, y = data()
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    settings = {"solver": solver, "alpha": 1e-2, "n_random_features": 30, "random_state": 0}
    settings |= {"base": "relu"} if "Sinks" in estimator.__name__ else {"instantiation": "relu"}
    model = estimator(**settings).fit(X, labels)
    assert model.gradient(X).shape == ((80, 4) if n_classes == 2 else (80, 3, 4))
    assert_gradient(model, model.decision_function, between(X))


def test_gradient_of_a_users_own_weighting():
    X, y = data()
    cosines = CustomWeighting(
        lambda X, W: np.cos(X @ W.T),
        lambda W, U: np.exp(-((W[:, None] - U) ** 2).sum(axis=2)),
        lambda n, d, rng: rng.standard_normal((n, d)),
        n_nodes=50,
    )
    for solver in ("exact", "least_squares"):
        model = RKHSWeightingRegressor(
            instantiation=cosines, solver=solver, alpha=1e-2, n_random_features=20, truncate=None,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        assert_gradient(model, model.predict, between(X), 1e-5)


@pytest.mark.parametrize("solver", ["exact", "least_squares"])
def test_gradient_in_single_precision(solver):
    X, y = data()
    single = X.astype(np.float32)
    model = RKHSWeightingRegressor(
        instantiation="relu", solver=solver, correlation=0.4, alpha=1e-2, n_random_features=30,
        truncate=None, random_state=0,
    ).fit(single, y)  # fmt: skip
    rows = between(X).astype(np.float32)
    gradient = model.gradient(rows)
    assert gradient.dtype == np.float64
    np.testing.assert_array_equal(gradient, model.gradient(rows.astype(np.float64)))
    assert_gradient(model, model.predict, rows.astype(np.float64))


def test_gradient_is_zero_where_a_prediction_or_a_column_is_cut_off():
    X, y = data()
    model = RKHSWeightingRegressor(instantiation="relu", correlation=0.4, alpha=1e-2).fit(X, y)
    # A ramp goes on beyond the range of the targets.
    beyond = X + 100.0 * SCALES * np.eye(4)[0]
    cut = (model.predict(beyond) == y.max()) | (model.predict(beyond) == y.min())
    assert cut.any()
    np.testing.assert_array_equal(model.gradient(beyond)[cut], 0.0)
    # Columns beyond any size count as the largest one.
    model = RKHSWeightingRegressor(
        instantiation="stumps", correlation=0.4, alpha=1e-2, truncate=None
    ).fit(X, y)
    far = between(X)
    far[:, 0] = 1e120
    gradient = model.gradient(far)
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[:, 0], 0.0)
    np.testing.assert_allclose(
        gradient[:, 1], differences(model.predict, far)[:, 1], rtol=1e-6, atol=1e-9
    )


def test_gradient_does_not_depend_on_blocks(monkeypatch):
    X, y = data()
    for solver in ("exact", "least_squares"):
        model = RKHSWeightingRegressor(
            instantiation="relu", solver=solver, correlation=0.4, alpha=1e-2, n_random_features=30,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        whole = model.gradient(X), model.predict(X)
        with monkeypatch.context() as few:
            few.setattr("kernlens.methods.rkhs_weightings.function.BLOCK_ENTRIES", 100)
            np.testing.assert_allclose(model.gradient(X), whole[0], rtol=0, atol=1e-12)
            np.testing.assert_allclose(model.predict(X), whole[1], rtol=0, atol=1e-12)
