"""Numbers about fitted models, against models whose functions are known in closed form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.inspection import (
    ScoreComparison,
    alpha_search,
    column_profile,
    compare_scores,
    direction_profile,
    summarize_directions,
)

RNG = np.random.default_rng(0)
# Correlated columns of very different units.
X = RNG.normal(size=(60, 4)) @ RNG.normal(size=(4, 4)) * [1.0, 100.0, 0.01, 3.0]
COMPONENTS = np.linalg.qr(RNG.normal(size=(4, 2)))[0].T


class TwoRidges(RegressorMixin, BaseEstimator):
    """Prediction f(z_0) + g(z_1) with z the coordinates along two given directions."""

    def __init__(self, components: np.ndarray = COMPONENTS) -> None:
        self.components = components
        self.components_ = self.loadings_ = components
        self.n_features_in_ = components.shape[1]
        self.component_importances_ = np.array([0.7, 0.3])
        self.feature_importances_ = np.array([0.1, 0.2, 0.6, 0.1])

    def fit(self, X: np.ndarray, y: np.ndarray) -> TwoRidges:
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X @ self.components.T

    def predict(self, X: np.ndarray) -> np.ndarray:
        z = self.transform(X)
        return np.tanh(z[:, 0]) + z[:, 1] ** 2


def test_direction_profile_of_an_additive_model_is_its_function_and_a_constant() -> None:
    model = TwoRidges()
    z = model.transform(X)
    y = RNG.normal(size=len(X))
    first = direction_profile(model, X, y, direction=0)
    np.testing.assert_allclose(first.mean, np.tanh(first.grid) + np.mean(z[:, 1] ** 2), rtol=1e-9)
    low, high = np.percentile(z[:, 1] ** 2, [10, 90])
    np.testing.assert_allclose(first.low, np.tanh(first.grid) + low, rtol=1e-9)
    np.testing.assert_allclose(first.high, np.tanh(first.grid) + high, rtol=1e-9)
    second = direction_profile(model, X, y, direction=1)
    expected = second.grid**2 + np.mean(np.tanh(z[:, 0]))
    np.testing.assert_allclose(second.mean, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(second.positions, z[:, 1])
    np.testing.assert_array_equal(second.observed, y)
    assert (second.grid[0], second.grid[-1]) == (z[:, 1].min(), z[:, 1].max())


def test_direction_profile_moves_evenly_spaced_rows_only() -> None:
    model = TwoRidges()
    profile = direction_profile(model, X, X[:, 0], max_rows=2)
    ends = model.transform(X[[0, -1]])[:, 1] ** 2
    np.testing.assert_allclose(profile.mean, np.tanh(profile.grid) + ends.mean(), rtol=1e-9)
    assert len(profile.positions) == len(X)


def test_direction_profile_moves_rows_the_way_the_data_move() -> None:
    # A column that follows the direction but is no part of it moves along: here x1 = 2 x0.
    x0 = np.linspace(-1.0, 1.0, 50)
    rows = np.column_stack([x0, 2.0 * x0])
    model = DummyRegressor().fit(rows, x0)
    model.transform, model.predict = lambda X: X[:, :1], lambda X: X[:, 1]
    profile = direction_profile(model, rows, x0)
    np.testing.assert_allclose(profile.mean, 2.0 * profile.grid, atol=1e-12)


def test_direction_profile_refuses_a_direction_that_was_not_kept() -> None:
    with pytest.raises(ValueError, match="direction must be 0 to 1"):
        direction_profile(TwoRidges(), X, X[:, 0], direction=2)


def test_profile_of_a_class_is_its_probability() -> None:
    rows = RNG.normal(size=(80, 3))
    labels = np.where(rows[:, 0] > 0, "yes", "no")
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    model = BKerNNClassifier(alpha=0.02, n_particles=8, random_state=0).fit(frame, labels)
    last = direction_profile(model, frame, labels)
    first = direction_profile(model, frame, labels, target="no")
    np.testing.assert_allclose(last.mean + first.mean, 1.0)
    np.testing.assert_array_equal(last.observed, labels == "yes")
    assert last.response_name == "P(y = yes)"
    with pytest.raises(ValueError, match="one of the classes"):
        direction_profile(model, frame, labels, target="maybe")


@pytest.mark.filterwarnings("error")
def test_a_model_fitted_on_a_frame_is_profiled_without_warnings() -> None:
    rows = pd.DataFrame(RNG.normal(size=(40, 2)), columns=["a", "b"])
    model = BKerNNRegressor(alpha=0.1, n_particles=5, random_state=0).fit(rows, rows["a"])
    model.set_output(transform="pandas")
    profile = direction_profile(model, rows, rows["a"])
    assert np.isfinite(profile.mean).all()
    assert column_profile(model, rows, rows["a"]).name == "a"


def test_several_targets_are_looked_at_one_by_one() -> None:
    rows = RNG.normal(size=(50, 2))
    targets = np.column_stack([rows[:, 0], -3.0 * rows[:, 0]])
    model = BKerNNRegressor(alpha=0.01, n_particles=5, n_directions=1, random_state=0)
    model.fit(rows, targets)
    first = direction_profile(model, rows, targets)
    second = direction_profile(model, rows, targets, target=1)
    np.testing.assert_allclose(second.mean, -3.0 * first.mean, atol=1e-6 * np.ptp(second.mean))
    np.testing.assert_array_equal(second.observed, targets[:, 1])
    with pytest.raises(ValueError, match="column of y, 0 to 1"):
        direction_profile(model, rows, targets, target=2)
    with pytest.raises(ValueError, match="leave it out"):
        direction_profile(TwoRidges(), X, X[:, 0], target=0)


def test_column_profile_takes_the_most_important_column() -> None:
    profile = column_profile(TwoRidges(), X, X[:, 0])
    assert profile.name == "x2"
    np.testing.assert_array_equal(profile.positions, X[:, 2])
    named = column_profile(TwoRidges(), X, X[:, 0], column=1, feature_names=list("abcd"))
    assert named.name == "b"


@pytest.mark.parametrize("standardize", [True, False])
def test_a_summary_has_the_loadings_of_the_model(standardize: bool) -> None:
    rows = X - X.mean(axis=0)
    model = BKerNNRegressor(alpha=0.1, n_particles=5, standardize=standardize, random_state=0)
    summary = summarize_directions(model.fit(rows, rows[:, 2]))
    np.testing.assert_array_equal(summary.loadings, model.components_ * model.scale_)
    np.testing.assert_allclose(np.linalg.norm(summary.loadings, axis=1), 1.0)
    assert summary.standardized == standardize
    np.testing.assert_array_equal(summary.feature_importances, model.feature_importances_)


def test_strongest_columns_come_in_order_of_size_with_their_signs() -> None:
    model = TwoRidges(np.array([[0.1, -0.7, 0.5, 0.0]]))
    summary = summarize_directions(model, feature_names=["a", "b", "c", "d"])
    assert summary.strongest(0, 2) == [("b", -0.7), ("c", 0.5)]
    with pytest.raises(ValueError, match="one name per column"):
        summarize_directions(model, feature_names=["a"])


def test_alpha_search_is_sorted_and_absent_when_alpha_is_given() -> None:
    rows = RNG.normal(size=(45, 2))
    model = BKerNNRegressor(n_particles=5, random_state=0).fit(rows, rows[:, 0])
    search = alpha_search(model)
    assert search is not None
    assert np.all(np.diff(search.alphas) > 0)
    tried = dict(zip(model.alpha_search_["alpha"], model.alpha_search_["loss"], strict=True))
    assert [tried[alpha] for alpha in search.alphas] == list(search.losses)
    assert search.chosen == model.alpha_
    assert alpha_search(model.set_params(alpha=0.5).fit(rows, rows[:, 0])) is None


def test_scores_are_those_of_cross_validation_on_the_same_folds() -> None:
    rows = RNG.normal(size=(40, 3))
    y = rows @ [1.0, 2.0, 0.0] + 0.1 * RNG.normal(size=40)
    models = {"line": LinearRegression(), "mean": DummyRegressor()}
    folds = KFold(4, shuffle=True, random_state=3)
    fits: list[str] = []
    comparison = compare_scores(models, rows, y, cv=folds, progress=fits.append)
    for name, model in models.items():
        expected = cross_val_score(model, rows, y, cv=folds)
        np.testing.assert_allclose(comparison.scores[name], expected)
    assert fits == ["line"] * 4 + ["mean"] * 4
    # A splitter that draws anew at every call must be asked once only.
    drawing = KFold(4, shuffle=True, random_state=np.random.RandomState(0))
    twins = {"one": LinearRegression(), "two": LinearRegression()}
    scores = compare_scores(twins, rows, y, cv=drawing).scores
    np.testing.assert_array_equal(scores["one"], scores["two"])


def test_folds_of_classifiers_are_stratified() -> None:
    rows = RNG.normal(size=(30, 2))
    labels = np.repeat([0, 1, 2], 10)
    scores = compare_scores({"logistic": LogisticRegression()}, rows, labels, cv=3).scores
    expected = cross_val_score(LogisticRegression(), rows, labels, cv=StratifiedKFold(3))
    np.testing.assert_allclose(scores["logistic"], expected)


def test_difference_is_paired() -> None:
    comparison = ScoreComparison(
        {
            "a": np.array([0.1, 0.5, 0.9]),
            "b": np.array([0.0, 0.4, 0.8]),
            "c": np.array([0.3, 0.3, 0.3]),
        }
    )
    gain, error = comparison.difference("a", "b")
    assert gain == pytest.approx(0.1)
    assert error == pytest.approx(0.0, abs=1e-15)
    assert comparison.best_of_others("a") == "b"
    gain, error = comparison.difference("a", "c")
    assert error == pytest.approx(0.4 / np.sqrt(3))
