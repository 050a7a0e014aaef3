"""Numbers as people read them, in one way everywhere on a page."""

from __future__ import annotations

from typing import Any

from kernlens._table import significant

#: What stands where there is no number.
NONE = "\N{EN DASH}"
#: Wider than a hyphen: numbers with and without it line up.
MINUS = "\N{MINUS SIGN}"
#: Keeps the number and what follows on one line.
SPACE = "\N{NO-BREAK SPACE}"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(value: Any) -> str:
    """Three significant digits; whole numbers whole, and a true minus.

    Examples
    --------
    >>> [number(value) for value in (0.51234, 12, -3.5, 1234.5, 1234567, None)]
    ['0.512', '12', '−3.50', '1,230', '1,234,567', '–']
    """
    if value is None:
        return NONE
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    text = significant(value)
    if abs(value) >= 1000.0 and text.lstrip("-").isdecimal():
        text = f"{int(text):,}"
    return text.replace("-", MINUS)


def fixed(value: Any, decimals: int = 2) -> str:
    """A number with so many decimals.

    Examples
    --------
    >>> fixed(-0.004), fixed(-1.5, 1), fixed(None)
    ('0.00', '−1.5', '–')
    """
    if value is None:
        return NONE
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", MINUS)


def percent(value: Any) -> str:
    """A share in per cent, with a decimal where it is small.

    Examples
    --------
    >>> [percent(share).replace(SPACE, " ") for share in (0.523, 0.004, 1.0, None)]
    ['52 %', '0.4 %', '100 %', '–']
    """
    if value is None:
        return NONE
    digits = 1 if 0.0 < abs(value) < 0.0995 or 0.9905 <= value < 1.0 else 0
    return f"{fixed(100.0 * value, digits)}{SPACE}%"


def probability(value: Any) -> str:
    """A probability in per cent; one that is almost 0 or 1 is neither.

    Examples
    --------
    >>> [probability(p).replace(SPACE, " ") for p in (0.25, 3e-9, 0.99999, 0.0, 1.0)]
    ['25.0 %', '< 0.1 %', '> 99.9 %', '0 %', '100 %']
    """
    if value in (0.0, 1.0):
        return f"{100 * value:.0f}{SPACE}%"
    if 0.0 < value < 0.001:
        return f"<{SPACE}0.1{SPACE}%"
    if 0.999 < value < 1.0:
        return f">{SPACE}99.9{SPACE}%"
    return f"{fixed(100.0 * value, 1)}{SPACE}%"


def predicted(value: Any, kind: str) -> str:
    """What a model predicts: a number, or the probability of a class.

    Examples
    --------
    >>> predicted(1234.5, "regression"), predicted(0.25, "classification").replace(SPACE, " ")
    ('1,230', '25.0 %')
    """
    return probability(value) if kind == "classification" else number(value)


def entry(value: Any) -> str:
    """A value of a column: whole numbers whole, also those that are kept as others.

    Examples
    --------
    >>> entry(3.0), entry(1234.5), entry(None)
    ('3', '1,230', '–')
    """
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e6
    return number(int(value)) if whole else number(value)


def score(value: Any, key: str) -> str:
    """A score: with three decimals if it has no unit, else as any number.

    Examples
    --------
    >>> score(0.5, "r2"), score(1234.5, "mae")
    ('0.500', '1,230')
    """
    return number(value) if key in ("rmse", "mae") else fixed(value, 3)


def word(count: int) -> str:
    """A small number as a word.

    Examples
    --------
    >>> word(2), word(12)
    ('two', '12')
    """
    return WORDS[count] if 0 <= count < len(WORDS) else number(count)


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2500, "row")
    ('1 row', '2,500 rows')
    """
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"
