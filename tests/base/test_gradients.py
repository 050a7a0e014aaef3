"""Gradients in closed form are the derivatives of what a model predicts, for every learner.

They are compared with central differences. A function may have kinks, and a prediction may be cut
off at the range of the targets, so that rows are left out where the differences of a whole and of a
half step disagree; most rows must remain.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from families import ESTIMATORS, decision, family_of, light
from kernlens.base.fitting import FittingMixin

LEARNERS = [public for public in ESTIMATORS if issubclass(public, FittingMixin)]
#: Units of the columns.
SCALES = np.array([1.0, 0.1, 30.0, 5.0])
OFFSETS = np.array([40.0, 1.7, 70.0, 0.0])
#: Steps of the differences, in units of the columns: a small one stays clear of kinks, and a large
#: one of the rounding of functions with large coefficients.
STEPS = (1e-5, 1e-4)
#: What differences of two steps may differ by, and what closed form and differences may differ by,
#: relative to the size of derivatives.
SMOOTH, TOLERANCE = 1e-7, 1e-5
#: Share of the derivatives that must be away from kinks.
MOST = 0.7

# Light fits stop early.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every = pytest.mark.parametrize("learner", LEARNERS)
every_regressor = pytest.mark.parametrize("learner", [e for e in LEARNERS if is_regressor(e())])
every_classifier = pytest.mark.parametrize("learner", [e for e in LEARNERS if is_classifier(e())])
in_every_variant = pytest.mark.parametrize(
    ("learner", "settings"),
    [
        pytest.param(learner, settings, id=f"{learner.__name__}-{k}")
        for learner in LEARNERS
        for k, settings in enumerate(family_of(learner).settings(learner))
    ],
)


def rows(n=40, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 4)) * SCALES + OFFSETS


def targets(X, learner, kind="one"):
    """Numbers or labels that depend on the first and on the third column."""
    Z = (X - OFFSETS) / SCALES
    y = np.abs(Z[:, 0]) + np.sin(1.5 * Z[:, 2]) + 0.1 * Z[:, 1]
    if is_classifier(learner()):
        edges = [1 / 2] if kind == "one" else [1 / 3, 2 / 3]
        return np.digitize(y, np.quantile(y, edges))
    return y if kind == "one" else np.column_stack([y, 50.0 * Z[:, 1] * Z[:, 2] + 7.0])


def fitted(learner, kind="one", X=None, **settings):
    X = rows() if X is None else X
    return light(learner, **settings).fit(X, targets(X, learner, kind))


def elsewhere():
    """Rows that the models have not seen, within the range of the others."""
    return 0.7 * (rows(60, seed=1) - OFFSETS) + OFFSETS


def differences(model, X, step):
    """Central differences, (n_samples, n_features), or (n_samples, n_functions, n_features)."""
    found = []
    for j, scale in enumerate(SCALES):
        move = np.zeros(len(SCALES))
        move[j] = step * scale
        found.append((decision(model, X + move) - decision(model, X - move)) / (2 * move[j]))
    return np.stack(found, axis=-1)


def assert_derivatives(model, X):
    """Compare, in units of the columns, where the function is smooth."""
    gradient = model.gradient(X)
    found = []
    for step in STEPS:
        whole, half = (differences(model, X, length) * SCALES for length in (step, step / 2))
        assert gradient.shape == whole.shape and gradient.dtype == np.float64
        # Not the largest, which a jump would make as large as the step is small.
        size = np.quantile(np.abs(half), 0.9)
        found.append((np.abs(whole - half) <= SMOOTH * size, half, size))
    smooth, half, size = max(found, key=lambda one: one[0].mean())
    assert smooth.mean() > MOST
    errors = np.abs(gradient * SCALES - half)[smooth]
    assert errors.max() <= TOLERANCE * size


def test_there_are_learners():
    assert {"BKerNNRegressor", "KernelLaplacianClassifier"} <= {e.__name__ for e in LEARNERS}


@every
def test_columns_that_matter_have_derivatives(learner):
    gradient = fitted(learner).gradient(elsewhere())
    assert np.all(np.abs(gradient[..., [0, 2]]).max(axis=0) > 0.0)


@in_every_variant
@pytest.mark.parametrize("kind", ["one", "several"])
def test_gradients_are_those_of_predictions(learner, settings, kind):
    assert_derivatives(fitted(learner, kind, **settings), elsewhere())


@in_every_variant
def test_gradients_at_the_rows_of_the_fit_are_finite(learner, settings):
    X = rows()
    assert np.isfinite(fitted(learner, **settings).gradient(X)).all()


@every_regressor
def test_shapes_of_one_and_of_several_targets(learner):
    X = elsewhere()
    one, several = fitted(learner), fitted(learner, "several")
    assert one.gradient(X).shape == (60, 4) and one.sensitivity(X).shape == (4,)
    assert several.gradient(X).shape == (60, 2, 4) and several.sensitivity(X).shape == (2, 4)
    column = light(learner).fit(rows(), targets(rows(), learner)[:, None])
    assert column.gradient(X).shape == (60, 1, 4) and column.sensitivity(X).shape == (1, 4)
    np.testing.assert_allclose(column.gradient(X)[:, 0], one.gradient(X))


@every_classifier
def test_shapes_of_two_and_of_three_classes(learner):
    X = elsewhere()
    two, three = fitted(learner), fitted(learner, "several")
    assert two.gradient(X).shape == (60, 4) and two.sensitivity(X).shape == (4,)
    assert three.gradient(X).shape == (60, 3, 4) and three.sensitivity(X).shape == (3, 4)


@every
@pytest.mark.parametrize("kind", ["one", "several"])
def test_sensitivity_is_the_mean_of_squared_derivatives(learner, kind):
    X = elsewhere()
    model = fitted(learner, kind)
    squares = np.mean(np.square(model.gradient(X)), axis=0)
    np.testing.assert_allclose(model.sensitivity(X), squares, rtol=1e-12)


@in_every_variant
def test_constant_columns_have_no_derivative(learner, settings):
    X = rows()
    X[:, 1] = 1.7
    model = fitted(learner, X=X, **settings)
    gradient = model.gradient(elsewhere())
    np.testing.assert_array_equal(gradient[..., 1], 0.0)
    assert_derivatives(model, elsewhere())
    np.testing.assert_array_equal(model.sensitivity(elsewhere())[..., 1], 0.0)


@every
def test_without_a_column_that_varies_there_is_no_derivative(learner):
    X = np.tile(OFFSETS, (40, 1))
    y = targets(rows(), learner)
    np.testing.assert_array_equal(light(learner).fit(X, y).gradient(elsewhere()), 0.0)


@every
@pytest.mark.parametrize("kind", ["one", "several"])
def test_units_of_columns_are_those_of_derivatives(learner, kind):
    # Rows are drawn in an order that depends on their content.
    settings = family_of(learner).undrawn
    units = np.array([10.0, 1.0, 10.0, 10.0])
    X = rows()
    y = targets(X, learner, kind)
    plain, other = (light(learner, **settings).fit(X * unit, y) for unit in (1.0, units))
    expected = plain.gradient(elsewhere()) * SCALES
    found = other.gradient(elsewhere() * units) * units * SCALES
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@every
def test_gradients_of_rows_in_single_precision(learner):
    X = elsewhere().astype(np.float32)
    model = fitted(learner)
    assert model.gradient(X).dtype == np.float64
    np.testing.assert_array_equal(model.gradient(X), model.gradient(X.astype(np.float64)))


@every
def test_gradients_of_rows_in_a_frame(learner):
    names = list("abcd")
    frame, new = (pd.DataFrame(X, columns=names) for X in (rows(), elsewhere()))
    named = light(learner).fit(frame, targets(rows(), learner))
    np.testing.assert_array_equal(named.gradient(new), fitted(learner).gradient(elsewhere()))
    with pytest.raises(ValueError, match="feature names should match"):
        named.gradient(new[names[::-1]])


@every
def test_gradients_of_an_unfitted_model(learner):
    for method in ("gradient", "sensitivity"):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(learner(), method)(elsewhere())


@in_every_variant
def test_gradients_at_the_rows_of_the_fit_do_not_depend_on_the_batch(learner, settings):
    # The rows of the fit are where piecewise linear functions have their kinks.
    X = rows()
    model = fitted(learner, **settings)
    together = model.gradient(X)
    alone = np.concatenate([model.gradient(X[i : i + 1]) for i in range(12)])
    np.testing.assert_allclose(alone, together[:12], rtol=1e-6, atol=1e-8 * np.abs(together).max())
