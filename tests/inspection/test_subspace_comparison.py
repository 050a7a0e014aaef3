"""Angles between what several models found."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernlens import SIR
from kernlens.inspection import compare_subspaces
from kernlens.plotting import DirectionsDisplay, SubspaceComparisonDisplay


def model(*components, scale=1.0):
    rows = np.array(components, dtype=float).reshape(len(components), -1)
    return SimpleNamespace(components_=rows, scale_=np.full(3, scale))


A = model([1.0, 0.0, 0.0])
B = model([1.0, 1.0, 0.0])
PLANE = model([0.0, 2.0, 0.0], [1.0, 0.0, 0.0])


def test_angles_are_those_of_the_planted_vectors():
    found = compare_subspaces({"a": A, "b": B, "plane": PLANE})
    assert found.names == ("a", "b", "plane")
    np.testing.assert_array_equal(found.n_directions, [1, 1, 2])
    expected = [[0.0, 45.0, 0.0], [45.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(found.largest_angles, expected, atol=1e-6)
    np.testing.assert_allclose(found.agreement[0], [1.0, 0.5, 1.0], atol=1e-12)
    frame = found.to_frame()
    assert frame.columns.tolist() == ["n_directions", "to a", "to b", "to plane"]
    assert "Largest angle" in str(found)


def test_directions_are_compared_per_standard_deviation():
    # (1, 1) in units of X; the scale of the first model makes it steep in the second column.
    one = SimpleNamespace(components_=np.array([[1.0, 0.0]]), scale_=np.array([1.0, 10.0]))
    other = SimpleNamespace(components_=np.array([[1.0, 1.0]]), scale_=np.array([3.0, 3.0]))
    found = compare_subspaces([one, other])
    assert found.largest_angles[0, 1] == pytest.approx(np.degrees(np.arctan(10.0)))
    assert found.names == ("SimpleNamespace 1", "SimpleNamespace 2")


def test_models_without_a_direction_have_no_angle():
    nothing = SimpleNamespace(components_=np.empty((0, 3)))
    found = compare_subspaces([A, nothing], ["a", "none"])
    assert found.largest_angles[0, 0] == 0.0
    assert np.isnan(found.largest_angles[[0, 1, 1], [1, 0, 1]]).all()


@pytest.mark.parametrize(
    ("models", "names", "message"),
    [
        ([A], None, "at least two models, got 1"),
        ([A, B], ["a"], "one name for each of the 2 models"),
        ([A, B], "ab", "one name for each of the 2 models"),
        ([A, SimpleNamespace()], None, "SimpleNamespace 2 has no components_"),
        ([A, SimpleNamespace(components_=np.eye(2))], None, r"models of \[2, 3\] columns"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(models, names, message):
    with pytest.raises(ValueError, match=message):
        compare_subspaces(models, names)


def test_the_picture_has_all_angles():
    ax = Figure().subplots()
    display = SubspaceComparisonDisplay.from_models({"a": A, "b": B, "plane": PLANE}, ax=ax)
    assert display.ax_ is ax
    assert [text.get_text() for text in ax.texts] == [
        "0°", "45°", "0°", "45°", "0°", "0°", "0°", "0°", "0°"
    ]  # fmt: skip


def test_columns_of_other_names_are_refused():
    one, other = (
        SimpleNamespace(components_=np.eye(2)[:1], feature_names_in_=np.array(names))
        for names in (["a", "b"], ["b", "a"])
    )
    with pytest.raises(ValueError, match="differently named columns"):
        compare_subspaces([one, other])
    with pytest.raises(ValueError, match="a list or a dict of models, got one model"):
        compare_subspaces(one)


def test_pipelines_are_compared_by_their_last_step():
    X = np.random.default_rng(0).standard_normal((80, 3))
    plain = SIR(n_directions=1).fit(X, X[:, 0])
    piped = make_pipeline(StandardScaler(), SIR(n_directions=1)).fit(X, X[:, 0])
    found = compare_subspaces([piped, plain], ["piped", "plain"])
    assert found.largest_angles[0, 1] < 5.0


def test_pictures_of_a_model_that_predicts_nothing_are_refused_in_a_sentence():
    X = np.random.default_rng(0).standard_normal((80, 3))
    model = SIR(n_directions=1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="SIR finds directions and predicts nothing"):
        DirectionsDisplay.from_estimator(model, X, X[:, 0], figure=Figure())
