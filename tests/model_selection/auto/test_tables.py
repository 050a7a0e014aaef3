"""Awkward tables in one line: gaps, text, dates, a constant, an identifier and 500 levels of noise.

Nothing of the rows left out may be learned from.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline

import kernlens
from kernlens import (
    AutoLensClassifier,
    AutoLensRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
    TablePreprocessor,
    report,
)
from kernlens.inspection import summarize_directions
from kernlens.inspection._unwrapped import unwrap
from kernlens.model_selection.auto import classifier as classifier_module
from kernlens.model_selection.auto import regressor as regressor_module
from kernlens.model_selection.auto.candidates import Candidate
from kernlens.model_selection.auto.splits import prepared
from kernlens.model_selection.auto.stacking import Stacker
from kernlens.model_selection.auto.transforms import ClippedColumns, LogTarget
from kernlens.plotting import DirectionsDisplay
from kernlens.reporting import summarize

pytestmark = pytest.mark.usefixtures("short_portfolios")
N_TRAIN = 400


def awkward(n_rows=N_TRAIN + 300, seed=0):
    """A table of which number, colour, city and when matter."""
    rng = np.random.default_rng(seed)
    number, other = rng.standard_normal((2, n_rows))
    colour = rng.choice(["red", "blue", "green"], n_rows)
    city = rng.integers(0, 30, n_rows)
    days = rng.integers(0, 1000, n_rows)
    y = 1.5 * np.sin(number) + (colour == "red") + 0.08 * city + days / 500.0
    y += 0.2 * rng.standard_normal(n_rows)
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")
    X = pd.DataFrame(
        {
            "number": number,
            "other": other,
            "colour": colour,
            "city": [f"city {k}" for k in city],
            "when": when,
            "said": rng.permutation(when.strftime("%Y-%m-%d")),
            "constant": "same",
            "customer_id": rng.permutation(10 * n_rows)[:n_rows],
            "noise": [f"level {k}" for k in rng.integers(0, 500, n_rows)],
        }
    )
    for column in ("number", "other", "colour", "when", "noise"):
        X.loc[rng.random(n_rows) < 0.1, column] = None
    return X, y


MATTER = ["number", "colour", "city", "when"]


def by_column(model):
    return dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))


def check_columns(model, X):
    """What is said of the columns of the user."""
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.n_features_in_ == X.shape[1]
    importances = by_column(model)
    assert sum(importances.values()) == pytest.approx(1.0)
    assert importances["constant"] == importances["customer_id"] == 0.0
    assert importances["noise"] < 0.02
    assert min(importances[name] for name in ("number", "city", "when")) > 0.1
    for word in ("constant (constant)", "customer_id (identifier)"):
        assert word in model.explanation_
    names = [str(name) for name in model.table_.get_feature_names_out()]
    assert model.components_.shape == (model.n_directions_, len(names))
    frame = model.directions_frame()
    assert set(frame.index) == {"(importance)", *names}
    own = model.columns_frame()
    assert set(own.index) == {"(importance)", *X.columns}
    shares = own.drop(index="(importance)").drop(columns="importance")
    np.testing.assert_allclose(shares.sum(), 1.0)


def test_regression_in_one_line():
    X, y = awkward()
    given = X.copy()
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X[:N_TRAIN], y[:N_TRAIN])
    pd.testing.assert_frame_equal(X, given)
    new, truth = X[N_TRAIN:], y[N_TRAIN:]
    score = model.score(new, truth)
    assert score > 0.6
    assert model.best_score_ == pytest.approx(score, abs=0.12)
    check_columns(model, X)
    expected = model.predict(new)
    for other in (pl.from_pandas(new), pl.from_pandas(new).to_arrow()):
        np.testing.assert_allclose(model.predict(other), expected)
        np.testing.assert_allclose(model.transform(other), model.transform(new))
    low, high = model.predict_interval(new).T
    assert 0.8 < np.mean((low <= truth) & (truth <= high)) < 0.97


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification_in_one_line(n_classes):
    X, y = awkward()
    edges = np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1])
    labels = np.array(["low", "middle", "high"])[np.searchsorted(edges, y)]
    model = AutoLensClassifier(random_state=0, n_jobs=1).fit(X[:N_TRAIN], labels[:N_TRAIN])
    assert model.score(X[N_TRAIN:], labels[N_TRAIN:]) > (0.8 if n_classes == 2 else 0.6)
    check_columns(model, X)
    np.testing.assert_allclose(model.predict_proba(pl.from_pandas(X)).sum(axis=1), 1.0)


def test_polars_and_arrow_give_the_model_of_pandas():
    X, y = awkward(150)
    frames = [X, pl.from_pandas(X), pl.from_pandas(X).to_arrow()]
    found = [
        AutoLensRegressor(random_state=0, n_jobs=1).fit(frame, y).predict(X) for frame in frames
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0])


def test_noise_scores_nothing():
    """Levels of 2 or 3 rows each, whose means of y would tell all of y if rows saw themselves."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"noise": [f"l{k}" for k in rng.integers(0, 100, 250)], "x": rng.standard_normal(250)}
    )
    y = rng.standard_normal(250)
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y)
    assert model.best_score_ < 0.05


