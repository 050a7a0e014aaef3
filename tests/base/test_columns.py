"""Columns as inputs: units, constants, limits, and derivatives back in the units of the user."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.base.columns import LARGEST_INPUT, Columns, center_and_scale

RNG = np.random.default_rng(0)
WEIGHTS = RNG.uniform(0.5, 2.0, size=30)


def rows(n=30):
    X = RNG.standard_normal((n, 5)) * [1.0, 1e8, 1e-8, 3.0, 1.0] + [0.0, 5e8, 1.0, -7.0, 2.0]
    X[:, 4] = 0.1 + 0.2
    return X


def test_inputs_have_weighted_mean_zero_and_variance_one():
    X = rows()
    inputs = Columns.of(X, WEIGHTS, True).apply(X)
    assert inputs.shape == (30, 4)
    np.testing.assert_allclose(np.average(inputs, axis=0, weights=WEIGHTS), 0.0, atol=1e-7)
    np.testing.assert_allclose(np.average(inputs**2, axis=0, weights=WEIGHTS), 1.0, rtol=1e-7)


def test_without_units_columns_are_only_centred():
    X = rows()
    columns = Columns.of(X, WEIGHTS, False)
    np.testing.assert_array_equal(columns.scale, 1.0)
    np.testing.assert_allclose(
        columns.apply(X)[:, 3], X[:, 3] - np.average(X[:, 3], weights=WEIGHTS)
    )


@pytest.mark.parametrize("constant", [0.0, 0.1 + 0.2, -1e50, 1e-300])
def test_constants_are_left_out_whatever_their_size(constant):
    X = rows()
    X[:, 1] = constant
    columns = Columns.of(X, WEIGHTS, True)
    np.testing.assert_array_equal(columns.used, [0, 2, 3])
    assert columns.scale[1] == 1.0 and columns.mean[1] == constant


def test_a_column_that_varies_by_rounding_is_a_constant():
    X = rows()
    X[:, 0] = 1e6 * (1.0 + np.finfo(float).eps * RNG.integers(-1, 2, size=30))
    assert 0 not in Columns.of(X, WEIGHTS, True).used


def test_without_a_varying_column_there_is_one_input_of_zeros():
    X = np.full((4, 3), 2.5)
    columns = Columns.of(X, np.ones(4), True)
    np.testing.assert_array_equal(columns.apply(X), np.zeros((4, 1)))
    assert columns.n_inputs == 1 and columns.n_varying == 0
    np.testing.assert_array_equal(columns.embed(np.array([[1.0]])), [[1.0, 0.0, 0.0]])


@pytest.mark.parametrize("bias", [0.0, 0.7])
def test_embedding_is_undone_by_selecting(bias):
    columns = Columns.of(rows(), WEIGHTS, True, bias=bias)
    W = RNG.standard_normal((3, columns.n_inputs))
    W[:, columns.n_varying :] = 0.0
    full = columns.embed(W)
    assert full.shape == (3, 5)
    np.testing.assert_array_equal(full[:, 4], 0.0)
    np.testing.assert_array_equal(columns.select(full), W)


def test_the_bias_is_a_last_constant_input():
    X = rows()
    columns = Columns.of(X, WEIGHTS, True, bias=0.7)
    inputs = columns.apply(X)
    assert inputs.shape == (30, columns.n_inputs) == (30, 5)
    np.testing.assert_array_equal(inputs[:, -1], 0.7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_rows_are_finite_in_their_precision(dtype):
    X = np.array([[0.0], [1.0], [2.0]])
    far = np.array([[np.finfo(dtype).max]], dtype=dtype)
    inputs = Columns.of(X, np.ones(3), True).apply(far)
    assert inputs.dtype == dtype
    assert np.isfinite(inputs**2).all() and inputs[0, 0] == dtype(LARGEST_INPUT[dtype])


def test_rows_are_not_changed():
    X = rows()
    before = X.copy()
    columns = Columns.of(X, WEIGHTS, True)
    columns.apply(X)
    columns.gradient(X, np.ones((1, len(X), 4)))
    np.testing.assert_array_equal(X, before)


def test_derivatives_are_those_of_a_function_of_the_inputs():
    X = rows()[:, [0, 3, 4]]
    columns = Columns.of(X, WEIGHTS, True, bias=0.5)
    columns = Columns(columns.mean, columns.scale, columns.used, np.full(3, 1.2), 0.5)
    w = np.array([0.3, -0.8, 2.0])

    def f(rows):
        return np.sin(columns.apply(rows) @ w)

    slopes = np.cos(columns.apply(X) @ w)[None, :, None] * w
    gradient = columns.gradient(X, slopes)[0]
    for j in range(3):
        step = 1e-6 * np.eye(3)[j]
        numeric = (f(X + step) - f(X - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, j], numeric, atol=1e-8)
    cut = np.abs((X - columns.mean) / columns.scale) > 1.2
    assert cut[:, :2].any() and np.all(gradient[cut] == 0.0)


def test_weights_are_repetitions():
    X = RNG.standard_normal((6, 2))
    counts = np.array([1, 2, 3, 1, 1, 4])
    one = center_and_scale(X, counts.astype(float), True)
    two = center_and_scale(np.repeat(X, counts, axis=0), np.ones(counts.sum()), True)
    np.testing.assert_allclose(one, two, rtol=1e-14)
