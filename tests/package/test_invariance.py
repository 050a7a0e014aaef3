"""What does not depend on how a table is written: order, and leading digits."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import _invariance
from kernlens._invariance import DIGITS, SMALL, centered_digits, leading_digits


def sample(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X - X.mean(axis=0), rng.standard_normal((2, n))


def invariant_order(X, y, weights=None):
    return _invariance.invariant_order(X, y, np.ones(len(X)) if weights is None else weights)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_does_not_depend_on_that_of_rows_and_columns(seed):
    X, y = sample(seed=seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(60), rng.permutation(5)
    one = invariant_order(X, y)
    other = invariant_order(X[rows][:, columns], y[:, rows])
    np.testing.assert_array_equal(rows[other.rows], one.rows)
    np.testing.assert_array_equal(columns[other.columns], one.columns)


@pytest.mark.parametrize("unit", [1e-150, 0.3, 1e150])
def test_the_order_does_not_depend_on_units_and_signs_of_targets(unit):
    X, y = sample()
    one, other = invariant_order(X, y), invariant_order(X * unit / 0.7, -y * 5.3)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.columns, other.columns)


def test_targets_tell_columns_apart_that_have_the_same_entries():
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    y = np.array([[0.1, 0.2, 3.0, 0.7]])
    for swapped in ([0, 1], [1, 0]):
        found = invariant_order(X[:, swapped], y)
        assert swapped[found.columns[0]] == invariant_order(X, y).columns[0]


def test_rows_with_the_same_inputs_are_neighbours():
    X, y = sample(n=40)
    both = invariant_order(np.vstack([X, X]), np.hstack([y, y + 1.0]))
    assert np.all(both.rows[::2] % 40 == both.rows[1::2] % 40)


def test_rows_of_classes_of_the_same_size_have_an_order():
    X = np.repeat(sample(n=10)[0], 2, axis=0)
    classes = np.tile([1, 2], 10)
    one_hot = np.eye(3)[:, classes]
    order = invariant_order(X, one_hot).rows
    swapped = np.arange(20).reshape(10, 2)[:, ::-1].ravel()
    other = swapped[invariant_order(X[swapped], one_hot[:, swapped]).rows]
    np.testing.assert_array_equal(classes[order], classes[other])


def test_missing_targets_and_constant_columns_have_an_order():
    X, y = sample()
    X[:, 2] = 0.0
    y[:, ::3] = np.nan
    found = invariant_order(X, y)
    assert sorted(found.rows) == list(range(60)) and sorted(found.columns) == list(range(5))
    assert len(invariant_order(X[:, :0], y).columns) == 0


def test_leading_digits_forget_rounding_and_keep_the_rest():
    X, _ = sample(n=2000)
    X /= X.std(axis=0)
    kept = leading_digits(X)
    np.testing.assert_allclose(kept, X, rtol=2.0**-DIGITS, atol=SMALL * 2.0**-DIGITS)
    np.testing.assert_array_equal(leading_digits(kept), kept)
    noise = 1e-16 * np.random.default_rng(1).standard_normal(X.shape)
    np.testing.assert_array_equal(leading_digits(X + noise), kept)


def test_leading_digits_have_the_unit_of_the_column():
    X, _ = sample()
    X /= X.std(axis=0)
    for unit in (2.0**-40, 2.0**40):
        np.testing.assert_array_equal(leading_digits(X * unit), leading_digits(X) * unit)


def test_missing_values_stay_missing():
    found = leading_digits(np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 0.5]]))
    np.testing.assert_array_equal(found, [[1.0, np.nan], [np.nan, 2.0], [3.0, 0.5]])


def test_a_row_that_hardly_counts_leaves_the_order_of_columns():
    X, y = sample(n=200, d=12)
    weights = np.ones(200)
    for small in (0.0, 1e-12):
        weights[7] = small
        moved = X.copy()
        moved[7] *= 1.1
        one, other = invariant_order(X, y, weights), invariant_order(moved, y, weights)
        np.testing.assert_array_equal(one.columns, other.columns)


def test_centred_columns_stay_centred():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.0, 2.0, 50)
    y = rng.standard_normal((50, 2))
    y[3] = np.nan
    known = ~np.isnan(y[:, 0])
    y -= np.average(y[known], axis=0, weights=weights[known])
    found = centered_digits(y, weights)
    assert np.all(np.abs(np.average(found[known], axis=0, weights=weights[known])) < 1e-16)
    np.testing.assert_allclose(found, y, rtol=0, atol=3 * 2.0**-DIGITS)
    labels = rng.integers(0, 2, (50, 1)).astype(float)
    np.testing.assert_array_equal(centered_digits(labels, weights), labels)
