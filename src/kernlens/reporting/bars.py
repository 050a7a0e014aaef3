"""Bars inside the cells of tables: places are percentages, so that they fit any width."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

_OPEN = Markup('<svg class="bar" width="100%" height="18" aria-hidden="true" focusable="false">')
_CLOSE = Markup("</svg>")


def share_bar(share: float | None, most: float = 1.0) -> Markup:
    """A bar from the left."""
    width = 100.0 * max(0.0, share or 0.0) / (most or 1.0)
    return _OPEN + _rect(0.0, width, "fill") + _CLOSE


def signed_bar(
    value: float | None, limit: float, low: float | None = None, high: float | None = None
) -> Markup:
    """A bar from the middle to either side, with an interval."""

    def place(one: float) -> float:
        return 50.0 + 49.0 * max(-1.0, min(1.0, one / limit))

    begin, end = sorted((50.0, place(value or 0.0)))
    kind = "fill" if (value or 0.0) >= 0.0 else "fill negative"
    parts = [_OPEN, _rect(begin, end - begin, kind), _line(50.0, 50.0, "zero", 0, 18)]
    if low is not None and high is not None:
        parts.append(_line(place(low), place(high), "whisker", 9, 9))
    return Markup("").join([*parts, _CLOSE])


def interval_bar(
    value: float | None, low: float | None, high: float | None, least: float, most: float
) -> Markup:
    """A point with its interval."""
    if value is None:
        return Markup("")
    span = (most - least) or 1.0

    def place(one: float) -> float:
        return 2.0 + 96.0 * max(0.0, min(1.0, (one - least) / span))

    parts = [_OPEN]
    if low is not None and high is not None:
        parts.append(_line(place(low), place(high), "whisker", 9, 9))
    parts.append(
        Markup('<circle class="mark" cx="{}%" cy="9" r="4"/>').format(f"{place(value):.2f}")
    )
    return Markup("").join([*parts, _CLOSE])


def histogram(counts: list[int]) -> Markup:
    """A small histogram."""
    most, width = max(counts) or 1, 100.0 / len(counts)
    columns = [
        Markup('<rect class="fill" x="{}%" width="{}%" y="{}" height="{}"/>').format(
            f"{place * width:.2f}",
            f"{0.9 * width:.2f}",
            f"{18 - 18 * n / most:.1f}",
            f"{18 * n / most:.1f}",
        )
        for place, n in enumerate(counts)
        if n
    ]
    return _OPEN + Markup("").join(columns) + _CLOSE


def limit_of(directions: dict[str, Any]) -> float:
    """The largest weight or end of an interval of all directions: they share a scale."""
    values = [
        abs(one[key])
        for direction in directions["directions"]
        for one in direction["columns"]
        for key in ("loading", "low", "high")
        if one[key] is not None
    ]
    return max(values, default=1.0) or 1.0


def board_ends(board: dict[str, Any]) -> tuple[float, float]:
    """Ends of the scale of a leaderboard; what is far behind does not squeeze the others."""
    rows = [row for row in board["rows"] if row["score"] is not None]
    ends = [
        value
        for row in rows
        for value in (row["low"], row["score"], row["high"])
        if value is not None
    ]
    most = max(ends, default=1.0)
    best = sorted((row["score"] for row in rows), reverse=True)
    middle = best[len(best) // 2] if best else 0.0
    least = min((value for value in ends if value >= middle - 3.0 * (most - middle)), default=0.0)
    return least, most


def _rect(x: float, width: float, kind: str) -> Markup:
    return Markup('<rect class="{}" x="{}%" width="{}%" y="3" height="12"/>').format(
        kind, f"{x:.2f}", f"{width:.2f}"
    )


def _line(begin: float, end: float, kind: str, y1: float, y2: float) -> Markup:
    return Markup('<line class="{}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>').format(
        kind, f"{begin:.2f}", f"{end:.2f}", y1, y2
    )
