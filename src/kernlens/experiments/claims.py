"""Sentences of the papers, and rules that say from a table whether they hold.

A rule compares means over repetitions, paired where both sides saw the same data, by Student's 95 %
interval of their difference. If the interval leaves no doubt, a comparison holds or does not hold;
otherwise it cannot be told. A claim holds if all its comparisons do, and does not hold if one does
not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from kernlens._array import FloatArray

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "cannot be told"
CONFIDENCE = 0.95

Where = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Evidence:
    """One comparison: its mean and standard error over `n` repetitions, and what it says."""

    text: str
    mean: float
    error: float
    n: int
    outcome: str


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and the comparisons that say so."""

    outcome: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper.

    Attributes
    ----------
    text : str
        What the paper says.
    place : str
        Where it says so.
    rule : callable
        Rows to comparisons.
    rule_text : str
        The rule in words.
    """

    text: str
    place: str
    rule: Callable[[Rows], Iterable[Evidence]]
    rule_text: str

    def judge(self, rows: Rows) -> Verdict:
        """Say whether it holds."""
        evidence = tuple(self.rule(rows))
        outcomes = {one.outcome for one in evidence}
        if FAILS in outcomes:
            return Verdict(FAILS, evidence)
        return Verdict(HOLDS if outcomes == {HOLDS} else UNCLEAR, evidence)


def better(
    rows: Rows,
    score: str,
    first: Where,
    second: Where,
    *,
    unit: str = "seed",
    margin: float = 0.0,
    lower: bool = False,
    certain: bool = False,
) -> Evidence:
    """Whether `first` is better than `second` by more than `margin`, on the same repetitions.

    Where no chance enters (`certain`), one repetition is enough and there is no interval.
    """
    values = _differences(rows, score, first, second, unit, lower)
    word = "below" if lower else "above"
    text = f"{_said(first)} {word} {_said(second)} ({score}{_by(margin)})"
    low, high = interval(values, certain)
    return _evidence(text, values, _told(low > margin, high <= margin))


def similar(
    rows: Rows, score: str, first: Where, second: Where, *, within: float, unit: str = "seed"
) -> Evidence:
    """Whether two means differ by less than `within`, on the same repetitions."""
    values = _differences(rows, score, first, second, unit, False)
    low, high = interval(values)
    text = f"{_said(first)} within {within:g} of {_said(second)} ({score})"
    inside, outside = low > -within and high < within, low >= within or high <= -within
    return _evidence(text, values, _told(inside, outside))


def above(
    rows: Rows,
    score: str,
    where: Where,
    value: float,
    *,
    unit: str = "seed",
    certain: bool = False,
) -> Evidence:
    """Whether a mean is above a number."""
    values = np.array(list(_by_unit(rows, score, where, unit).values()))
    low, high = interval(values, certain)
    return _evidence(
        f"{_said(where)} above {value:g} ({score})", values, _told(low > value, high <= value)
    )


def below(
    rows: Rows,
    score: str,
    where: Where,
    value: float,
    *,
    unit: str = "seed",
    certain: bool = False,
) -> Evidence:
    """Whether a mean is below a number."""
    values = np.array(list(_by_unit(rows, score, where, unit).values()))
    low, high = interval(values, certain)
    return _evidence(
        f"{_said(where)} below {value:g} ({score})", values, _told(high < value, low >= value)
    )


def measured(
    text: str,
    values: Iterable[float],
    *,
    above: float = -math.inf,
    below: float = math.inf,
    certain: bool = False,
) -> Evidence:
    """Whether the mean of numbers, one for each repetition, is above one number or below another.

    For what a rule makes of several rows of a repetition itself, such as a slope.
    """
    found = np.array(list(values), dtype=float)
    low, high = interval(found, certain)
    return _evidence(
        text, found, _told(low > above and high < below, high <= above or low >= below)
    )


def slopes(rows: Rows, x: str, score: str, where: Where, *, unit: str = "seed") -> dict[Any, float]:
    """Slope of log(score) against log(x) by least squares, in every repetition."""
    points: dict[Any, list[tuple[float, float]]] = {}
    for row in rows:
        if matches(row, where) and row.get(score) is not None:
            points.setdefault(row[unit], []).append((row[x], row[score]))
    found = {}
    for key, pairs in points.items():
        at, values = np.log(np.array(pairs)).T
        if np.ptp(at) > 0.0:
            found[key] = float(np.polyfit(at, values, 1)[0])
    return found


def interval(values: Any, certain: bool = False) -> tuple[float, float]:
    """Student's interval of a mean; infinite for fewer than two values, a point if certain."""
    values = np.asarray(values, dtype=float)
    n = len(values)
    if certain and n:
        return float(values.mean()), float(values.mean())
    if n < 2:
        return -math.inf, math.inf
    half = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n)
    return float(values.mean() - half), float(values.mean() + half)


def matches(row: Mapping[str, Any], where: Where) -> bool:
    """Whether a row has these values; a tuple stands for any of its members."""
    return all(
        row.get(key) in value if isinstance(value, tuple) else row.get(key) == value
        for key, value in where.items()
    )


def _by_unit(rows: Rows, score: str, where: Where, unit: str) -> dict[Any, float]:
    """Mean of a score in every repetition."""
    found: dict[Any, list[float]] = {}
    for row in rows:
        value = row.get(score)
        if matches(row, where) and value is not None and math.isfinite(value):
            found.setdefault(row[unit], []).append(value)
    return {key: float(np.mean(values)) for key, values in found.items()}


def _differences(
    rows: Rows, score: str, first: Where, second: Where, unit: str, lower: bool
) -> FloatArray:
    """Gains of the first over the second, in the repetitions that both have."""
    a, b = (_by_unit(rows, score, where, unit) for where in (first, second))
    gains = np.array([a[key] - b[key] for key in a if key in b])
    return -gains if lower else gains


def _evidence(text: str, values: FloatArray, outcome: str) -> Evidence:
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    error = float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return Evidence(text, mean, error, n, outcome)


def _told(yes: bool, no: bool) -> str:
    return HOLDS if yes else FAILS if no else UNCLEAR


def _said(where: Where) -> str:
    """Settings in words, the method first."""
    rest = [_value(key, value) for key, value in where.items() if key not in ("method", "varied")]
    named = [str(where["method"])] if "method" in where else []
    return " at ".join([*named, ", ".join(rest)] if rest else named)


def _value(key: str, value: Any) -> str:
    if isinstance(value, tuple):
        return f"{key} {', '.join(map(str, value))}"
    return f"{key} {value}"


def _by(margin: float) -> str:
    return f", by more than {margin:g}" if margin else ""
