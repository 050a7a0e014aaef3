"""A surface over two directions as a net of tiles, which the script of a page turns."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens.reporting.charts import levels_of, shade_of
from kernlens.reporting.formats import number
from kernlens.reporting.svg import short

#: Letters of a number beside the drawing.
MOST_LETTERS = 8


def turnable(surface: dict[str, Any]) -> dict[str, Any]:
    """What is drawn of a surface: heights of its net, shades of its tiles and text at its ends.

    Parameters
    ----------
    surface : dict
        One of the ``surfaces`` of a summary.

    Returns
    -------
    dict
        ``heights``, from 0 to 1, in the form of ``mean``; ``shades``, one for every four heights
        next to each other, as the contours have them; and ``first``, ``second`` and ``ends``, the
        lowest and the highest values of both directions and of the surface as text.
    """
    mean = np.array(surface["mean"], dtype=np.float64)
    low, high = float(mean.min()), float(mean.max())
    heights = (mean - low) / (high - low) if high > low else np.zeros_like(mean)
    middle = (mean[:-1, :-1] + mean[1:, :-1] + mean[:-1, 1:] + mean[1:, 1:]) / 4.0
    levels = levels_of(surface)
    place = np.searchsorted(levels[1:-1], middle, side="right")
    return {
        "heights": heights.round(3).tolist(),
        "shades": [[shade_of(k, len(levels)) for k in row] for row in place.tolist()],
        "first": _ends(surface["first"]),
        "second": _ends(surface["second"]),
        "ends": _ends([low, high]),
    }


def _ends(values: list[float]) -> list[str]:
    return [short(number(value), MOST_LETTERS) for value in (values[0], values[-1])]