def test_rows_left_out_change_nothing_of_what_is_learned_from():
    X, y = awkward(150)
    train, test = np.arange(100), np.arange(100, 150)
    table = TablePreprocessor(random_state=0)
    before = prepared([(train, test)], table, X, y)[0]
    changed, y_changed = X.copy(), y.copy()
    changed.loc[test, "number"] = np.nan
    changed.loc[test, "city"] = "elsewhere"
    changed.loc[test, "when"] = pd.Timestamp("1980-01-01")
    y_changed[test] = 1e6
    after = prepared([(train, test)], table, changed, y_changed)[0]
    np.testing.assert_array_equal(after.X, before.X)
    assert after.names == before.names


def test_importances_select_columns_of_the_user():
    X, y = awkward(200)
    selector = SelectFromModel(AutoLensRegressor(random_state=0, n_jobs=1), threshold=0.05)
    selector.fit(X, y)
    chosen = set(X.columns[selector.get_support()])
    assert {"number", "city", "when"} <= chosen
    assert not chosen & {"constant", "customer_id", "noise"}


def test_rows_of_no_weight_and_groups_of_a_table():
    X, y = awkward(160)
    weights = np.r_[np.ones(120), np.zeros(40)]
    groups = np.arange(160) // 4
    one = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y, weights, groups)
    two = AutoLensRegressor(random_state=0, n_jobs=1).fit(
        pl.from_pandas(X[:120]), y[:120], np.ones(120), groups[:120]
    )
    np.testing.assert_allclose(one.predict(X), two.predict(X))


def test_inspection_sees_the_prepared_columns():
    X, y = awkward(150)
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y)
    names = tuple(model.table_.get_feature_names_out())
    summary = summarize_directions(model)
    assert summary.feature_names == names
    np.testing.assert_array_equal(summary.feature_importances, model.output_importances_)
    seen = unwrap(model, X)
    assert seen.feature_names == names
    np.testing.assert_allclose(seen.model.predict(seen.rows), model.predict(X))
    np.testing.assert_allclose(seen.model.transform(seen.rows), model.transform(X))
    display = DirectionsDisplay.from_estimator(model, X, y)
    assert display.figure_ is not None
    pyplot.close("all")


def test_new_rows_with_other_columns_are_refused():
    X, y = awkward(100)
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="'number' is absent"):
        model.predict(X.rename(columns={"number": "numbers"}))
    with pytest.raises(ValueError, match="had values of kind number"):
        model.predict(X.assign(number="much"))


