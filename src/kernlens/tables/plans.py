"""What is done with a column: recognised in the rows of a fit, repeated for other rows.

A plan is a dictionary of plain values and arrays, so that saved models name no types of this room.
"""

from __future__ import annotations

import re
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray, IntArray
from kernlens.tables.dates import date_format, date_parts, parse_dates
from kernlens.tables.reading import Column, text_of

#: Rows from which on a column can look like an identifier or free text.
ENOUGH_ROWS = 20
#: Share of different values from which on nearly all are different.
NEARLY_ALL = 0.95
#: Words per value of free text, on average.
MANY_WORDS = 3.0
#: Share of a range of whole numbers that a count of rows has, also with a fold left out.
DENSE = 0.5

#: Name of the days since the first date of a fit.
ELAPSED = "elapsed days"

_ID_NAME = re.compile(
    r"(?:^|[\s_\-.])(?:id|ids|uuid|guid|identifier|rowid|rownum)$|^(?:index|key|row|unnamed: ?0)$",
    re.IGNORECASE,
)
_ID_CAMEL = re.compile(r"[a-z](?:Id|ID)$")
_TIME_NAME = re.compile(
    r"time|date|year|month|week|day|hour|minute|second|age|step|epoch|period|^t$", re.IGNORECASE
)
#: 007 is a code, not a number; 0.07 is a number.
_CODE = re.compile(r"[+-]?0\d[\d.]*$")


class Plan(TypedDict):
    """What is done with one column."""

    kind: str
    how: str  # "drop", "number", "levels", "target" or "date"
    action: str
    n_levels: int
    missing: float
    indicator: bool
    levels: NDArray[Any]
    form: str
    zone: str
    start: float
    parts: list[str]


def named_like_id(name: str) -> bool:
    """Whether a name says that its column is an identifier."""
    return bool(_ID_NAME.search(name) or _ID_CAMEL.search(name))


def make_plan(
    name: str, column: Column, max_levels: int, target: bool, keep: bool, spare: bool = False
) -> Plan:
    """Recognise a column and choose what is done with it.

    Parameters
    ----------
    name : str
    column : Column
    max_levels : int
        Levels that get a column each.
    target : bool
        Whether there is a target to encode others with.
    keep : bool
        Whether the column is none of identifiers or free text, whatever it looks like.
    spare : bool
        Whether constants are kept, too, since nothing else would be left.
    """
    missing = column.missing
    plan = Plan(
        kind=column.kind,
        how="drop",
        action="",
        n_levels=0,
        missing=float(missing.mean()),
        indicator=bool(missing.any()),
        levels=np.empty(0, dtype=str),
        form="",
        zone=column.zone,
        start=0.0,
        parts=[],
    )
    if column.kind == "nested":
        return {**plan, "action": "left out: nested values", "n_levels": -1, "missing": 0.0}
    if missing.all():
        return {**plan, "action": "left out: all missing"}
    if column.kind in ("text", "category"):
        plan = _plan_text(name, column, plan, max_levels, target, keep or spare)
    else:
        plan = _plan_numbers(name, column.kind, column.values, plan, keep or spare)
    if plan["n_levels"] == 1 and not plan["indicator"] and not spare:
        return {**plan, "how": "drop", "action": "left out: constant"}
    return plan


def _plan_numbers(name: str, kind: str, values: FloatArray, plan: Plan, keep: bool) -> Plan:
    """Numbers, truth values and dates; `values` may come from text."""
    missing = np.isnan(values)
    present = values[~missing]
    n_levels = len(np.unique(present))
    plan = {**plan, "kind": kind, "n_levels": n_levels, "indicator": bool(missing.any())}
    plan["missing"] = float(missing.mean())
    if kind == "date":
        varying = [name for name, part in date_parts(present).items() if np.ptp(part) > 0.0]
        plan["parts"], plan["start"] = [*varying, ELAPSED], float(present.min())
        return {**plan, "how": "date", "action": "parts and elapsed days"}
    if kind == "number" and not keep and looks_like_counted(name, present):
        return {**plan, "action": "left out: identifier"}
    action = "imputed, indicator" if plan["indicator"] else "kept"
    return {**plan, "how": "number", "action": action}


def looks_like_counted(name: str, present: FloatArray) -> bool:
    """Whether numbers are identifiers.

    They are whole and, from 20 rows on, nearly all different and named like an identifier; or they
    count the rows: they rise from row to row from 0 or 1 on, fill at least half of their range, and
    are not named like a time. Numbers with fractions are never identifiers.
    """
    if len(present) < ENOUGH_ROWS or not np.array_equal(present, np.round(present)):
        return False
    if named_like_id(name):
        return len(np.unique(present)) >= NEARLY_ALL * len(present)
    rising = bool((np.diff(present) > 0).all())
    dense = len(present) >= DENSE * (present[-1] - present[0] + 1)
    early = 0 <= present[0] <= len(present)
    return rising and dense and early and not _TIME_NAME.search(name)


