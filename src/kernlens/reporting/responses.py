"""What the fitted function does along the directions and with the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.inspection._response import make_response
from kernlens.inspection.average_derivatives import average_derivatives
from kernlens.inspection.direction_profile import direction_profile
from kernlens.inspection.direction_surface import direction_surface
from kernlens.reporting.subject import CLASSES, DIRECTIONS, Subject, unwrapped
from kernlens.tables.reading import names_of, take_rows

#: Directions whose curves are shown, points of a curve and rows that are moved.
MOST_PROFILES = 4
#: With several classes, each of which has its own curves, fewer directions are enough.
MOST_OF_CLASSES = 2
CURVE_POINTS = 41
MOVED_ROWS = 100
#: Points of the surface on both sides, and rows that are moved.
SURFACE_POINTS = 17
SURFACE_ROWS = 30
#: Values of all rows that are moved for one picture, about, and rows that are moved at least.
MOVED_VALUES, FEWEST_MOVED = 8_000_000, 3
#: Classes whose probabilities are drawn.
MOST_CLASSES = 4
#: Rows that derivatives are averaged over, and columns that are shown.
DERIVATIVE_ROWS = 300
MOST_DERIVATIVES = 20


def looked_at(subject: Subject) -> list[Any]:
    """Classes whose probabilities are shown: the last of two, or the most frequent ones."""
    if subject.kind != CLASSES:
        return [None]
    classes = list(subject.model.classes_)
    if len(classes) == 2:
        return classes[1:]
    assert subject.y is not None
    counts = [int(np.count_nonzero(subject.y == label)) for label in classes]
    order = np.argsort(-np.array(counts), kind="stable")[:MOST_CLASSES]
    return [classes[place] for place in sorted(order)]


def response_name(subject: Subject, label: Any) -> str:
    """What is on the vertical axis."""
    return subject.target if label is None else f"P({subject.target} = {label})"


def profiles_of(subject: Subject) -> list[dict[str, Any]]:
    """Curves of the first directions, for every number that is looked at."""
    inside = unwrapped(subject, subject.rows)
    shown = min(int(inside.model.n_directions_), MOST_PROFILES)
    if subject.kind == DIRECTIONS:
        return [_cloud(subject, inside, place) for place in range(shown)]
    if len(looked_at(subject)) > 1:
        shown = min(shown, MOST_OF_CLASSES)
    found = []
    for place in range(shown):
        for label in looked_at(subject):
            profile = direction_profile(
                inside.model,
                inside.rows,
                subject.targets,
                direction=place,
                target=label,
                n_points=CURVE_POINTS,
                max_rows=_moved(inside, CURVE_POINTS, MOVED_ROWS),
            )
            found.append(
                {
                    "direction": place + 1,
                    "response": response_name(subject, label),
                    "grid": profile.grid,
                    "mean": profile.mean,
                    "low": profile.low,
                    "high": profile.high,
                    "positions": profile.positions,
                    "observed": profile.observed,
                }
            )
    return found


def _moved(inside: Any, n_points: int, most: int) -> int:
    """How many rows are moved to so many points: fewer where rows are long."""
    n_columns = len(inside.feature_names)
    return int(np.clip(MOVED_VALUES // (n_points * n_columns), FEWEST_MOVED, most))


def _cloud(subject: Subject, inside: Any, place: int) -> dict[str, Any]:
    """Targets against a direction of a model that predicts nothing."""
    numbers = np.asarray(subject.targets)
    labels = None
    if numbers.dtype.kind not in "fiub":
        labels, numbers = np.unique(numbers.astype(str), return_inverse=True)
    positions = np.asarray(inside.model.transform(inside.rows), dtype=np.float64)[:, place]
    return {
        "direction": place + 1,
        "response": subject.target,
        "grid": None,
        "positions": positions,
        "observed": numbers.astype(np.float64),
        "labels": labels,
    }


def surfaces_of(subject: Subject) -> list[dict[str, Any]]:
    """The function over the first two directions."""
    if subject.kind == DIRECTIONS:
        return []
    inside = unwrapped(subject, subject.rows)
    if inside.model.n_directions_ < 2:
        return []
    found = []
    for label in looked_at(subject):
        surface = direction_surface(
            inside.model,
            inside.rows,
            subject.targets,
            target=label,
            n_points=SURFACE_POINTS,
            max_rows=_moved(inside, SURFACE_POINTS**2, SURFACE_ROWS),
        )
        found.append(
            {
                "response": response_name(subject, label),
                "first": surface.first,
                "second": surface.second,
                "mean": surface.mean,
                "positions": surface.positions,
            }
        )
    return found


def derivatives_of(subject: Subject) -> dict[str, Any]:
    """How the prediction changes with every column, on average over rows."""
    rows = take_rows(subject.X, subject.sample[:DERIVATIVE_ROWS])
    inside = unwrapped(subject, rows)
    if hasattr(inside.model, "gradient"):
        given = average_derivatives(
            subject.model,
            rows,
            feature_names=None if names_of(subject.X) is not None else subject.names,
        )
        names, mean, size = given.feature_names, given.mean, given.root_mean_square
        outputs = list(given.target_names)
        method = "gradient"
    else:
        names, mean, size, outputs = _differences(subject, inside)
        method = "differences"
    scale = np.asarray(inside.model.scale_)
    mean, size = np.atleast_2d(mean * scale), np.atleast_2d(size * scale)
    order = np.argsort(-size.max(axis=0), kind="stable")[:MOST_DERIVATIVES]
    order = order[size.max(axis=0)[order] > 0.0]
    classes = subject.kind == CLASSES
    return {
        "method": method,
        "of": "log-odds or scores" if classes and method == "gradient" else "prediction",
        "n_rows": len(inside.rows),
        "outputs": outputs if len(mean) > 1 else [],
        "columns": [
            {
                "name": str(names[place]),
                "scale": scale[place],
                "mean": mean[:, place],
                "root_mean_square": size[:, place],
            }
            for place in order
        ],
        "n_not_shown": mean.shape[1] - len(order),
    }


def _differences(
    subject: Subject, inside: Any
) -> tuple[tuple[str, ...], FloatArray, FloatArray, list[str]]:
    """Slopes over half a standard deviation, for a function without a derivative of its own."""
    labels = looked_at(subject)
    rows = np.asarray(inside.rows, dtype=np.float64)
    steps = 0.25 * np.asarray(inside.model.scale_)
    # What is not important is not looked at: columns may be thousands.
    shares = np.asarray(inside.model.feature_importances_)
    order = np.argsort(-shares, kind="stable")[:MOST_DERIVATIVES]
    slopes = np.zeros((len(labels), len(rows), rows.shape[1]))
    for number, label in enumerate(labels):
        response = make_response(inside.model, subject.targets, label)
        for column in order:
            step = np.zeros(rows.shape[1])
            step[column] = steps[column]
            change = response.predict(rows + step) - response.predict(rows - step)
            slopes[number, :, column] = change / (2.0 * steps[column])
    size = np.sqrt(np.mean(np.square(slopes), axis=1))
    names = [response_name(subject, label) for label in labels]
    return inside.feature_names, slopes.mean(axis=1), size, names


def coordinates_of(subject: Subject) -> dict[str, Any] | None:
    """The first two coordinates of an embedding or clustering, and the clusters."""
    model = subject.model
    found: dict[str, Any] = {"first": None, "second": None, "clusters": None, "sizes": None}
    if hasattr(model, "transform"):
        places = np.asarray(model.transform(subject.rows), dtype=np.float64)
        found["first"] = places[:, 0]
        found["second"] = places[:, 1] if places.shape[1] > 1 else None
    if hasattr(model, "labels_"):
        found["clusters"] = np.asarray(model.predict(subject.rows))
        labels, counts = np.unique(model.labels_, return_counts=True)
        found["sizes"] = [
            {"name": str(label), "count": int(count)}
            for label, count in zip(labels, counts, strict=True)
        ]
    return found
