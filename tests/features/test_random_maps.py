"""Explicit feature maps: against loops over rows and features, and by finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf, ndtr

from kernlens.features.profiles import STEP_WIDTH, Ramp, SmoothRamp, SmoothStep, Step
from kernlens.features.random_maps import RidgeMap, StumpMap

FUNCTIONS = {
    SmoothStep: lambda z: erf(z / np.sqrt(2)),
    SmoothRamp: lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi) + z * ndtr(z),
    Step: np.sign,
    Ramp: lambda z: max(0.0, z),
}
PROFILES = [SmoothStep(), SmoothRamp(), Step(), Ramp()]
N_INPUTS = 4


def rows(n=9, seed=0, scale=2.0):
    return np.random.default_rng(seed).normal(0, scale, (n, N_INPUTS))


def ridge(profile, degree, T=7, seed=1):
    return RidgeMap(rows(T, seed), profile, degree)


def stumps(profile, width=0.7, T=11, seed=1):
    rng = np.random.default_rng(seed)
    columns, thresholds = rng.integers(N_INPUTS, size=T), rng.standard_normal(T)
    return StumpMap(columns, thresholds, width, profile, N_INPUTS)


def maps():
    ridges = [ridge(profile, degree) for profile in PROFILES for degree in (0, 1)]
    return ridges + [stumps(profile, width) for profile in PROFILES for width in (0.7, 1.0)]


def label(features):
    detail = features.degree if isinstance(features, RidgeMap) else features.width
    return f"{type(features).__name__}-{type(features.profile).__name__}-{detail}"


def one_by_one(features, X):
    g = FUNCTIONS[type(features.profile)]
    values = []
    for x in X:
        if isinstance(features, StumpMap):
            pairs = zip(features.columns, features.thresholds, strict=True)
            values.append([g((x[j] - b) / features.width) for j, b in pairs])
            continue
        norm = np.sqrt(np.sum(x**2))
        factor = norm if features.degree else 1.0
        values.append([factor * g(np.sum(u * x) / norm) for u in features.directions])
    return np.array(values)


def differences(function, X, step=1e-6):
    """Central differences in every column, (n_samples, n_inputs)."""
    gradient = np.empty_like(X)
    for j in range(X.shape[1]):
        shift = np.zeros(X.shape[1])
        shift[j] = step
        gradient[:, j] = (function(X + shift) - function(X - shift)) / (2 * step)
    return gradient


@pytest.mark.parametrize("features", maps(), ids=label)
def test_features_are_those_of_a_loop(features):
    X = rows()
    np.testing.assert_allclose(features.evaluate(X), one_by_one(features, X), rtol=0, atol=3e-14)


@pytest.mark.parametrize("features", [ridge(p, 0) for p in PROFILES], ids=label)
def test_degree_zero_forgets_the_length_and_degree_one_multiplies_by_it(features):
    X = rows()
    lengths = np.linspace(0.1, 30, len(X))[:, None]
    other = RidgeMap(features.directions, features.profile, 1)
    # Close to a threshold of a step, rounding would decide.
    np.testing.assert_allclose(features.evaluate(X * lengths), features.evaluate(X), atol=1e-14)
    np.testing.assert_allclose(
        other.evaluate(X * lengths), other.evaluate(X) * lengths, rtol=1e-13, atol=1e-13
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("profile", "degree"), [(SmoothStep(), 0), (Step(), 0), (SmoothRamp(), 1), (Ramp(), 1)]
)
def test_a_row_of_zeros_has_no_features_and_no_gradient(profile, degree):
    X = rows()
    X[3] = 0.0
    features = ridge(profile, degree)
    np.testing.assert_array_equal(features.evaluate(X)[3], 0.0)
    np.testing.assert_array_equal(features.gradient(X, np.ones((2, 7)))[:, 3], 0.0)
    assert np.all(np.any(features.evaluate(np.delete(X, 3, axis=0)) != 0.0, axis=1))


@pytest.mark.parametrize(
    "features", [f for f in maps() if not isinstance(f.profile, Step)], ids=label
)
def test_gradients_are_differences(features):
    X = rows(6, seed=3)
    T = features.evaluate(X).shape[1]
    coefficients = np.random.default_rng(4).standard_normal((3, T))
    gradients = features.gradient(X, coefficients)
    assert gradients.shape == (3, 6, N_INPUTS)
    for c, gradient in zip(coefficients, gradients, strict=True):
        expected = differences(lambda rows, c=c: features.evaluate(rows) @ c, X)
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=2e-8)


@pytest.mark.parametrize("make", [ridge, stumps])
def test_gradients_of_a_step_are_those_of_a_smoothed_one(make):
    X, coefficients = rows(5, seed=3), np.random.default_rng(4).standard_normal((2, 7))
    if make is ridge:
        step = ridge(Step(), 0)
        smooth = RidgeMap(step.directions / STEP_WIDTH, SmoothStep(), 0)
    else:
        step = stumps(Step(), 1.0, T=7)
        smooth = StumpMap(step.columns, step.thresholds, STEP_WIDTH, SmoothStep(), N_INPUTS)
    np.testing.assert_allclose(
        step.gradient(X, coefficients), smooth.gradient(X, coefficients), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("features", maps(), ids=label)
def test_some_of_the_features(features):
    X, kept = rows(), np.array([5, 0, 3])
    np.testing.assert_array_equal(features.take(kept).evaluate(X), features.evaluate(X)[:, kept])


@pytest.mark.parametrize("features", maps(), ids=label)
def test_single_precision_stays_single(features):
    X = rows(scale=1.0).astype(np.float32)
    values = features.evaluate(X)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, features.evaluate(X.astype(float)), rtol=0, atol=2e-5)


@pytest.mark.parametrize("features", maps(), ids=label)
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_of_the_rows_and_inputs_left_alone(features, order):
    X = rows()
    values = features.evaluate(X)
    wide = np.asarray(np.repeat(X, 2, axis=1), order=order)
    view = wide[:, ::2]
    kept = [array.copy() for array in vars(features).values() if isinstance(array, np.ndarray)]
    np.testing.assert_allclose(features.evaluate(view), values, rtol=0, atol=1e-14)
    features.gradient(view, np.ones((1, values.shape[1])))
    np.testing.assert_array_equal(wide, np.repeat(X, 2, axis=1))
    arrays = [array for array in vars(features).values() if isinstance(array, np.ndarray)]
    for before, after in zip(kept, arrays, strict=True):
        np.testing.assert_array_equal(before, after)
