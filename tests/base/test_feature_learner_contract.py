"""What every feature learner offers beside predictions, for every public one."""

from __future__ import annotations

import io
import logging
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from families import ESTIMATORS, decision, family_of, having, known, light
from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.datasets import make_absolute_sum, make_absolute_sum_of_sines, make_two_sines
from kernlens.losses import HuberLoss
from kernlens.subspace import estimate_n_directions

LEARNERS = [public for public in ESTIMATORS if issubclass(public, FeatureLearnerMixin)]
NAMES = ["age", "height", "weight", "income"]
every = pytest.mark.parametrize("learner", LEARNERS)
bkernn = pytest.mark.parametrize("learner", [BKerNNRegressor, BKerNNClassifier])
in_every_variant = pytest.mark.parametrize(
    ("learner", "settings"),
    [
        pytest.param(learner, settings, id=f"{learner.__name__}-{k}")
        for learner in LEARNERS
        for k, settings in enumerate(family_of(learner).settings(learner))
    ],
)


def sample(learner, n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) * [1.0, 0.1, 30.0, 5.0] + [40.0, 1.7, 70.0, 0.0]
    y = np.abs(X[:, 0] - 40) + np.sin((X[:, 2] - 70) / 20) + 0.05 * rng.standard_normal(n)
    return X, (np.digitize(y, [0.7]) if is_classifier(learner()) else y)


def test_there_are_learners():
    assert {"BKerNNRegressor", "HKRRClassifier"} <= {learner.__name__ for learner in LEARNERS}


# Directions


def settings_of_directions():
    """Every variant as it is, and every number of directions, with and without units, once."""
    for learner in LEARNERS:
        for k, settings in enumerate(family_of(learner).settings(learner)):
            yield pytest.param(learner, settings, "auto", id=f"{learner.__name__}-{k}")
        for standardize in (True, False):
            for kept in (1, 2):
                settings = {**family_of(learner).light, "standardize": standardize}
                yield pytest.param(
                    learner, settings, kept, id=f"{learner.__name__}-{standardize}-{kept}"
                )


@pytest.mark.parametrize(("learner", "settings", "n_directions"), list(settings_of_directions()))
def test_directions_and_importances(learner, settings, n_directions):
    X, y = sample(learner)
    model = light(learner, **{**settings, "n_directions": n_directions}).fit(X, y)
    k = model.n_directions_
    assert k == n_directions if n_directions != "auto" else 0 <= k <= 4
    assert isinstance(k, int)
    assert model.components_.shape == (k, 4)
    loadings = model.components_ * model.scale_
    np.testing.assert_array_equal(model.loadings_, loadings)
    np.testing.assert_allclose(loadings @ loadings.T, np.eye(k), atol=1e-12)
    assert model.component_importances_.shape == (k,)
    assert np.all(np.diff(model.component_importances_) <= 0)
    assert model.feature_importances_.shape == (4,)
    for importances in (model.component_importances_, model.feature_importances_):
        assert np.all(importances >= 0)
        np.testing.assert_allclose(importances.sum(), 1.0 if len(importances) else 0.0, rtol=1e-12)
    expected = centered(model, X) @ model.components_.T
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-10, atol=1e-12)


@bkernn
@pytest.mark.parametrize("penalty", ["variable", "concave_variable"])
def test_penalties_of_variables_give_coordinate_axes(learner, penalty):
    X, y = sample(learner)
    model = light(learner, penalty=penalty, n_directions=4).fit(X, y)
    np.testing.assert_allclose(np.sort(np.abs(model.loadings_), axis=1), np.eye(4)[[3] * 4])
    axes = np.argmax(np.abs(model.components_), axis=1)
    assert sorted(axes) == [0, 1, 2, 3]
    np.testing.assert_allclose(
        model.component_importances_, model.feature_importances_[axes], rtol=1e-12
    )


@bkernn
def test_leading_direction_spans_the_particles_of_rank_one(learner):
    # All particles on one line, in the units of X: the component must be that line.
    X, y = sample(learner)
    line = np.array([1.0, -2.0, 0.5, 1.0])
    W = np.outer(np.linspace(-1, 1, 8), line)
    model = light(learner, init=W, optimizer="plain", max_iter=1, n_directions=1)
    model.fit(X, y)
    leading = np.linalg.svd(model.particles_ * X.std(axis=0))[2][0]
    assert abs(model.loadings_[0] @ leading) == pytest.approx(1.0, abs=1e-9)


def centered(model, X):
    return X - model.mean_


