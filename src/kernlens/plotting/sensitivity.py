"""By how much a prediction changes with every column, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from kernlens.inspection import AverageDerivatives, average_derivatives
from kernlens.inspection._unwrapped import unwrap
from kernlens.plotting._one_panel import PanelDisplay
from kernlens.plotting._style import BAR, FIT, TEXT, label, tidy
from kernlens.plotting.panels import BESIDE

#: Columns that have a place.
MOST_COLUMNS = 12
#: Letters of what changes, in the label of the axis.
IN_LABEL = 24


class SensitivityDisplay(PanelDisplay):
    """Average derivatives of the prediction, per standard deviation of every column.

    A point is the mean derivative, a bar plus and minus its root mean square: a point at the end of
    its bar is a column that always works in one way, a point in the middle one whose rises and
    falls cancel.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    derivatives : AverageDerivatives
    scale : ndarray of shape (n_features,)
        Standard deviations of the columns.
    target : int
        Which of several targets or classes.
    response_name : str
        What changes.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    _size: ClassVar[tuple[float, float]] = (5.0, 3.6)

    def __init__(
        self,
        derivatives: AverageDerivatives,
        scale: np.ndarray,
        target: int = 0,
        response_name: str = "y",
    ) -> None:
        self.derivatives, self.scale = derivatives, scale
        self.target, self.response_name = target, response_name

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        *,
        target: int = 0,
        feature_names: Sequence[str] | None = None,
        response_name: str | None = None,
        ax: Axes | None = None,
    ) -> SensitivityDisplay:
        """Average the derivatives of a fitted model over rows and draw them.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
            With a method `gradient`.
        X : array-like of shape (n_samples, n_features)
        target : int, default=0
            Which of several targets or classes.
        feature_names : sequence of str or None
            Names of the columns; by default those seen in `fit`, or x0, x1, ...
        response_name : str or None
            Name of what is predicted; by default y, or the score of a class.
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        SensitivityDisplay
        """
        seen = unwrap(model, X, feature_names=feature_names)
        if not hasattr(seen.model, "gradient"):
            raise ValueError(f"{type(seen.model).__name__} has no method gradient.")
        found = average_derivatives(seen.model, seen.rows, feature_names=seen.feature_names)
        n_targets = 1 if found.mean.ndim == 1 else len(found.mean)
        if target not in range(n_targets):
            raise ValueError(f"target must be from 0 to {n_targets - 1}, got {target!r}.")
        if response_name is None:
            response_name = _name_of(seen.model, found, target)
        scale = np.asarray(seen.rows, dtype=np.float64).std(axis=0)
        return cls(found, scale, target, response_name).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        place = self.target if self.derivatives.mean.ndim > 1 else slice(None)
        mean = self.derivatives.mean[place] * self.scale
        size = self.derivatives.root_mean_square[place] * self.scale
        order = np.argsort(-size, kind="stable")[:MOST_COLUMNS]
        places = np.arange(len(order))
        ax.axvline(0.0, color=TEXT, linewidth=0.6)
        ax.barh(places, 2 * size[order], left=-size[order], height=0.6, color=BAR)
        ax.plot(mean[order], places, "o", color=FIT, markersize=6)
        # At least five places, so that one or two bars do not become slabs.
        ax.set_ylim(max(len(order), 5) - 0.5, -0.5)
        # A model that predicts a constant has bars of no length.
        largest = float(size.max()) or 1.0
        ax.set_xlim(-1.08 * largest, 1.08 * largest)
        names = self.derivatives.feature_names
        ax.set_yticks(places, [label(names[column], BESIDE) for column in order])
        some = f" ({len(order)} of {len(names)})" if len(names) > len(order) else ""
        what = f"change of {label(self.response_name, IN_LABEL)} per standard deviation"
        # A legend would cover bars where many columns matter alike.
        keys = "point: mean, bar: ± root mean square"
        tidy(ax, f"Derivatives by column{some}", f"{what}\n{keys}", "")
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=5)
        # A power of ten apart would stand in the label.
        ax.xaxis.set_major_formatter("{x:.3g}")


def _name_of(model: Any, found: AverageDerivatives, target: int) -> str:
    if not is_classifier(model):
        return found.target_names[target] if found.target_names else "y"
    classes = list(getattr(model, "classes_", []))
    if found.mean.ndim == 1 and classes:
        return f"log-odds of {classes[-1]}"
    return f"the score of {found.target_names[target]}"
