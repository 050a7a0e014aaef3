"""What every feature learner offers beside predictions, for every public one."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernlens
from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.base import FeatureLearnerMixin, estimate_n_directions, fix_signs
from kernlens.datasets import make_absolute_sum, make_absolute_sum_of_sines, make_two_sines
from kernlens.losses import HuberLoss
from kernlens.penalties import PENALTIES, ConcaveFeaturePenalty

LEARNERS = [
    public
    for public in (getattr(kernlens, name) for name in kernlens.__all__)
    if isinstance(public, type) and issubclass(public, FeatureLearnerMixin)
]
FAST = {
    BKerNNRegressor: {"alpha": 0.02, "n_particles": 8, "max_iter": 5, "n_jobs": 1},
    BKerNNClassifier: {"alpha": 0.02, "n_particles": 8, "max_iter": 5, "n_jobs": 1},
}
NAMES = ["age", "height", "weight", "income"]
every = pytest.mark.parametrize("learner", LEARNERS)


def sample(learner, n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) * [1.0, 0.1, 30.0, 5.0] + [40.0, 1.7, 70.0, 0.0]
    y = np.abs(X[:, 0] - 40) + np.sin((X[:, 2] - 70) / 20) + 0.05 * rng.standard_normal(n)
    return X, (np.digitize(y, [0.7]) if is_classifier(learner()) else y)


def make(learner, **options):
    return learner(**{**FAST.get(learner, {}), "random_state": 0, **options})


def scores(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def test_there_are_learners():
    assert {BKerNNRegressor, BKerNNClassifier} <= set(LEARNERS)
    assert all(issubclass(learner, BaseEstimator) for learner in LEARNERS)


# Directions


@every
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("n_directions", ["auto", 1, 3])
@pytest.mark.parametrize("standardize", [True, False])
def test_directions_and_importances(learner, penalty, n_directions, standardize):
    X, y = sample(learner)
    options = {"penalty": penalty, "n_directions": n_directions, "standardize": standardize}
    model = make(learner, **options).fit(X, y)
    k = model.n_directions_
    assert k == n_directions if n_directions != "auto" else 1 <= k <= 4
    assert isinstance(k, int)
    assert model.components_.shape == (k, 4)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(k), atol=1e-12)
    largest = np.argmax(np.abs(model.components_), axis=1)
    assert np.all(model.components_[np.arange(k), largest] > 0)
    assert model.component_importances_.shape == (k,)
    assert np.all(np.diff(model.component_importances_) <= 0)
    assert model.feature_importances_.shape == (4,)
    for importances in (model.component_importances_, model.feature_importances_):
        assert np.all(importances >= 0)
        np.testing.assert_allclose(importances.sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T, rtol=1e-12)


@every
@pytest.mark.parametrize("penalty", ["variable", "concave_variable"])
def test_penalties_of_variables_give_coordinate_axes(learner, penalty):
    X, y = sample(learner)
    model = make(learner, penalty=penalty, n_directions=4).fit(X, y)
    np.testing.assert_array_equal(np.sort(model.components_, axis=1), np.eye(4)[[3] * 4])
    axes = np.argmax(model.components_, axis=1)
    assert sorted(axes) == [0, 1, 2, 3]
    np.testing.assert_allclose(
        model.component_importances_, model.feature_importances_[axes], rtol=1e-12
    )


@every
def test_leading_direction_spans_the_particles_of_rank_one(learner):
    # All particles on one line, in the units of X: the component must be that line.
    X, y = sample(learner)
    line = np.array([1.0, -2.0, 0.5, 1.0])
    W = np.outer(np.linspace(-1, 1, 8), line)
    model = make(learner, init=W, optimizer="plain", max_iter=1, n_directions=1)
    model.fit(X, y)
    leading = np.linalg.svd(model.particles_ * X.std(axis=0))[2][0] / X.std(axis=0)
    leading /= np.linalg.norm(leading)
    assert abs(model.components_[0] @ leading) == pytest.approx(1.0, abs=1e-9)


@every
def test_more_directions_than_columns_are_all_columns(learner):
    X, y = sample(learner)
    assert make(learner, n_directions=100).fit(X, y).components_.shape == (4, 4)
    assert make(learner, n_directions=100, n_particles=2).fit(X, y).components_.shape == (2, 4)


@every
def test_the_number_of_directions_kept_does_not_change_predictions(learner):
    X, y = sample(learner)
    few, many = make(learner, n_directions=1).fit(X, y), make(learner, n_directions=4).fit(X, y)
    np.testing.assert_array_equal(scores(few, X), scores(many, X))
    np.testing.assert_allclose(few.components_, many.components_[:1], atol=1e-12)


@pytest.mark.parametrize(
    ("importances", "n_features", "expected"),
    [
        ([1.0], 1, 1),
        ([1.0, 0.0], 2, 1),
        ([1.0, 1.0], 2, 2),
        # Few columns: a tenth is asked for. 1 / 10 is just enough, 1 / 10.5 is not.
        ([9.0, 1.0], 2, 2),
        ([9.5, 1.0], 2, 1),
        # Many columns: an even share, here 1 / 40.
        ([0.95, 0.026, 0.024], 40, 2),
        # No direction has it: the first is kept all the same.
        ([0.5, 0.5, 0.5], 10, 3),
        ([1e-3] * 40, 39, 1),
        ([0.0, 0.0], 2, 1),
        ([], 3, 0),
    ],
)
def test_directions_are_kept_for_their_share_of_the_importance(importances, n_features, expected):
    assert estimate_n_directions(np.array(importances), n_features) == expected


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(
    ("make", "k"), [(make_absolute_sum_of_sines, 3), (make_two_sines, 2), (make_absolute_sum, 1)]
)
def test_number_of_directions_of_planted_problems(make, k, noise):
    data = make(300, 10, noise=noise, random_state=1)
    model = BKerNNRegressor(n_particles=50, random_state=0).fit(data.X, data.y)
    assert model.n_directions_ == k


def test_signs_are_fixed_by_the_largest_entry():
    rows = np.array([[1.0, -2.0], [3.0, -2.0], [0.0, 0.0], [-1.0, 0.5]])
    expected = np.array([[-1.0, 2.0], [3.0, -2.0], [0.0, 0.0], [1.0, -0.5]])
    np.testing.assert_array_equal(fix_signs(rows), expected)
    np.testing.assert_array_equal(rows[0], [1.0, -2.0])


# Data frames


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_are_arrays_with_names(learner, frame):
    X, y = sample(learner)
    table = frame({name: X[:, a] for a, name in enumerate(NAMES)})
    model, plain = make(learner).fit(table, y), make(learner).fit(X, y)
    np.testing.assert_array_equal(scores(model, table), scores(plain, X))
    assert list(model.feature_names_in_) == NAMES
    assert not hasattr(plain, "feature_names_in_")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[NAMES[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@every
def test_series_and_frames_of_targets(learner):
    X, y = sample(learner)
    expected = scores(make(learner).fit(X, y), X)
    for series in (pd.Series(y, index=np.arange(40)[::-1]), pl.Series(y)):
        np.testing.assert_array_equal(scores(make(learner).fit(X, series), X), expected)
    weights = pd.Series(np.full(40, 2.0))
    assert np.isfinite(scores(make(learner).fit(X, y, sample_weight=weights), X)).all()


@every
@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_output_as_data_frames(learner, output, frame):
    X, y = sample(learner)
    model = make(learner, n_directions=2).set_output(transform=output).fit(X, y)
    table = model.transform(X)
    assert isinstance(table, frame)
    prefix = learner.__name__.lower()
    assert list(table.columns) == [f"{prefix}0", f"{prefix}1"]
    assert list(model.get_feature_names_out()) == list(table.columns)
    np.testing.assert_allclose(np.asarray(table), X @ model.components_.T, rtol=1e-12)
    assert isinstance(make(learner).set_output(transform=output).fit_transform(X, y), frame)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_keeps_the_precision(learner, dtype):
    X, y = sample(learner)
    model = make(learner).fit(X.astype(dtype), y)
    assert model.transform(X.astype(dtype)).dtype == dtype


# Life of an estimator


@every
def test_as_a_step_of_a_pipeline(learner):
    X, y = sample(learner)
    learned = make(learner, n_directions=2)
    pipeline = make_pipeline(StandardScaler(), learned, LinearRegression()).fit(X, y)
    Z = learned.transform(pipeline[0].transform(X))
    assert Z.shape == (40, 2)
    np.testing.assert_allclose(pipeline.predict(X), LinearRegression().fit(Z, y).predict(Z))
    assert list(pipeline[:-1].get_feature_names_out()) == list(learned.get_feature_names_out())
    last = make_pipeline(StandardScaler(), make(learner)).fit(X, y)
    assert last.score(X, y) > 0.5


@every
def test_clone_and_parameters(learner):
    X, y = sample(learner)
    W = np.random.default_rng(0).standard_normal((8, 4))
    model = make(learner, penalty=ConcaveFeaturePenalty(s=2.0), init=W).fit(X, y)
    copy = clone(model)
    assert not hasattr(copy, "particles_")
    for name, value in model.get_params().items():
        other = copy.get_params()[name]
        assert np.array_equal(value, other) if name == "init" else value == other
    np.testing.assert_array_equal(scores(copy.fit(X, y), X), scores(model, X))
    assert copy.set_params(n_particles=3).n_particles == 3


@every
def test_refit_with_other_columns(learner):
    X, y = sample(learner)
    model = make(learner).fit(X, y).fit(X[:, :2], y)
    fresh = make(learner).fit(X[:, :2], y)
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(scores(model, X[:, :2]), scores(fresh, X[:, :2]))


@every
def test_a_refit_leaves_nothing_of_the_last_one(learner):
    X, y = sample(learner)
    model = make(learner, alpha="auto").fit(X, y)
    assert hasattr(model, "alpha_search_")
    model.set_params(alpha=0.02).fit(X, y)
    assert sorted(vars(model)) == sorted(vars(make(learner).fit(X, y)))


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(scores(one, X), scores(other, X))
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    np.testing.assert_array_equal(
        one.partial_functions(20).values, other.partial_functions(20).values
    )
    assert sorted(vars(one)) == sorted(vars(other))


@every
@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
def test_pickle(learner, kernel):
    X, y = sample(learner)
    model = make(learner, kernel=kernel).fit(X, y)
    assert_same_model(pickle.loads(pickle.dumps(model)), model, X)


@every
def test_skops_needs_no_trust_for_a_default_model(learner):
    X, y = sample(learner)
    model = make(learner).fit(X, y)
    stored = skops.io.dumps(model)
    untrusted = skops.io.get_untrusted_types(data=stored)
    assert untrusted == [f"{learner.__module__}.{learner.__name__}"]
    assert_same_model(skops.io.loads(stored, trusted=untrusted), model, X)


def test_skops_with_objects_as_parameters():
    X, y = sample(BKerNNRegressor)
    model = make(BKerNNRegressor, penalty=ConcaveFeaturePenalty(s=2.0), loss=HuberLoss(0.5))
    stored = skops.io.dumps(model.fit(X, y))
    untrusted = skops.io.get_untrusted_types(data=stored)
    assert all(name.startswith("kernlens.") for name in untrusted)
    loaded = skops.io.loads(stored, trusted=untrusted)
    assert_same_model(loaded, model, X)
    np.testing.assert_array_equal(loaded.fit(X, y).predict(X), model.predict(X))


@every
def test_verbose_shows_stages_and_changes_nothing(learner, capsys):
    X, y = sample(learner)
    quiet = make(learner).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    loud = make(learner, verbose=True).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert learner.__name__ in captured.err
    assert "objective" in captured.err
    np.testing.assert_array_equal(scores(loud, X), scores(quiet, X))


@every
def test_models_are_no_larger_than_promised(learner):
    # Notes of the docstring: (8 + 8 n_targets) n n_particles bytes.
    X, y = sample(learner)
    buffer = io.BytesIO()
    pickle.dump(make(learner).fit(X, y), buffer)
    assert buffer.tell() < 16 * 40 * 8 + 6000
