"""Tables that are small, wide, empty of signal or hostile: a correct page, or one sentence."""

from __future__ import annotations

import base64
import csv
import hashlib
import html.parser
import io
import json
import re
import urllib.parse

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import cross_val_predict

from kernlens import BrownianKernelRidge, RKHSWeightingClassifier, RKHSWeightingRegressor, report
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.reporting import render, summarize
from kernlens.reporting.page import embedded
from pages import (
    HOSTILE,
    LIGHT,
    automatic_classifier,
    automatic_regressor,
    hostile,
    numbers,
)


class Line(RegressorMixin, FeatureLearnerMixin, BaseEstimator):
    """A feature learner of one direction, quick for any number of columns."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.mean_, self.scale_ = X.mean(axis=0), np.ones(X.shape[1])
        slopes = (X - self.mean_).T @ (y - y.mean())
        loadings = (slopes / np.linalg.norm(slopes))[None]
        self._store_directions(loadings, np.ones(1), loadings[0] ** 2, 1, self.scale_)
        return self

    def predict(self, X):
        return self.transform(X)[:, 0]


class Reader(html.parser.HTMLParser):
    """Elements, attributes and scripts of a page as a browser reads them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.text = [], [], [], []
        self._in = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "script":
            self._in = dict(attrs).get("type", "text/javascript")
            self.scripts.append((self._in, ""))

    def handle_endtag(self, tag):
        if tag == "script":
            self._in = None

    def handle_data(self, data):
        if self._in is not None:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
        else:
            self.text.append(data)


@pytest.fixture(scope="module")
def hostile_page():
    X, y = hostile()
    model = automatic_classifier(X, y)
    said = {"command": HOSTILE[0], "data_file": HOSTILE[1], "warnings": [HOSTILE[2]]}
    summary = summarize(
        model, X, y, context={**said, "left_out": {HOSTILE[6]: HOSTILE[7]}, "title": HOSTILE[0]}
    )
    return summary, render(summary)


def test_nothing_from_the_data_is_markup_or_script(hostile_page):
    _, page = hostile_page
    seen = Reader(page)
    assert [kind for kind, _ in seen.scripts] == ["application/json", "text/javascript"]
    assert "hacked" not in seen.scripts[1][1]
    assert not [name for _, name, _ in seen.attributes if name.startswith("on")]
    assert "img" not in seen.tags
    for tag, name, value in seen.attributes:
        if name in ("href", "src"):
            assert value.startswith(("#", "data:text/csv", "data:,")), (tag, value)
    text = "".join(seen.text)
    for name in HOSTILE[:4]:
        assert name in text
    assert "{{ 7 * 7 }}" in text


def test_data_in_a_script_cannot_end_it():
    text = embedded({"name": "</script><!--\u2028\u2029&"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"name": "</script><!--\u2028\u2029&"}


def test_only_the_own_script_and_style_may_run(hostile_page):
    _, page = hostile_page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    policy = policy.replace("&#39;", "'")
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")
    for tag in ("script", "style"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert " style=" not in page


def test_tables_to_take_away_hold_no_formulas(hostile_page):
    summary, page = hostile_page
    links = re.findall(r'download="([^"]+)" href="data:text/csv;charset=utf-8,([^"]*)"', page)
    tables = {
        name: list(csv.reader(io.StringIO(urllib.parse.unquote(href.replace("&#39;", "'")))))
        for name, href in links
    }
    assert {"directions.csv", "columns.csv", "classes.csv", "leaderboard.csv"} <= set(tables)
    cells = [cell for table in tables.values() for row in table for cell in row]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    for cell in cells:
        assert not cell.startswith(("=", "@", "+")), cell
        # What begins with a minus is a number.
        assert not cell.startswith("-") or float(cell) <= 0.0
    header, *rows = tables["columns.csv"]
    for row, one in zip(rows, summary["columns"]["columns"], strict=True):
        assert float(row[header.index("importance")]) == one["importance"]


def test_a_page_of_many_rows_is_small(tmp_path):
    X, y = numbers(100_000, 6)
    path = report(Line().fit(X, y), X, y, tmp_path / "page.html", X_test=X, y_test=y)
    assert path.stat().st_size < 1_500_000
    assert "100,000 rows" in path.read_text(encoding="utf-8")


def test_a_page_of_many_columns_shows_the_first_and_says_how_many_are_not_shown():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 10_000))
    y = X[:, 0]
    model = Line().fit(X, y)
    page = render(summarize(model, X, y))
    assert len(page) < 1_000_000
    assert "9,970 are not shown" in page
    assert "9,960 are not shown" in page


