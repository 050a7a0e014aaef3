"""Directions for people: in any units, with signs that mean something."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kernlens import BKerNNRegressor
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


@pytest.mark.parametrize("named", [True, False])
def test_the_frame_of_directions_has_loadings_and_both_importances(named):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) * [1.0, 100.0, 0.01]
    y = np.sin(X[:, 1] / 50) + 30 * X[:, 2]
    names = ["age", "height", "weight"] if named else ["x0", "x1", "x2"]
    rows = pd.DataFrame(X, columns=names) if named else X
    model = BKerNNRegressor(alpha=0.02, n_particles=4, n_directions=2, random_state=0).fit(rows, y)
    frame = model.directions_frame()
    assert list(frame.columns) == [*model.get_feature_names_out(), "importance"]
    np.testing.assert_array_equal(frame.iloc[0, :2], model.component_importances_)
    assert frame.index[0] == "(importance)" and np.isnan(frame.iloc[0, 2])
    columns = frame.iloc[1:]
    order = np.argsort(-model.feature_importances_)
    assert list(columns.index) == [names[column] for column in order]
    np.testing.assert_array_equal(columns["importance"], model.feature_importances_[order])
    np.testing.assert_array_equal(columns.iloc[:, :2].T, model.loadings_[:, order])


def test_a_frame_without_directions_has_the_columns_only():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = BKerNNRegressor(alpha=0.02, n_particles=2, random_state=0).fit(X, X[:, 0])
    model._store_directions(np.eye(3), np.ones(3), np.array([1.0, 3.0, 0.0]), 0, model.scale_)
    frame = model.directions_frame()
    assert list(frame.columns) == ["importance"]
    assert frame["importance"].to_dict() == {"x1": 0.75, "x0": 0.25, "x2": 0.0}