@every
def test_more_directions_than_columns_are_all_columns(learner):
    X, y = sample(learner)
    assert light(learner, n_directions=100).fit(X, y).components_.shape == (4, 4)
    if family_of(learner).narrow is not None:
        narrow = light(learner, n_directions=100, **family_of(learner).narrow)
        assert narrow.fit(X, y).components_.shape == (2, 4)


@every
def test_the_number_of_directions_kept_does_not_change_predictions(learner):
    X, y = sample(learner)
    few, many = light(learner, n_directions=1).fit(X, y), light(learner, n_directions=4).fit(X, y)
    np.testing.assert_array_equal(decision(few, X), decision(many, X))
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


@pytest.mark.parametrize(
    ("make", "noise", "k"),
    [
        (make_absolute_sum_of_sines, 0.0, 3),
        # Their sum explains 97 percent: with noise nothing else can be seen.
        (make_absolute_sum_of_sines, 0.3, 1),
        (make_two_sines, 0.0, 2),
        (make_two_sines, 0.3, 2),
        (make_absolute_sum, 0.0, 1),
        (make_absolute_sum, 0.3, 1),
    ],
)
def test_number_of_directions_of_planted_problems(make, noise, k):
    data = make(300, 10, noise=noise, random_state=1)
    model = BKerNNRegressor(n_particles=50, random_state=0).fit(data.X, data.y)
    assert model.n_directions_ == k


@every
def test_the_prediction_rises_along_every_direction(learner):
    X, y = sample(learner)
    model = light(learner, n_directions=3).fit(X, y)
    values = np.atleast_2d(decision(model, X).T)
    features = model.transform(X)
    together = (values - values.mean(axis=1, keepdims=True)) @ (features - features.mean(axis=0))
    for of_functions in together.T:
        assert of_functions[np.argmax(np.abs(of_functions))] >= 0.0


