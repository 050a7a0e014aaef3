"""One panel per kind of number; each draws on the axes it is given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from kernlens._array import FloatArray
from kernlens.inspection import AlphaSearch, ColumnProfile, DirectionProfile, DirectionSummary
from kernlens.plotting._style import BAR, CHOSEN, DATA, FIT, TEXT, label, tidy

#: Letters of names in titles, beside axes and along them: what has a place in a panel.
IN_TITLE, BESIDE, ALONG = 14, 16, 32


def draw_column_profile(ax: Axes, profile: ColumnProfile) -> None:
    """Scatter of the target against one column."""
    _scatter(ax, profile.positions, profile.observed)
    tidy(
        ax,
        f"Against the column {label(profile.name, IN_TITLE)}",
        label(profile.name, ALONG),
        label(profile.response_name, ALONG),
    )


def draw_direction_profile(
    ax: Axes,
    profile: DirectionProfile,
    importance: float,
    *,
    standardized: bool = True,
    legend: bool = False,
) -> None:
    """Scatter of the target along a direction, with the fitted function.

    The first direction has a legend, the others if `legend` says so.
    """
    _scatter(ax, profile.positions, profile.observed)
    band = ax.fill_between(
        profile.grid, profile.low, profile.high, color=FIT, alpha=0.2, linewidth=0, zorder=2
    )
    (line,) = ax.plot(profile.grid, profile.mean, color=FIT, linewidth=2, zorder=3)
    if legend or profile.direction == 0:
        handles: dict[str, Artist] = {"model, mean": line}
        # With a single direction nothing else varies, and there is no band to be seen.
        if np.max(profile.high - profile.low) > 0.01 * np.ptp(profile.observed):
            handles["model, 10-90% of rows"] = band
        ax.legend(list(handles.values()), list(handles), frameon=False, fontsize=8)
    number = profile.direction + 1
    tidy(
        ax,
        f"Against direction {number} ({importance:.0%})",
        f"direction {number} ({unit_of(standardized)})",
        label(profile.response_name, ALONG),
    )


def draw_loadings(
    ax: Axes, summary: DirectionSummary, max_directions: int = 3, max_columns: int = 8
) -> None:
    """Weights of the columns as numbers on colours, for the first directions.

    Shown are the columns with the largest weights among these directions: on top those that have
    their largest weight in the first direction, the largest of them first. The title says how many
    columns there are if that is not all.
    """
    weights = summary.loadings[:max_directions]
    sizes = np.abs(weights)
    order = np.argsort(-sizes.max(axis=0), kind="stable")[:max_columns]
    order = order[np.argsort(sizes.argmax(axis=0)[order], kind="stable")]
    shown = weights[:, order].T
    # Colours of a single small weight should not look like those of a large one.
    largest = max(0.5, float(np.abs(shown).max()))
    ax.imshow(shown, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto")
    for row, column in np.ndindex(shown.shape):
        value = shown[row, column]
        color = "white" if abs(value) > 0.6 * largest else TEXT
        # Adding zero takes the sign from what is rounded to minus zero.
        text = f"{round(float(value), 2) + 0.0:.2f}"
        ax.text(column, row, text, ha="center", va="center", fontsize=8, color=color)
    # At least five rows, so that one or two columns do not become slabs.
    ax.set_ylim(max(len(shown), 5) - 0.5, -0.5)
    n_features = summary.loadings.shape[1]
    some = f" ({len(order)} of {n_features})" if n_features > len(order) else ""
    tidy(ax, f"Loadings{some}", f"direction\n(weights {unit_of(summary.standardized)})", "")
    ax.set_yticks(
        range(len(order)), [label(summary.feature_names[column], BESIDE) for column in order]
    )
    ax.set_xticks(range(len(weights)), [str(number + 1) for number in range(len(weights))])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def unit_of(standardized: bool) -> str:
    """What weights, and coordinates along directions, are counted in."""
    return "per standard deviation" if standardized else "in units of X"


def draw_shares(
    ax: Axes, names: Sequence[str], shares: FloatArray, title: str, max_bars: int = 12
) -> None:
    """Importances as bars, the first name on top; at most `max_bars`, and the title says so."""
    labels = [label(name, BESIDE) for name in names[:max_bars]]
    values = list(shares[:max_bars])
    if len(names) > max_bars:
        title = f"{title} ({max_bars} of {len(names)})"
    places = np.arange(len(labels))
    ax.barh(places, values, height=0.72, color=BAR)
    for place, value in enumerate(values):
        ax.text(value, place, f" {value:.0%}", va="center", fontsize=8, color=TEXT)
    # At least five places, so that one or two bars do not become slabs.
    ax.set_ylim(max(len(labels), 5) - 0.5, -0.5)
    # The place of a number beside the longest bar is its width, not a share of the axis.
    ax.set_xlim(0, 1.25 * max(values))
    tidy(ax, title, "importance", "")
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
    # More numbers would touch each other.
    ax.locator_params(axis="x", nbins=6)
