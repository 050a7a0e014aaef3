"""Every fitted model of the package has a page, and a summary that JSON can say."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from families import ESTIMATORS, FINDERS, UNSUPERVISED, light
from kernlens import KernelLaplacianEmbedding, RKHSWeightingRegressor
from kernlens.reporting import render, summarize
from pages import LIGHT, numbers

X, Y = numbers(60)


def page_of(summary):
    """The page, which is the same for a summary that went through JSON."""
    text = json.dumps(summary, allow_nan=False)
    page = render(json.loads(text))
    assert page == render(summary)
    return page


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *FINDERS])
def test_every_family_has_a_page(estimator):
    y = np.where(Y > 0.0, "up", "down") if is_classifier(estimator()) else Y
    model = light(estimator).fit(X, y)
    summary = summarize(model, X, y, X_test=X[:20], y_test=y[:20], target_name="growth")
    assert summary["model"]["name"] == estimator.__name__
    assert summary["directions"]["n_directions"] == model.n_directions_
    predicts = hasattr(model, "predict")
    assert (summary["scores"] is not None) == predicts
    assert (summary["what_if"] is not None) == predicts
    page = page_of(summary)
    assert f"{estimator.__name__} of growth" in page
    assert ('id="predictions"' in page) == predicts


@pytest.mark.parametrize("estimator", UNSUPERVISED)
def test_models_without_a_target_have_a_page(estimator):
    options = {"n_clusters": 2} if "n_clusters" in estimator().get_params() else {}
    model = estimator(**options, random_state=0).fit(X)
    summary = summarize(model, X)
    assert summary["directions"] is None
    np.testing.assert_allclose(
        summary["coordinates"]["first"] or [],
        model.transform(X)[:, 0] if hasattr(model, "transform") else [],
    )
    assert 'id="coordinates"' in page_of(summary)


def test_a_pipeline_is_looked_at_in_the_columns_of_its_last_step():
    model = make_pipeline(StandardScaler(), RKHSWeightingRegressor(**LIGHT)).fit(1e3 * X, Y)
    summary = summarize(model, 1e3 * X, Y, feature_names=list("abcd"))
    assert summary["model"]["steps"] == ["StandardScaler", "RKHSWeightingRegressor"]
    names = {one["name"] for one in summary["columns"]["columns"]}
    assert names == set("abcd")
    assert "after StandardScaler" in page_of(summary)


def test_an_automatic_model_takes_no_rows_along_into_a_file(automatic, tmp_path):
    model, X, y, X_test, y_test = automatic
    written = pickle.dumps(model)
    assert b"_kept" not in written
    again = pickle.loads(written)
    with pytest.raises(ValueError, match=r"pass them, as kernlens.report\(model, X, y, path\)"):
        again.report(tmp_path / "page.html")
    one = summarize(model, X, y, X_test=X_test, y_test=y_test)
    two = summarize(again, X, y, X_test=X_test, y_test=y_test)
    assert one == two


def test_an_automatic_model_writes_its_own_page(automatic, tmp_path):
    model, *_ = automatic
    path = model.report(tmp_path / "page.html", target_name="rent")
    page = path.read_text(encoding="utf-8")
    assert "AutoLensRegressor of rent" in page
    assert "left out in turn" in page
    assert "100 rows" in page


def test_a_notebook_shows_the_head(automatic, classified):
    for fit in (automatic, classified):
        model = fit[0]
        head = model._repr_html_()
        assert head == model._repr_mimebundle_()["text/html"]
        assert type(model).__name__ in head
        assert "<script" not in head
        assert len(head) < 5000
    assert "sk-" in type(model)()._repr_mimebundle_()["text/html"]


def test_what_cannot_be_shown_is_refused_in_one_sentence(regressor):
    model, X, y, *_ = regressor
    both = RKHSWeightingRegressor(**LIGHT).fit(X, np.column_stack([y, -y]))
    for message, call in {
        "one target, and y has 2": lambda: summarize(both, X, np.column_stack([y, -y])),
        "pass y": lambda: summarize(model, X),
        "pass both or none": lambda: summarize(model, X, y, X_test=X),
        "2 names, but X has 4 columns": lambda: summarize(model, X, y, feature_names=["a", "b"]),
        "no place for": lambda: summarize(model, X, y, context={"colour": "red"}),
        "format None": lambda: render({}),
    }.items():
        with pytest.raises(ValueError, match=message):
            call()


def test_an_embedding_needs_no_target():
    model = KernelLaplacianEmbedding(n_components=2, random_state=0).fit(X)
    assert summarize(model, X)["data"]["target"] is None
