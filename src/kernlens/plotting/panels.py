"""One panel per kind of number; each draws on the axes it is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from kernlens._array import FloatArray
from kernlens.inspection import AlphaSearch, ColumnProfile, DirectionProfile
from kernlens.plotting._style import BAR, CHOSEN, DATA, FIT, TEXT, tidy


def draw_column_profile(ax: Axes, profile: ColumnProfile) -> None:
    """Scatter of the target against one column."""
    _scatter(ax, profile.positions, profile.observed)
    name = profile.name
    tidy(ax, f"Against the column {name}", name, profile.response_name)


def draw_direction_profile(ax: Axes, profile: DirectionProfile, importance: float) -> None:
    """Scatter of the target along a direction, with the fitted function."""
    _scatter(ax, profile.positions, profile.observed)
    band = ax.fill_between(
        profile.grid, profile.low, profile.high, color=FIT, alpha=0.2, linewidth=0, zorder=2
    )
    (line,) = ax.plot(profile.grid, profile.mean, color=FIT, linewidth=2, zorder=3)
    if profile.direction == 0:
        handles: dict[str, Artist] = {"model, mean": line}
        # With a single direction nothing else varies, and there is no band to be seen.
        if np.max(profile.high - profile.low) > 0.01 * np.ptp(profile.observed):
            handles["model, 10-90% of rows"] = band
        ax.legend(list(handles.values()), list(handles), frameon=False, fontsize=8)
    number = profile.direction + 1
    tidy(
        ax,
        f"Against direction {number} ({importance:.0%})",
        f"component {number} · x",
        profile.response_name,
    )


def draw_shares(
    ax: Axes, names: Sequence[str], shares: FloatArray, title: str, max_bars: int = 12
) -> None:
    """Horizontal bars, the first name on top; at most `max_bars`, and the title says so."""
    labels, values = list(names[:max_bars]), list(shares[:max_bars])
    if len(names) > max_bars:
        title = f"{title} ({max_bars} of {len(names)})"
    places = np.arange(len(labels))
    ax.barh(places, values, height=0.72, color=BAR)
    for place, value in enumerate(values):
        ax.text(value, place, f" {value:.0%}", va="center", fontsize=8, color=TEXT)
    # At least five places, so that one or two bars do not become slabs.
    ax.set_ylim(max(len(labels), 5) - 0.5, -0.5)
    ax.set_xlim(0, 1.15 * max(values))
    tidy(ax, title, "", "")
    ax.set_yticks(places, labels)
    # The values stand at the bars; an axis would say them twice.
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def draw_alpha_search(ax: Axes, search: AlphaSearch) -> None:
    """Held-out loss against alpha, with the chosen value."""
    ax.plot(search.alphas, search.losses, "o-", color=DATA, markersize=5, linewidth=1.5)
    # A line, not a point of the curve: the choice may lie between two values that were tried.
    ax.axvline(search.chosen, color=CHOSEN, linestyle="--", zorder=1)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(numticks=6))
    # A loss that falls by orders of magnitude hides its minimum on a linear axis.
    if search.losses.min() > 0 and search.losses.max() > 10 * search.losses.min():
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    tidy(ax, f"Chosen alpha: {search.chosen:.2g}", "alpha", "held-out loss")


def _scatter(ax: Axes, positions: FloatArray, observed: FloatArray) -> None:
    if set(np.unique(observed)) == {0.0, 1.0}:
        # Two classes make two lines of points on top of each other; a little noise shows how many.
        observed = observed + np.random.default_rng(0).uniform(-0.04, 0.04, len(observed))
    # Rasterised: thousands of points would make a vector file unusable.
    ax.scatter(
        positions, observed, s=14, color=DATA, alpha=0.4, linewidths=0, rasterized=True, zorder=1
    )
