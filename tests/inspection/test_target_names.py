"""Targets keep the names that they bring along."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernlens import RKHSWeightingClassifier, RKHSWeightingRegressor
from kernlens.inspection import column_profile, direction_profile

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + 0.1 * X[:, 1]
SETTINGS = {"alpha": 0.1, "correlation": 0.4, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return RKHSWeightingRegressor(**SETTINGS).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "name"),
    [
        (Y, "y"),
        (Y.tolist(), "y"),
        (pd.Series(Y), "y"),
        (pd.Series(Y, name=0), "y"),
        (pd.Series(Y, name="price"), "price"),
        (pl.Series("price", Y), "price"),
        (pl.Series(Y), "y"),
        (pd.DataFrame({"price": Y}), "price"),
        (pl.DataFrame({"price": Y}), "price"),
        (pd.DataFrame(Y), "y[0]"),
    ],
)
def test_the_name_of_a_series_or_of_one_column(model, y, name):
    assert column_profile(model, X, y).response_name == name
    profile = direction_profile(model, X, y, n_points=3)
    assert profile.response_name == name
    assert profile.mean.shape == (3,)
    np.testing.assert_array_equal(profile.observed, Y)


def test_several_targets_are_chosen_by_number_or_name():
    both = pd.DataFrame({"up": Y, "down": -Y})
    model = RKHSWeightingRegressor(**SETTINGS).fit(X, both)
    assert direction_profile(model, X, both, n_points=3).response_name == "up"
    by_name = direction_profile(model, X, both, target="down", n_points=3)
    by_number = direction_profile(model, X, both, target=1, n_points=3)
    assert by_name.response_name == by_number.response_name == "down"
    np.testing.assert_array_equal(by_name.mean, by_number.mean)
    np.testing.assert_array_equal(by_name.observed, -Y)
    with pytest.raises(ValueError, match=r"0 to 1, or one of \['up', 'down'\], got 'left'"):
        direction_profile(model, X, both, target="left")


def test_classes_have_the_name_of_the_target():
    labels = pd.DataFrame({"ill": np.where(Y > 0, "yes", "no")})
    model = RKHSWeightingClassifier(**SETTINGS).fit(X, labels["ill"])
    for y in (labels, labels["ill"]):
        profile = column_profile(model, X, y)
        assert profile.response_name == "P(ill = yes)"
        np.testing.assert_array_equal(profile.observed, Y > 0)
