"""What a runtime computes from an exported model is what the model predicts."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PowerTransformer,
    StandardScaler,
)

import kernlens
from families import ESTIMATORS, family_of, light
from kernlens.features.weightings import CustomWeighting
from kernlens.kernels.radial import GeneralizedLaplaceKernel, RadialKernel
from kernlens.model_selection.auto.transforms import ClippedColumns, LogTarget

#: Relative to a value, or to a thousandth of the largest one.
CLOSE = 1e-7


def run(model, X):
    """The outputs of an exported model, by their names."""
    session = onnxruntime.InferenceSession(
        kernlens.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def new_rows(X, seed=1):
    """Rows among those of a fit, beside them, far from all of them, and at zero."""
    random = np.random.default_rng(seed)
    beside = X[:20] + 0.1 * random.standard_normal(X[:20].shape)
    far = 10.0 ** random.uniform(0.0, 6.0, (20, 1)) * random.standard_normal((20, X.shape[1]))
    farthest = 1e120 * random.standard_normal((2, X.shape[1]))
    return np.vstack([X[:10], beside, far, farthest, np.zeros((1, X.shape[1])), X.mean(axis=0)])


def assert_close(found, expected):
    expected = expected.reshape(found.shape)
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected[:30]).max())
    worst = np.max(np.abs(found - expected) / np.where(scale > 0.0, scale, 1.0))
    assert worst < CLOSE, worst


def assert_same(model, X):
    found = run(model, X)
    if not is_classifier(model):
        assert_close(found["variable"], model.predict(X))
        return
    assert_close(found["scores"], model.decision_function(X))
    assert_close(found["probabilities"], model.predict_proba(X))
    assert np.array_equal(found["label"], model.predict(X))


def rows(n_rows=60, n_columns=4):
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, n_columns)) * [1.0, 5.0, 0.2, 1.0][:n_columns] + 1.0
    return X, np.abs(X[:, 0]) + 0.2 * X[:, 1] + 0.1 * random.standard_normal(n_rows)


def variants():
    """Every estimator with every branch of its code that users can choose."""
    for estimator in ESTIMATORS:
        family = family_of(estimator)
        for settings in ({}, *family.variants):
            if not is_classifier(estimator()) or settings not in family.regressor_only:
                yield pytest.param(estimator, settings, id=f"{estimator.__name__}-{settings}")
        if not is_classifier(estimator()):
            for settings in family.regressor_only:
                yield pytest.param(estimator, settings, id=f"{estimator.__name__}-{settings}")


@pytest.mark.parametrize("estimator, settings", list(variants()))
def test_a_runtime_predicts_the_same(estimator, settings):
    X, y = rows()
    target = y
    if is_classifier(estimator()):
        target = np.array(["low", "high"])[(y > np.median(y)).astype(int)]
    model = light(estimator, **settings).fit(X, target)
    queries = new_rows(X)
    if settings.get("solver") == "random_features" and "KernelLaplacian" in estimator.__name__:
        # Cosines of large angles lose digits, in any way of computing them.
        queries = queries[np.abs(queries).max(axis=1) < 1e4]
    assert_same(model, queries)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_several_targets_or_classes_and_constant_columns(estimator):
    X, y = rows()
    X = np.column_stack([X, np.full(len(X), 3.0)])
    both = np.column_stack([y, X[:, 2]])
    if is_classifier(estimator()):
        both = np.digitize(y, np.quantile(y, [0.3, 0.6])) - 1
    model = light(estimator).fit(X, both)
    queries = new_rows(X)
    assert_same(model, queries)


@pytest.mark.parametrize(
    "labels", [[False, True], [-3, 7], [0.0, 2.0], ["a", "ö"]], ids=lambda two: type(two[0])
)
def test_labels_of_any_kind(labels):
    X, y = rows()
    target = np.array(labels)[(y > np.median(y)).astype(int)]
    assert_same(light(kernlens.RFMClassifier).fit(X, target), X)
    if isinstance(labels[0], str):
        assert_same(light(kernlens.RFMClassifier).fit(X, target.astype(object)), X)


@pytest.mark.parametrize("name", ["gaussian", "matern32", "matern52", "rational_quadratic"])
def test_derivative_atoms_of_every_kernel(name):
    X, y = rows()
    model = light(kernlens.KernelLaplacianRegressor, kernel=name).fit(X, y)
    assert hasattr(model, "slopes_")
    assert_same(model, new_rows(X))


@pytest.mark.parametrize("kernel", ["exponential", "gaussian"])
def test_kernels_of_one_projection(kernel):
    X, y = rows()
    assert_same(light(kernlens.BKerNNRegressor, kernel=kernel).fit(X, y), new_rows(X))


@pytest.mark.parametrize("kernel", ["laplace", "matern32", GeneralizedLaplaceKernel(0.7)])
def test_kernels_of_projected_rows(kernel):
    X, y = rows()
    assert_same(light(kernlens.HKRRRegressor, kernel=kernel).fit(X, y), new_rows(X))


def test_pipelines_of_scalers_and_directions():
    X, y = rows()
    queries = new_rows(X)
    model = light(kernlens.BrownianKernelRidge)
    first = kernlens.SIR(n_directions=2)
    for steps in ((StandardScaler(), model), (StandardScaler(with_mean=False), first, model)):
        assert_same(make_pipeline(*steps).fit(X, y), queries)
    chained = make_pipeline("passthrough", light(kernlens.RFMRegressor), clone(model)).fit(X, y)
    assert_same(chained, queries)


def gapped(X):
    """Rows of which some numbers are missing, and one is infinite."""
    X = X.copy()
    X[::7, 0], X[3, 1], X[1, 2] = np.nan, np.nan, np.inf
    return X


@pytest.mark.parametrize("skewed", [False, True])
def test_automatic_regressors_on_numbers_with_gaps(skewed):
    X, y = rows(80)
    y = np.exp(2.0 * y) if skewed else y
    model = kernlens.AutoLensRegressor(time_budget=1, random_state=0).fit(gapped(X), y)
    assert_same(model, gapped(new_rows(X)))
    assert_same(kernlens.AutoLensRegressor(time_budget=0.5, random_state=0).fit(X, y), X)


def test_automatic_regressors_of_more_columns_than_they_learn_from(monkeypatch):
    monkeypatch.setattr("kernlens.model_selection.auto.estimator.MOST_COLUMNS", 4)
    X, y = rows(80)
    model = kernlens.AutoLensRegressor(time_budget=0.5, random_state=0).fit(gapped(X), y)
    assert len(model.table_.source_columns_) == 4
    assert model.table_.n_weak_ > 0
    assert_same(model, gapped(new_rows(X)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_automatic_classifiers(n_classes):
    X, y = rows(80)
    names = np.array(["low", "middle", "high"])[-n_classes:]
    labels = names[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]
    model = kernlens.AutoLensClassifier(time_budget=1, random_state=0).fit(X, labels)
    assert_same(model, new_rows(X))


def test_an_automatic_regressor_of_a_quantile():
    X, y = rows(80)
    model = kernlens.AutoLensRegressor(
        scoring="neg_mean_pinball_loss", quantile=0.9, time_budget=0.5, random_state=0
    ).fit(X, y)
    assert model.shift_ != 0.0
    assert_same(model, new_rows(X))


def test_columns_with_far_values_pulled_in():
    X, y = rows()
    model = make_pipeline(ClippedColumns(), light(kernlens.RFMRegressor)).fit(X, y)
    assert_same(model, np.vstack([new_rows(X), np.full((1, X.shape[1]), 1e200)]))


@pytest.mark.parametrize(
    "transformer",
    [PowerTransformer(), PowerTransformer(standardize=False), LogTarget()],
)
@pytest.mark.parametrize("up", [True, False])
def test_transformed_targets(transformer, up):
    X, y = rows()
    y = np.exp(y - 2.0) if up or isinstance(transformer, LogTarget) else -np.exp(y)
    machine = light(kernlens.RFMRegressor)
    model = TransformedTargetRegressor(machine, transformer=transformer, check_inverse=False)
    assert_same(model.fit(X, y), X)


def test_a_model_without_a_column_that_varies_is_its_constant():
    X, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator in ESTIMATORS:
            target = (
                np.where(y > np.quantile(y, 0.3), "a", "b") if is_classifier(estimator()) else y
            )
            assert_same(light(estimator).fit(np.ones_like(X), target), X)


def test_a_file_is_what_was_returned(tmp_path):
    X, y = rows()
    model = light(kernlens.MARSRegressor).fit(X, y)
    made = kernlens.to_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == made.SerializeToString()
    assert made.graph.input[0].name == "X"
    assert list(tmp_path.iterdir()) == [tmp_path / "model.onnx"]


class Own(RadialKernel):
    """A kernel of the user's own: Gaussian."""

    def profile(self, s):
        return np.exp(-0.5 * s)

    def derivative(self, s):
        return -0.5 * self.profile(s)