def few(n_rows, n_columns=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    return X, X[:, 0]


def test_one_row_held_out(regressor):
    model, X, y, X_test, y_test = regressor
    summary = summarize(model, X, y, X_test=X_test[:1], y_test=y_test[:1])
    page = render(summary)
    assert "1 held-out row" in summary["answer"]["parts"][0]["text"]
    assert "Only 1 row was held out" in page
    assert summary["answer"]["predicts"] is None


def test_one_column():
    X, y = few(40, 1)
    model = RKHSWeightingRegressor(**LIGHT | {"n_directions": 1}).fit(X, y)
    summary = summarize(model, X, y)
    assert summary["surfaces"] == []
    assert "One mixture" in render(summary) or "One direction" in render(summary)


def test_noise_is_said_to_be_noise():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    model = BrownianKernelRidge(n_directions="auto", random_state=0).fit(X[:100], y[:100])
    summary = summarize(model, X[:100], y[:100], X_test=X[100:], y_test=y[100:])
    assert summary["answer"]["predicts"] is False
    page = render(summary)
    assert "not shown to predict better than a constant" in page
    assert "may be noise" in page


def test_no_direction_and_a_constant_prediction():
    X, y = few(40)
    model = BrownianKernelRidge(alpha=1.0, n_directions=1).fit(X, y)
    model.components_ = model.components_[:0]
    model.component_importances_ = model.component_importances_[:0]
    model.n_directions_ = 0
    model.predict = lambda rows: np.zeros(len(rows))
    summary = summarize(model, X, y)
    page = render(summary)
    assert summary["profiles"] == []
    assert "No direction was kept" in page


def test_two_and_thirty_classes():
    X, _ = numbers(150, 2)
    for n_classes in (2, 30):
        y = np.array([f"class {k}" for k in np.arange(150) % n_classes])
        model = RKHSWeightingClassifier(**LIGHT).fit(X, y)
        summary = summarize(model, X, y)
        page = render(summary)
        assert (summary["classes"]["confusion"] is not None) == (n_classes == 2)
        assert len(summary["classes"]["by_class"]) == n_classes
        outputs = summary["derivatives"]["outputs"]
        assert len(outputs) == (0 if n_classes == 2 else 4)
        assert ("and 26 are not" in page) == (n_classes == 30)
        assert len(page) < 1_000_000


def test_a_class_that_was_never_seen_is_counted_as_wrong():
    X, y = few(60)
    labels = np.where(y > 0, "a", "b")
    model = RKHSWeightingClassifier(**LIGHT).fit(X, labels)
    observed = labels.copy()
    observed[:10] = "c"
    summary = summarize(model, X, labels, X_test=X, y_test=observed)
    accuracy = summary["scores"]["scores"][0]["value"]
    assert accuracy == np.mean(model.predict(X) == observed)
    render(summary)


def test_a_column_that_knows_the_target_is_a_suspect():
    X, y = numbers(200)
    leaking = np.column_stack([X, y + 1e-4 * X[:, 1]])
    model = RKHSWeightingRegressor(**LIGHT).fit(leaking, y)
    summary = summarize(model, leaking, y, feature_names=["a", "b", "c", "d", "invoice"])
    assert [one["name"] for one in summary["leaks"]] == ["invoice"]
    assert "“invoice” predicts y almost perfectly alone" in render(summary)
    honest = RKHSWeightingRegressor(**LIGHT).fit(X, y)
    assert summarize(honest, X, y)["leaks"] == []


def test_a_suspect_is_found_in_a_file_that_is_in_the_order_of_the_target():
    X, y = numbers(200)
    order = np.argsort(y)
    leaking, y = np.column_stack([X, 3.0 * y])[order], y[order]
    model = RKHSWeightingRegressor(**LIGHT).fit(leaking, y)
    assert [one["name"] for one in summarize(model, leaking, y)["leaks"]] == ["x4"]


def test_dates_that_are_text_have_an_order():
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=90).to_numpy()[rng.permutation(90)]
    table = pd.DataFrame({"size": rng.standard_normal(90)})
    table["day"] = pd.Series(days).dt.strftime("%d.%m.%Y")
    table.loc[3, "day"] = None
    y = table["size"] + (days - days.min()) / np.timedelta64(60, "D")
    summary = summarize(automatic_regressor(table, y), table, y)
    column = next(one for one in summary["data"]["columns"] if one["name"] == "day")
    assert column["kind"] == "date"
    assert column["range"][0] == "2020-01-01" and column["range"][2] == "2020-03-30"
    slider = next(one for one in summary["what_if"]["columns"] if one["name"] == "day")
    assert slider["n_ordered"] > 15
    assert slider["values"][:-1] == sorted(slider["values"][:-1])
    assert slider["values"][-1] == "(missing)"


def test_predictions_of_fits_that_left_rows_out_are_scored():
    X, y = numbers(120)
    model = RKHSWeightingRegressor(**LIGHT).fit(X, y)
    guess = cross_val_predict(model, X, y, cv=4)
    guess[:5] = np.nan
    summary = summarize(model, X, y, left_out=guess)
    scores = summary["scores"]
    assert (scores["where"], scores["n_rows"]) == ("left_out", 115)
    assert scores["scores"][0]["value"] == pytest.approx(r2_score(y[5:], guess[5:]))
    assert "115 rows that were left out in turn" in render(summary)
    labels = np.where(y > 0, "a", "b")
    model = RKHSWeightingClassifier(**LIGHT).fit(X, labels)
    shares = cross_val_predict(model, X, labels, cv=4, method="predict_proba")
    found = summarize(model, X, labels, left_out=shares)["scores"]["scores"]
    expected = log_loss(labels, shares)
    assert next(one for one in found if one["key"] == "log_loss")["value"] == pytest.approx(
        expected
    )


def test_predictions_of_other_rows_are_refused():
    X, y = numbers(60)
    model = RKHSWeightingRegressor(**LIGHT).fit(X, y)
    with pytest.raises(ValueError, match=r"must have the shape \(60,\), one prediction for each"):
        summarize(model, X, y, left_out=y[:50])
    with pytest.raises(ValueError, match="pass one of them"):
        summarize(model, X, y, X_test=X, y_test=y, left_out=y)


def test_a_page_is_there_whole_or_not_at_all(regressor, tmp_path, monkeypatch):
    model, X, y, *_ = regressor
    path = report(model, X, y, tmp_path / "page.html")
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        report(model, X, y, tmp_path / "page.html", target_name="other")
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_nothing_is_changed(regressor):
    model, X, y, *_ = regressor
    before = (
        X.copy(),
        y.copy(),
        {
            name: np.copy(value)
            for name, value in vars(model).items()
            if isinstance(value, np.ndarray)
        },
    )
    assert summarize(model, X, y) == summarize(model, X, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    for name, value in before[2].items():
        np.testing.assert_array_equal(getattr(model, name), value)
