"""Rows in the coordinates that a model has learned, drawn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from kernlens._array import FloatArray
from kernlens.inspection._target_names import target_names
from kernlens.plotting._one_panel import PanelDisplay
from kernlens.plotting._style import DATA, TEXT, label, tidy
from kernlens.plotting.panels import BESIDE

#: From the Okabe-Ito palette, told apart with every common colour blindness.
CLASS_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
#: Shapes for classes beyond the colours.
CLASS_MARKERS = ("o", "^")
OTHERS = "#BBBBBB"


class EmbeddingDisplay(PanelDisplay):
    """Rows at two learned coordinates, in the colours of a target or of labels.

    For :class:`~kernlens.KernelLaplacianEmbedding`, and for every model with `transform`. A model
    with one coordinate has its rows spread at random across it.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, 1) or (n_samples, 2)
    names : tuple of str
        Of the coordinates.
    colors : ndarray of shape (n_samples,) or None
        Numbers, or labels of classes.
    color_name : str
        What they are.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    _size: ClassVar[tuple[float, float]] = (5.0, 3.8)

    def __init__(
        self,
        coordinates: FloatArray,
        names: tuple[str, ...],
        colors: NDArray[Any] | None = None,
        color_name: str = "y",
    ) -> None:
        self.coordinates, self.names = coordinates, names
        self.colors, self.color_name = colors, color_name

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        components: tuple[int, int] = (0, 1),
        ax: Axes | None = None,
    ) -> EmbeddingDisplay:
        """Transform rows by a fitted model and draw them.

        Parameters
        ----------
        model : fitted estimator with `transform`, or fitted Pipeline that ends with one
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or None
            Numbers or labels that give the colours; a Series gives them their name.
        components : tuple of two int, default=(0, 1)
            Which coordinates, if there are two or more.
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        EmbeddingDisplay
        """
        coordinates = np.asarray(model.transform(X), dtype=np.float64)
        n_found = coordinates.shape[1]
        if n_found == 0:
            raise ValueError("The model kept no direction: there is nothing to see rows in.")
        pair = (0,) if n_found == 1 else tuple(components)
        if not all(one in range(n_found) for one in pair):
            raise ValueError(
                f"components must be two numbers from 0 to {n_found - 1}, got {components!r}."
            )
        what = "direction" if hasattr(model, "n_directions_") else "coordinate"
        colors, name = None, "y"
        if y is not None:
            check_consistent_length(coordinates, y)
            names, colors = target_names(y), np.asarray(y).ravel()
            name = names[0] if names else name
        found = coordinates[:, list(pair)]
        return cls(found, tuple(f"{what} {one + 1}" for one in pair), colors, name).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        points, names = self.coordinates, self.names
        if points.shape[1] == 1:
            beside = np.random.default_rng(0).uniform(-1.0, 1.0, len(points))
            points, names = np.column_stack([points[:, 0], beside]), (names[0], "")
            ax.set_yticks([])
        self._draw_points(ax, points)
        tidy(ax, "Rows in learned coordinates", *names)
        ax.locator_params(axis="x", nbins=6)

    def _draw_points(self, ax: Axes, points: FloatArray) -> None:
        options: dict[str, Any] = {"s": 14, "linewidths": 0, "rasterized": True}
        if self.colors is None:
            ax.scatter(points[:, 0], points[:, 1], color=DATA, alpha=0.6, **options)
        elif self.colors.dtype.kind == "f":
            image = ax.scatter(points[:, 0], points[:, 1], c=self.colors, cmap="viridis", **options)
            bar = ax.figure.colorbar(image, ax=ax)
            bar.set_label(label(self.color_name, 32), fontsize=9, color=TEXT)
            bar.ax.tick_params(labelsize=8, color=TEXT, labelcolor=TEXT)
        else:
            self._draw_classes(ax, points, options)

    def _draw_classes(self, ax: Axes, points: FloatArray, options: dict[str, Any]) -> None:
        assert self.colors is not None
        classes, counts = np.unique(self.colors, return_counts=True)
        most = len(CLASS_COLORS) * len(CLASS_MARKERS)
        shown = classes if len(classes) <= most else classes[np.argsort(-counts)[: most - 1]]
        other = ~np.isin(self.colors, shown)
        if other.any():
            text = f"{len(classes) - len(shown)} others"
            ax.scatter(points[other, 0], points[other, 1], color=OTHERS, label=text, **options)
        for number, one in enumerate(shown):
            rows = self.colors == one
            ax.scatter(
                points[rows, 0],
                points[rows, 1],
                color=CLASS_COLORS[number % len(CLASS_COLORS)],
                marker=CLASS_MARKERS[number // len(CLASS_COLORS)],
                label=label(str(one), BESIDE),
                alpha=0.7,
                **options,
            )
        # Beside the axes, so that it covers no row.
        ax.legend(
            title=label(self.color_name, BESIDE), title_fontsize=8, fontsize=8, frameon=False,
            loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.2,
        )  # fmt: skip
