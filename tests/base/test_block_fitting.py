"""Predicting families on tables in blocks: what the sample says, and what all rows say."""

from __future__ import annotations

import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from kernlens import (
    AllPolynomials,
    HKRRClassifier,
    HKRRRegressor,
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RegFeaLClassifier,
    RegFeaLRegressor,
    RFMClassifier,
    RFMRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.fits.nystrom_fit import NystromFitter
from kernlens.losses import SquaredLoss
from kernlens.methods.rfm.kernel import MixedBlocks
from kernlens.methods.rkhs_weightings.learner import WeightingLearner
from reference.block_problems import blocks, classes, problem, small_samples

MACHINE = {
    "alpha": (0.03, 0.3),
    "width": 3.0,
    "n_updates": 1,
    "kernel": "gaussian",
    "metric": "diag",
    "ranks": False,
    "centers": 30,
}
HYPER_KERNEL = {
    "alpha": 1e-3,
    "n_components": 2,
    "init": 1,
    "centers": 20,
    "refit": 30,
    "max_iter": 5,
}
POLYNOMIALS = {
    "alpha": 0.1,
    "rho": 0.4,
    "refit": None,
    "basis": AllPolynomials(max_rows=100, n_indices=50),
    "clip": None,
    "max_iter": 3,
}
SETTINGS = {
    RKHSWeightingRegressor: {"n_random_features": 40},
    RandomKitchenSinksRegressor: {"n_random_features": 40, "base": "relu"},
    RKHSWeightingClassifier: {"n_random_features": 40, "instantiation": "relu"},
    RandomKitchenSinksClassifier: {"n_random_features": 80, "base": "relu"},
    RFMRegressor: MACHINE,
    RFMClassifier: MACHINE,
    HKRRRegressor: HYPER_KERNEL,
    RegFeaLRegressor: POLYNOMIALS,
    RegFeaLClassifier: POLYNOMIALS,
    HKRRClassifier: HYPER_KERNEL,
}
REGRESSORS = [one for one in SETTINGS if "Regressor" in one.__name__]
CLASSIFIERS = [one for one in SETTINGS if "Classifier" in one.__name__]


def made(estimator, **others):
    return estimator(random_state=0, n_jobs=1, **(SETTINGS[estimator] | others))


def decision(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.fixture
def few_rows(monkeypatch):
    small_samples(monkeypatch, SETTINGS)


def data_for(estimator, n=600):
    X, y = problem(n)
    return (X, y) if estimator in REGRESSORS else (X, classes(y))


@pytest.mark.parametrize("estimator", SETTINGS)
def test_few_rows_in_blocks_are_the_fit_of_these_rows(estimator):
    X, y = data_for(estimator, 200)
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    one = made(estimator).fit(X, y, weights)
    other = made(estimator).fit(blocks(X, y, weights))
    np.testing.assert_array_equal(decision(one, X), decision(other, X))
    np.testing.assert_array_equal(one.components_, other.components_)
    assert set(vars(one)) == set(vars(other))


@pytest.mark.parametrize("estimator", SETTINGS)
def test_the_partition_and_threads_say_nothing(few_rows, estimator):
    X, y = data_for(estimator)
    weights = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    order = np.random.default_rng(2).permutation(len(X))
    one = made(estimator).fit(blocks(X, y, weights))
    # Another order in other blocks, with rows repeated instead of weights.
    repeated = np.repeat(order, weights[order].astype(int))
    other = made(estimator).fit(blocks(X[repeated], y[repeated], block_rows=39))
    threads = made(estimator).fit(blocks(X, y, weights, n_jobs=3))
    found = decision(one, X)
    np.testing.assert_allclose(decision(other, X), found, rtol=0.0, atol=1e-8 * found.std())
    np.testing.assert_allclose(other.components_, one.components_, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(other.feature_range_, one.feature_range_, rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(decision(threads, X), decision(one, X))


@pytest.mark.parametrize("estimator", SETTINGS)
def test_units_and_ranges_are_those_of_all_rows(few_rows, estimator):
    X, y = data_for(estimator)
    model = made(estimator).fit(blocks(X, y))
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.scale_, X.std(axis=0), rtol=1e-12)
    features = model.transform(X)
    np.testing.assert_allclose(model.feature_range_, [features.min(0), features.max(0)], rtol=1e-9)
    assert not model.extrapolating(X).any()
    if estimator in REGRESSORS:
        np.testing.assert_array_equal(np.ravel(model.bounds_), [y.min(), y.max()])
    else:
        assert list(model.classes_) == list(np.unique(y))


@pytest.mark.parametrize("estimator", SETTINGS)
def test_a_model_of_blocks_has_the_attributes_of_one_in_memory(few_rows, estimator):
    X, y = data_for(estimator, 300)
    others = {"solver": "least_squares"} if "solver" in estimator().get_params() else {}
    one, other = made(estimator, **others), made(estimator, **others)
    found, expected = vars(one.fit(blocks(X, y))), vars(other.fit(X, y))
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in expected.items()
    }


@pytest.mark.parametrize("estimator", SETTINGS)
def test_more_rows_predict_better_than_the_sample(few_rows, estimator):
    X, y = data_for(estimator, 2000)
    model = made(estimator).fit(blocks(X[:1500], y[:1500]))
    sample = made(estimator).fit(X[:150], y[:150])
    assert model.score(X[1500:], y[1500:]) > sample.score(X[1500:], y[1500:])


def test_weights_of_features_are_those_of_ridge_regression_on_all_rows(few_rows):
    X, y = problem(600)
    model = made(
        RandomKitchenSinksRegressor, alpha=1e-4, linear_part=False, truncate=None, n_directions=1
    ).fit(blocks(X, y))
    F = model._function._features.evaluate(model._columns.apply(X)) / np.sqrt(40)
    P, z = F - F.mean(axis=0), (y - y.mean()) / y.std()
    shift = 1e-4 * np.square(P).sum(axis=1).mean()
    b = np.linalg.solve(P.T @ P / len(y) + shift * np.eye(40), P.T @ z / len(y))
    np.testing.assert_allclose(model.predict(X), y.mean() + y.std() * (P @ b), atol=1e-7)
    penalized = np.mean((z - P @ b) ** 2) + shift * b @ b
    assert model.objective_ == pytest.approx(penalized, rel=1e-9)


def test_coefficients_of_a_machine_are_those_of_all_rows(few_rows):
    X, y = problem(600)
    model = made(RFMRegressor, linear_part=False, truncate=None, n_directions=1).fit(blocks(X, y))
    inputs, z = model._columns.apply(X), (y - y.mean())[None] / y.std()
    function = model._function
    fitter = NystromFitter(SquaredLoss(), z, np.ones(len(y)), model.alpha_ / len(y))
    fit = fitter(MixedBlocks(function.kernel, inputs, function.Z))
    np.testing.assert_allclose(model.predict(X), y.mean() + y.std() * fit.decision[0], atol=1e-6)
    assert model.objective_ == pytest.approx(fit.value, rel=1e-8)


def test_the_lasso_has_sums_over_blocks_as_well(few_rows):
    X, y = problem(600)
    made_lasso = [made(RKHSWeightingRegressor, solver="lasso", n_directions=1) for _ in range(2)]
    one, other = made_lasso[0].fit(blocks(X, y)), made_lasso[1].fit(blocks(X, y, block_rows=29))
    np.testing.assert_allclose(other.predict(X), one.predict(X), atol=1e-6 * y.std())
    assert one.score(X, y) > 0.8


def test_a_line_beside_the_function_is_found_and_taken_off_all_rows(few_rows):
    X, _ = problem(900)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 30.0 * Z[:, 0] - 5.0 * Z[:, 3] + np.sin(3.0 * Z[:, 1])
    model = made(RKHSWeightingRegressor, linear_part=True).fit(blocks(X, y))
    slopes = model.linear_coef_[0] * X.std(axis=0)
    np.testing.assert_allclose(slopes, [30.0, 0.0, 0.0, -5.0], atol=0.5)
    assert model.score(X, y) > 0.999
    again = made(RKHSWeightingRegressor, linear_part=True).fit(blocks(X, y, block_rows=31))
    # Some predictions are next to zero: digits are those of the spread of y.
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=0.0, atol=1e-9 * y.std())


def test_exactly_linear_targets_leave_their_line(few_rows):
    X, _ = problem(900)
    slopes = np.array([1.0, 2.0, 3.0, 4.0])
    y = X @ slopes
    model = made(RKHSWeightingRegressor, linear_part=True).fit(blocks(X, y))
    # Slopes are learned from eight digits of the columns, as in memory.
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6 * y.std())
    along = slopes * X.std(axis=0)
    assert model.n_directions_ == 1
    np.testing.assert_allclose(model.loadings_[0], along / np.linalg.norm(along), atol=1e-6)


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 3.0, "b": 0.5}])
def test_weights_of_classes_are_weights_of_their_rows(few_rows, class_weight):
    X, y = data_for(RKHSWeightingClassifier)
    factors = {"a": 3.0, "b": 0.5, "c": 1.0}
    if class_weight == "balanced":
        factors = {one: len(y) / 3 / np.sum(y == one) for one in "abc"}
    weights = np.array([factors[one] for one in y])
    one = made(RKHSWeightingClassifier, class_weight=class_weight).fit(blocks(X, y))
    other = made(RKHSWeightingClassifier).fit(blocks(X, y, weights))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-7, atol=1e-9)
    assert one.score(X, y) > 0.7


