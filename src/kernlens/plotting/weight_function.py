"""The weight function of an RKHS weighting, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from kernlens.inspection import WeightProfile, weight_profile
from kernlens.plotting._style import TEXT, label, room_for_panels, tidy

#: Size in inches of a figure made here.
FIGURE_SIZE = (9.0, 3.6)
#: Colours of curves, from the Okabe-Ito palette.
CURVES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

#: Letters of the name of a curve.
LETTERS = 24


class WeightFunctionDisplay:
    """alpha(w) of ``f(x) = c + E_w[alpha(w) phi(w, x)]``, along directions and on their plane.

    A hill says that base predictors around that weight add to the prediction, a valley that they
    take from it. For stumps: where thresholds matter, column by column.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    profile : WeightProfile

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    axes_ : dict of str to matplotlib.axes.Axes
        ``"curves"`` and, if there are two directions, ``"plane"``.
    """

    figure_: Figure | SubFigure
    axes_: dict[str, Axes]

    def __init__(self, profile: WeightProfile) -> None:
        self.profile = profile

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        n_curves: int = 3,
        target: int = 0,
        figure: Figure | None = None,
        ax: Axes | None = None,
    ) -> WeightFunctionDisplay:
        """Draw the weight function of a fitted model.

        Parameters
        ----------
        model : RKHSWeightingRegressor or RKHSWeightingClassifier
            Fitted, with a named instantiation; or a fitted Pipeline that ends with one.
        n_curves : int, default=3
            Directions, or columns for stumps.
        target : int, default=0
            Which of several targets or classes.
        figure : matplotlib.figure.Figure or None
            Where to draw; by default a new figure of pyplot.
        ax : matplotlib.axes.Axes or None
            One of a grid, whose place is divided among the panels instead.

        Returns
        -------
        WeightFunctionDisplay
        """
        profile = weight_profile(model, n_curves=n_curves, target=target)
        return cls(profile).plot(figure=figure, ax=ax)

    def plot(
        self, *, figure: Figure | None = None, ax: Axes | None = None
    ) -> WeightFunctionDisplay:
        """Draw.

        Parameters
        ----------
        figure : matplotlib.figure.Figure or None
            Where to draw; by default a new figure of pyplot.
        ax : matplotlib.axes.Axes or None
            One of a grid, whose place is divided among the panels instead.

        Returns
        -------
        self
        """
        profile = self.profile
        n_panels = 1 if profile.plane is None else 2
        width = FIGURE_SIZE[0] * (0.6 if n_panels == 1 else 1.0)
        self.figure_ = room_for_panels(figure, ax, (width, FIGURE_SIZE[1]))
        axes = self.figure_.subplots(1, n_panels, squeeze=False)
        self.axes_ = {"curves": axes[0, 0]}
        self._draw_curves(axes[0, 0])
        if profile.plane is not None:
            self.axes_["plane"] = axes[0, 1]
            self._draw_plane(axes[0, 1], profile.plane)
        return self

    def _draw_curves(self, ax: Axes) -> None:
        profile = self.profile
        ax.axhline(0.0, color=TEXT, linewidth=0.6)
        for k, name in enumerate(profile.labels):
            color = CURVES[k % len(CURVES)]
            ax.plot(profile.grid[k], profile.values[k], color=color, label=label(name, LETTERS))
        where = "threshold (in standard deviations)"
        if not profile.stumps:
            where = "weight along the direction (in sigma)"
        tidy(ax, "Weight function", where, "alpha (relative)")
        ax.legend(fontsize=8, frameon=False)

    def _draw_plane(self, ax: Axes, plane: Any) -> None:
        steps = self.profile.grid[0]
        largest = float(np.max(np.abs(plane))) or 1.0
        image = ax.pcolormesh(
            steps, steps, plane, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="auto"
        )
        ax.set_aspect("equal")
        self.figure_.colorbar(image, ax=ax, shrink=0.85).ax.tick_params(labelsize=8)
        tidy(ax, "On the plane of two directions", "along direction 1", "along direction 2")
