"""The fitted function against learned directions: along one, and over the plane of two."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from kernlens.inspection import (
    DirectionProfile,
    DirectionSummary,
    SurfaceProfile,
    direction_profile,
    summarize_directions,
    surface_profile,
)
from kernlens.plotting._one_panel import PanelDisplay
from kernlens.plotting._style import TEXT, label, tidy
from kernlens.plotting.panels import ALONG, draw_direction_profile, unit_of

#: Steps of colour of a surface.
N_LEVELS = 12


class LinkDisplay(PanelDisplay):
    """The target and the fitted function along one learned direction.

    The line is the mean prediction with all rows moved along the direction, the band 10 % to 90 %
    of the rows: it is wide where other directions matter as well.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    profile : DirectionProfile
    summary : DirectionSummary
        Importances and unit of the directions.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    def __init__(self, profile: DirectionProfile, summary: DirectionSummary) -> None:
        self.profile, self.summary = profile, summary

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        direction: int = 0,
        target: Any = None,
        ax: Axes | None = None,
    ) -> LinkDisplay:
        """Compute the profile of a fitted model and draw it.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            A Series or data frame gives the target its name.
        direction : int, default=0
            Position in `components_`.
        target : object or None
            Class (the last by default) or column of y (the first) to look at.
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        LinkDisplay
        """
        profile = direction_profile(model, X, y, direction=direction, target=target)
        return cls(profile, summarize_directions(model)).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        importance = float(self.summary.component_importances[self.profile.direction])
        standardized = self.summary.standardized
        draw_direction_profile(ax, self.profile, importance, standardized=standardized, legend=True)


class SurfaceDisplay(PanelDisplay):
    """The fitted function over the plane of two learned directions, as steps of colour.

    Points are the rows, in the colour of their target. Where there are no rows near by, there is
    no colour.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    profile : SurfaceProfile
    standardized : bool
        Whether directions are per standard deviation of the columns.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    _size: ClassVar[tuple[float, float]] = (5.0, 3.8)

    def __init__(self, profile: SurfaceProfile, standardized: bool = True) -> None:
        self.profile, self.standardized = profile, standardized

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        directions: tuple[int, int] = (0, 1),
        target: Any = None,
        ax: Axes | None = None,
    ) -> SurfaceDisplay:
        """Compute the surface of a fitted model and draw it.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
            With two directions at least.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            A Series or data frame gives the target its name.
        directions : tuple of two int, default=(0, 1)
            Positions in `components_`.
        target : object or None
            Class (the last by default) or column of y (the first) to look at.
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        SurfaceDisplay
        """
        profile = surface_profile(model, X, y, directions=directions, target=target)
        return cls(profile, summarize_directions(model).standardized).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        profile = self.profile
        seen = np.concatenate([profile.mean[np.isfinite(profile.mean)], profile.observed])
        # A few rows far above all others would leave one colour to the rest.
        low, high = np.percentile(seen, [1, 99])
        if set(np.unique(profile.observed)) <= {0.0, 1.0}:
            low, high = 0.0, 1.0
        high = high if high > low else low + 1.0
        levels = MaxNLocator(N_LEVELS).tick_values(low, high)
        beyond = "both" if seen.min() < levels[0] or seen.max() > levels[-1] else "neither"
        image = ax.contourf(
            *profile.grid, profile.mean, levels=levels, cmap="viridis", extend=beyond
        )
        ax.scatter(
            profile.positions[:, 0], profile.positions[:, 1], c=profile.observed,
            vmin=levels[0], vmax=levels[-1],
            cmap="viridis", s=16, edgecolors="white", linewidths=0.4, rasterized=True,
        )  # fmt: skip
        bar = ax.figure.colorbar(image, ax=ax, ticks=levels[::2])
        bar.set_label(label(profile.response_name, ALONG), fontsize=9, color=TEXT)
        bar.ax.tick_params(labelsize=8, color=TEXT, labelcolor=TEXT)
        unit = unit_of(self.standardized)
        first, second = (f"direction {k + 1} ({unit})" for k in profile.directions)
        tidy(ax, "Fitted function over two directions", first, second)
        ax.locator_params(nbins=6)
