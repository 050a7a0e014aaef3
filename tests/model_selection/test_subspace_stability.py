"""Fits to resamples: what is stored, what must not matter, and bad input."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import estimator_checks_generator

from families import ESTIMATORS, light
from kernlens import MAVE, SIR, RKHSWeightingClassifier, RKHSWeightingRegressor
from kernlens.metrics import principal_angles
from kernlens.model_selection import SubspaceStability


class Slopes(BaseEstimator):
    """Ordinary least squares as a learner of one direction, the simplest there is."""

    def __init__(self, n_directions=1):
        self.n_directions = n_directions

    def fit(self, X, y, sample_weight=None):
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
        self.n_features_in_ = X.shape[1]
        self.scale_ = np.sqrt(np.average((X - np.average(X, axis=0, weights=w)) ** 2, 0, w))
        A = np.column_stack([np.ones(len(X)), X])
        slope = np.linalg.solve((A.T * w) @ A, (A.T * w) @ y)[1:]
        self.components_ = (slope / np.linalg.norm(slope * self.scale_))[None]
        self.component_importances_ = np.ones(1)
        return self


class Unweighted(Slopes):
    """The same without weights."""

    def fit(self, X, y):
        return super().fit(X, y)


def problem(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** np.arange(d)
    return X, X[:, 0] + 0.1 * X[:, 1] + 0.5 * rng.standard_normal(n)


@pytest.mark.parametrize("method", ["bootstrap", "folds"])
def test_samples_are_fits_of_the_resamples(method):
    X, y = problem()
    stability = SubspaceStability(Slopes(), method=method, n_resamples=5, random_state=3)
    stability.fit(X, y)
    counts = stability._counts(y, len(X))
    for count, sample in zip(counts, stability.samples_, strict=True):
        rows = np.repeat(np.arange(len(X)), count.astype(int))
        expected = Slopes().fit(X[rows], y[rows]).components_ * Slopes().fit(X, y).scale_
        expected /= np.linalg.norm(expected)
        np.testing.assert_allclose(sample, expected, atol=1e-10)
    assert stability.samples_.shape == (5, 1, 4)


def test_a_learner_without_weights_gets_repeated_rows():
    X, y = problem()
    one, other = (
        SubspaceStability(learner, n_resamples=5, random_state=0).fit(X, y)
        for learner in (Slopes(), Unweighted())
    )
    np.testing.assert_allclose(one.samples_, other.samples_, atol=1e-10)


def test_weights_are_in_every_fit():
    X, y = problem()
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    found = SubspaceStability(Slopes(), n_resamples=3, random_state=0).fit(X, y, weights)
    whole = Slopes().fit(X, y, weights)
    np.testing.assert_allclose(found.loadings_, whole.components_ * whole.scale_, atol=1e-12)
    count = found._counts(y, len(X))[0]
    part = Slopes().fit(X, y, weights * count).components_ * whole.scale_
    np.testing.assert_allclose(found.samples_[0], part / np.linalg.norm(part), atol=1e-10)


@pytest.mark.parametrize("method", ["bootstrap", "folds"])
def test_rows_without_weight_are_as_if_they_were_not(method):
    X, y = problem()
    weights = np.tile([0.0, 1.0, 2.0], 20)
    options = {"method": method, "n_resamples": 6, "random_state": 0}
    all_rows = SubspaceStability(SIR(n_directions=1), **options).fit(X, y, weights)
    some = SubspaceStability(SIR(n_directions=1), **options)
    some.fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    np.testing.assert_allclose(all_rows.samples_, some.samples_, atol=1e-10)
    np.testing.assert_allclose(all_rows.intervals_, some.intervals_, atol=1e-10)


def test_intervals_of_a_regression_cover_its_slopes():
    covered = []
    for seed in range(60):
        X, y = problem(seed=seed)
        found = SubspaceStability(Slopes(), n_resamples=60, random_state=seed).fit(X, y)
        truth = np.array([1.0, 0.1, 0.0, 0.0]) * found.estimator_.scale_
        truth /= np.linalg.norm(truth)
        low, high = found.intervals_[:, 0]
        covered.append((low <= truth) & (truth <= high))
    assert 0.8 <= np.mean(covered) <= 0.97


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_every_learner_is_looked_at(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(40)
    y = y > 0 if estimator.__name__.endswith("Classifier") else y
    found = SubspaceStability(light(estimator), n_resamples=2, random_state=0).fit(X, y)
    k = found.n_directions_
    assert found.angles_.shape == (2, k)
    assert found.intervals_.shape == (2, k, 3)
    assert ((found.angles_ >= 0.0) & (found.angles_ <= 90.0)).all()
    assert np.trace(found.projection_) <= k + 1e-12
    assert len(found.to_frame()) == 3 * k
    np.testing.assert_allclose(found.loadings_ @ found.loadings_.T, np.eye(k), atol=1e-10)


@pytest.mark.parametrize("given", ["auto", 1])
def test_directions_that_are_learned_again_for_every_number_are_those_of_their_number(given):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(60)
    learner = MAVE(n_directions=2 if given == "auto" else "auto")
    stability = SubspaceStability(
        learner, method="folds", n_resamples=3, n_directions=given, random_state=0
    ).fit(X, y)
    k = 2 if given == "auto" else 1
    whole = MAVE(n_directions=k).fit(X, y)
    np.testing.assert_allclose(stability.loadings_, whole.loadings_, atol=1e-10)
    for count, angles in zip(stability._counts(y, 60), stability.angles_, strict=True):
        model = MAVE(n_directions=k).fit(X[count > 0], y[count > 0])
        span = np.linalg.qr((model.components_ * whole.scale_).T)[0].T
        sines = np.linalg.norm(whole.loadings_ - whole.loadings_ @ span.T @ span, axis=1)
        np.testing.assert_allclose(np.sin(np.radians(angles)), sines, atol=1e-7)
    assert stability.ladle_.shape == (4,)


def test_units_of_columns_do_not_matter():
    X, y = problem()
    model = RKHSWeightingRegressor(n_directions=1, alpha=0.1, random_state=0)
    one, other = (
        SubspaceStability(model, n_resamples=3, random_state=0).fit(Z, y)
        for Z in (X, X * [1e-3, 1.0, 50.0, 7.0] + 3.0)
    )
    np.testing.assert_allclose(one.intervals_, other.intervals_, atol=1e-7)
    np.testing.assert_allclose(one.angles_, other.angles_, atol=1e-5)


def test_neither_jobs_nor_a_second_fit_matter_and_inputs_stay():
    X, y = problem()
    before = X.copy(), y.copy()
    first = SubspaceStability(Slopes(), n_resamples=4, random_state=0).fit(X, y)
    with joblib.parallel_config(backend="threading"):
        again = clone(first).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(first.samples_, again.samples_)
    np.testing.assert_array_equal(first.fit(X, y).samples_, again.samples_)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_a_planted_direction_is_clear_and_noise_is_not():
    X, y = problem(n=200)
    found = SubspaceStability(Slopes(), n_resamples=60, random_state=0).fit(X, y)
    frame = found.to_frame()
    assert frame["clear"].tolist()[:2] == [True, True]
    assert found.angles_.mean() < 15.0
    assert found.eigenvalues_[0] > 0.9
    names = SubspaceStability(Slopes(), n_resamples=2).fit(pd.DataFrame(X, columns=[*"abcd"]), y)
    assert names.to_frame()["column"].tolist() == ["x0", "x1", "x2", "x3"]


def test_names_of_a_data_frame_are_those_of_the_learner():
    X, y = problem()
    model = RKHSWeightingRegressor(n_directions=1, alpha=0.1, random_state=0)
    found = SubspaceStability(model, n_resamples=2, random_state=0)
    frame = found.fit(pd.DataFrame(X, columns=[*"abcd"]), y).to_frame()
    assert frame["column"].tolist() == [*"abcd"]


def test_classes_stay_in_every_resample():
    # With two rows of a class a plain resample would miss it every seventh time.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.r_[np.zeros(28), np.ones(2)]
    X[y == 1] += 3.0
    model = RKHSWeightingClassifier(n_directions=1, alpha=0.1, random_state=0)
    found = SubspaceStability(model, n_resamples=10, random_state=0).fit(X, y)
    assert found.samples_.shape == (10, 1, 2)


def test_any_object_with_components_is_looked_at():
    X, _ = problem()
    found = SubspaceStability(PCA(2), n_resamples=4, random_state=0).fit(X)
    assert found.angles_.shape == (4, 2)
    assert not hasattr(found, "ladle_")
    basis = PCA(2).fit(X).components_ * X.std(axis=0)
    assert principal_angles(found.loadings_, basis).max() < 1e-7


def test_a_learner_that_finds_nothing_is_said_aloud():
    class Nothing(Slopes):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            if self.n_directions == "auto":
                self.components_ = self.components_[:0]
                self.component_importances_ = np.empty(0)
            return self

    X, y = problem()
    with pytest.warns(UserWarning, match="found no direction"):
        found = SubspaceStability(Nothing("auto"), n_resamples=2, random_state=0).fit(X, y)
    assert found.n_directions_ == 0
    assert found.intervals_.shape == (2, 0, 4)
    assert len(found.to_frame()) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "jackknife"}, "method must be one of 'bootstrap', 'folds'"),
        ({"n_resamples": 1}, "n_resamples must be an integer of at least 2"),
        ({"n_directions": 0}, "n_directions must be 'auto' or an integer"),
        ({"coverage": 1.0}, "coverage must be a number above 0 and below 1"),
        ({"n_jobs": 0}, "n_jobs must be None or a non-zero integer"),
        ({"method": "folds", "n_resamples": 61}, "at most the number of rows, 60"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(options, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        SubspaceStability(Slopes(), **options).fit(X, y)


def test_what_is_no_learner_is_refused_in_a_sentence():
    from sklearn.linear_model import LinearRegression

    X, y = problem()
    with pytest.raises(ValueError, match="LinearRegression has no components_"):
        SubspaceStability(LinearRegression()).fit(X, y)
    with pytest.raises(TypeError, match="estimator must have a method fit, got int"):
        SubspaceStability(3).fit(X, y)


CHECKED = SubspaceStability(
    RKHSWeightingRegressor(n_directions=1, alpha=0.1, random_state=0), n_resamples=2
)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(copy, check, id=check.func.__name__)
        for copy, check in estimator_checks_generator(CHECKED)
        # It skips itself unless SciPy was imported with SCIPY_ARRAY_API=1; X is passed on.
        if check.func.__name__ != "check_array_api_input"
    ],
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("method", "alone"), [("bootstrap", 0.2), ("folds", 0.15)])
def test_signs_of_noise_are_seldom_sure(method, alone):
    clear, outside = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((200, 6)), rng.standard_normal(200)
        found = SubspaceStability(Slopes(), method=method, n_resamples=30, random_state=0).fit(X, y)
        clear.append(found.clear_)
        low, high = found.intervals_
        outside.append((low > 0.0) | (high < 0.0))
    # The intervals alone leave out zero more often than in one of ten entries.
    assert np.mean(outside) > alone
    assert np.mean(clear) < 0.15
    X, y = problem(n=200)
    found = SubspaceStability(Slopes(), method=method, n_resamples=30, random_state=0).fit(X, y)
    assert found.reproducibility_[0] > 0.9
    assert found.clear_[0, :2].all()


def test_reproducibility_is_the_share_of_a_direction_that_is_not_noise():
    # Least squares in many columns, where lengths of noise hardly vary.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 40))
    slope = np.r_[1.0, np.zeros(39)]
    y = X @ slope + 2.0 * rng.standard_normal(400)
    for method, n_resamples in (("bootstrap", 40), ("folds", 40)):
        stability = SubspaceStability(Slopes(), method=method, n_resamples=n_resamples)
        found = stability.set_params(random_state=0).fit(X, y)
        truth = slope * found.estimator_.scale_ / np.linalg.norm(slope * found.estimator_.scale_)
        assert found.reproducibility_[0] == pytest.approx(
            (found.loadings_[0] @ truth) ** 2, abs=0.1
        )


def test_labels_of_a_transformer_stay_in_every_resample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.array(["a"] * 38 + ["b"] * 2)
    X[38:] += 3.0
    found = SubspaceStability(SIR(n_directions=1), n_resamples=12, random_state=0).fit(X, y)
    assert found.angles_.shape == (12, 1)
