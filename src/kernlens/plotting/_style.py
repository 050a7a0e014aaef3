"""Colours, axes and figures shared by all pictures."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from kernlens._table import shortened

# From the Okabe-Ito palette, told apart with every common colour blindness and in grey.
DATA = "#0072B2"
FIT = "#D55E00"
BAR = "#56B4E9"
CHOSEN = "#D55E00"
TEXT = "#333333"


def label(name: str, max_letters: int) -> str:
    """A name in a picture: shortened, and with dollars that do not begin a formula."""
    return shortened(name, max_letters).replace("$", r"\$")


def tidy(ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Title on the left, two spines, quiet ticks."""
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold", color=TEXT)
    ax.set_xlabel(xlabel, fontsize=9, color=TEXT)
    ax.set_ylabel(ylabel, fontsize=9, color=TEXT)
    ax.tick_params(labelsize=8, color=TEXT, labelcolor=TEXT)
    ax.spines[["top", "right"]].set_visible(False)


def new_figure(width: float, height: float) -> Figure:
    """A new figure of pyplot, in inches, for those who did not bring their own.

    pyplot opens windows and keeps figures, so it is imported only when it is asked for.
    """
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height))


def room_for_panels(
    figure: Figure | None, ax: Axes | None, size: tuple[float, float], **padding: float
) -> Figure | SubFigure:
    """Where several panels are drawn: in the place of `ax`, in `figure`, or in a new figure.

    `ax` is taken away and its place is divided.
    """
    if ax is not None:
        place = ax.get_subplotspec()
        if figure is not None or place is None:
            raise ValueError(
                "ax must be of a grid, such as those of plt.subplots, and goes without figure; its "
                "place is divided among the panels."
            )
        parent: Figure | SubFigure = ax.figure
        ax.remove()
        return parent.add_subfigure(place)
    whole = new_figure(*size) if figure is None else figure
    whole.set_layout_engine("constrained", **padding)
    return whole
