"""The weight function along directions and on a plane, as numbers and drawn."""

from __future__ import annotations

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from kernlens import (
    PaperWidth,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.inspection import weight_profile
from kernlens.plotting import WeightFunctionDisplay

SCALES = np.array([1.0, 3.0, 0.2, 1.0])


def data(m=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4)) * SCALES + 5.0
    Z = (X - 5.0) / SCALES
    return X, np.abs(Z[:, 0] + Z[:, 1]) + np.sin(2 * Z[:, 2])


def fitted(name="relu", **settings):
    X, y = data()
    settings = {"alpha": 0.05, "correlation": 0.4, "n_directions": 3, "bias": 1.0} | settings
    return RKHSWeightingRegressor(instantiation=name, random_state=0, **settings).fit(X, y)


def test_curves_are_the_weight_function_along_the_learned_directions():
    model = fitted()
    profile = weight_profile(model, n_curves=2, n_points=41)
    assert profile.labels == ("direction 1", "direction 2")
    assert profile.grid.shape == profile.values.shape == (2, 41)
    np.testing.assert_allclose(profile.grid[0], np.linspace(-3, 3, 41))
    # The first direction, for standardised columns as inputs; the bias has no share in it.
    unit = model.loadings_[0, model.inputs_]
    W = np.outer(profile.grid[0], np.append(unit, 0.0))
    expected = model.weight_function(W, normalized=True)
    np.testing.assert_allclose(profile.values[0], expected, rtol=1e-10, atol=1e-14)
    assert profile.plane.shape == (41, 41) and not profile.stumps


def test_the_plane_has_the_curves_on_its_axes():
    profile = weight_profile(fitted(), n_points=31)
    np.testing.assert_allclose(profile.plane[15], profile.values[0], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(profile.plane[:, 15], profile.values[1], rtol=1e-9, atol=1e-13)


def test_an_absolute_value_has_an_even_weight_function_along_its_direction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    model = RKHSWeightingRegressor(
        instantiation="relu", correlation=0.5, alpha=1e-3, n_directions=1, bias=0.0
    ).fit(np.vstack([X, -X]), np.tile(np.abs(X[:, 0]), 2))
    profile = weight_profile(model)
    assert profile.plane is None and len(profile.values) == 1
    curve = profile.values[0]
    np.testing.assert_allclose(curve, curve[::-1], atol=0.05 * np.abs(curve).max())
    # Ramps along the direction add up to the absolute value, so more of them than at 0.
    assert curve[30] > curve[60] and curve[90] > curve[60]


@pytest.mark.parametrize("solver", ["exact", "least_squares"])
def test_stumps_have_a_curve_for_every_column(solver):
    width = PaperWidth(correlation=0.4, sigma=1.5)
    model = fitted("stumps", solver=solver, correlation=width, n_random_features=100)
    profile = weight_profile(model, n_curves=2, n_points=21)
    order = np.argsort(-model.feature_importances_)[:2]
    assert profile.labels == tuple(f"x{j}" for j in order)
    assert profile.stumps and profile.plane is None
    for k, j in enumerate(order):
        thresholds = np.linspace(-4.5, 4.5, 21)
        W = np.column_stack([np.full(21, list(model.inputs_).index(j)), thresholds])
        expected = model.weight_function(W, normalized=True)
        np.testing.assert_allclose(profile.values[k], expected, rtol=1e-9, atol=1e-12)


def test_one_of_several_classes():
    X, y = data()
    model = RKHSWeightingClassifier(instantiation="relu", correlation=0.4, alpha=0.1)
    model.fit(X, np.digitize(y, [0.5, 1.5]))
    profiles = [weight_profile(model, n_points=11, target=k).values for k in range(3)]
    # One against the rest: the scores add up to a constant.
    np.testing.assert_allclose(sum(profiles), 0.0, atol=1e-8 * np.abs(profiles[0]).max())
    assert not np.allclose(profiles[0], profiles[1])


def test_other_models_are_refused():
    X, y = data()
    sinks = RandomKitchenSinksRegressor(base="relu", alpha=0.1, n_random_features=10).fit(X, y)
    with pytest.raises(ValueError, match="weight_profile needs a fitted RKHSWeightingRegressor"):
        weight_profile(sinks)


@pytest.mark.parametrize("solver", ["exact", "least_squares"])
@pytest.mark.parametrize("name", ["relu", "exp_sign"])
def test_profiles_of_many_columns_are_finite(name, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 784))
    model = RKHSWeightingRegressor(
        instantiation=name, solver=solver, correlation=0.9, alpha=0.01, n_random_features=50,
        random_state=0, n_directions=1,
    ).fit(X, X[:, 0])  # fmt: skip
    with np.errstate(over="raise", invalid="raise"):
        profile = weight_profile(model, n_points=11)
    assert np.all(np.isfinite(profile.values))


