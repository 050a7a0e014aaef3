"""Results print as short tables and give data frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kernlens import BKerNNRegressor, RKHSWeightingRegressor
from kernlens.inspection import (
    AlphaSearch,
    AverageDerivatives,
    ColumnProfile,
    ScoreComparison,
    WeightProfile,
    average_derivatives,
    direction_profile,
    summarize_directions,
    weight_profile,
)
from kernlens.model_selection import RegularizationPath

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(50, 3)), columns=["age", "height", "weight"])
Y = pd.Series(np.sin(X["height"]) + 0.2 * X["age"], name="price")


@pytest.fixture(scope="module")
def model():
    settings = {"alpha": 0.02, "n_particles": 4, "max_iter": 10, "n_directions": 2}
    return BKerNNRegressor(**settings, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def results(model):
    """One of every kind, by the name of its class."""
    settings = {"instantiation": "relu", "alpha": 0.1, "correlation": 0.4, "random_state": 0}
    weighting = RKHSWeightingRegressor(**settings).fit(X, Y)
    scores = np.array([[0.5, 0.7], [0.9, 0.8]])
    found = [
        summarize_directions(model),
        direction_profile(model, X, Y),
        ColumnProfile("y", np.arange(50.0), np.ones(50), "y"),
        AlphaSearch(np.array([0.1, 1.0]), np.array([2.0, 3.0]), 0.123456),
        average_derivatives(model, X),
        ScoreComparison({"ridge": scores[0], "lens": scores[1]}),
        weight_profile(weighting, n_points=21),
        model.partial_functions(n_points=9),
        RegularizationPath(np.array([1.0, 0.1]), (model, model), scores, np.array([1, 2])),
    ]
    return {type(result).__name__: result for result in found}


def test_every_result_prints_a_short_table_and_has_a_short_repr(results):
    assert len(results) == 9
    for name, result in results.items():
        text = str(result)
        assert 2 <= len(text.splitlines()) <= 15
        assert max(map(len, text.splitlines())) <= 80
        assert repr(result).startswith(f"{name}(")
        assert len(repr(result)) < 300
        assert "array([" not in repr(result)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("DirectionSummary", (4, 3)),
        ("DirectionProfile", (80, 4)),
        ("ColumnProfile", (50, 2)),
        ("AlphaSearch", (2, 2)),
        ("AverageDerivatives", (3, 2)),
        ("ScoreComparison", (2, 4)),
        ("PartialFunctions", (36, 3)),
        ("RegularizationPath", (2, 6)),
    ],
)
def test_frames_have_all_numbers(results, name, shape):
    frame = results[name].to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == shape
    assert set(frame.dtypes.map(lambda dtype: dtype.kind)) <= set("fi")


def test_the_frame_of_a_summary_is_that_of_the_model_with_numbers_for_names(results, model):
    frame, other = results["DirectionSummary"].to_frame(), model.directions_frame()
    assert list(frame.columns) == ["direction 1", "direction 2", "importance"]
    np.testing.assert_array_equal(frame, other)
    assert list(frame.index) == list(other.index)


def test_frames_name_what_is_in_them(results, model):
    profile = results["DirectionProfile"]
    frame = profile.to_frame()
    np.testing.assert_array_equal(frame["direction 1"], profile.grid)
    np.testing.assert_array_equal(frame["high"], profile.high)
    assert str(profile).startswith("price along direction 1")
    derivatives = results["AverageDerivatives"]
    np.testing.assert_array_equal(derivatives.to_frame().loc["weight", "mean"], derivatives.mean[2])
    scores = results["ScoreComparison"].to_frame()
    assert scores.loc["lens", "fold 2"] == 0.8
    assert scores.loc["ridge", "mean"] == pytest.approx(0.6)
    path = results["RegularizationPath"].to_frame()
    assert path["n_directions"].tolist() == [1, 2]
    assert path.loc[1, "split 1"] == 0.9
    assert "Best alpha: 0.100" in str(results["RegularizationPath"])
    assert "chosen alpha: 0.123" in str(results["AlphaSearch"])
    parts = model.partial_functions(n_points=9)
    frame = parts.to_frame()
    np.testing.assert_array_equal(frame.loc[frame["function"] == 1, "position"], parts.grid[1])
    np.testing.assert_array_equal(frame.loc[frame["function"] == 1, "value"], parts.values[1, :, 0])


def test_a_column_and_a_target_of_one_name_are_both_there(results):
    frame = results["ColumnProfile"].to_frame()
    assert list(frame.columns) == ["y", "y"]
    np.testing.assert_array_equal(frame.iloc[:, 0], np.arange(50.0))


def test_curves_of_weights_stand_side_by_side(results):
    profile = results["WeightProfile"]
    frame = profile.to_frame()
    assert list(frame.columns) == ["weight", *profile.labels]
    np.testing.assert_array_equal(frame[profile.labels[0]], profile.values[0])
    none = WeightProfile((), np.empty((0, 5)), np.empty((0, 5)), None, True)
    assert none.to_frame().shape == (0, 1)
    assert str(none) == "threshold"


def test_derivatives_of_several_targets_have_their_names():
    both = np.column_stack([Y, -Y])
    light = RKHSWeightingRegressor(alpha=0.1, correlation=0.4, random_state=0).fit(X, both)
    assert list(average_derivatives(light, X).to_frame().columns) == [
        "mean y[0]",
        "mean y[1]",
        "root_mean_square y[0]",
        "root_mean_square y[1]",
    ]
    named = average_derivatives(light, X, target_names=["up", "down"])
    assert isinstance(named, AverageDerivatives)
    np.testing.assert_array_equal(named.to_frame()["mean down"], named.mean[1])
    with pytest.raises(ValueError, match="one name per target"):
        average_derivatives(light, X, target_names=["up"])