@pytest.mark.parametrize("classes", [False, True])
def test_models_of_mixed_tables_predict_the_same_from_a_file(classes, tmp_path, monkeypatch):
    """Also with members of transformed columns and targets."""
    kind, module = (
        (AutoLensClassifier, classifier_module)
        if classes
        else (AutoLensRegressor, regressor_module)
    )
    name = "CLASSIFIERS" if classes else "REGRESSORS"
    machine, line = _light_machine(classes), getattr(module, name)[0]
    portfolio = (machine, _clipped(machine), line)
    if not classes:
        portfolio = (*portfolio, _logarithmic(machine))
    monkeypatch.setattr(module, name, portfolio)
    monkeypatch.setattr(Stacker, "best", lambda self: self.of(range(len(self.predictions))))
    X, y = awkward(150)
    y = np.where(y > np.median(y), "high", "low") if classes else np.exp(y)
    model = kind(random_state=0, n_jobs=1, include_trees=True).fit(X, y)
    assert len(model.members_) > 1
    kernlens.save(model, tmp_path / "model.skops")
    again = kernlens.load(tmp_path / "model.skops")
    new = awkward(60, seed=1)[0]
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    if classes:
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    else:
        np.testing.assert_array_equal(again.predict_interval(new), model.predict_interval(new))
    assert again.explanation_ == model.explanation_
    pd.testing.assert_frame_equal(again.leaderboard_, model.leaderboard_)
    pd.testing.assert_frame_equal(again.stability_.to_frame(), model.stability_.to_frame())


def _light_machine(classes):
    machine = RKHSWeightingClassifier if classes else RKHSWeightingRegressor
    return Candidate(
        "machine",
        lambda k, seed: machine(n_random_features=60, n_directions=k, random_state=seed),
    )


def _clipped(machine):
    return Candidate(
        "clipped", lambda k, seed: make_pipeline(ClippedColumns(), machine.make(k, seed))
    )


def _logarithmic(machine):
    return Candidate(
        "logarithmic",
        lambda k, seed: TransformedTargetRegressor(machine.make(k, seed), transformer=LogTarget()),
    )


def test_more_columns_than_can_be_learned_from(tmp_path, monkeypatch):
    monkeypatch.setattr("kernlens.model_selection.auto.estimator.MOST_COLUMNS", 20)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 200))
    y = 2.0 * X[:, 5] + np.abs(X[:, 9]) + 0.1 * rng.standard_normal(120)
    model = AutoLensRegressor(time_budget=0.5, random_state=0).fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) > 0.5
    assert model.feature_importances_.shape == (200,)
    assert model.feature_importances_.argmax() == 5
    assert np.count_nonzero(model.feature_importances_) <= 20
    assert "180 columns such as x0, x1, x2 (others say more of y)" in model.explanation_
    report(model, X[80:], y[80:], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "the 20 of 200 prepared columns that say most of the target" in page


def test_levels_that_are_too_many_are_said_to_be_left_out(monkeypatch):
    monkeypatch.setattr("kernlens.model_selection.auto.estimator.MOST_COLUMNS", 30)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{k}": rng.choice(list("abcdefghi"), 100) for k in range(4)})
    y = 3.0 * (X["c3"] == "a") + 0.1 * rng.standard_normal(100)
    model = AutoLensRegressor(time_budget=0.5, random_state=0).fit(X, y)
    assert not model.table_.left_out_
    assert "6 prepared columns that say least of the target were not used." in model.explanation_


def test_unused_columns_come_last_in_the_data_of_a_page(monkeypatch):
    monkeypatch.setattr("kernlens.model_selection.auto.estimator.MOST_COLUMNS", 2)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((80, 5)), columns=list("abcde")).assign(same=1.0)
    model = AutoLensRegressor(time_budget=0.5, random_state=0).fit(X, 2.0 * X["d"] + X["e"])
    data = summarize(model, X, X["d"])["data"]
    assert {one["name"] for one in data["columns"][:2]} == {"d", "e"}
    assert [one["name"] for one in data["left_out"]] == ["same", "a", "b", "c"]
    assert data["n_weak"] == 3
