"""Displays show the numbers of ``kernlens.inspection``, and nothing overlaps or is cut off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.inspection import direction_profile, summarize_directions
from kernlens.plotting import DirectionsDisplay

DATA = make_absolute_sum_of_sines(120, 5, n_relevant=2, random_state=0)


@pytest.fixture(scope="module")
def model() -> BKerNNRegressor:
    return BKerNNRegressor(n_particles=10, n_directions=2, random_state=0).fit(DATA.X, DATA.y)


@pytest.fixture(scope="module")
def display(model: BKerNNRegressor) -> DirectionsDisplay:
    figure = Figure(figsize=(10.0, 6.2))
    return DirectionsDisplay.from_estimator(model, DATA.X, DATA.y, figure=figure, title="Title")


def test_panels_show_the_numbers(display: DirectionsDisplay, model: BKerNNRegressor) -> None:
    for direction in range(2):
        ax = display.axes_[f"direction_{direction}"]
        profile = direction_profile(model, DATA.X, DATA.y, direction=direction)
        np.testing.assert_allclose(ax.lines[0].get_xdata(), profile.grid)
        np.testing.assert_allclose(ax.lines[0].get_ydata(), profile.mean)
        points = np.column_stack([model.transform(DATA.X)[:, direction], DATA.y])
        np.testing.assert_allclose(ax.collections[0].get_offsets(), points)
    summary = summarize_directions(model)
    widths = [bar.get_width() for bar in display.axes_["component_importances"].patches]
    np.testing.assert_allclose(widths, summary.component_importances)
    search = display.axes_["alpha_search"]
    order = np.argsort(model.alpha_search_["alpha"])
    np.testing.assert_allclose(search.lines[0].get_ydata(), model.alpha_search_["loss"][order])
    np.testing.assert_allclose(search.lines[1].get_xdata(), model.alpha_)


def test_columns_are_sorted_with_their_names(
    display: DirectionsDisplay, model: BKerNNRegressor
) -> None:
    ax = display.axes_["feature_importances"]
    names = [label.get_text() for label in ax.get_yticklabels()]
    order = np.argsort(-model.feature_importances_)
    assert names == [f"x{column}" for column in order]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, model.feature_importances_[order])
    assert display.axes_["column"].get_xlabel() == names[0]


def test_no_panel_covers_another_or_leaves_the_figure(display: DirectionsDisplay) -> None:
    figure = display.figure_
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [ax.get_tightbbox(canvas.get_renderer()) for ax in figure.axes]
    boxes.append(figure.texts[0].get_window_extent(canvas.get_renderer()))
    for place, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def test_the_legend_names_the_band_only_where_there_is_one(display: DirectionsDisplay) -> None:
    X = np.random.default_rng(0).normal(size=(40, 1))
    single = BKerNNRegressor(alpha=0.1, n_particles=3, random_state=0).fit(X, X[:, 0])
    other = DirectionsDisplay.from_estimator(single, X, X[:, 0], figure=Figure())
    for shown, n_entries in ((display, 2), (other, 1)):
        legend = shown.axes_["direction_0"].get_legend()
        assert legend is not None
        assert len(legend.get_texts()) == n_entries


def test_a_display_is_drawn_again_from_its_numbers(display: DirectionsDisplay) -> None:
    again = DirectionsDisplay(display.summary, display.column, display.profiles[:1])
    again.plot(figure=Figure())
    assert "alpha_search" not in again.axes_
    assert "direction_1" not in again.axes_
    old, new = (shown.axes_["direction_0"].lines[0] for shown in (display, again))
    np.testing.assert_array_equal(old.get_ydata(), new.get_ydata())


def test_many_columns_are_cut_to_the_first_and_the_title_says_so() -> None:
    X = np.random.default_rng(0).normal(size=(40, 15))
    model = BKerNNRegressor(alpha=0.1, n_particles=5, random_state=0).fit(X, X[:, 3])
    display = DirectionsDisplay.from_estimator(model, X, X[:, 3], figure=Figure())
    ax = display.axes_["feature_importances"]
    assert len(ax.patches) == 12
    assert ax.get_title(loc="left").endswith("(12 of 15)")
    assert ax.get_yticklabels()[0].get_text() == "x3"


def test_classes_are_drawn_as_a_probability() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = BKerNNClassifier(alpha=0.02, n_particles=6, random_state=0).fit(X, y)
    figure = Figure()
    ax = DirectionsDisplay.from_estimator(model, X, y, figure=figure).axes_["direction_0"]
    assert ax.get_ylabel() == "P(y = yes)"
    curve = np.asarray(ax.lines[0].get_ydata())
    assert curve.min() >= 0.0 and curve.max() <= 1.0
    heights = np.asarray(ax.collections[0].get_offsets())[:, 1]
    np.testing.assert_array_equal(np.round(heights), y == "yes")


def test_pyplot_is_used_only_without_a_figure(
    model: BKerNNRegressor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pyplot, "figure", lambda **options: Figure(**options))
    before = pyplot.get_fignums()
    made = DirectionsDisplay.from_estimator(model, DATA.X, DATA.y, n_profiles=1).figure_
    assert tuple(made.get_size_inches()) == (10.0, 6.2)
    assert pyplot.get_fignums() == before
    made.savefig(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 0
