"""Every display of one panel, for every family, and for what is awkward to draw."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.base import is_classifier
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import ConfusionMatrixDisplay, PredictionErrorDisplay, RocCurveDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from families import ESTIMATORS, FINDERS, light
from kernlens import (
    SIR,
    AutoLensRegressor,
    BrownianKernelRidge,
    KernelLaplacianEmbedding,
    RFMClassifier,
    RKHSWeightingRegressor,
    regularization_path,
)
from kernlens.inspection import average_derivatives, convergence, spectrum, surface_profile
from kernlens.plotting import (
    AlphaSearchDisplay,
    ConvergenceDisplay,
    DirectionsDisplay,
    EmbeddingDisplay,
    ImportancesDisplay,
    LinkDisplay,
    RegularizationPathDisplay,
    SensitivityDisplay,
    SpectrumDisplay,
    SurfaceDisplay,
)

AWKWARD = [
    "$ and $ a piece",
    "a_{b}^c \\frac",
    "a name\nof two lines, and very very long",
]


def rows(n=60):
    X = np.random.default_rng(2).standard_normal((n, 3)) * [1.0, 20.0, 0.01]
    return X, np.sin(X[:, 0]) + 30.0 * X[:, 2]


def axes():
    figure = Figure(figsize=(4.8, 3.5))
    figure.set_layout_engine("constrained")
    return figure.subplots()


def drawn(display):
    """The texts of a picture, which has been drawn without a warning or anything cut off."""
    figure = display.figure_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    for one in figure.axes:
        box = one.get_tightbbox(canvas.get_renderer())
        assert figure.bbox.x0 - 1 <= box.x0 and box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 - 1 <= box.y0 and box.y1 <= figure.bbox.y1 + 1
    ax = display.ax_
    return [text.get_text() for text in (*ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label)]


@pytest.mark.parametrize("learner", ESTIMATORS)
def test_every_learner_has_every_picture(learner):
    X, y = rows()
    if is_classifier(learner()):
        y = np.where(y > 0, "yes", "no")
    model = light(learner, n_directions=2).fit(X, y)
    drawn(LinkDisplay.from_estimator(model, X, y, direction=1, ax=axes()))
    surface = surface_profile(model, X, y, n_points=6, max_rows=5)
    drawn(SurfaceDisplay(surface).plot(ax=axes()))
    drawn(SpectrumDisplay.from_estimator(model, ax=axes()))
    drawn(EmbeddingDisplay.from_estimator(model, X, y, ax=axes()))
    widths = ImportancesDisplay.from_estimator(model, ax=axes()).ax_.patches
    np.testing.assert_allclose(
        [bar.get_width() for bar in widths], -np.sort(-model.feature_importances_)
    )
    shown = SensitivityDisplay.from_estimator(model, X, ax=axes())
    drawn(shown)
    effects = average_derivatives(model, X).mean * X.std(axis=0)
    np.testing.assert_allclose(np.sort(shown.ax_.lines[1].get_xdata()), np.sort(effects))
    if len(model.objective_history_) > 1:
        line = ConvergenceDisplay.from_estimator(model, ax=axes()).ax_.lines[0]
        np.testing.assert_array_equal(line.get_ydata(), model.objective_history_)
    else:
        with pytest.raises(ValueError, match=r"solved directly, without iterations"):
            ConvergenceDisplay.from_estimator(model, ax=axes())


@pytest.mark.parametrize("finder", FINDERS)
def test_finders_have_the_pictures_that_need_no_prediction(finder):
    X, y = rows()
    model = light(finder).fit(X, y)
    drawn(SpectrumDisplay.from_estimator(model, ax=axes()))
    drawn(ImportancesDisplay.from_estimator(model, ax=axes()))
    drawn(EmbeddingDisplay.from_estimator(model, X, y, ax=axes()))
    for display in (LinkDisplay, SurfaceDisplay):
        with pytest.raises(ValueError, match="predicts nothing"):
            display.from_estimator(model, X, y, ax=axes())
    with pytest.raises(ValueError, match="has no method gradient"):
        SensitivityDisplay.from_estimator(model, X, ax=axes())


def test_the_surface_is_the_mean_prediction_of_moved_rows():
    X, y = rows(200)
    model = RKHSWeightingRegressor(n_directions=2, random_state=0, n_random_features=50).fit(X, y)
    found = surface_profile(model, X, y, n_points=8, max_rows=200)
    # With as many coordinates as matter, rows at a point predict what the surface says.
    Z = model.transform(X)
    near = [
        (np.hypot(*((found.positions - (a, b)) / np.ptp(found.positions, axis=0)).T).argmin(), v)
        for (b, a), v in [
            ((found.grid[1][i], found.grid[0][j]), found.mean[i, j])
            for i, j in np.argwhere(~np.isnan(found.mean))
        ]
    ]
    predicted = model.predict(X)
    np.testing.assert_array_equal(found.positions, Z)
    assert np.corrcoef([predicted[row] for row, _ in near], [v for _, v in near])[0, 1] > 0.9
    assert np.isnan(found.mean).any() and found.to_frame().shape[1] == 3


def test_names_with_dollars_and_underscores_are_no_formulas():
    X, y = rows()
    frame, target = pd.DataFrame(X, columns=AWKWARD), pd.Series(y, name="US$ of a_year$")
    model = light(BrownianKernelRidge).fit(frame, target)
    assert r"\$" in "".join(drawn(ImportancesDisplay.from_estimator(model, ax=axes())))
    texts = drawn(LinkDisplay.from_estimator(model, frame, target, ax=axes()))
    assert texts[-1] == r"US\$ of a_year\$"
    shown = SensitivityDisplay.from_estimator(model, frame, response_name=target.name, ax=axes())
    assert r"change of US\$ of a_year\$ per" in drawn(shown)[-2]
    drawn(SurfaceDisplay.from_estimator(model, frame, target, ax=axes()))
    drawn(EmbeddingDisplay.from_estimator(model, frame, target, ax=axes()))
    labels = pd.Series(np.where(y > 0, "more than $5", "at most $5"), name="$_$")
    drawn(EmbeddingDisplay.from_estimator(model, frame, labels, ax=axes()))
    whole = DirectionsDisplay.from_estimator(model, frame, target, figure=Figure((11.0, 6.8)))
    FigureCanvasAgg(whole.figure_).draw()


def test_without_directions_there_is_one_sentence():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    model = light(BrownianKernelRidge, n_directions="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, rng.standard_normal(60))
    assert model.n_directions_ == 0
    drawn(ImportancesDisplay.from_estimator(model, ax=axes()))
    drawn(SensitivityDisplay.from_estimator(model, X, ax=axes()))
    y = np.zeros(60)
    for make in (
        lambda: LinkDisplay.from_estimator(model, X, y, ax=axes()),
        lambda: SurfaceDisplay.from_estimator(model, X, y, ax=axes()),
        lambda: SpectrumDisplay.from_estimator(model, ax=axes()),
        lambda: EmbeddingDisplay.from_estimator(model, X, ax=axes()),
    ):
        with pytest.raises(ValueError, match="The model kept no direction"):
            make()
    with pytest.raises(ValueError, match="has not chosen among values of alpha"):
        AlphaSearchDisplay.from_estimator(model, ax=axes())


def test_one_direction_has_no_surface_and_its_rows_beside_each_other():
    X, y = rows()
    model = light(BrownianKernelRidge, n_directions=1).fit(X, y)
    drawn(LinkDisplay.from_estimator(model, X, y, ax=axes()))
    shown = EmbeddingDisplay.from_estimator(model, X, y, ax=axes())
    assert len(shown.ax_.get_yticks()) == 0
    with pytest.raises(ValueError, match=r"kept one direction: a surface needs two\."):
        SurfaceDisplay.from_estimator(model, X, y, ax=axes())
    one = light(BrownianKernelRidge).fit(X[:, :1], y)
    drawn(ImportancesDisplay.from_estimator(one, ax=axes()))
    drawn(SensitivityDisplay.from_estimator(one, X[:, :1], ax=axes()))


def test_many_columns_and_classes_are_counted_aloud():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 30))
    y = np.array([f"class {k}" for k in rng.integers(20, size=120)])
    model = light(RFMClassifier, n_directions=25).fit(X, y)
    assert ImportancesDisplay.from_estimator(model, ax=axes()).ax_.get_title("left") == (
        "Columns (12 of 30)"
    )
    shown = SensitivityDisplay.from_estimator(model, X, target=3, ax=axes())
    assert shown.ax_.get_title("left") == "Derivatives by column (12 of 30)"
    assert f"the score of {model.classes_[3]}" in shown.ax_.get_xlabel()
    assert "first 20 of 25" in SpectrumDisplay.from_estimator(model, ax=axes()).ax_.get_title(
        "left"
    )
    embedded = EmbeddingDisplay.from_estimator(model, X, y, ax=axes())
    drawn(embedded)
    texts = [text.get_text() for text in embedded.ax_.get_legend().get_texts()]
    assert texts[0] == "9 others" and len(texts) == 12
    with pytest.raises(ValueError, match=r"target must be from 0 to 19, got 20\."):
        SensitivityDisplay.from_estimator(model, X, target=20, ax=axes())


def test_several_targets_are_chosen_by_number_or_name():
    X, y = rows()
    targets = pd.DataFrame({"first": y, "second": X[:, 1]})
    model = light(BrownianKernelRidge).fit(X, targets)
    texts = drawn(LinkDisplay.from_estimator(model, X, targets, target="second", ax=axes()))
    assert texts[-1] == "second"
    assert (
        "change of y[1]"
        in drawn(SensitivityDisplay.from_estimator(model, X, target=1, ax=axes()))[-2]
    )


def test_pipelines_and_automatic_estimators_have_pictures():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    pipeline = make_pipeline(StandardScaler(), light(BrownianKernelRidge)).fit(frame, y)
    automatic = AutoLensRegressor(time_budget=0.5, n_directions=2, random_state=0).fit(frame, y)
    for model in (pipeline, automatic):
        names = drawn(ImportancesDisplay.from_estimator(model, ax=axes()))
        assert {"age", "height", "weight"} <= set(names)
        drawn(LinkDisplay.from_estimator(model, frame, y, ax=axes()))
        drawn(SurfaceDisplay(surface_profile(model, frame, y, n_points=5, max_rows=5)).plot())
        drawn(EmbeddingDisplay.from_estimator(model, frame, y, ax=axes()))
        drawn(SpectrumDisplay.from_estimator(model, ax=axes()))
    drawn(SensitivityDisplay.from_estimator(pipeline, frame, ax=axes()))
    with pytest.raises(ValueError, match="look at one of its members_"):
        ConvergenceDisplay.from_estimator(automatic, ax=axes())


def test_a_path_has_its_scores_and_numbers_of_directions():
    X, y = rows()
    path = regularization_path(light(BrownianKernelRidge), X, y, alphas=[1.0, 0.1, 0.01], cv=3)
    shown = RegularizationPathDisplay.from_path(path, ax=axes())
    drawn(shown)
    np.testing.assert_array_equal(shown.ax_.lines[0].get_ydata(), path.mean_scores)
    search = light(BrownianKernelRidge, alpha=[1.0, 0.1, 0.01]).fit(X, y)
    drawn(AlphaSearchDisplay.from_estimator(search, ax=axes()))


def test_eigenfunctions_and_what_is_not_kept_are_in_the_spectrum():
    X, y = rows()
    found = spectrum(SIR(n_directions=1).fit(X, y))
    assert (found.name, found.n_directions, len(found.values)) == ("eigenvalue", 1, 3)
    embedding = KernelLaplacianEmbedding(n_components=2, random_state=0).fit(X)
    drawn(SpectrumDisplay.from_estimator(embedding, ax=axes()))
    drawn(EmbeddingDisplay.from_estimator(embedding, X, y, ax=axes()))
    assert "kept" in str(spectrum(embedding))
    with pytest.raises(ValueError, match="solved directly"):
        convergence(embedding)


def test_displays_of_scikit_learn_serve_for_predictions_beside_what_was_observed():
    X, y = rows()
    model = light(BrownianKernelRidge).fit(X, y)
    PredictionErrorDisplay.from_estimator(model, X, y, kind="actual_vs_predicted", ax=axes())
    classes = np.where(y > 0, "yes", "no")
    classifier = light(RFMClassifier).fit(X, classes)
    for display in (ConfusionMatrixDisplay, RocCurveDisplay, CalibrationDisplay):
        display.from_estimator(classifier, X, classes, ax=axes())
