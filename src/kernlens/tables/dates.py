"""Dates: found in text, and taken apart into the parts of a calendar.

Dates are microseconds since 1970 by the clock of their zone. Text is dates if all of it has one
form, that of ISO 8601 or one of a list: the same text is read in the same way everywhere.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray

MICROSECONDS_OF_A_DAY = 86_400e6
#: The form of dates that needs nothing but Python.
ISO = "ISO 8601"
#: Other forms, in the order in which they are tried: where all days are also months, points mean
#: that days come first, and other signs that months do, as in most programs.
FORMS = tuple(
    date + clock
    for date in (
        *("%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y"),
        *("%d %B %Y", "%d %b %Y", "%d-%b-%Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y"),
        *("%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%b-%y"),
    )
    for clock in ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
)
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$")
#: Three numbers, or two numbers and the name of a month; what has neither is no date.
_LIKE_DATE = re.compile(
    r"\d{1,4}([-/. ])\d{1,2}\1\d{1,4}(?:\D|$)"
    r"|\d[\s\-/.,]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[\s\-/.,]*\d"
    r"|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2},? \d{4}",
    re.IGNORECASE,
)


def date_format(levels: NDArray[Any]) -> str | None:
    """The form of dates that all texts have, or None."""
    if all(_ISO_DATE.match(level) for level in levels):
        return ISO if not np.isnan(parse_dates(levels, ISO)).any() else None
    if not all(_LIKE_DATE.search(level) for level in levels):
        return None
    # Days beyond the twelfth, which are no months, come last and are looked at first.
    ordered = np.sort(levels)[::-1]
    return next((form for form in FORMS if _all_have(ordered, form)), None)


def _all_have(levels: NDArray[Any], form: str) -> bool:
    try:
        for level in levels.tolist():
            datetime.datetime.strptime(level, form)
    except ValueError:
        return False
    return True


def parse_dates(levels: NDArray[Any], form: str) -> FloatArray:
    """Microseconds since 1970, in UTC if a zone is said, with NaN for what has another form."""
    read: Callable[[str], datetime.datetime] = (
        datetime.datetime.fromisoformat
        if form == ISO
        else lambda level: datetime.datetime.strptime(level, form)
    )
    numbers = np.full(len(levels), np.nan)
    for row, level in enumerate(levels):
        try:
            numbers[row] = microseconds(read(level))
        except ValueError:
            continue
    return numbers


def microseconds(moment: datetime.date) -> float:
    """Microseconds since 1970 by the clock: of UTC if a moment has a zone."""
    if isinstance(moment, datetime.datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return float(np.datetime64(moment, "us").astype(np.int64))


def date_parts(times: FloatArray) -> dict[str, FloatArray]:
    """Year, month, day, weekday (Monday is 1) and hour of moments, with NaN where there is none."""
    known = ~np.isnan(times)
    moments = times[known].astype(np.int64).astype("datetime64[us]")
    days, months = moments.astype("datetime64[D]"), moments.astype("datetime64[M]")
    parts = {
        "year": moments.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": months.astype(np.int64) % 12 + 1,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        # The first of January 1970 was a Thursday.
        "weekday": (days.astype(np.int64) + 3) % 7 + 1,
        "hour": (moments - days) / np.timedelta64(1, "h"),
    }
    found = {}
    for name, part in parts.items():
        found[name] = np.full(len(times), np.nan)
        found[name][known] = part
    return found