@pytest.mark.parametrize("name", ["relu", "stumps"])
def test_display_draws_the_profile(name):
    display = WeightFunctionDisplay.from_estimator(fitted(name), n_curves=3)
    display.figure_.canvas.draw()
    curves = [line for line in display.axes_["curves"].lines if len(line.get_xdata()) == 121]
    assert len(curves) == 3
    for line, x, values in zip(curves, display.profile.grid, display.profile.values, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), x)
        np.testing.assert_array_equal(line.get_ydata(), values)
    legend = [text.get_text() for text in display.axes_["curves"].get_legend().get_texts()]
    assert legend == list(display.profile.labels)
    assert ("plane" in display.axes_) is (name == "relu")
    if name == "relu":
        mesh = display.axes_["plane"].collections[0]
        np.testing.assert_array_equal(np.asarray(mesh.get_array()).ravel().shape, (121 * 121,))
        low, high = mesh.get_clim()
        assert low == -high
    plt.close(display.figure_)


def test_display_draws_into_a_given_figure():
    figure = Figure()
    opened = plt.get_fignums()
    display = WeightFunctionDisplay.from_estimator(fitted(), figure=figure)
    assert display.figure_ is figure
    assert set(figure.axes) >= set(display.axes_.values())
    figure.canvas.draw()
    assert plt.get_fignums() == opened


def test_pictures_are_imported_without_pyplot():
    code = "import sys, kernlens.plotting; print('matplotlib.pyplot' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["relu", "stumps"])
def test_the_space_of_weights_has_the_columns_that_vary(name):
    X, y = data()
    X[:, 1] = 2.0
    model = RKHSWeightingRegressor(
        instantiation=name, alpha=0.05, correlation=PaperWidth(correlation=0.4, sigma=1.5),
        n_directions=2,
    ).fit(X, y)  # fmt: skip
    space = model.weight_space()
    assert sorted(space.columns) == [0, 2, 3]
    assert space.sigma == 1.5 and space.stumps is (name == "stumps")
    np.testing.assert_allclose(space.directions @ space.directions.T, np.eye(2), atol=1e-12)
    # Nothing of the bias, and the span of the learned directions for standardised columns.
    np.testing.assert_array_equal(space.directions[:, 3], 0.0)
    learned = (model.components_ * model.scale_)[:, space.columns]
    inside = learned @ space.directions[:, :3].T @ space.directions[:, :3]
    np.testing.assert_allclose(inside, learned, atol=1e-12)
    assert weight_profile(model, n_points=11).values.shape == ((3 if space.stumps else 2), 11)


@pytest.mark.parametrize("name", ["relu", "stumps"])
def test_without_a_column_that_varies_there_is_no_curve(name):
    model = RKHSWeightingRegressor(instantiation=name, alpha=0.05, correlation=0.4)
    model.fit(np.ones((20, 2)), np.arange(20.0))
    assert model.weight_space().directions.shape == (0, 1)
    profile = weight_profile(model, n_points=11)
    assert profile.labels == () and profile.values.shape == (0, 11) and profile.plane is None
