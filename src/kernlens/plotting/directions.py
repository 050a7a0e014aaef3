"""One figure for a fitted feature learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike

from kernlens.inspection import (
    AlphaSearch,
    ColumnProfile,
    DirectionProfile,
    DirectionSummary,
    alpha_search,
    column_profile,
    direction_profile,
    summarize_directions,
)
from kernlens.plotting._style import room_for_panels
from kernlens.plotting.panels import (
    draw_alpha_search,
    draw_column_profile,
    draw_direction_profile,
    draw_loadings,
    draw_shares,
)

#: Size in inches of a figure made here, and what every further row of panels adds.
FIGURE_SIZE = (11.0, 6.8)
ROW_HEIGHT = 3.4
#: Panels of profiles in a row.
PANELS_ABOVE = 3
#: Widths of the panels below, relative to each other.
WIDTHS_BELOW = {
    "loadings": 1.1,
    "component_importances": 0.8,
    "feature_importances": 1.1,
    "alpha_search": 1.0,
}
NO_DIRECTION = "No direction predicts better than the mean."


class DirectionsDisplay:
    """What a fitted model learned, in one figure.

    Above: the target against the most important single column, then against the first learned
    directions, with the fitted function (mean and 10 % to 90 % of the rows, the other learned
    coordinates as they are). Below: loadings of the columns in the first directions, importances of
    directions and columns, and the curve that alpha was chosen from, if it was chosen
    automatically. A model without directions has the column and the importances of columns only.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    summary : DirectionSummary
    column : ColumnProfile
    profiles : sequence of DirectionProfile
        One panel each.
    search : AlphaSearch or None

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    axes_ : dict of str to matplotlib.axes.Axes
        ``"column"``, ``"direction_0"``, ..., ``"loadings"``, ``"component_importances"``,
        ``"feature_importances"`` and, if there was a search, ``"alpha_search"``. Without
        directions ``"column"`` and ``"feature_importances"``.
    """

    def __init__(
        self,
        summary: DirectionSummary,
        column: ColumnProfile,
        profiles: Sequence[DirectionProfile],
        search: AlphaSearch | None = None,
    ) -> None:
        self.summary = summary
        self.column = column
        self.profiles = profiles
        self.search = search

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_profiles: int = 2,
        target: Any = None,
        feature_names: Sequence[str] | None = None,
        title: str | None = None,
        figure: Figure | None = None,
        ax: Axes | None = None,
    ) -> DirectionsDisplay:
        """Compute the numbers of a fitted model and draw them.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
            In a pipeline, columns and names are those that reach the last step.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            A Series or data frame gives the target its name.
        n_profiles : int, default=2
            At most this many directions get a panel.
        target : object or None
            Class (the last by default) or column of y (the first) to look at.
        feature_names : sequence of str or None
            Names of the columns; by default those seen in `fit`, or x0, x1, ...
        title : str or None
            Above the figure.
        figure : matplotlib.figure.Figure or None
            Where to draw; by default a new figure of pyplot.
        ax : matplotlib.axes.Axes or None
            One of a grid, whose place is divided among the panels instead.

        Returns
        -------
        DirectionsDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure, SubFigure
        >>> from kernlens import BKerNNRegressor
        >>> from kernlens.datasets import make_absolute_sum_of_sines
        >>> from kernlens.plotting import DirectionsDisplay
        >>> data = make_absolute_sum_of_sines(100, 4, n_relevant=1, random_state=0)
        >>> model = BKerNNRegressor(alpha=0.01, n_particles=10, random_state=0)
        >>> model = model.fit(data.X, data.y)
        >>> display = DirectionsDisplay.from_estimator(model, data.X, data.y, figure=Figure())
        >>> sorted(display.axes_)
        ['column', 'component_importances', 'direction_0', 'feature_importances', 'loadings']
        """
        summary = summarize_directions(model, feature_names=feature_names)
        profiles = [
            direction_profile(model, X, y, direction=direction, target=target)
            for direction in range(min(n_profiles, len(summary.loadings)))
        ]
        display = cls(
            summary,
            column_profile(model, X, y, target=target, feature_names=feature_names),
            profiles,
            alpha_search(model),
        )
        return display.plot(title=title, figure=figure, ax=ax)

    def plot(
        self, *, title: str | None = None, figure: Figure | None = None, ax: Axes | None = None
    ) -> DirectionsDisplay:
        """Draw the numbers.

        Parameters
        ----------
        title : str or None
            Above the figure.
        figure : matplotlib.figure.Figure or None
            Where to draw; by default a new figure of pyplot.
        ax : matplotlib.axes.Axes or None
            One of a grid, whose place is divided among the panels instead.

        Returns
        -------
        self
        """
        above = ["column", *(f"direction_{profile.direction}" for profile in self.profiles)]
        n_rows = 1 + -(-len(above) // PANELS_ABOVE)
        width, height = FIGURE_SIZE
        tall = height + (n_rows - 2) * ROW_HEIGHT
        self.figure_ = room_for_panels(figure, ax, (width, tall), h_pad=0.12, w_pad=0.08)
        if len(self.summary.loadings) == 0:
            self._draw_without_directions(title)
            return self
        if title is not None:
            self.figure_.suptitle(title, x=0.01, ha="left", fontsize=12)
        below = [name for name in WIDTHS_BELOW if name != "alpha_search" or self.search is not None]
        self.axes_ = _in_rows(self.figure_, above, below)
        self._draw_profiles()
        draw_loadings(self.axes_["loadings"], self.summary)
        self._draw_importances()
        if self.search is not None:
            draw_alpha_search(self.axes_["alpha_search"], self.search)
        return self

    def _draw_without_directions(self, title: str | None) -> None:
        text = NO_DIRECTION if title is None else f"{title}\n{NO_DIRECTION}"
        self.figure_.suptitle(text, x=0.01, ha="left", fontsize=12)
        left, right = self.figure_.subplots(1, 2)
        self.axes_ = {"column": left, "feature_importances": right}
        draw_column_profile(left, self.column)
        self._draw_feature_importances()

    def _draw_profiles(self) -> None:
        draw_column_profile(self.axes_["column"], self.column)
        for profile in self.profiles:
            ax = self.axes_[f"direction_{profile.direction}"]
            importance = self.summary.component_importances[profile.direction]
            draw_direction_profile(
                ax, profile, float(importance), standardized=self.summary.standardized
            )
            ax.sharey(self.axes_["column"])

    def _draw_importances(self) -> None:
        shares = self.summary.component_importances
        numbers = [str(number) for number in range(1, len(shares) + 1)]
        draw_shares(self.axes_["component_importances"], numbers, shares, "Directions")
        self._draw_feature_importances()

    def _draw_feature_importances(self) -> None:
        shares = self.summary.feature_importances
        order = np.argsort(-shares, kind="stable")
        names = [self.summary.feature_names[column] for column in order]
        draw_shares(self.axes_["feature_importances"], names, shares[order], "Columns")


def _in_rows(
    figure: Figure | SubFigure, above: Sequence[str], below: Sequence[str]
) -> dict[str, Axes]:
    """Panels of equal width above, in as many rows as they need, and one row below them."""
    per_row = min(len(above), PANELS_ABOVE)
    n_rows = -(-len(above) // per_row)
    rows = figure.add_gridspec(n_rows + 1, 1, height_ratios=[1.15] * n_rows + [1.0])
    grids = [rows[row].subgridspec(1, per_row) for row in range(n_rows)]
    axes = {}
    for place, name in enumerate(above):
        axes[name] = figure.add_subplot(grids[place // per_row][place % per_row])
    widths = [WIDTHS_BELOW[name] for name in below]
    last = rows[n_rows].subgridspec(1, len(below), width_ratios=widths)
    for place, name in enumerate(below):
        axes[name] = figure.add_subplot(last[place])
    return axes