def test_a_class_that_the_sample_misses_is_learned_all_the_same(few_rows):
    X, y = data_for(RKHSWeightingClassifier)
    rare = np.argsort(X[:, 0])[-4:]
    y[rare] = "d"
    model = made(RKHSWeightingClassifier).fit(blocks(X, y))
    assert list(model.classes_) == ["a", "b", "c", "d"]
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert proba[rare, 3].mean() > 5 * proba[:, 3].mean()


def test_many_classes_are_no_reason_to_warn(few_rows):
    X, y = problem(600)
    labels = np.clip(np.round(y), -12, 12).astype(int)
    assert len(np.unique(labels)) > 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = made(RandomKitchenSinksClassifier).fit(blocks(X, labels))
    np.testing.assert_array_equal(model.classes_, np.unique(labels))


def test_several_targets_and_their_shape(few_rows):
    X, y = problem(900)
    both = np.column_stack([y, -2.0 * y + 1.0])
    model = made(RKHSWeightingRegressor).fit(blocks(X, both))
    found = model.predict(X)
    assert found.shape == both.shape
    np.testing.assert_allclose(found[:, 1], 1.0 - 2.0 * found[:, 0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("solver", ["exact", "sfgd"])
def test_what_needs_all_rows_at_once_says_so(few_rows, solver):
    X, y = problem(900)
    with pytest.raises(ValueError, match="needs all rows at once; choose"):
        made(RKHSWeightingRegressor, solver=solver).fit(blocks(X, y))


def test_polynomials_within_a_clip_have_the_units_of_the_sample(few_rows):
    X, y = problem(900)
    model = made(RegFeaLRegressor, clip=4.0, refit="kernel").fit(blocks(X, y))
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=0.3 * X.std(axis=0).max())
    assert hasattr(model, "support_")
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"refit": Ridge()}, "refit=Ridge.. needs all rows at once"),
        ({"basis": "exact"}, "basis='exact' has the kernel of all rows"),
    ],
)
def test_regfeal_says_what_has_no_sums(few_rows, settings, message):
    X, y = problem(900)
    with pytest.raises(ValueError, match=message):
        RegFeaLRegressor(**settings).fit(blocks(X, y))


