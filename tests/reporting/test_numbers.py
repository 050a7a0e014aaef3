"""Numbers of a summary are those of the public API, and those of a page are in the summary."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import metrics

from kernlens import BrownianKernelRidge
from kernlens.inspection import (
    average_derivatives,
    compare_subspaces,
    direction_profile,
    summarize_directions,
    surface_profile,
)
from kernlens.model_selection import SubspaceStability
from kernlens.reporting import formats, render, summarize
from kernlens.reporting.directions import agreement_of
from kernlens.reporting.plain import plain
from kernlens.reporting.quality import evaluated
from kernlens.reporting.scores import class_scores, regression_scores, resampled
from kernlens.reporting.subject import make_subject


def score(summary, key):
    return next(one for one in summary["scores"]["scores"] if one["key"] == key)


def test_scores_of_a_regressor(regressor, summaries):
    model, _, y, X_test, y_test = regressor
    summary = summaries["regressor"]
    predicted = model.predict(X_test)
    assert summary["scores"]["where"] == "test"
    assert score(summary, "r2")["value"] == model.score(X_test, y_test)
    assert score(summary, "mae")["value"] == metrics.mean_absolute_error(y_test, predicted)
    rmse = metrics.root_mean_squared_error(y_test, predicted)
    assert score(summary, "rmse")["value"] == pytest.approx(rmse, rel=1e-12)
    for key in ("r2", "mae", "rmse"):
        assert (
            score(summary, key)["low"] < score(summary, key)["value"] < score(summary, key)["high"]
        )
    constant = summary["scores"]["constant"]
    assert constant["prediction"] == pytest.approx(y.mean(), rel=1e-12)
    of_mean = metrics.r2_score(y_test, np.full(len(y_test), y.mean()))
    assert constant["scores"]["r2"] == pytest.approx(of_mean, rel=1e-9)
    np.testing.assert_array_equal(summary["regression"]["predicted"], predicted)
    np.testing.assert_array_equal(summary["regression"]["observed"], y_test)
    quartiles = np.quantile(y_test - predicted, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(summary["regression"]["residuals"]["quartiles"], quartiles)
    assert sum(summary["regression"]["residuals"]["counts"]) == len(y_test)


def test_weights_count_as_rows_repeated(regressor):
    model, X, y, *_ = regressor
    weights = np.arange(len(y)) % 3
    once = summarize(model, X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(len(y)), weights)
    again = summarize(model, X[repeated], y[repeated])
    for key in ("r2", "mae", "rmse"):
        assert score(once, key)["value"] == pytest.approx(score(again, key)["value"], rel=1e-9)
    assert once["scores"]["where"] == "training"
    assert once["answer"]["predicts"] is None


def test_scores_and_tables_of_a_classifier(classified, summaries):
    model, _, _, X_test, y_test = classified
    summary = summaries["classified"]
    labels, shares = model.predict(X_test), model.predict_proba(X_test)
    expected = {
        "accuracy": metrics.accuracy_score(y_test, labels),
        "balanced_accuracy": metrics.balanced_accuracy_score(y_test, labels),
        "log_loss": metrics.log_loss(y_test, shares, labels=model.classes_),
        "auc": metrics.roc_auc_score(y_test, shares, multi_class="ovr", labels=model.classes_),
    }
    for key, value in expected.items():
        assert score(summary, key)["value"] == pytest.approx(value, rel=1e-12), key
    found = summary["classes"]
    table = metrics.confusion_matrix(y_test, labels, labels=model.classes_)
    assert found["confusion"]["counts"] == table.tolist()
    assert found["confusion"]["classes"] == model.classes_.tolist()
    for one in found["by_class"]:
        own = y_test == one["name"]
        assert one["n_rows"] == own.sum()
        assert one["recall"] == pytest.approx(np.mean(labels[own] == one["name"]))
    for curve in found["roc"]:
        place = list(model.classes_).index(curve["class"])
        area = metrics.roc_auc_score(y_test == curve["class"], shares[:, place])
        assert curve["auc"] == pytest.approx(area)
        assert curve["false_positive_rate"][0] == 0.0
        assert curve["true_positive_rate"][-1] == 1.0


def test_intervals_of_scores_are_those_of_rows_drawn_again():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(400)
    sums = resampled([np.ones(400), values], 0)
    spread = np.std(sums[1] / sums[0])
    assert spread == pytest.approx(values.std() / 20.0, rel=0.15)
    many = rng.standard_normal(50_000)
    sums = resampled([np.ones(50_000), many], 0)
    assert np.std(sums[1] / sums[0]) == pytest.approx(many.std() / np.sqrt(50_000), rel=0.15)
    assert resampled([np.ones(5)], 0) is None


def test_directions_and_columns(regressor):
    model, X, y, *_ = regressor
    summary = summarize(model, X, y, feature_names=list("abcd"))
    given = summarize_directions(model, feature_names=list("abcd"))
    for one, loadings in zip(summary["directions"]["directions"], given.loadings, strict=True):
        assert {c["name"]: c["loading"] for c in one["columns"]} == dict(
            zip("abcd", loadings, strict=True)
        )
        assert one["share_shown"] == pytest.approx(1.0)
        assert one["importance"] == model.component_importances_[one["number"] - 1]
    shares = dict(zip("abcd", model.feature_importances_, strict=True))
    assert {c["name"]: c["importance"] for c in summary["columns"]["columns"]} == shares
    slopes = average_derivatives(model, X, feature_names=list("abcd"))
    for one in summary["derivatives"]["columns"]:
        place = "abcd".index(one["name"])
        assert one["mean"] == [pytest.approx(slopes.mean[place] * model.scale_[place])]


def test_intervals_of_directions_are_those_of_resamples(regressor):
    model, X, y, *_ = regressor
    summary = summarize(model, X, y, stability=5, random_state=3)
    found = SubspaceStability(model, n_resamples=5, n_directions=2, random_state=3).fit(X, y)
    for place, one in enumerate(summary["directions"]["directions"]):
        for column in one["columns"]:
            number = int(column["name"][1:])
            low, high = found.intervals_[:, place, number]
            assert (column["low"], column["high"]) == (pytest.approx(low), pytest.approx(high))
        assert one["reproducibility"] == pytest.approx(found.reproducibility_[place])


def test_curves_and_surfaces(regressor, summaries):
    model, X, y, *_ = regressor
    summary = summaries["regressor"]
    for one in summary["profiles"]:
        place = one["direction"] - 1
        given = direction_profile(model, X, y, direction=place, n_points=41, max_rows=100)
        for name in ("grid", "mean", "low", "high", "positions", "observed"):
            np.testing.assert_array_equal(one[name], getattr(given, name))
    given = surface_profile(model, X, y, n_points=17, max_rows=30, reach=None)
    (surface,) = summary["surfaces"]
    np.testing.assert_array_equal(surface["mean"], given.mean.T)
    np.testing.assert_array_equal(surface["first"], given.grid[0])


def test_what_happens_to_a_row_is_what_the_model_predicts(automatic, summaries):
    model, X, *_ = automatic
    found = summaries["automatic"]["what_if"]
    assert found["columns"][0]["name"] == "area"
    for slider in found["columns"]:
        for place, row in enumerate(found["rows"]):
            own = X.iloc[[row["row"] - 1]]
            assert row["prediction"] == [pytest.approx(model.predict(own)[0])]
            for text, (predicted,) in zip(
                slider["values"], slider["predictions"][place], strict=True
            ):
                if slider["name"] == "town":
                    changed = own.assign(town=text)
                elif slider["name"] == "rooms":
                    changed = own.assign(rooms=int(float(text)))
                elif slider["name"] == "garden":
                    changed = own.assign(garden=text == "true")
                elif text == "(missing)":
                    changed = own.assign(**{slider["name"]: np.nan})
                else:
                    continue
                assert predicted == pytest.approx(model.predict(changed)[0]), slider["name"]
    for slider in found["directions"]:
        for place, row in enumerate(found["rows"]):
            own = model.transform(X.iloc[[row["row"] - 1]])[0, slider["number"] - 1]
            assert slider["own"][place] == pytest.approx(own)


def test_the_leaderboard_and_the_members(automatic, summaries):
    model, _, _, X_test, y_test = automatic
    summary = summaries["automatic"]
    given = model.leaderboard_
    for row in summary["leaderboard"]["rows"]:
        own = given[given["candidate"] == row["name"]].iloc[0]
        assert row["score"] == own["score"]
        assert row["standard_error"] == own["standard_error"]
        assert row["weight"] == (None if np.isnan(own["weight"]) else own["weight"])
    for place, one in enumerate(summary["directions"]["directions"]):
        assert one["reproducibility"] == model.stability_.reproducibility[place]
        assert one["angle"] == np.median(model.stability_.angles[:, place])
    for one in summary["regression"]["intervals"]["levels"]:
        low, high = model.predict_interval(X_test, one["coverage"]).T
        assert one["observed"] == np.mean((y_test >= low) & (y_test <= high))
    report = model.table_.columns_
    for one in summary["data"]["columns"]:
        place = report.names.index(one["name"])
        assert one["missing"] == pytest.approx(report.missing[place])
        assert one["left_out"] == report.left_out[place]
    if len(model.members_) > 1:
        angles = compare_subspaces(model.members_, model.member_names_).largest_angles
        np.testing.assert_allclose(summary["agreement"]["largest_angles"], angles)


def test_members_are_compared(regressor, summaries):
    model, X, y, *_ = regressor
    other = BrownianKernelRidge(alpha=0.1, n_directions=1).fit(X, y)
    ensemble = SimpleNamespace(member_names_=["<one>", "two"], members_=[model, other])
    found = plain(agreement_of(ensemble))
    given = compare_subspaces([model, other], ["<one>", "two"])
    assert found["largest_angles"] == given.largest_angles.tolist()
    assert found["n_directions"] == [2, 1]
    page = render(summaries["regressor"] | {"agreement": found})
    assert 'id="agreement"' in page
    assert f"{formats.fixed(given.largest_angles[0, 1], 0)}°" in page
    assert agreement_of(model) is None


def test_rows_left_out_by_the_fit_are_those_that_intervals_are_made_of(automatic):
    """Their shares were chosen by the other folds, which `best_score_` does not say of its own."""
    model, X, y, *_ = automatic
    rows = evaluated(make_subject(model, X, y, None, None, None, None, None, 0))
    assert rows.where == "left_out"
    expected = 1.0 - np.mean(model.errors_**2) / np.var(y)
    assert regression_scores(rows, 0)[0]["value"] == pytest.approx(expected)


def test_rows_left_out_by_a_classifier_have_the_loss_of_its_shares(classified):
    model, X, y, *_ = classified
    rows = evaluated(make_subject(model, X, y, None, None, None, None, None, 0))
    assert rows.where == "left_out"
    loss = next(one for one in class_scores(rows, 0) if one["key"] == "log_loss")
    assert loss["value"] == pytest.approx(metrics.log_loss(model._kept.y, model._kept.prediction))
    assert loss["value"] == pytest.approx(-model.best_score_, rel=0.1)


def words(value, path=""):
    """Every number and text below a value, with where it is."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from words(one, f"{path}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from words(one, path)
    elif value is not None:
        yield path, value


