"""Directions for people: in any units, with signs that mean something."""

from __future__ import annotations

import numpy as np

from kernlens.base.contract import FeatureLearnerMixin
from kernlens.subspace import rising_signs


def test_directions_of_columns_of_very_different_units_are_orthonormal_per_deviation():
    rng = np.random.default_rng(0)
    loadings = np.linalg.qr(rng.standard_normal((7, 2)))[0].T
    model = FeatureLearnerMixin()
    model.scale_ = 10.0 ** rng.uniform(-12.0, 12.0, 7)
    model._store_directions(loadings, np.ones(2), np.ones(7), 2, model.scale_)
    np.testing.assert_allclose(model.components_ * model.scale_, loadings, rtol=1e-14)


def test_signs_follow_the_covariance_with_the_function_that_varies_most():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((50, 3))
    values = np.array([2.0 * inputs[:, 0], -5.0 * inputs[:, 1]])
    np.testing.assert_array_equal(rising_signs(np.eye(3)[:2], inputs, values), [1.0, -1.0])
    np.testing.assert_array_equal(rising_signs(-np.eye(3)[:2], inputs, values), [-1.0, 1.0])


def test_a_flat_function_leaves_the_largest_entry_positive():
    directions = np.array([[0.6, -0.8], [0.8, 0.6]])
    inputs = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 0.0]])
    np.testing.assert_array_equal(rising_signs(directions, inputs, np.ones((1, 3))), [-1.0, 1.0])
    # An even function of symmetric rows rises nowhere either.
    both = np.vstack([inputs, -inputs])
    values = np.abs(both @ directions.T).T
    np.testing.assert_array_equal(rising_signs(directions, both, values), [-1.0, 1.0])
