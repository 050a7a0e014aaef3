"""Displays show the numbers of ``kernlens.inspection``, and nothing overlaps or is cut off."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.inspection import DirectionSummary, direction_profile, summarize_directions
from kernlens.plotting import DirectionsDisplay
from kernlens.plotting.directions import FIGURE_SIZE, ROW_HEIGHT
from kernlens.plotting.panels import draw_loadings

DATA = make_absolute_sum_of_sines(120, 5, n_relevant=2, random_state=0)


@pytest.fixture(scope="module")
def model() -> BKerNNRegressor:
    return BKerNNRegressor(n_particles=10, n_directions=2, random_state=0).fit(DATA.X, DATA.y)


@pytest.fixture(scope="module")
def display(model: BKerNNRegressor) -> DirectionsDisplay:
    figure = Figure(figsize=FIGURE_SIZE)
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
    tried = model.alpha_search_
    chosen = np.flatnonzero(tried["penalty"] == model.penalty_)
    order = chosen[np.argsort(tried["alpha"][chosen])]
    np.testing.assert_allclose(search.lines[0].get_ydata(), tried["loss"][order])
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


def check_nothing_overlaps_or_is_cut_off(figure: Figure) -> None:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [ax.get_tightbbox(canvas.get_renderer()) for ax in figure.axes]
    boxes += [text.get_window_extent(canvas.get_renderer()) for text in figure.texts]
    for place, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def test_no_panel_covers_another_or_leaves_the_figure(display: DirectionsDisplay) -> None:
    assert len(display.figure_.texts) == 1
    check_nothing_overlaps_or_is_cut_off(display.figure_)


@pytest.mark.parametrize(("n_directions", "n_columns"), [(0, 40), (1, 1), (1, 9), (5, 40)])
def test_any_number_of_directions_and_long_names_have_their_place(
    n_directions: int, n_columns: int, display: DirectionsDisplay
) -> None:
    rng = np.random.default_rng(0)
    summary = DirectionSummary(
        feature_names=tuple(f"a very long name of column {k}" for k in range(n_columns)),
        loadings=np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0][:n_directions],
        component_importances=np.full(n_directions, 1.0 / max(1, n_directions)),
        feature_importances=np.full(n_columns, 1.0 / n_columns),
    )
    target = "P(a very long name of the target = a very long name of a class)"
    column = replace(display.column, name=summary.feature_names[-1], response_name=target)
    first = replace(display.profiles[0], response_name=target)
    profiles = [replace(first, direction=direction) for direction in range(n_directions)]
    n_rows = 1 + -(-(1 + n_directions) // 3)
    figure = Figure(figsize=(FIGURE_SIZE[0], FIGURE_SIZE[1] + (n_rows - 2) * ROW_HEIGHT))
    shown = DirectionsDisplay(summary, column, profiles, display.search)
    shown.plot(figure=figure, title="A title")
    assert sum(name.startswith("direction_") for name in shown.axes_) == n_directions
    check_nothing_overlaps_or_is_cut_off(figure)


def test_a_model_without_directions_has_columns_only_and_says_so(
    model: BKerNNRegressor,
) -> None:
    none = copy(model)
    none._store_directions(model.loadings_, np.ones(2), np.ones(5), 0, model.scale_)
    shown = DirectionsDisplay.from_estimator(none, DATA.X, DATA.y, figure=Figure(), title="Title")
    assert sorted(shown.axes_) == ["column", "feature_importances"]
    (text,) = shown.figure_.texts
    assert text.get_text() == "Title\nNo direction predicts better than the mean."
    with pytest.raises(ValueError, match="kept no direction"):
        direction_profile(none, DATA.X, DATA.y)


def test_loadings_are_numbers_on_colours(
    display: DirectionsDisplay, model: BKerNNRegressor
) -> None:
    ax = display.axes_["loadings"]
    columns = [int(label.get_text()[1:]) for label in ax.get_yticklabels()]
    assert sorted(columns) == list(range(5))
    shown = ax.images[0].get_array()
    np.testing.assert_array_equal(shown, model.loadings_[:, columns].T)
    texts = np.array([float(text.get_text()) for text in ax.texts]).reshape(5, 2)
    np.testing.assert_allclose(texts, shown, atol=0.0051)
    # The columns of the first direction come first, by size.
    owners = np.abs(model.loadings_).argmax(axis=0)[columns]
    assert list(owners) == sorted(owners)
    of_first = np.abs(model.loadings_[0, columns])[owners == 0]
    assert np.all(np.diff(of_first) <= 0)


def test_loadings_have_a_place_for_eight_columns_of_three_directions() -> None:
    weights = np.array([np.linspace(0.0, 0.9, 10), np.zeros(10), np.zeros(10), np.full(10, 0.95)])
    names = tuple("abcdefghij")
    summary = DirectionSummary(names, weights, np.full(4, 0.25), np.full(10, 0.1), False)
    ax = Figure().subplots()
    draw_loadings(ax, summary)
    assert [label.get_text() for label in ax.get_yticklabels()] == list("jihgfedc")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "3"]
    assert ax.get_title(loc="left") == "Loadings (8 of 10)"
    assert "in units of X" in ax.get_xlabel()


def test_axes_of_directions_say_their_unit(display: DirectionsDisplay) -> None:
    ax = display.axes_["direction_1"]
    assert ax.get_xlabel() == "direction 2 (per standard deviation)"
    raw = replace(display.summary, standardized=False)
    other = DirectionsDisplay(raw, display.column, display.profiles).plot(figure=Figure())
    assert other.axes_["direction_1"].get_xlabel() == "direction 2 (in units of X)"


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
    assert tuple(made.get_size_inches()) == FIGURE_SIZE
    assert pyplot.get_fignums() == before
    made.savefig(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 0
