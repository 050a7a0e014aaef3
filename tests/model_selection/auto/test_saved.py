"""Automatic estimators and prepared tables in files: the same predictions, board and stability."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import kernlens
from kernlens.model_selection.auto.transforms import LogTarget


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(80) < 0.1, np.nan, rng.normal(size=80)),
            "color": rng.choice(["red", "green"], 80),
            "town": rng.choice([f"t{k}" for k in range(12)], 80),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 80), unit="D"),
        }
    )
    return X, np.exp(X["size"].fillna(0.0) + (X["color"] == "red")).to_numpy()


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_an_automatic_estimator_comes_back_whole(table, task, tmp_path):
    X, y = table
    if task == "numbers":
        model = kernlens.AutoLensRegressor(time_budget=2, random_state=0, n_jobs=1).fit(X, y)
    else:
        labels = np.where(y > np.median(y), "high", "low")
        model = kernlens.AutoLensClassifier(time_budget=2, random_state=0, n_jobs=1).fit(X, labels)
    kernlens.save(model, tmp_path / "model.skops")
    again = kernlens.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    if task == "numbers":
        np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    else:
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    pd.testing.assert_frame_equal(again.leaderboard_, model.leaderboard_)
    assert again.explanation_ == model.explanation_
    assert (again.stability_ is None) == (model.stability_ is None)
    if model.stability_ is not None:
        pd.testing.assert_frame_equal(again.stability_.to_frame(), model.stability_.to_frame())
    assert str(again.table_.columns_) == str(model.table_.columns_)


def test_a_pipeline_with_prepared_tables_comes_back_whole(table, tmp_path):
    X, y = table
    steps = (
        kernlens.TablePreprocessor(random_state=0),
        kernlens.RKHSWeightingRegressor(random_state=0),
    )
    model = make_pipeline(*steps).fit(X, y)
    kernlens.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(
        kernlens.load(tmp_path / "model.skops").predict(X), model.predict(X)
    )


def test_logarithms_go_there_and_back():
    y = np.array([[0.5], [1.0], [30.0]])
    transformer = LogTarget().fit(y)
    np.testing.assert_array_equal(transformer.transform(y), np.log(y))
    np.testing.assert_allclose(transformer.inverse_transform(transformer.transform(y)), y)
