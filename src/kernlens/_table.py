"""A table of named columns, and its short plain text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

#: Rows, columns and letters of a name that are printed at most.
MAX_ROWS = 12
MAX_COLUMNS = 7
MAX_LETTERS = 24
#: Significant digits of a number, and those of numbers that would not be told apart, at most.
DIGITS, MOST_DIGITS = 3, 9
#: What stands for a number that is none.
MISSING = "-"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of the same length.

    Attributes
    ----------
    names : sequence of str
        Of the columns; two may be the same.
    columns : sequence of arrays or lists, one per name
        Numbers or text, all of length n_rows.
    index : sequence of str or None
        Names of the rows; None for rows without a name.
    caption : str
        A line above the text; empty for none.
    decimals : int or None
        Decimals of all numbers, for shares and the like; None for 3 significant digits of each.
    spread : bool
        Whether a text that has no place for all rows has some along the way, as for a curve,
        instead of the first.
    """

    names: Sequence[str]
    columns: Sequence[Any]
    index: Sequence[str] | None = None
    caption: str = ""
    decimals: int | None = None
    spread: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.index) if self.index is not None else len(self.columns[0])

    def text(self) -> str:
        """A few rows and columns with a header, and a last line that says what was left out."""
        rows = self._printed_rows()
        names = self.names[:MAX_COLUMNS]
        blocks = [
            _aligned([shortened(name), *_at_the_point(self._entries(column, rows))])
            for name, column in zip(names, self.columns, strict=False)
        ]
        if self.index is not None:
            of_rows = ["", *(shortened(self.index[row]) for row in rows)]
            blocks.insert(0, [name.ljust(max(map(len, of_rows))) for name in of_rows])
        lines = [*filter(None, [self.caption]), *map("  ".join, zip(*blocks, strict=True))]
        left_out = [
            _counted(self.n_rows - len(rows), "row"),
            _counted(len(self.names) - len(names), "column"),
        ]
        if any(left_out):
            lines.append(f"({' and '.join(filter(None, left_out))} left out)")
        return "\n".join(line.rstrip() for line in lines)

    def _printed_rows(self) -> list[int]:
        n_rows = self.n_rows
        if n_rows <= MAX_ROWS:
            return list(range(n_rows))
        if not self.spread:
            return list(range(MAX_ROWS))
        return [round(place * (n_rows - 1) / (MAX_ROWS - 1)) for place in range(MAX_ROWS)]

    def _entries(self, column: Any, rows: Sequence[int]) -> list[str]:
        """A column as text; neighbours of a column that rises are told apart."""
        values = [column[row] for row in rows]
        entries = [self._entry(value) for value in values]
        if self.decimals is not None or not _rises(values):
            return entries
        digits = DIGITS
        while len(set(entries)) < len(entries) and digits < MOST_DIGITS:
            digits += 1
            entries = [significant(float(value), digits) for value in values]
        return entries

    def _entry(self, value: Any) -> str:
        if isinstance(value, str):
            return shortened(value)
        if isinstance(value, Integral):
            return str(value)
        number = float(value)
        if math.isnan(number):
            return MISSING
        if self.decimals is None:
            return significant(number)
        # Adding zero takes the sign from what is rounded to minus zero.
        return f"{round(number, self.decimals) + 0.0:.{self.decimals}f}"


def significant(number: float, digits: int = DIGITS) -> str:
    """Three significant digits, or others, without an exponent where that is short.

    Examples
    --------
    >>> [significant(number) for number in (0.5, -1234.5, 0.00012345, 1.5e-9)]
    ['0.500', '-1230', '0.000123', '1.50e-09']
    >>> significant(2001.5, 5)
    '2001.5'
    """
    rounded = float(f"{number:.{digits}g}")
    if 10**digits <= abs(rounded) < 1e6:
        return f"{rounded:.0f}"
    return "0" if rounded == 0 else f"{rounded:#.{digits}g}".removesuffix(".")


def _rises(values: Sequence[Any]) -> bool:
    """Whether numbers with fractions rise, or fall, from one to the next."""
    if not values or not all(isinstance(value, float) for value in values):
        return False
    pairs = [*pairwise(values)]
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def shortened(name: str, max_letters: int = MAX_LETTERS) -> str:
    """A name on one line, without its middle if it is long.

    The end stays, because names of columns often differ only there.
    """
    name = " ".join(str(name).split())
    if len(name) <= max_letters:
        return name
    end = (max_letters - 3) // 2
    return f"{name[: max_letters - 3 - end]}...{name[len(name) - end :]}"


def _aligned(entries: Sequence[str]) -> list[str]:
    width = max(len(entry) for entry in entries)
    return [entry.rjust(width) for entry in entries]


def _at_the_point(entries: Iterable[str]) -> list[str]:
    """Numbers with spaces behind them that bring their decimal points below each other."""
    entries = list(entries)
    behind = [len(entry) - entry.find(".") if "." in entry else 0 for entry in entries]
    most = max(behind, default=0)
    return [
        entry + " " * (most - length) if entry != MISSING else entry
        for entry, length in zip(entries, behind, strict=True)
    ]


def _counted(number: int, noun: str) -> str:
    if number == 0:
        return ""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
