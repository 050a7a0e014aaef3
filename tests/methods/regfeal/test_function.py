"""The fitted functions of RegFeaL: gradients are those of predictions, parts are those of a fit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from kernlens import (
    AllPolynomials,
    BestFirst,
    BKerNNClassifier,
    BKerNNRegressor,
    Enumerated,
    GroupSampling,
    RegFeaLClassifier,
    RegFeaLRegressor,
    UpToDegree,
)
from kernlens.base.function import FittedFunction
from kernlens.methods.regfeal.function import (
    EstimatorFunction,
    KernelFunction,
    PolynomialFunction,
    RefittedKernelFunction,
)

FAST = {
    "alpha": 0.01,
    "rho": 0.3,
    "refit": None,
    "max_iter": 2,
    "n_folds": 2,
    "n_directions": 2,
    "n_jobs": 1,
    "random_state": 0,
}
SMOOTH = {"alpha": 0.01, "n_particles": 6, "kernel": "gaussian", "max_iter": 3, "random_state": 0}
#: Every kind of function, and every way to it.
WAYS = [
    ({}, KernelFunction),
    ({"structure": "variables"}, KernelFunction),
    ({"structure": "none", "standardize": False}, KernelFunction),
    ({"basis": Enumerated(30)}, PolynomialFunction),
    ({"basis": BestFirst(25), "standardize": False}, PolynomialFunction),
    ({"basis": GroupSampling(40)}, PolynomialFunction),
    ({"basis": UpToDegree(2), "clip": None}, PolynomialFunction),
    ({"basis": AllPolynomials(max_rows=40, n_indices=15)}, PolynomialFunction),
    ({"refit": "kernel"}, RefittedKernelFunction),
]
every_way = pytest.mark.parametrize(("options", "kind"), WAYS, ids=str)


@pytest.fixture(autouse=True)
def short_fits():
    """Fits of two iterations may say that these are few."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def sample(n=60, seed=0):
    """Columns of different units, the third of them constant."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * [1.0, 0.1, 1.0, 30.0] + [40.0, 1.7, 0.0, 0.0]
    X[:, 2] = 0.1
    z = (X[:, 0] - 40.0) + (X[:, 1] - 1.7) / 0.1
    return X, np.sin(z) + 0.3 * (X[:, 3] / 30.0) ** 2 + 0.1 * rng.standard_normal(n)


def targets_of(y, X, kind):
    if kind == "one":
        return y
    if kind == "two":
        return np.column_stack([y, 100.0 * X[:, 1]])
    return np.digitize(y, np.quantile(y, [0.5] if kind == "binary" else [0.33, 0.66]))


def fit(kind, **options):
    X, y = sample()
    estimator = RegFeaLRegressor if kind in ("one", "two") else RegFeaLClassifier
    return estimator(**{**FAST, **options}).fit(X, targets_of(y, X, kind))


def values(model, X):
    found = model.predict(X) if isinstance(model, RegFeaLRegressor) else model.decision_function(X)
    return found if found.ndim == 2 else found[:, None]


def differences(model, X, share=1e-5):
    """Central differences, (n_rows, n_targets, n_columns)."""
    steps = share * np.array([1.0, 0.1, 1.0, 30.0])
    slopes = []
    for a, step in enumerate(steps):
        shift = np.zeros(4)
        shift[a] = step
        slopes.append((values(model, X + shift) - values(model, X - shift)) / (2.0 * step))
    return np.stack(slopes, axis=2)


def assert_gradients(model, X, close=1e-6):
    found, expected = model.gradient(X), differences(model, X)
    expected = expected[:, 0] if expected.shape[1] == 1 else expected
    assert found.shape == expected.shape
    units = np.array([1.0, 0.1, 1.0, 30.0])
    largest = np.abs(expected * units).max()
    assert largest > 1e-3
    np.testing.assert_allclose(found * units, expected * units, rtol=0, atol=close * largest)


# Gradients


@every_way
@pytest.mark.parametrize("kind_of_target", ["one", "two", "binary", "three"])
def test_gradients_are_those_of_predictions(options, kind, kind_of_target):
    model = fit(kind_of_target, **options)
    assert isinstance(model._function, kind)
    X = sample(25, seed=1)[0]
    assert_gradients(model, X)
    # The constant column is never looked at.
    assert not model.gradient(X)[..., 2].any()
    squares = np.mean(np.square(model.gradient(X)), axis=0)
    np.testing.assert_allclose(model.sensitivity(X), squares, rtol=1e-12)


@every_way
def test_clipped_columns_have_no_slope(options, kind):
    model = fit("one", **{**options, "clip": 0.7, "truncate": None})
    X = sample(25, seed=1)[0]
    assert_gradients(model, X)
    beyond = np.abs((X - model.mean_) / model.scale_) > 0.7
    assert 10 < beyond[:, [0, 1, 3]].sum() < 70
    assert not model.gradient(X)[beyond].any()


def test_where_predictions_are_cut_off_there_is_no_slope():
    X, y = sample()
    model = RegFeaLRegressor(**{**FAST, "basis": UpToDegree(3)}).fit(X, y)
    far = 40.0 * np.sign(X - X.mean(axis=0)) * X.std(axis=0) + X.mean(axis=0)
    cut = np.isin(model.predict(far), [y.min(), y.max()])
    assert cut.any()
    assert not model.gradient(far)[cut].any()


def test_single_precision_rows_have_the_gradients_of_their_values():
    model, X = fit("one"), sample(10, seed=1)[0].astype(np.float32)
    np.testing.assert_array_equal(model.gradient(X), model.gradient(X.astype(np.float64)))


def test_one_column_and_no_column():
    line = np.linspace(-2.0, 2.0, 40)[:, None]
    model = RegFeaLRegressor(**FAST).fit(line, np.sin(line[:, 0]))
    step = 1e-5
    slopes = (model.predict(line + step) - model.predict(line - step)) / (2 * step)
    np.testing.assert_allclose(model.gradient(line)[5:-5, 0], slopes[5:-5], rtol=0, atol=1e-6)
    flat = RegFeaLRegressor(**FAST).fit(np.full((10, 3), 0.1), np.arange(10.0))
    np.testing.assert_array_equal(flat.gradient(np.ones((4, 3))), np.zeros((4, 3)))


@pytest.mark.parametrize(
    ("kind_of_target", "refit"),
    [
        ("one", BKerNNRegressor(**SMOOTH)),
        ("two", BKerNNRegressor(**SMOOTH)),
        ("binary", BKerNNClassifier(**SMOOTH)),
        ("three", BKerNNClassifier(**SMOOTH)),
        ("three", RegFeaLClassifier(**FAST)),
    ],
    ids=str,
)
def test_a_refit_of_this_package_has_gradients(kind_of_target, refit):
    model = fit(kind_of_target, refit=refit)
    assert isinstance(model._function, EstimatorFunction)
    assert_gradients(model, sample(25, seed=1)[0])


@pytest.mark.parametrize(
    ("kind_of_target", "refit"), [("one", Ridge()), ("three", LogisticRegression())]
)
def test_another_refit_says_that_it_has_none(kind_of_target, refit):
    model = fit(kind_of_target, refit=refit)
    match = "has no method gradient; choose refit=None, 'kernel', or an estimator of kernlens"
    with pytest.raises(NotImplementedError, match=match):
        model.gradient(sample()[0])


def test_a_class_that_a_refit_has_not_seen_has_no_slope():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((50, 2))
    refit = BKerNNClassifier(**SMOOTH).fit(Z, np.where(Z[:, 0] > 0.0, 2, 0))
    function = EstimatorFunction(np.eye(2), refit, n_classes=3)
    slopes = function.gradient(Z)
    assert slopes.shape == (3, 50, 2)
    assert not slopes[1].any()
    shift = np.array([1e-5, 0.0])
    expected = (function.decision(Z + shift) - function.decision(Z - shift)) / 2e-5
    np.testing.assert_allclose(slopes[:, :, 0], expected, rtol=0, atol=1e-6)


# The fitted function


@every_way
@pytest.mark.parametrize("kind_of_target", ["two", "three"])
def test_the_function_is_made_of_fitted_attributes(options, kind, kind_of_target):
    model = fit(kind_of_target, **options)
    function = model._function
    assert isinstance(function, FittedFunction)
    for name, value in function.arrays().items():
        np.testing.assert_array_equal(getattr(model, name), value)
    inputs = model._columns.apply(sample()[0])
    np.testing.assert_array_equal(
        values(model, sample()[0]), model._targets.restore(function.decision(inputs)).T
    )


def test_a_second_fit_of_another_kind_leaves_nothing_of_the_first():
    X, y = sample()
    model = fit("one", refit="kernel")
    for options, kind in WAYS:
        model.set_params(**{**RegFeaLRegressor().get_params(), **FAST, **options}).fit(X, y)
        assert isinstance(model._function, kind)
        fresh = RegFeaLRegressor(**{**FAST, **options}).fit(X, y)
        assert sorted(vars(model)) == sorted(vars(fresh))
        np.testing.assert_array_equal(model.predict(X), fresh.predict(X))


def test_threads_change_no_gradient(monkeypatch):
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    X = sample(300, seed=1)[0]
    for options, _ in WAYS:
        model = fit("two", **options)
        one = model.gradient(X)
        np.testing.assert_array_equal(model.set_params(n_jobs=3).gradient(X), one)