def _plan_text(
    name: str, column: Column, plan: Plan, max_levels: int, target: bool, keep: bool
) -> Plan:
    present = [value for value in column.values if value is not None]
    levels = np.array(sorted(set(present)), dtype=object)
    if column.kind == "text":
        numbers = parse_numbers(levels)
        if not np.isnan(numbers).any() and not any(_CODE.match(level) for level in levels):
            return _plan_numbers(name, "number", spread(column, levels, numbers), plan, keep)
        times, form = dates_of_text(column, levels)
        if form:
            return _plan_numbers(name, "date", times, {**plan, "form": form}, keep)
    plan = {**plan, "kind": "category", "n_levels": len(levels)}
    if (
        not keep
        and len(present) >= ENOUGH_ROWS
        and len(levels) >= NEARLY_ALL * len(present)
        and len(levels) > max_levels
    ):
        words = float(np.mean([len(level.split()) for level in levels]))
        free = words >= MANY_WORDS and not named_like_id(name)
        return {**plan, "action": f"left out: {'free text' if free else 'identifier'}"}
    if len(levels) > max_levels and target:
        plan["levels"] = levels.astype(str)
        return {**plan, "how": "target", "action": "mean of the target"}
    if len(levels) > max_levels:
        levels = _most_frequent(present, max_levels)
        return {**plan, "how": "levels", "action": "frequent levels", "levels": levels.astype(str)}
    return {**plan, "how": "levels", "action": "a column per level", "levels": levels.astype(str)}


def dates_of_text(column: Column, levels: NDArray[Any]) -> tuple[FloatArray, str]:
    """Microseconds of text that is dates, and their form; "" if it is something else."""
    form = date_format(levels)
    if form is None:
        return np.full(len(column.values), np.nan), ""
    return spread(column, levels, parse_dates(levels, form)), form


def _most_frequent(present: list[str], number: int) -> NDArray[Any]:
    found, counts = np.unique(np.array(present, dtype=object), return_counts=True)
    return np.sort(found[np.argsort(-counts, kind="stable")[:number]])


def parse_numbers(levels: NDArray[Any]) -> FloatArray:
    """Numbers of texts, with NaN for what is none; infinite ones become NaN where they are used."""
    numbers = np.full(len(levels), np.nan)
    for row, level in enumerate(levels):
        try:
            numbers[row] = np.nan if "_" in level else float(level)
        except ValueError:
            continue
    return numbers


def spread(column: Column, levels: NDArray[Any], numbers: FloatArray) -> FloatArray:
    """Numbers of the levels in the rows of a column of text."""
    of_level = dict(zip(levels.tolist(), numbers.tolist(), strict=True))
    found = np.array([of_level.get(value, np.nan) for value in column.values], dtype=np.float64)
    found[np.isinf(found)] = np.nan
    return found


def codes_of(column: Column, levels: NDArray[Any]) -> IntArray:
    """Places of values in the sorted levels; as many as levels for missing, -1 for new ones."""
    place = {level: code for code, level in enumerate(levels.tolist())}
    if column.values.dtype == object:
        texts = column.values.tolist()
    elif column.kind == "boolean":
        texts = [None if np.isnan(v) else str(bool(v)) for v in column.values]
    else:
        texts = [text_of(value) for value in column.values]
    missing = len(levels)
    return np.array([missing if t is None else place.get(t, -1) for t in texts], dtype=np.int64)


def numbers_of(name: str, column: Column, plan: Plan) -> FloatArray:
    """Numbers, or microseconds of dates, of a column of any type, as the plan wants them."""
    date = plan["how"] == "date"
    if column.kind in ("text", "category"):
        levels = np.array(sorted({v for v in column.values if v is not None}), dtype=object)
        form = plan["form"] or (date_format(levels) if date and len(levels) else "") or ""
        if date:
            numbers = parse_dates(levels, form) if form else np.full(len(levels), np.nan)
        else:
            numbers = parse_numbers(levels)
        found = spread(column, levels, numbers)
        if len(levels) and np.isnan(numbers).all():
            _refuse(name, plan, f"such as {str(levels[0])!r}")
        return found
    if (column.kind == "date") != date and not column.missing.all():
        _refuse(name, plan, f"of kind {column.kind}")
    if column.values.dtype == object:
        return np.full(len(column.values), np.nan)
    return column.values


def _refuse(name: str, plan: Plan, found: str) -> None:
    raise ValueError(
        f"Column {name!r} had values of kind {plan['kind']} in fit, but has values {found} now; "
        "convert the column or fit again."
    )
