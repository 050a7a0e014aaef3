"""Gradients of HKRR's predictions against central differences, in the units of the user."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import decision, light
from kernlens import Constraint, HKRRClassifier, HKRRRegressor
from kernlens.kernels.radial import RADIAL_KERNELS

UNITS = np.array([0.5, 1.0, 20.0, 1e-2])
ORIGIN = np.array([-2.0, 10.0, 0.0, 1.0])
VARIANTS = [
    *({"kernel": kernel} for kernel in RADIAL_KERNELS),
    {"standardize": False, "kernel": "matern52"},
    {"constraint": Constraint(max_norm=1.0)},
    {"refit": 30},
    {"refit": 30, "n_components": "auto"},
]


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4))
    return Z * UNITS + ORIGIN, np.sin(Z @ [1.0, 0.8, 0.5, 0.2]) + 0.1 * rng.standard_normal(n)


def targets(estimator, y, kind):
    """One target or two, two classes or three."""
    if is_classifier(estimator()):
        return (y > 0).astype(int) if kind == "one" else np.digitize(y, [-0.4, 0.4])
    return y if kind == "one" else np.column_stack([y, 100.0 * np.abs(y) + 7.0])


def differences(model, X, steps):
    columns = []
    for column, step in enumerate(steps):
        shift = step * (np.arange(len(steps)) == column)
        columns.append((decision(model, X + shift) - decision(model, X - shift)) / (2.0 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("estimator", [HKRRRegressor, HKRRClassifier])
@pytest.mark.parametrize("kind", ["one", "several"])
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_gradient_is_the_limit_of_differences(estimator, kind, options):
    X, y = sample()
    if not is_classifier(estimator()):
        options = {**options, "truncate": None}
    model = light(estimator, **options).fit(X, targets(estimator, y, kind))
    X_new = sample(n=20, seed=5)[0]
    gradient = model.gradient(X_new)
    assert gradient.shape == ((20, 4) if kind == "one" else (*decision(model, X_new).shape, 4))
    expected = differences(model, X_new, 1e-5 * UNITS)
    np.testing.assert_allclose(gradient * UNITS, expected * UNITS, rtol=1e-5, atol=1e-5)
    squares = np.mean(gradient**2, axis=0)
    np.testing.assert_allclose(model.sensitivity(X_new), squares, rtol=1e-12)


def test_predictions_that_are_cut_off_do_not_move():
    X, y = sample()
    model = light(HKRRRegressor, truncate=0.4).fit(X, y)
    predicted, gradient = model.predict(X), model.gradient(X)
    cut = np.abs(predicted) == 0.4
    assert 5 < cut.sum() < 55
    np.testing.assert_array_equal(gradient[cut], 0.0)
    assert np.all(np.any(gradient[~cut] != 0.0, axis=1))
    # Away from where the bound begins to cut, the function is smooth.
    inside = np.abs(np.abs(predicted) - 0.4) > 1e-3
    expected = differences(model, X, 1e-6 * UNITS)
    np.testing.assert_allclose(
        gradient[inside] * UNITS, expected[inside] * UNITS, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("estimator", [HKRRRegressor, HKRRClassifier])
def test_constant_columns_have_no_slope(estimator):
    X, y = sample()
    X = np.column_stack([np.full(60, 0.1), X[:, :2], np.full(60, -3.0), X[:, 2:]])
    options = {} if is_classifier(estimator()) else {"truncate": None}
    model = light(estimator, **options).fit(X, targets(estimator, y, "one"))
    gradient = model.gradient(X)
    np.testing.assert_array_equal(gradient[:, [0, 3]], 0.0)
    units = np.r_[1.0, UNITS[:2], 1.0, UNITS[2:]]
    expected = differences(model, X, 1e-5 * units)
    np.testing.assert_allclose(gradient * units, expected * units, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(model.projection_[:, [0, 3]], 0.0)
    np.testing.assert_array_equal(model.centers_[:, [0, 3]], [[0.1, -3.0]] * len(model.centers_))


@pytest.mark.parametrize("estimator", [HKRRRegressor, HKRRClassifier])
def test_rows_without_a_column_that_varies_have_no_slope(estimator):
    X, y = sample()
    model = light(estimator).fit(np.full_like(X, 2.5), targets(estimator, y, "one"))
    assert np.ptp(decision(model, X)) == 0.0
    np.testing.assert_array_equal(model.gradient(X), 0.0)


@pytest.mark.parametrize("estimator", [HKRRRegressor, HKRRClassifier])
def test_single_precision_rows_have_the_gradients_of_the_same_numbers(estimator):
    X, y = sample()
    model = light(estimator).fit(X, targets(estimator, y, "one"))
    rows = X.astype(np.float32)
    np.testing.assert_array_equal(model.gradient(rows), model.gradient(rows.astype(np.float64)))


@pytest.mark.parametrize("estimator", [HKRRRegressor, HKRRClassifier])
def test_far_away_the_prediction_is_flat(estimator):
    X, y = sample()
    model = light(estimator).fit(X, targets(estimator, y, "one"))
    for size in (1e6, 1e150, 1e300):
        np.testing.assert_allclose(model.gradient(np.full((1, 4), size)), 0.0, atol=1e-30)