# Data frames


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_are_arrays_with_names(learner, frame):
    X, y = sample(learner)
    table = frame({name: X[:, a] for a, name in enumerate(NAMES)})
    model, plain = light(learner).fit(table, y), light(learner).fit(X, y)
    np.testing.assert_array_equal(decision(model, table), decision(plain, X))
    assert list(model.feature_names_in_) == NAMES
    assert not hasattr(plain, "feature_names_in_")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[NAMES[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@every
def test_series_and_frames_of_targets(learner):
    X, y = sample(learner)
    expected = decision(light(learner).fit(X, y), X)
    for series in (pd.Series(y, index=np.arange(40)[::-1]), pl.Series(y)):
        np.testing.assert_array_equal(decision(light(learner).fit(X, series), X), expected)
    weights = pd.Series(np.full(40, 2.0))
    assert np.isfinite(decision(light(learner).fit(X, y, sample_weight=weights), X)).all()


@every
@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_output_as_data_frames(learner, output, frame):
    X, y = sample(learner)
    model = light(learner, n_directions=2).set_output(transform=output).fit(X, y)
    table = model.transform(X)
    assert isinstance(table, frame)
    prefix = learner.__name__.lower()
    assert list(table.columns) == [f"{prefix}0", f"{prefix}1"]
    assert list(model.get_feature_names_out()) == list(table.columns)
    expected = centered(model, X) @ model.components_.T
    np.testing.assert_allclose(np.asarray(table), expected, rtol=1e-10, atol=1e-12)
    assert isinstance(light(learner).set_output(transform=output).fit_transform(X, y), frame)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_keeps_the_precision(learner, dtype):
    X, y = sample(learner)
    model = light(learner).fit(X.astype(dtype), y)
    assert model.transform(X.astype(dtype)).dtype == dtype


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_of_the_largest_numbers_is_finite(learner, dtype):
    X, y = sample(learner)
    model = light(learner).fit(X, y)
    far = np.full((2, X.shape[1]), np.finfo(dtype).max, dtype=dtype)
    far[1, ::2] *= -1
    assert np.isfinite(model.transform(far)).all()
    # Nothing else is cut off.
    expected = 1e300 * X @ model.components_.T
    np.testing.assert_allclose(model.transform(1e300 * X), expected, rtol=1e-12)


# Life of an estimator


@every
def test_as_a_step_of_a_pipeline(learner):
    X, y = sample(learner)
    learned = light(learner, n_directions=2)
    pipeline = make_pipeline(StandardScaler(), learned, LinearRegression()).fit(X, y)
    Z = learned.transform(pipeline[0].transform(X))
    assert Z.shape == (40, 2)
    np.testing.assert_allclose(pipeline.predict(X), LinearRegression().fit(Z, y).predict(Z))
    assert list(pipeline[:-1].get_feature_names_out()) == list(learned.get_feature_names_out())
    last = make_pipeline(StandardScaler(), light(learner)).fit(X, y)
    assert last.score(X, y) > 0.5


@every
def test_clone_and_parameters(learner):
    X, y = sample(learner)
    model = light(learner, **family_of(learner).objects).fit(X, y)
    copy = clone(model)
    assert sorted(vars(copy)) == sorted(copy.get_params())
    for name, value in model.get_params().items():
        other = copy.get_params()[name]
        assert np.array_equal(value, other) if isinstance(value, np.ndarray) else value == other
    np.testing.assert_array_equal(decision(copy.fit(X, y), X), decision(model, X))
    assert copy.set_params(n_directions=3).n_directions == 3


@every
def test_parameters_set_after_a_fit_wait_for_the_next(learner):
    X, y = sample(learner)
    model = light(learner).fit(X, y)
    before, projected = decision(model, X), model.transform(X)
    other = {**family_of(learner).objects, **known(learner, alpha=7.0)}
    model.set_params(**other, standardize=False, n_directions=1)
    np.testing.assert_array_equal(decision(model, X), before)
    np.testing.assert_array_equal(model.transform(X), projected)


@every
def test_inputs_are_left_alone(learner):
    X, y = sample(learner)
    weights = np.linspace(0.0, 2.0, len(X))
    objects = family_of(learner).objects
    given = [value for value in objects.values() if isinstance(value, np.ndarray)]
    held = [X, y, weights, *given]
    copies = [array.copy() for array in held]
    for array in held:
        array.flags.writeable = False
    try:
        decision(light(learner, **objects).fit(X, y, sample_weight=weights), X)
    finally:
        for array in given:
            array.flags.writeable = True
    for array, copy in zip(held, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@every
def test_refit_with_other_columns(learner):
    X, y = sample(learner)
    model = light(learner).fit(X, y).fit(X[:, :2], y)
    fresh = light(learner).fit(X[:, :2], y)
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(decision(model, X[:, :2]), decision(fresh, X[:, :2]))


@pytest.mark.parametrize("learner", having("alpha"))
def test_a_refit_leaves_nothing_of_the_last_one(learner):
    X, y = sample(learner)
    model = light(learner, alpha="auto").fit(X, y)
    assert hasattr(model, "alpha_search_")
    model.set_params(**family_of(learner).light).fit(X, y)
    assert sorted(vars(model)) == sorted(vars(light(learner).fit(X, y)))


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(decision(one, X), decision(other, X))
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    if hasattr(one, "partial_functions"):
        np.testing.assert_array_equal(
            one.partial_functions(20).values, other.partial_functions(20).values
        )
    assert sorted(vars(one)) == sorted(vars(other))


@in_every_variant
def test_pickle(learner, settings):
    X, y = sample(learner)
    model = light(learner, **settings).fit(X, y)
    assert_same_model(pickle.loads(pickle.dumps(model)), model, X)


@every
def test_skops_needs_no_trust_for_a_default_model(learner):
    X, y = sample(learner)
    model = light(learner).fit(X, y)
    stored = skops.io.dumps(model)
    untrusted = skops.io.get_untrusted_types(data=stored)
    assert untrusted == [f"{learner.__module__}.{learner.__name__}"]
    assert_same_model(skops.io.loads(stored, trusted=untrusted), model, X)


@every
def test_skops_with_objects_as_parameters(learner):
    X, y = sample(learner)
    options = dict(family_of(learner).objects)
    if learner is BKerNNRegressor:
        options["loss"] = HuberLoss(0.5)
    model = light(learner, **options)
    stored = skops.io.dumps(model.fit(X, y))
    untrusted = skops.io.get_untrusted_types(data=stored)
    assert all(name.startswith("kernlens.") for name in untrusted)
    loaded = skops.io.loads(stored, trusted=untrusted)
    assert_same_model(loaded, model, X)
    np.testing.assert_array_equal(decision(loaded.fit(X, y), X), decision(model, X))


@every
@pytest.mark.parametrize("terminal", [True, False])
def test_verbose_shows_stages_and_changes_nothing(learner, terminal, capsys, caplog, monkeypatch):
    X, y = sample(learner)
    quiet = light(learner).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with caplog.at_level(logging.INFO, logger="kernlens"):
        loud = light(learner, verbose=True).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    shown, silent = (captured.err, caplog.text) if terminal else (caplog.text, captured.err)
    assert learner.__name__ in shown
    assert "objective" in shown
    assert silent == ""
    np.testing.assert_array_equal(decision(loud, X), decision(quiet, X))


@every
def test_models_are_no_larger_than_promised(learner):
    X, y = sample(learner)
    buffer = io.BytesIO()
    pickle.dump(light(learner).fit(X, y), buffer)
    assert buffer.tell() < family_of(learner).model_bytes + 6000
