"""Tables of every kind become the same numbers, without a leak and with names."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from kernlens import RFMRegressor, TablePreprocessor

ARRAY_API = "check_array_api_input"
CHECKS = [
    pytest.param(one, check, id=f"{number}-{check.func.__name__}")
    for number, (one, check) in enumerate(estimator_checks_generator(TablePreprocessor()))
    if check.func.__name__ != ARRAY_API
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    number = rng.standard_normal(n)
    number[::10] = np.nan
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    X = pd.DataFrame(
        {
            "number": number,
            "flag": rng.random(n) > 0.5,
            "few": rng.choice(["red", "blue", "größer", "<b>"], n),
            "many": [f"level {k}" for k in rng.integers(0, 30, n)],
            "as text": [f"{value:.3f}" for value in rng.standard_normal(n)],
            "when": days,
            "said": days.strftime("%d/%m/%Y"),
            "constant": "same",
            "customer_id": rng.permutation(10 * n)[:n],
            "nothing": np.full(n, np.nan),
        }
    )
    level = X["many"].str.removeprefix("level ").astype(float)
    return X, np.nan_to_num(number) + X["flag"] + 0.1 * level + 0.1 * rng.standard_normal(n)


def test_every_library_gives_the_same():
    X, y = table()
    expected = TablePreprocessor(random_state=0).fit_transform(X, y)
    assert np.isfinite(expected).all()
    as_polars = pl.from_pandas(X)
    for other in (as_polars, as_polars.to_arrow()):
        found = TablePreprocessor(random_state=0)
        np.testing.assert_allclose(found.fit_transform(other, y), expected)
        np.testing.assert_allclose(found.transform(X), found.transform(other))


def test_columns_are_named_and_left_out():
    X, y = table()
    model = TablePreprocessor().fit(X, y)
    report = model.columns_
    assert dict(zip(report.names, report.kinds, strict=True)) | {"nothing": ""} == {
        **{"number": "number", "flag": "boolean", "few": "category", "many": "category"},
        **{"as text": "number", "when": "date", "said": "date", "constant": "category"},
        **{"customer_id": "number", "nothing": ""},
    }
    assert np.array(report.names)[report.left_out].tolist() == [
        "constant",
        "customer_id",
        "nothing",
    ]
    names = model.get_feature_names_out()
    assert len(set(names)) == len(names) == len(model.source_columns_)
    assert {"number is missing", "few=<b>", "many: mean of y", "when year"} <= set(names)
    assert model.left_out_ == {
        "constant": "constant",
        "customer_id": "identifier",
        "nothing": "all missing",
    }
    sums = model.sum_by_source(np.ones(len(names)))
    np.testing.assert_array_equal(sums, report.n_outputs)
    assert "identifier" in str(report)


def test_order_of_rows_changes_nothing():
    X, y = table()
    order = np.random.default_rng(1).permutation(len(X))
    model = TablePreprocessor(random_state=0)
    found = model.fit_transform(X, y)
    other = clone(model).fit_transform(X.iloc[order], y.iloc[order])
    np.testing.assert_allclose(other, found[order])


def test_arrays_of_numbers_pass_unchanged():
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = TablePreprocessor().fit(X)
    assert model.transform(X) is X
    assert model.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    X_new = X.copy()
    X_new[0, 1] = np.nan
    assert model.transform(X_new)[0, 1] == np.median(X[:, 1])


def test_measures_are_no_identifiers():
    n = 60
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "sorted": np.sort(rng.standard_normal(n)),
            "epoch": 1_600_000_000 + np.cumsum(rng.integers(1, 99, n)),
            "year": np.arange(n),
            "distance": rng.permutation(10_000)[:n],
            "row": np.arange(n),
        }
    )
    report = TablePreprocessor().fit(X).columns_
    assert report.left_out.tolist() == [False] * 4 + [True]
    assert not TablePreprocessor(keep=["row"]).fit(X).columns_.left_out.any()


def test_noise_of_many_levels_gets_no_importance():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame({"a": rng.standard_normal(n), "b": rng.standard_normal(n)})
    y = X["a"] + 0.5 * X["b"] + 0.5 * rng.standard_normal(n)
    X["noise"] = [f"l{k}" for k in rng.integers(0, 500, n)]
    table = TablePreprocessor(random_state=0)
    Z = table.fit_transform(X, y)
    model = RFMRegressor(random_state=0).fit(Z, y)
    assert table.sum_by_source(model.feature_importances_)[2] == 0.0
    assert table.left_out_ == {"noise": "levels that say nothing of y"}
    X.loc[:40, "noise"] = None
    names = TablePreprocessor(random_state=0).fit(X, y).get_feature_names_out()
    assert names.tolist() == ["a", "b", "noise is missing"]


def test_a_signal_of_many_levels_is_used():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 60, 900)
    effect = rng.standard_normal(60)[codes]
    X = pd.DataFrame({"a": rng.standard_normal(900), "level": [f"l{k}" for k in codes]})
    y = X["a"] + effect + 0.3 * rng.standard_normal(900)
    model = make_pipeline(TablePreprocessor(random_state=0), RidgeCV()).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.85


@pytest.mark.parametrize("classes", [2, 3])
def test_targets_of_classes(classes):
    X, y = table()
    labels = np.array(["u", "v", "w"])[pd.qcut(y, classes, labels=False)]
    model = TablePreprocessor(random_state=0)
    found = model.fit_transform(X, labels)
    n_means = sum("mean of y" in name for name in model.get_feature_names_out())
    assert n_means == (1 if classes == 2 else 3)
    assert np.isfinite(found).all()


def test_new_rows_may_be_awkward():
    X, y = table()
    model = TablePreprocessor().fit(X, y)
    rows = X.iloc[:3].copy()
    rows["number"] = [np.inf, np.nan, 1.0]
    rows["few"] = ["green", None, ""]
    rows["many"] = ["never", None, "level 1"]
    rows["flag"] = pd.array([True, None, False], dtype="boolean")
    rows["when"] = [pd.NaT, pd.Timestamp("2021-05-05"), pd.Timestamp("1999-01-01")]
    assert np.isfinite(model.transform(rows)).all()
    assert np.isfinite(model.transform(X.iloc[:1])).all()
    with pytest.raises(ValueError, match="'number' is absent; names like it are 'numbers'"):
        model.transform(X.rename(columns={"number": "numbers"}))
    with pytest.raises(ValueError, match="Column 'number' had values of kind number"):
        model.transform(X.assign(number="much"))
    doubled = pd.DataFrame(np.ones((3, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        model.fit(doubled)


def test_saved_models_name_kernlens_only():
    X, y = table()
    model = TablePreprocessor(random_state=0).fit(X, y)
    content = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=content)
    assert trusted == ["kernlens.TablePreprocessor"]
    for read in (skops.io.loads(content, trusted=trusted), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(read.transform(X), model.transform(X))
        assert str(read.columns_) == str(model.columns_)


def test_in_a_pipeline_with_cross_validation():
    X, y = table()
    model = make_pipeline(
        TablePreprocessor(random_state=0),
        RFMRegressor(alpha=0.01, width=3.0, n_updates=1, random_state=0),
    )
    assert cross_val_score(model, X, y, cv=3).mean() > 0.3
    frame = TablePreprocessor().set_output(transform="pandas").fit_transform(X, y)
    assert list(frame.columns[:2]) == ["number", "number is missing"]


def test_types_of_pandas_and_polars():
    flags, numbers, words = [True, None, False] * 10, [1, None, 3] * 10, ["u", None, "v"] * 10
    nullable = pd.DataFrame(
        {
            "flag": pd.array(flags, dtype="boolean"),
            "number": pd.array(numbers, dtype="Int64"),
            "word": pd.array(words, dtype="string"),
        }
    )
    category = nullable.assign(word=nullable["word"].astype("category"))
    objects = pd.DataFrame({"flag": flags, "number": numbers, "word": words}, dtype=object)
    with_null = pl.DataFrame({"flag": flags, "number": numbers, "word": words})
    found = [
        TablePreprocessor().fit_transform(frame)
        for frame in (nullable, category, objects, with_null, with_null.to_arrow())
    ]
    assert found[0].shape == (30, 6)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_mixed_objects_are_levels_of_text():
    X = np.array([[1, "a"], ["one", 2.5], [None, "a"], ["one", None]], dtype=object)
    names = TablePreprocessor().fit(X).get_feature_names_out()
    assert names.tolist() == ["x0=one", "x0 is missing", "x1=a", "x1 is missing"]


def test_arrays_with_gaps_infinities_and_constants():
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[:, 0] = np.arange(30)
    X[3, 1], X[4, 1], X[:, 2] = np.nan, np.inf, 7.0
    model = TablePreprocessor()
    found = model.fit_transform(X)
    assert model.get_feature_names_out().tolist() == ["x0", "x1", "x1 is missing", "x3"]
    assert model.left_out_ == {"x2": "constant"}
    gaps = np.isin(np.arange(30), [3, 4])
    np.testing.assert_array_equal(found[:, 2], gaps)
    np.testing.assert_array_equal(found[gaps, 1], np.median(X[~gaps, 1]))


def test_integers_larger_than_any_number_are_missing():
    X = pd.DataFrame({"x": [1, 10**400, 3, -(10**400)], "z": [1.0, 2.0, 3.0, 4.0]})
    assert TablePreprocessor().fit_transform(X)[:, 0].tolist() == [1.0, 2.0, 3.0, 2.0]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("imputation", ["mean", "median"])
@pytest.mark.parametrize("gaps", [True, False])
def test_the_middle_of_huge_numbers_is_finite(imputation, gaps):
    largest = np.finfo(np.float64).max
    X = np.array([[largest, 1.0], [0.5 * largest, 2.0], [0.75 * largest, 3.0], [largest, 5.0]])
    model = TablePreprocessor(imputation=imputation)
    model.fit(np.vstack([X, [np.nan, np.nan]]) if gaps else X)
    filled = model.transform(np.full((1, 2), np.nan))[0, [0, 2] if gaps else [0, 1]]
    expected = {"mean": [0.8125, 2.75], "median": [0.875, 2.5]}[imputation]
    np.testing.assert_array_equal(filled, [expected[0] * largest, expected[1]])


def test_what_is_left_is_used_if_there_is_nothing_else():
    assert TablePreprocessor().fit_transform(np.ones((5, 2))).tolist() == [[1.0, 1.0]] * 5
    counted = pd.DataFrame({"x": np.arange(50)})
    np.testing.assert_array_equal(TablePreprocessor().fit_transform(counted)[:, 0], np.arange(50))
    with pytest.raises(ValueError, match="No column of the table is left: 'x' was left out: all"):
        TablePreprocessor().fit(pd.DataFrame({"x": [np.nan, np.nan]}))
    with pytest.raises(ValueError, match="lazy table"):
        TablePreprocessor().fit(pl.DataFrame({"x": [1.0, 2.0]}).lazy())


@pytest.mark.parametrize("classes", [False, True])
def test_of_too_many_columns_those_are_kept_that_say_most_of_y(classes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((300, 40)), columns=[f"c{k}" for k in range(40)])
    X["city"] = rng.choice([f"city {k}" for k in range(25)], 300)
    level = X["city"].str.removeprefix("city ").astype(float)
    y = np.abs(X["c7"]) + 0.5 * X["c30"] + 0.05 * level + 0.1 * rng.standard_normal(300)
    if classes:
        y = np.where(y > np.median(y), "high", "low")
    table = TablePreprocessor(max_columns=3, random_state=0)
    inside = table.fit_transform(X, y)
    assert table.get_feature_names_out().tolist() == ["c7", "c30", "city: mean of y"]
    assert len(table.left_out_) == 38
    assert set(table.left_out_.values()) == {"others say more of y"}
    assert inside.shape == table.transform(X).shape == (300, 3)
    np.testing.assert_array_equal(inside[:, :2], X[["c7", "c30"]])
    np.testing.assert_allclose(table.sum_by_source([1.0, 2.0, 3.0])[[7, 30, 40]], [1.0, 2.0, 3.0])
    # `fit` learns the same, though it returns no rows.
    alone = TablePreprocessor(max_columns=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(alone.transform(X), table.transform(X))
    # Without a target, and with enough room, all columns stay.
    for other, target in ((3, None), (100, y)):
        whole = TablePreprocessor(max_columns=other, random_state=0).fit(X, target)
        assert not whole.left_out_


def test_columns_of_an_array_are_kept_whatever_the_order_of_rows_and_the_units():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4000, 12))
    y = X[:, 3] ** 2 + X[:, 8] + rng.standard_normal(4000)
    table = TablePreprocessor(max_columns=4).fit(X, y)
    assert {"x3", "x8"} < set(table.get_feature_names_out())
    order = rng.permutation(4000)
    units = 10.0 ** rng.integers(-3, 4, 12)
    other = TablePreprocessor(max_columns=4).fit(X[order] * units + units, y[order])
    np.testing.assert_array_equal(other.source_columns_, table.source_columns_)
    np.testing.assert_array_equal(table.transform(X[:5]), X[:5, table.source_columns_])


def test_columns_that_are_too_many_are_not_looked_at_any_more():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((100, 30)), columns=[f"c{k}" for k in range(30)])
    X["text"], X["gaps"] = rng.choice(list("ab"), 100), np.where(rng.random(100) < 0.2, np.nan, 1.5)
    y = X["c3"] + X["c7"] ** 2
    table = TablePreprocessor(max_columns=2).fit(X, y)
    assert table.get_feature_names_out().tolist() == ["c3", "c7"]
    assert table.n_weak_ == 30
    awkward = X.assign(c0="words", text=1.0, gaps="words")
    np.testing.assert_array_equal(table.transform(awkward), X[["c3", "c7"]])


def test_columns_of_which_only_some_levels_are_used_say_so():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{k}": rng.choice(list("abcdefghi"), 200) for k in range(10)})
    y = 3.0 * (X["c3"] == "a") + 2.0 * (X["c4"] == "b") + 0.1 * rng.standard_normal(200)
    table = TablePreprocessor(max_columns=2).fit(X, y)
    assert table.get_feature_names_out().tolist() == ["c3=a", "c4=b"]
    report = table.columns_
    assert report.actions[3] == "a column per level, 1 of 9 used"
    assert (report.actions[0], table.n_weak_) == ("left out: others say more of y", 88)
    assert report.n_outputs.tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    new = pd.DataFrame({name: ["a", "b", "new", None] for name in X})
    assert table.transform(new).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_several_targets_of_text_count_all():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    first, second = rng.choice(["a", "b"], 200), np.where(X[:, 9] > 0.0, "c", "d")
    Y = np.column_stack([first, second])
    assert TablePreprocessor(max_columns=1).fit(X, Y).source_columns_.tolist() == [9]
    with pytest.raises(ValueError, match="y must have one or two dimensions, got 3"):
        TablePreprocessor(max_columns=1).fit(X, Y[:, :, None])
