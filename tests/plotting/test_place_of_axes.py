"""Displays of several panels in the place of one axes of a figure of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernlens import SIR, RKHSWeightingRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.plotting import DirectionsDisplay, SubspaceStabilityDisplay, WeightFunctionDisplay

DATA = make_absolute_sum_of_sines(80, 3, n_relevant=1, random_state=0)


def directions(**place: Any) -> DirectionsDisplay:
    model = RKHSWeightingRegressor(alpha=0.1, n_directions=1, random_state=0).fit(DATA.X, DATA.y)
    return DirectionsDisplay.from_estimator(model, DATA.X, DATA.y, **place)


def stability(**place: Any) -> SubspaceStabilityDisplay:
    return SubspaceStabilityDisplay.from_estimator(
        SIR(n_directions=1), DATA.X, DATA.X[:, 0], n_resamples=4, random_state=0, **place
    )


def weights(**place: Any) -> WeightFunctionDisplay:
    model = RKHSWeightingRegressor(alpha=0.1, n_directions=1, random_state=0).fit(DATA.X, DATA.y)
    return WeightFunctionDisplay.from_estimator(model, **place)


every_display = pytest.mark.parametrize("make", [directions, stability, weights])


def box(ax: Axes) -> np.ndarray:
    """Corners of an axes in its figure."""
    return np.asarray(ax.get_window_extent())


@every_display
def test_panels_are_within_the_place_of_an_axes(make: Callable[..., Any]) -> None:
    figure = Figure(figsize=(14, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [0, 1])
    display = make(ax=right)
    FigureCanvasAgg(figure).draw()
    end_of_left = box(left)[1, 0]
    assert 0.4 < end_of_left / figure.bbox.width < 0.6
    assert len(display.axes_) >= 1
    for panel in display.axes_.values():
        assert end_of_left < box(panel)[0, 0] < box(panel)[1, 0] <= figure.bbox.width
    assert right not in figure.axes


@every_display
def test_an_axes_without_a_grid_or_beside_a_figure_is_refused(make: Callable[..., Any]) -> None:
    figure = Figure()
    with pytest.raises(ValueError, match="ax must be of a grid"):
        make(ax=figure.add_axes((0.1, 0.1, 0.5, 0.5)))
    with pytest.raises(ValueError, match="goes without figure"):
        make(ax=figure.subplots(), figure=figure)