def refused():
    """Models that have no graph, and what the sentence says."""
    custom = CustomWeighting(
        lambda X, W: np.cos(X @ W.T), rbf_kernel, lambda n, d, rng: rng.standard_normal((n, d)), 50
    )
    weighting = light(kernlens.RKHSWeightingRegressor)
    yield weighting.set_params(instantiation=custom, correlation="auto"), "made of your own fun"
    yield light(kernlens.HKRRRegressor, kernel=Own()), "Own is a kernel of your own"
    yield light(kernlens.RegFeaLRegressor, refit=LinearRegression()), "write down refit=Linear"
    yield make_pipeline(MinMaxScaler(), kernlens.MARSRegressor()), "MinMaxScaler is neither"
    yield make_pipeline(LinearRegression()), "LinearRegression is none"
    yield kernlens.SIR(n_directions=1), "SIR is none"


@pytest.mark.parametrize("model, sentence", list(refused()))
def test_what_cannot_be_written_is_refused_in_a_sentence(model, sentence):
    X, y = rows()
    with pytest.raises(ValueError, match=sentence):
        kernlens.to_onnx(model.fit(X, y))


def test_tables_with_text_and_things_not_fitted_are_refused():
    X, y = rows()
    frame = pd.DataFrame({"age": X[:, 0], "town": np.where(X[:, 1] > 1, "Bern", "Basel")})
    model = kernlens.AutoLensRegressor(time_budget=0.5, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="tables of numbers only, and column 'town' is category"):
        kernlens.to_onnx(model)
    with pytest.raises(NotFittedError):
        kernlens.to_onnx(kernlens.MARSRegressor())
    with pytest.raises(ValueError, match=r"takes an estimator, and got str\."):
        kernlens.to_onnx("model")


def test_without_the_package_a_sentence_says_how_to_get_it(monkeypatch):
    X, y = rows()
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"python -m pip install onnx\."):
        kernlens.to_onnx(light(kernlens.MARSRegressor).fit(X, y))


def test_importing_kernlens_does_not_import_onnx():
    code = "import sys, kernlens; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
