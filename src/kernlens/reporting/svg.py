"""Drawings with two axes, as the text of an SVG element whose colours a style sheet gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from kernlens.reporting.formats import MINUS, number

#: Size of a drawing and room around its axes, in units of its view box: pixels where it has room.
WIDTH, HEIGHT = 380, 264
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 42
N_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """What an axis shows.

    Attributes
    ----------
    title : str
    low, high : float
        Its ends.
    labels : sequence of str or None
        Names of the whole numbers 0, 1, ..., for categories.
    """

    title: str
    low: float
    high: float
    labels: Sequence[str] | None = None

    @classmethod
    def around(
        cls, title: str, *groups: Iterable[float | None], labels: Sequence[str] | None = None
    ) -> Axis:
        """An axis with room for all values."""
        values = [value for group in groups for value in group if value is not None]
        low, high = min(values, default=0.0), max(values, default=1.0)
        margin = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
        return cls(title, low - margin, high + margin, labels)

    def share(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Round values with their text."""
        if self.labels is not None:
            return [(float(place), name) for place, name in enumerate(self.labels)]
        step = round_step((self.high - self.low) / N_TICKS)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(k * step, mark(k * step, step)) for k in range(first, last + 1)]


def round_step(rough: float) -> float:
    """The next larger one of 1, 2 and 5 times a power of ten.

    Examples
    --------
    >>> round_step(0.3), round_step(12.0)
    (0.5, 20.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * one for one in (1.0, 2.0, 5.0, 10.0) if power * one >= rough * (1 - 1e-9))


def mark(value: float, step: float) -> str:
    """A multiple of a round step, with the decimals that it has.

    Examples
    --------
    >>> mark(0.2, 0.05), mark(1000.0, 200.0)
    ('0.20', '1,000')
    """
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if value and (decimals > 4 or abs(value) >= 1e6):
        return number(value)
    return f"{value + 0.0:,.{decimals}f}".replace("-", MINUS)


@dataclass
class Drawing:
    """Marks between two axes.

    Attributes
    ----------
    name : str
        An identifier on the page.
    title, text : str
        What it shows, and what is to be seen, for those who do not see it.
    x, y : Axis
    """

    name: str
    title: str
    text: str
    x: Axis
    y: Axis
    height: int = HEIGHT
    _marks: list[Markup] = field(default_factory=list, init=False)

    def across(self, value: float) -> float:
        """Horizontal place of a value."""
        return LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)

    def up(self, value: float) -> float:
        """Vertical place of a value."""
        return self.height - BOTTOM - self.y.share(value) * (self.height - TOP - BOTTOM)

    def _places(self, xs: Sequence[float | None], ys: Sequence[float | None]) -> list[str]:
        return [
            f"{self.across(x):.1f} {self.up(y):.1f}"
            for x, y in zip(xs, ys, strict=True)
            if x is not None and y is not None
        ]

    def points(
        self, xs: Sequence[float | None], ys: Sequence[float | None], kind: str = "points"
    ) -> None:
        """A point for every pair, all in one path to be short."""
        self._path("".join(f"M{place}h0" for place in self._places(xs, ys)), kind)

    def line(
        self, xs: Sequence[float | None], ys: Sequence[float | None], kind: str = "line"
    ) -> None:
        """A line through all pairs."""
        places = self._places(xs, ys)
        if places:
            self._path("M" + "L".join(places), kind)

    def band(self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> None:
        """The area between two lines."""
        there = self._places(xs, highs)
        back = self._places(xs[::-1], lows[::-1])
        self._path("M" + "L".join([*there, *back]) + "Z", "band")

    def polygons(self, rings: Iterable[Sequence[Sequence[float]]], kind: str) -> None:
        """Closed rings of points, holes by the rule of even and odd."""
        text = ""
        for ring in rings:
            places = self._places([p[0] for p in ring], [p[1] for p in ring])
            text += "M" + "L".join(places) + "Z"
        self._path(text, kind)

    def columns(self, edges: Sequence[float], counts: Sequence[float]) -> None:
        """Bars of a histogram."""
        text = ""
        for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True):
            if count:
                x, width = self.across(left), self.across(right) - self.across(left)
                text += f"M{x + 0.5:.1f} {self.up(0):.1f}V{self.up(count):.1f}h{width - 1:.1f}"
                text += f"V{self.up(0):.1f}Z"
        self._path(text, "columns")

    def _path(self, text: str, kind: str) -> None:
        if text:
            self._marks.append(Markup('<path class="{}" d="{}"/>').format(kind, text))

    def svg(self) -> Markup:
        """The element."""
        named = Markup(
            '<svg class="drawing" viewBox="0 0 {} {}" role="img" '
            'aria-labelledby="{}-t {}-d"><title id="{}-t">{}</title><desc id="{}-d">{}</desc>'
        ).format(WIDTH, self.height, *(self.name,) * 3, self.title, self.name, self.text)
        marks = Markup("").join(self._marks)
        return named + self._axes() + marks + Markup("</svg>")

    def _axes(self) -> Markup:
        bottom, parts = self.height - BOTTOM, []
        for value, text in self.x.ticks():
            x = f"{self.across(value):.1f}"
            parts.append(Markup('<path class="grid" d="M{} {}V{}"/>').format(x, TOP, bottom))
            parts.append(
                Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(
                    x, bottom + 15, short(text, 10)
                )
            )
        for value, text in self.y.ticks():
            y = self.up(value)
            parts.append(
                Markup('<path class="grid" d="M{} {}H{}"/>').format(LEFT, f"{y:.1f}", WIDTH - RIGHT)
            )
            parts.append(
                Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>').format(
                    LEFT - 6, f"{y + 4:.1f}", short(text, 8)
                )
            )
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(
            Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>').format(
                middle, self.height - 8, short(self.x.title, 46)
            )
        )
        height = (TOP + bottom) / 2
        parts.append(
            Markup(
                '<text class="axis" transform="translate(11 {}) rotate(-90)" '
                'text-anchor="middle">{}</text>'
            ).format(height, short(self.y.title, 32))
        )
        return Markup("").join(parts)


def short(text: str, letters: int) -> str:
    """Text on one line, without its middle if it is long."""
    text = " ".join(text.split())
    end = (letters - 1) // 2
    return text if len(text) <= letters else f"{text[: letters - 1 - end]}…{text[-end:]}"
