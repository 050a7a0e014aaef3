"""The drawings of a page, from the numbers of its summary."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

from kernlens.reporting.formats import MINUS, number
from kernlens.reporting.svg import Axis, Drawing, mark, round_step

#: Levels of a surface at most, and shades of the style sheet, which few levels take the ends of.
MOST_LEVELS = 9
N_SHADES = 11
RESIDUAL = f"observed {MINUS} predicted"


def profile(one: dict[str, Any], name: str) -> Markup:
    """The response against a direction, with the fitted curve."""
    labels = one.get("labels")
    title = f"{one['response']} against direction {one['direction']}"
    x = Axis.around(f"direction {one['direction']}", one["positions"])
    if one["grid"] is None:
        y = Axis.around(one["response"], one["observed"], labels=labels)
        drawing = Drawing(name, title, "The observed rows; there is no fitted curve.", x, y)
        drawing.points(one["positions"], one["observed"])
        return drawing.svg()
    y = Axis.around(one["response"], one["observed"], one["low"], one["high"])
    mean = one["mean"]
    text = (
        f"Along the direction the mean prediction goes from {number(mean[0])} to "
        f"{number(mean[-1])}; it is lowest at {number(min(mean))} and highest at "
        f"{number(max(mean))}."
    )
    drawing = Drawing(name, title, text, x, y)
    drawing.points(one["positions"], one["observed"])
    drawing.band(one["grid"], one["low"], one["high"])
    drawing.line(one["grid"], mean, "line fit")
    return drawing.svg()


def levels_of(surface: dict[str, Any]) -> list[float]:
    """Round levels of a surface, from below its lowest value to above its highest."""
    low, high = float(np.min(surface["mean"])), float(np.max(surface["mean"]))
    if not high > low:
        return []
    step = round_step((high - low) / (MOST_LEVELS - 1.5))
    return [k * step for k in range(int(np.floor(low / step)), int(np.ceil(high / step)) + 1)]


def surface(one: dict[str, Any], name: str) -> Markup:
    """The function over two directions, as shaded contours."""
    # contourpy is what matplotlib draws contours with; it loads nothing else.
    from contourpy import contour_generator

    levels = levels_of(one)
    title = f"{one['response']} over directions 1 and 2"
    text = (
        f"Mean predictions from {number(float(np.min(one['mean'])))} to "
        f"{number(float(np.max(one['mean'])))}; darker shades are higher values on a light page."
    )
    drawing = Drawing(
        name,
        title,
        text,
        Axis("direction 1", one["first"][0], one["first"][-1]),
        Axis("direction 2", one["second"][0], one["second"][-1]),
        height=330,
    )
    generator = contour_generator(
        one["first"], one["second"], np.transpose(one["mean"]), fill_type="OuterOffset"
    )
    for place, (below, above) in enumerate(pairwise(levels)):
        filled: Any = generator.filled(below, above)
        points, offsets = filled
        rings = [
            outline[begin:end].tolist()
            for outline, ends in zip(points, offsets, strict=True)
            for begin, end in pairwise(ends)
        ]
        drawing.polygons(rings, f"level level-{shade_of(place, len(levels))}")
    places = one["positions"]
    drawing.points([place[0] for place in places], [place[1] for place in places], "points faint")
    return drawing.svg()


def shade_of(place: int, n_levels: int) -> int:
    """The shade of what lies between two levels."""
    return round(place * (N_SHADES - 1) / max(1, n_levels - 2))


def legend_of(surface: dict[str, Any]) -> list[dict[str, Any]]:
    """Shades with the values that they stand for."""
    levels = levels_of(surface)
    return [
        {
            "level": shade_of(place, len(levels)),
            "text": f"{mark(below, above - below)} to {mark(above, above - below)}",
        }
        for place, (below, above) in enumerate(pairwise(levels))
    ]


def predicted_against_observed(quality: dict[str, Any], target: str) -> Markup:
    """Points around the line of equality."""
    axis = Axis.around("", quality["observed"], quality["predicted"])
    drawing = Drawing(
        "predicted",
        "Observed against predicted",
        "Every point is a row; a perfect prediction lies on the dashed line.",
        Axis(f"predicted {target}", axis.low, axis.high),
        Axis(f"observed {target}", axis.low, axis.high),
        height=330,
    )
    drawing.line([axis.low, axis.high], [axis.low, axis.high], "line rule")
    drawing.points(quality["predicted"], quality["observed"])
    return drawing.svg()


def residuals(quality: dict[str, Any], target: str) -> Markup:
    """Residuals against predictions."""
    left = [o - p for o, p in zip(quality["observed"], quality["predicted"], strict=True)]
    drawing = Drawing(
        "residuals",
        "Residuals against predictions",
        "Every point is a row: what was observed minus what is predicted.",
        Axis.around(f"predicted {target}", quality["predicted"]),
        Axis.around(RESIDUAL, left, [0.0]),
    )
    drawing.line([drawing.x.low, drawing.x.high], [0.0, 0.0], "line rule")
    drawing.points(quality["predicted"], left)
    return drawing.svg()


def residual_histogram(quality: dict[str, Any]) -> Markup:
    """How often residuals of every size occur."""
    edges, counts = quality["residuals"]["edges"], quality["residuals"]["counts"]
    middle = quality["residuals"]["quartiles"]
    drawing = Drawing(
        "residual-histogram",
        "Histogram of the residuals",
        f"Half of the residuals lie between {number(middle[1])} and {number(middle[3])}.",
        Axis.around(RESIDUAL, edges),
        Axis("rows", 0.0, 1.05 * max(counts)),
    )
    drawing.columns(edges, counts)
    return drawing.svg()


def coverage(intervals: dict[str, Any]) -> Markup:
    """Observed against nominal coverage."""
    said = [one["coverage"] for one in intervals["levels"]]
    seen = [one["observed"] for one in intervals["levels"]]
    drawing = Drawing(
        "coverage",
        "Share of rows inside their intervals",
        "On the dashed line intervals contain the target as often as they say.",
        Axis("nominal coverage", 0.4, 1.0),
        Axis.around("observed coverage", seen, [0.4, 1.0]),
    )
    drawing.line([0.4, 1.0], [0.4, 1.0], "line rule")
    drawing.line(said, seen, "line fit")
    drawing.points(said, seen, "points large")
    return drawing.svg()


def roc(curve: dict[str, Any], place: int) -> Markup:
    """A receiver operating characteristic."""
    drawing = Drawing(
        f"roc-{place}",
        f"ROC curve of “{curve['class']}”",
        f"The area under the curve is {number(curve['auc'])}; guessing follows the dashed line.",
        Axis("others taken for it", -0.02, 1.02),
        Axis("found of it", -0.02, 1.02),
    )
    drawing.line([0.0, 1.0], [0.0, 1.0], "line rule")
    drawing.line(curve["false_positive_rate"], curve["true_positive_rate"], "line fit")
    return drawing.svg()


def calibration(one: dict[str, Any]) -> Markup:
    """How often what is said with a probability is so."""
    drawing = Drawing(
        "calibration",
        f"Calibration of {one['of']}",
        "On the dashed line probabilities are right on average.",
        Axis("probability that is said", -0.02, 1.02),
        Axis("share that is so", -0.02, 1.02),
    )
    drawing.line([0.0, 1.0], [0.0, 1.0], "line rule")
    drawing.line(one["predicted"], one["observed"], "line fit")
    drawing.points(one["predicted"], one["observed"], "points large")
    return drawing.svg()


def coordinates(one: dict[str, Any]) -> Markup:
    """The first two coordinates of an embedding, clusters by shade."""
    first = one["first"]
    second = one["second"] if one["second"] is not None else [0.0] * len(first)
    drawing = Drawing(
        "coordinates",
        "The first two coordinates",
        "Every point is a row.",
        Axis.around("coordinate 1", first),
        Axis.around("coordinate 2", second),
        height=330,
    )
    clusters = one["clusters"] or [0] * len(first)
    for place, cluster in enumerate(sorted(set(clusters))):
        rows = [row for row, own in enumerate(clusters) if own == cluster]
        kind = f"points cluster-{place % 6}"
        drawing.points([first[row] for row in rows], [second[row] for row in rows], kind)
    return drawing.svg()
