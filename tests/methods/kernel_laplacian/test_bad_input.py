"""Bad and extreme input of the kernel Laplacian: refused in a sentence before work, or finite."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from kernlens import (
    KernelLaplacianClassifier,
    KernelLaplacianClustering,
    KernelLaplacianEmbedding,
    KernelLaplacianRegressor,
)
from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS
from kernlens.kernels.dot_product import DotProductKernel
from kernlens.kernels.radial import LaplaceKernel, RadialKernel, RationalQuadraticKernel
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis
from kernlens.methods.kernel_laplacian.learner import LaplacianLearner

SUPERVISED = [KernelLaplacianRegressor, KernelLaplacianClassifier]
SPECTRAL = [KernelLaplacianEmbedding, KernelLaplacianClustering]
SOLVERS = ("exact", "cg", "nystrom", "random_features")


def data(n=30, d=3, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    y = (X[:, 0] > 0).astype(float)
    y[10:] = np.nan
    return X, y


def fit(estimator=KernelLaplacianRegressor, X=None, y=None, **settings):
    if X is None:
        X, y = data()
    if estimator is KernelLaplacianClassifier:
        y = np.nan_to_num(y, nan=-1).astype(int)
    settings = {"n_jobs": 1, "random_state": 0, "n_centers": 50} | settings
    return estimator(**settings).fit(X, y)


@pytest.fixture
def no_work(monkeypatch):
    def work(*args, **options):
        raise AssertionError("Work before the input was checked.")

    monkeypatch.setattr(LaplacianLearner, "learn", work)
    monkeypatch.setattr(EnergyBasis, "of", work)


# Refusals ----------------------------------------------------------------------------------------

EVERY = [*SUPERVISED, *SPECTRAL]


@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [
        pytest.param(estimator, name, value, id=f"{estimator.__name__}-{name}-{k}")
        for estimator in EVERY
        for name, parameter in estimator._parameters.items()
        for k, value in enumerate(parameter.kind.bad_values())
    ],
)
@pytest.mark.usefixtures("no_work")
def test_values_that_the_table_does_not_allow_are_refused_by_name(estimator, name, value):
    with pytest.raises(ValueError, match=rf"{name}\b.* (must|is not differentiable)|LaplaceKernel"):
        fit(estimator, **{name: value})


@pytest.mark.parametrize("estimator", EVERY)
def test_the_table_has_the_arguments_and_their_defaults(estimator):
    table = {name: parameter.default for name, parameter in estimator._parameters.items()}
    assert table == estimator().get_params()
    for name, parameter in estimator._parameters.items():
        for value in (parameter.default, *parameter.search):
            parameter.kind.check(name, value)


SPACE = [
    ({"kernel": "laplace"}, "kernel='laplace' is not differentiable enough"),
    ({"kernel": LaplaceKernel()}, "LaplaceKernel is not differentiable enough"),
    ({"kernel": "rbf"}, "kernel must be one of 'gaussian', .* got 'rbf'"),
    ({"kernel": np.eye(2)}, "kernel must be one of .* got array"),
    ({"kernel": RationalQuadraticKernel}, "kernel must be one of"),
    ({"length_scale": 0.0}, "length_scale must be 'auto' or a positive finite number, got 0.0"),
    ({"length_scale": "long"}, "length_scale must be 'auto' or a positive"),
    ({"length_scale": np.ones(3)}, "length_scale must be 'auto' or a positive"),
    ({"length_scale": 1e-300}, "length_scale=1e-300 is out of proportion to the points"),
    ({"length_scale": 1e300}, r"length_scale=1e\+300 is out of proportion to the points"),
    ({"metric": "cosine"}, "metric must be one of 'local', 'euclidean', got 'cosine'"),
    ({"n_neighbors": 2.5}, "n_neighbors must be an integer"),
    ({"n_centers": 0}, "n_centers must be 'auto' or an integer of at least 1"),
    ({"solver": "newton"}, "solver must be one of"),
    ({"solver": "random_features", "kernel": "linear"}, "use solver='nystrom'"),
    (
        {"solver": "random_features", "kernel": RationalQuadraticKernel(2.0)},
        r"knows the frequencies of .* for kernel=RationalQuadraticKernel\(.*use solver='nystrom'",
    ),
    ({"alpha": 0.0}, "alpha must be 'auto' or a positive finite number, got 0.0"),
    ({"alpha": "cv"}, "alpha must be 'auto' or a positive finite number, got 'cv'"),
]


@pytest.mark.parametrize("estimator", EVERY)
@pytest.mark.parametrize(("settings", "sentence"), SPACE)
@pytest.mark.usefixtures("no_work")
def test_settings_of_the_space_are_refused_in_a_sentence(estimator, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(estimator, **settings)


@pytest.mark.parametrize("estimator", SUPERVISED)
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"mu": -1.0}, "mu must be a finite number of at least 0, got -1.0"),
        ({"mu": "cv"}, "mu must be a finite number of at least 0, got 'cv'"),
        ({"mu": []}, r"mu must be one value or a non-empty list of numbers, got \[\]"),
        ({"mu": [0.1, -2.0]}, "mu must be a finite number of at least 0, got -2.0"),
        ({"mu": [0.1, "auto"]}, "mu must be one value or a non-empty list of numbers"),
        ({"mu": np.ones((2, 2))}, r"mu must be a finite number of at least 0, got array"),
        ({"alpha": []}, "alpha must be one value or a non-empty list of numbers"),
        ({"alpha": [1e-3, 0.0]}, "alpha must be 'auto' or a positive finite number, got 0.0"),
        ({"alpha": 1e-300}, "alpha must be at least 1e-20, got 1e-300"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_settings_are_refused_in_a_sentence(estimator, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(estimator, **settings)


@pytest.mark.parametrize("estimator", SPECTRAL)
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"solver": "exact"}, "solver must be one of 'nystrom', 'random_features', got 'exact'"),
        ({"alpha": [1e-3]}, "alpha must be 'auto' or a positive finite number"),
        ({"n_components": 1.5}, "n_components must be .*an integer of at least 1, got 1.5"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_settings_of_eigenfunctions_are_refused_in_a_sentence(estimator, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(estimator, **settings)


@pytest.mark.parametrize("name", ["n_clusters", "n_init"])
@pytest.mark.usefixtures("no_work")
def test_settings_of_clusters_are_refused_in_a_sentence(name):
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1, got 'auto'"):
        fit(KernelLaplacianClustering, **{name: "auto"})


class NoBend(RadialKernel):
    """No second derivative."""

    def profile(self, s):
        return np.exp(-s)

    def derivative(self, s):
        return -np.exp(-s)


class WrongBend(DotProductKernel):
    def profile(self, t):
        return t**2

    def derivative(self, t):
        return 2.0 * t

    def second_derivative(self, t):
        return np.full_like(t, 3.0)


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (NoBend(), "NoBend has no method second_derivative"),
        (WrongBend(), "WrongBend: second_derivative is not the derivative of derivative"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_kernels_without_derivatives_are_refused_by_name(kernel, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(kernel=kernel)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.full(30, np.nan), "y is NaN for every row, .* no row is labelled; give at least one"),
        (np.r_[[[0.0, np.nan]], np.ones((29, 2))], "NaN in some targets only; give all targets"),
        (None, "requires y to be passed, .* give NaN for rows without a target"),
        (np.r_[np.inf, np.ones(29)], "y contains infinity"),
        (1e150 * np.arange(30), "y has values as large as"),
        (["word"] * 30, "y has text, such as 'word', where numbers are needed"),
        (np.zeros((30, 0)), r"0 feature\(s\)"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_targets_are_refused_in_a_sentence(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelLaplacianRegressor().fit(data()[0], y)


@pytest.mark.parametrize(
    ("labels", "settings", "sentence"),
    [
        (np.full(30, -1), {}, r"found no labelled row \(label -1 means that a row has none\)"),
        (["a"] * 30, {"unlabeled": "a"}, r"found no labelled row \(label 'a' means"),
        (np.r_[np.zeros(5), -np.ones(25)], {}, "at least 2 classes .* only one class: 0.0"),
        (np.r_[np.ones(5), np.full(25, 7)], {"unlabeled": 7}, "only one class: 1.0 .label 7 means"),
        ([None] * 10 + ["a"] * 10 + ["b"] * 10, {}, "y contains NaN or None; give rows that have"),
        (np.r_[np.full(10, np.nan), np.ones(20)], {}, "y contains NaN or None"),
        (pd.Series([pd.NA, 0, 1] * 10, dtype="Int64"), {}, "y contains NaN or None"),
        (pd.Series([pd.NA, "a", "b"] * 10, dtype="string"), {}, "y contains NaN or None"),
        ([0, 1] * 15, {"unlabeled": [0, 1]}, r"unlabeled must be 'auto', None or one label"),
        ([0, 1] * 15, {"unlabeled": np.nan}, "unlabeled must be 'auto', None or one label"),
        ([0, 1] * 15, {"unlabeled": pd.NA}, "unlabeled must be 'auto', None or one label"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_labels_are_refused_in_a_sentence(labels, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelLaplacianClassifier(**settings).fit(data()[0], labels)


@pytest.mark.parametrize("estimator", SUPERVISED)
@pytest.mark.usefixtures("no_work")
def test_labeled_rows_of_weight_zero_are_no_labeled_rows(estimator):
    X, y = data()
    labels = np.nan_to_num(y, nan=-1) if estimator is KernelLaplacianClassifier else y
    with pytest.raises(ValueError, match="zero for every labelled row; give at least one a posit"):
        estimator().fit(X, labels, sample_weight=np.isnan(y).astype(float))


@pytest.mark.parametrize("estimator", SUPERVISED)
@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda X: X[:, :2], ValueError, "X_unlabeled has 2 features, and X has 3"),
        (lambda X: X[0], ValueError, "Expected 2D array, got 1D array"),
        (lambda X: np.where(X > 0, np.nan, X), ValueError, "Input X_unlabeled contains NaN"),
        (lambda X: 1e200 * X, ValueError, "X_unlabeled has values as large as .*overflow"),
        (scipy.sparse.csr_array, TypeError, "Sparse data was passed for X_unlabeled"),
        (lambda X: "rows", ValueError, "has text, such as 'rows', where numbers are needed"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_more_rows_are_refused_in_a_sentence(estimator, make, error, sentence):
    X, y = data()
    labels = np.nan_to_num(y, nan=-1) if estimator is KernelLaplacianClassifier else y
    with pytest.raises(error, match=sentence):
        estimator().fit(X, labels, X_unlabeled=make(X))


@pytest.mark.parametrize("estimator", SPECTRAL)
@pytest.mark.parametrize(
    ("X", "error", "sentence"),
    [
        ([[0.0]], ValueError, "minimum of 2 is required"),
        ([[0.0], [np.nan]], ValueError, "contains NaN"),
        ([[0.0], [1e150]], ValueError, "X has values as large as 1e.150"),
        (scipy.sparse.eye_array(3).tocsr(), TypeError, "Sparse data was passed for X"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_rows_of_eigenfunctions_are_refused_in_a_sentence(estimator, X, error, sentence):
    with pytest.raises(error, match=sentence):
        estimator().fit(X)


@pytest.mark.usefixtures("no_work")
def test_a_fit_that_cannot_be_held_is_refused():
    X = np.random.default_rng(0).standard_normal((20000, 20))
    with pytest.raises(MemoryError, match=r"GiB.*choose solver='nystrom'"):
        KernelLaplacianRegressor(solver="exact").fit(X, X[:, 0])


# Extremes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", ["local", "euclidean"])
@pytest.mark.parametrize("estimator", SUPERVISED)
def test_every_kernel_solver_and_metric_is_finite(estimator, solver, metric):
    X, y = data()
    for kernel in DIFFERENTIABLE_KERNELS[: 4 if solver == "random_features" else None]:
        for columns in (X, X[:, :1]):
            model = fit(estimator, columns, y, kernel=kernel, solver=solver, metric=metric)
            assert np.isfinite(model.predict(columns)).all()
            assert np.isfinite(model.gradient(columns)).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_fewer_rows_than_neighbours(solver):
    for n in (2, 3, 5):
        X, y = data(n=n)
        y = np.where(np.arange(n) < 2, [1.0, 2.0] + [np.nan] * (n - 2), np.nan)
        model = fit(X=X, y=y, solver=solver, n_neighbors=10)
        assert np.isfinite(model.predict(X)).all()
        many = fit(X=X, y=y, solver=solver, n_neighbors=n - 1)
        np.testing.assert_allclose(many.predict(X), model.predict(X), atol=1e-12)


def test_linear_functions_of_one_column():
    """Their values at any two points are fully correlated."""
    X, y = data()
    slope, level = np.polyfit(X[:10, 0], y[:10], 1)
    for solver in ("exact", "cg", "nystrom"):
        model = fit(X=X[:, :1], y=y, kernel="linear", solver=solver)
        # Shrunk towards the mean of the labelled rows.
        assert 0.0 < model.gradient(X[:1, :1])[0, 0] <= slope * (1 + 1e-9)
        given = fit(X=X[:, :1], y=y, kernel="linear", solver=solver, mu=0.0, alpha=1e-10)
        np.testing.assert_allclose(given.predict(X[:, :1]), slope * X[:, 0] + level, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_penalties_at_their_limits(solver):
    X, y = data()
    mean = np.nanmean(y)
    for strong in ({"mu": 0.1, "alpha": 1e15}, {"mu": 1e15, "alpha": 1.0}):
        model = fit(X=X, y=y, solver=solver, **strong)
        np.testing.assert_allclose(model.predict(X), mean, atol=1e-3)
    weak = fit(X=X, y=y, solver=solver, mu=0.0, alpha=1e-12)
    np.testing.assert_allclose(weak.predict(X[:10]), y[:10], atol=1e-3)


@pytest.mark.parametrize("estimator", [*SUPERVISED, *SPECTRAL])
def test_weights_of_any_size(estimator):
    X, y = data()
    labels = np.nan_to_num(y, nan=-1) if estimator is KernelLaplacianClassifier else y
    options = {"n_jobs": 1, "random_state": 0}
    method = "predict" if hasattr(estimator, "predict") else "transform"
    expected = getattr(estimator(**options).fit(X, labels), method)(X)
    for size in (1e-300, 1e90):
        model = estimator(**options).fit(X, labels, sample_weight=np.full(30, size))
        np.testing.assert_allclose(getattr(model, method)(X), expected, atol=1e-6)
