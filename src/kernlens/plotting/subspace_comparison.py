"""Angles between the subspaces of several models, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from kernlens.inspection import SubspaceComparison, compare_subspaces
from kernlens.plotting._style import TEXT, label, new_figure, tidy

#: Letters of the name of a model: those of our classes have a place.
LETTERS = 26


class SubspaceComparisonDisplay:
    """Largest angles between what several models found, as numbers on colours.

    Make one with :meth:`from_models`.

    Parameters
    ----------
    comparison : SubspaceComparison

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    figure_: Figure | SubFigure
    ax_: Axes

    def __init__(self, comparison: SubspaceComparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_models(
        cls,
        models: Sequence[Any] | Mapping[str, Any],
        names: Sequence[str] | None = None,
        *,
        ax: Axes | None = None,
    ) -> SubspaceComparisonDisplay:
        """Compare fitted models and draw their angles.

        Parameters
        ----------
        models : sequence of fitted models, or dict of str to fitted model
        names : sequence of str or None
            One for every model; by default the keys, or the names of the classes.
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        SubspaceComparisonDisplay
        """
        return cls(compare_subspaces(models, names)).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> SubspaceComparisonDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        self
        """
        found = self.comparison
        n_models = len(found.names)
        if ax is None:
            side = 2.2 + 0.65 * n_models
            figure = new_figure(side + 1.2, side)
            figure.set_layout_engine("constrained")
            ax = figure.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        image = ax.imshow(found.largest_angles, cmap="viridis_r", vmin=0.0, vmax=90.0)
        for row, column in np.ndindex(found.largest_angles.shape):
            value = found.largest_angles[row, column]
            text = "-" if np.isnan(value) else f"{value:.0f}°"
            color = "white" if value > 45.0 else TEXT
            ax.text(column, row, text, ha="center", va="center", fontsize=8, color=color)
        short = [label(name, LETTERS) for name in found.names]
        counts = [f"{name} ({k})" for name, k in zip(short, found.n_directions, strict=True)]
        tidy(ax, "Largest angle between subspaces", "", "")
        ax.set_xticks(range(n_models), short, rotation=40, ha="right")
        ax.set_yticks(range(n_models), counts)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        bar = self.figure_.colorbar(image, ax=ax, shrink=0.8)
        bar.set_label("degrees", fontsize=9, color=TEXT)
        bar.ax.tick_params(labelsize=8)
        return self
