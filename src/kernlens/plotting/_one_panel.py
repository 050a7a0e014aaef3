"""What every picture of one panel shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from matplotlib.axes import Axes

from kernlens.plotting._style import new_figure


class PanelDisplay(ABC):
    """Numbers that are drawn on one pair of axes, which may be the user's own.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    #: Size in inches of a figure made here.
    _size: ClassVar[tuple[float, float]] = (4.6, 3.4)

    figure_: Any
    ax_: Axes

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        self
        """
        if ax is None:
            figure = new_figure(*self._size)
            figure.set_layout_engine("constrained")
            ax = figure.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on these axes."""