def shown(value):
    """All ways in which a page may show a number."""
    if isinstance(value, bool | str):
        return set()
    ways = {formats.number(value), formats.percent(value)}
    ways |= {formats.fixed(value, decimals) for decimals in (0, 2, 3)}
    return ways | {str(value)}


def test_every_number_in_a_table_of_the_page_is_in_the_summary(summaries):
    for summary in summaries.values():
        known = set()
        for _, value in words(summary):
            known |= shown(value) if not isinstance(value, str) else {value}
        page = render(summary)
        cells = re.findall(r'<t[hd][^>]*class="num[^"]*"[^>]*>([^<]*)</t[hd]>', page)
        numbers = [cell.strip() for cell in cells if re.search(r"\d", cell)]
        assert len(numbers) > 30
        assert [cell for cell in numbers if cell not in known] == []


def test_every_number_of_the_answer_is_in_the_summary(summaries):
    for summary in summaries.values():
        known = set()
        for path, value in words(summary):
            if not path.startswith(".answer"):
                known |= shown(value)
                known |= set(re.findall(r"[\d.,]*\d", value)) if isinstance(value, str) else set()
        # What others have is what the named columns lack.
        named = [c["importance"] for c in summary["columns"]["columns"] if c["importance"] >= 0.02]
        known.add(formats.percent(1.0 - sum(named[:5])))
        known = {re.sub(r"[^\d.,]", "", way) for way in known}
        for part in summary["answer"]["parts"]:
            for number in re.findall(r"\d[\d.,]*\d|\d", part["text"]):
                assert number in known, part["text"]
