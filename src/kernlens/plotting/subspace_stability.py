"""How sure directions are, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernlens.base.names import resolve_feature_names
from kernlens.model_selection import SubspaceStability
from kernlens.plotting._style import BAR, CHOSEN, DATA, FIT, TEXT, label, room_for_panels, tidy
from kernlens.plotting.panels import BESIDE

#: Size in inches of a figure made here.
FIGURE_SIZE = (11.0, 6.4)
#: Directions that get a panel, and columns in it.
MOST_PANELS, MOST_COLUMNS = 3, 10
NO_DIRECTION = "The learner found no direction."


class SubspaceStabilityDisplay:
    """Directions with their intervals, and how much they vary between resamples.

    Above: the largest loadings of the first directions with their intervals; those whose sign is
    sure are filled. Below: angles between the directions of all rows and the subspaces of the
    resamples, eigenvalues of the average projection, and the ladle criterion where there is one.

    Make one with :meth:`from_estimator`, or from a fitted :class:`SubspaceStability` with
    :meth:`from_stability`.

    Parameters
    ----------
    stability : SubspaceStability
        Fitted.
    feature_names : sequence of str or None
        Names of the columns; by default those seen in `fit`, or x0, x1, ...

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    axes_ : dict of str to matplotlib.axes.Axes
        ``"direction_0"``, ..., ``"angles"``, ``"eigenvalues"`` and, if there is one, ``"ladle"``.
    """

    figure_: Figure | SubFigure
    axes_: dict[str, Axes]

    def __init__(
        self, stability: SubspaceStability, feature_names: Sequence[str] | None = None
    ) -> None:
        check_is_fitted(stability)
        self.stability = stability
        self.feature_names = resolve_feature_names(stability, feature_names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        figure: Figure | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> SubspaceStabilityDisplay:
        """Fit an estimator to resamples of the rows and draw how much its directions vary.

        Parameters
        ----------
        estimator : estimator
            As in :class:`SubspaceStability`; it need not be fitted.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets) or None
        sample_weight : array-like of shape (n_samples,) or None
        feature_names : sequence of str or None
            Names of the columns; by default those seen in `fit`, or x0, x1, ...
        figure : matplotlib.figure.Figure or None
            Where to draw; by default a new figure of pyplot.
        ax : matplotlib.axes.Axes or None
            One of a grid, whose place is divided among the panels instead.
        **options
            Other arguments of :class:`SubspaceStability`.

        Returns
        -------
        SubspaceStabilityDisplay
        """
        stability = SubspaceStability(estimator, **options).fit(X, y, sample_weight)
        return cls.from_stability(stability, feature_names=feature_names, figure=figure, ax=ax)

    @classmethod
    def from_stability(
        cls,
        stability: SubspaceStability,
        *,
        feature_names: Sequence[str] | None = None,
        figure: Figure | None = None,
        ax: Axes | None = None,
    ) -> SubspaceStabilityDisplay:
        """Draw what was fitted before.

        Parameters
        ----------
        stability : SubspaceStability
            Fitted.
        feature_names : sequence of str or None
            Names of the columns; by default those seen in `fit`, or x0, x1, ...
        figure : matplotlib.figure.Figure or None
            Where to draw; by default a new figure of pyplot.
        ax : matplotlib.axes.Axes or None
            One of a grid, whose place is divided among the panels instead.

        Returns
        -------
        SubspaceStabilityDisplay
        """
        return cls(stability, feature_names).plot(figure=figure, ax=ax)

    def plot(
        self, *, figure: Figure | None = None, ax: Axes | None = None
    ) -> SubspaceStabilityDisplay:
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
        self.figure_ = room_for_panels(figure, ax, FIGURE_SIZE, h_pad=0.12, w_pad=0.08)
        n_panels = min(MOST_PANELS, self.stability.n_directions_)
        below = ["eigenvalues", *(["ladle"] if hasattr(self.stability, "ladle_") else [])]
        if n_panels == 0:
            self.figure_.suptitle(NO_DIRECTION, x=0.01, ha="left", fontsize=12)
            lower: Figure | SubFigure = self.figure_
        else:
            halves: Any = self.figure_.subfigures(2, 1, height_ratios=[1.15, 1.0])
            lower = halves[1]
            above = halves[0].subplots(1, n_panels, squeeze=False)[0]
            below.insert(0, "angles")
        row = lower.subplots(1, len(below), squeeze=False)[0]
        self.axes_ = dict(zip(below, row, strict=True))
        for direction in range(n_panels):
            self.axes_[f"direction_{direction}"] = above[direction]
            self._draw_direction(above[direction], direction)
        if n_panels:
            self._draw_angles(self.axes_["angles"])
        self._draw_eigenvalues(self.axes_["eigenvalues"])
        if "ladle" in self.axes_:
            self._draw_ladle(self.axes_["ladle"])
        return self

    def _draw_direction(self, ax: Axes, direction: int) -> None:
        entries = self.stability.loadings_[direction]
        low, high = self.stability.intervals_[:, direction]
        order = np.argsort(-np.abs(entries), kind="stable")[:MOST_COLUMNS]
        clear = self.stability.clear_[direction]
        ax.axvline(0.0, color=TEXT, linewidth=0.6)
        for place, column in enumerate(order):
            color = FIT if clear[column] else DATA
            ax.plot([low[column], high[column]], [place, place], color=color, linewidth=2)
            ax.plot(
                entries[column], place, "o", color=color, markersize=6,
                markerfacecolor=color if clear[column] else "white",
            )  # fmt: skip
        # At least five places, so that one or two columns do not become slabs.
        ax.set_ylim(max(len(order), 5) - 0.5, -0.5)
        ax.set_yticks(
            range(len(order)), [label(self.feature_names[column], BESIDE) for column in order]
        )
        some = f" ({len(order)} of {len(entries)})" if len(entries) > len(order) else ""
        sure = f"{self.stability.coverage:.0%} intervals"
        tidy(ax, f"Direction {direction + 1}{some}", f"loading, {sure}", "")

    def _draw_angles(self, ax: Axes) -> None:
        angles = self.stability.angles_
        places = np.arange(1, angles.shape[1] + 1)
        boxes = ax.boxplot(
            angles, positions=places, widths=0.5, patch_artist=True, medianprops={"color": TEXT}
        )
        for box in boxes["boxes"]:
            box.set(facecolor=BAR, edgecolor=TEXT, linewidth=0.8)
        ax.set_ylim(0.0, max(10.0, min(90.0, 1.1 * float(angles.max()))))
        ax.set_xticks(places, [str(place) for place in places])
        tidy(ax, "Angle to resamples", "direction", "degrees")

    def _draw_eigenvalues(self, ax: Axes) -> None:
        values = self.stability.eigenvalues_[: 2 * MOST_COLUMNS]
        places = np.arange(1, len(values) + 1)
        chosen = places <= self.stability.n_directions_
        ax.bar(places, values, color=np.where(chosen, FIT, BAR), width=0.7)
        ax.set_ylim(0.0, 1.05)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        tidy(ax, "Average projection", "eigenvalue number", "share of resamples")

    def _draw_ladle(self, ax: Axes) -> None:
        values = self.stability.ladle_
        ax.plot(np.arange(len(values)), values, "o-", color=DATA, markersize=5, linewidth=1.5)
        ax.axvline(self.stability.ladle_n_directions_, color=CHOSEN, linestyle="--", zorder=1)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        title = f"Ladle: {self.stability.ladle_n_directions_}"
        tidy(ax, title, "number of directions", "criterion")
