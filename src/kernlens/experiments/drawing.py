"""Figures of means over repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernlens.experiments.contract import Row
from kernlens.plotting._style import tidy

#: The Okabe-Ito palette, told apart with every common colour blindness.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"


def grid_of_panels(figure: Figure, n_panels: int, most_columns: int) -> list[Axes]:
    """So many panels, at most some side by side; the places that are left over stay empty."""
    columns = max(1, min(most_columns, n_panels))
    panels = list(figure.subplots(-(-n_panels // columns), columns, squeeze=False).ravel())
    for ax in panels[n_panels:]:
        ax.set_axis_off()
    return panels[:n_panels]


def label_sizes(ax: Axes, sizes: Iterable[float]) -> None:
    """A logarithmic axis whose marks are the sizes that were run."""
    ax.set_xscale("log")
    ticks = sorted(set(sizes))
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.minorticks_off()


def draw_means(
    ax: Axes,
    rows: Sequence[Row],
    x: str,
    score: str,
    xlabel: str,
    ylabel: str,
    *,
    by: str = "method",
    title: str = "",
) -> None:
    """Every repetition as a faint point, and a line through the means of every method."""
    for place, name in enumerate(dict.fromkeys(row[by] for row in rows)):
        part = [row for row in rows if row[by] == name and row.get(score) is not None]
        if not part:
            continue
        color = COLORS[place % len(COLORS)]
        points = sorted({row[x] for row in part})
        means = [np.mean([row[score] for row in part if row[x] == point]) for point in points]
        ax.plot(
            [row[x] for row in part],
            [row[score] for row in part],
            ".",
            color=color,
            alpha=0.25,
            markersize=4,
        )
        marker = MARKERS[place % len(MARKERS)]
        ax.plot(points, means, marker=marker, color=color, markersize=4, linewidth=1.2, label=name)
    tidy(ax, title, xlabel, ylabel)


def draw_bars(
    ax: Axes,
    rows: Sequence[Row],
    x: str,
    score: str,
    ylabel: str,
    *,
    by: str = "method",
    title: str = "",
) -> None:
    """Means as points with their standard deviation, the groups of `x` side by side."""
    groups = list(dict.fromkeys(row[x] for row in rows))
    names = list(dict.fromkeys(row[by] for row in rows))
    for place, name in enumerate(names):
        values = [
            [row[score] for row in rows if row[x] == group and row[by] == name] for group in groups
        ]
        shift = (place - (len(names) - 1) / 2) * 0.8 / len(names)
        ax.errorbar(
            [position + shift for position in range(len(groups))],
            [np.mean(one) if one else np.nan for one in values],
            [np.std(one, ddof=1) if len(one) > 1 else 0.0 for one in values],
            fmt=MARKERS[place % len(MARKERS)],
            color=COLORS[place % len(COLORS)],
            markersize=4,
            linewidth=1.0,
            label=name,
        )
    ax.set_xticks(range(len(groups)), groups)
    tidy(ax, title, "", ylabel)
