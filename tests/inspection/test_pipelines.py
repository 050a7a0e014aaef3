"""Inspection looks into pipelines: rows and names are those that reach the last step."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from kernlens import BKerNNRegressor, RKHSWeightingRegressor
from kernlens.inspection import (
    alpha_search,
    average_derivatives,
    column_profile,
    direction_profile,
    summarize_directions,
    weight_profile,
)
from kernlens.plotting import DirectionsDisplay, WeightFunctionDisplay

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(45, 2)), columns=["age", "height"])
Y = pd.Series(np.sin(X["height"]) + 0.2 * X["age"], name="price")


def light(**options):
    return BKerNNRegressor(n_particles=3, max_iter=5, random_state=0, **{"alpha": 0.02} | options)


def products():
    return PolynomialFeatures(degree=2, interaction_only=True, include_bias=False)


@pytest.fixture(scope="module")
def piped():
    return make_pipeline(products(), StandardScaler(), light()).fit(X, Y)


def test_numbers_are_those_of_the_last_step_on_what_reaches_it(piped):
    model, inputs = piped[-1], piped[:-1].transform(X)
    profile, inside = direction_profile(piped, X, Y), direction_profile(model, inputs, Y)
    np.testing.assert_array_equal(profile.mean, inside.mean)
    np.testing.assert_array_equal(profile.positions, inside.positions)
    np.testing.assert_array_equal(summarize_directions(piped).loadings, model.loadings_)
    derivatives = average_derivatives(piped, X)
    np.testing.assert_array_equal(derivatives.mean, model.gradient(inputs).mean(axis=0))
    column = column_profile(piped, X, Y, column=2)
    np.testing.assert_array_equal(column.positions, inputs[:, 2])
    assert column.name == "age height"
    assert alpha_search(piped) is None


def test_names_are_those_that_come_out_of_the_steps(piped):
    assert summarize_directions(piped).feature_names == ("age", "height", "age height")
    assert average_derivatives(piped, X).feature_names == ("age", "height", "age height")
    unnamed = make_pipeline(products(), light()).fit(X.to_numpy(), Y)
    assert summarize_directions(unnamed).feature_names == ("x0", "x1", "x0 x1")
    # Names that are given are those of X.
    given = summarize_directions(unnamed, feature_names=["a", "b"])
    assert given.feature_names == ("a", "b", "a b")


def test_steps_that_know_no_names_leave_numbers_or_what_is_given():
    mute = make_pipeline(FunctionTransformer(np.tanh), light()).fit(X.to_numpy(), Y)
    assert summarize_directions(mute).feature_names == ("x0", "x1")
    assert summarize_directions(mute, feature_names=["a", "b"]).feature_names == ("a", "b")
    with pytest.raises(ValueError, match="one name per column"):
        summarize_directions(mute, feature_names=["a"])


def test_one_step_nested_pipelines_and_steps_left_out():
    alone = make_pipeline(light()).fit(X, Y)
    assert summarize_directions(alone).feature_names == ("age", "height")
    assert direction_profile(alone, X, Y).response_name == "price"
    nested = make_pipeline(PCA(), "passthrough", make_pipeline(StandardScaler(), light()))
    assert summarize_directions(nested.fit(X, Y)).feature_names == ("pca0", "pca1")


def test_other_ends_of_pipelines_and_unfitted_ones_are_refused():
    with pytest.raises(ValueError, match="ends with LinearRegression"):
        summarize_directions(make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y))
    with pytest.raises(ValueError, match="ends with passthrough"):
        summarize_directions(Pipeline([("a", StandardScaler()), ("b", "passthrough")]).fit(X))
    with pytest.raises(NotFittedError):
        summarize_directions(make_pipeline(StandardScaler(), light()))


def test_pictures_take_pipelines_and_use_all_names(piped):
    display = DirectionsDisplay.from_estimator(piped, X, Y, figure=Figure())
    assert display.axes_["column"].get_ylabel() == "price"
    names = [label.get_text() for label in display.axes_["feature_importances"].get_yticklabels()]
    assert sorted(names) == ["age", "age height", "height"]


def test_weight_functions_in_pipelines():
    settings = {"alpha": 0.1, "correlation": 0.4, "random_state": 0, "instantiation": "stumps"}
    piped = make_pipeline(StandardScaler(), RKHSWeightingRegressor(**settings)).fit(X, Y)
    profile = weight_profile(piped, n_points=5)
    assert sorted(profile.labels) == ["age", "height"]
    np.testing.assert_array_equal(profile.values, weight_profile(piped[-1], n_points=5).values)
    assert len(WeightFunctionDisplay.from_estimator(piped, figure=Figure()).profile.labels) == 2


@pytest.mark.filterwarnings("error")
def test_a_pipeline_of_frames_is_profiled_without_warnings():
    piped = make_pipeline(StandardScaler(), light()).set_output(transform="pandas").fit(X, Y)
    assert np.isfinite(direction_profile(piped, X, Y).mean).all()