@pytest.mark.parametrize("estimator", SETTINGS)
def test_bad_values_are_refused_with_their_block(estimator):
    X, y = data_for(estimator)
    X[250, 1] = np.nan
    model = made(estimator)
    with pytest.raises(ValueError, match="infinity in block 2, row 50, column 1"):
        model.fit(blocks(X, y, block_rows=100))
    assert not hasattr(model, "n_features_in_")


def test_labels_of_one_class_or_of_several_columns_are_refused():
    X, y = data_for(RKHSWeightingClassifier)
    with pytest.raises(ValueError, match="at least 2 classes"):
        made(RKHSWeightingClassifier).fit(blocks(X, np.full(len(X), "a")))
    with pytest.raises(ValueError, match="y has 2 targets"):
        made(RKHSWeightingClassifier).fit(blocks(X, np.column_stack([y, y])))


def test_an_interruption_of_the_last_step_keeps_what_the_sample_has_learned(few_rows, monkeypatch):
    X, y = problem(900)
    model = made(RKHSWeightingRegressor)
    learned = []

    def interrupted(self, table, found):
        learned.append(found)
        raise KeyboardInterrupt

    monkeypatch.setattr(WeightingLearner, "fit_all", interrupted)
    with pytest.raises(KeyboardInterrupt, match="has the best state"):
        model.fit(blocks(X, y))
    np.testing.assert_array_equal(model.coef_, learned[0].function.coefficients)
    assert model.score(X, y) > 0.5


def test_data_frames_with_labels_keep_their_names(few_rows):
    X, y = data_for(HKRRClassifier, 400)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    parts = dd.from_pandas(frame, npartitions=5)
    model = made(HKRRClassifier).fit(parts[list("abcd")], parts["label"])
    assert list(model.feature_names_in_) == list("abcd")
    other = made(HKRRClassifier).fit(blocks(X, y, block_rows=80))
    np.testing.assert_allclose(
        model.predict_proba(frame[list("abcd")]), other.predict_proba(X), atol=1e-9
    )
