"""Transforms of columns and targets that are candidates, and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.model_selection.auto.candidates import REGRESSORS, portfolio, skewness
from kernlens.model_selection.auto.transforms import BEND, ClippedColumns, LogTarget


def test_clipped_columns_are_bounded_and_rise_with_the_columns():
    X = np.random.default_rng(0).standard_cauchy((300, 2))
    clipped = ClippedColumns().fit(X).transform(X)
    assert np.abs(clipped).max() <= BEND
    for column, bent in zip(X.T, clipped.T, strict=True):
        order = np.argsort(column)
        assert (np.diff(bent[order]) >= 0.0).all()


def test_clipped_columns_do_not_depend_on_units():
    X = np.random.default_rng(0).standard_normal((50, 2))
    first = ClippedColumns().fit(X).transform(X)
    scaled = 1e3 * X - 7.0
    np.testing.assert_allclose(ClippedColumns().fit(scaled).transform(scaled), first, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1.0])
def test_rows_that_are_infinitely_far_off_are_at_the_bound(scale):
    X = scale * np.random.default_rng(0).standard_normal((50, 2))
    far = np.array([[1e300, -1.7e308], [-1e300, 1.7e308]])
    clipped = ClippedColumns().fit(X).transform(far)
    np.testing.assert_allclose(clipped, BEND * np.sign(far), rtol=1e-12)


def test_columns_of_mostly_one_value_are_scaled_by_their_range():
    X = np.zeros((40, 2))
    X[:5, 0] = 4.0
    clipped = ClippedColumns().fit(X).transform(X)
    np.testing.assert_allclose(clipped[:5, 0], 2.0 / np.sqrt(1.0 + (2.0 / BEND) ** 2))
    assert (clipped[:, 1] == 0.0).all()


def test_logarithms_go_back():
    y = np.array([1e-300, 1.0, 7.0, 1e300])
    log = LogTarget().fit(y)
    np.testing.assert_allclose(log.inverse_transform(log.transform(y)), y, rtol=1e-12)
    assert np.isfinite(log.inverse_transform(np.array([1e4]))).all()


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.linspace(0.0, 1.0, 50), set()),
        (np.exp(np.linspace(0.0, 4.0, 50)), {"RFM of log y", "RFM of Yeo-Johnson y"}),
        (-np.exp(np.linspace(0.0, 4.0, 50)), {"RFM of Yeo-Johnson y"}),
    ],
)
def test_transformed_targets_are_tried_where_targets_are_skewed(y, expected):
    names = {one.name for one in portfolio(REGRESSORS, y, len(y))}
    assert {name for name in names if name.endswith(" y")} == expected


def test_the_skewness_is_that_of_the_exponential():
    y = -np.log(1.0 - (np.arange(200_000) + 0.5) / 200_000)
    assert skewness(y) == pytest.approx(2.0, abs=0.02)
