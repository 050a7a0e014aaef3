"""Dates: found in text and taken apart by skrub, which is imported only where there are dates.

Nothing of skrub is kept in a fitted model, so that saved models name no types of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._pandas import import_pandas

MICROSECONDS_OF_A_DAY = 86_400e6
#: Rows from which skrub's encoder learns whether there are hours.
WITHOUT_HOURS, WITH_HOURS = "2000-01-01", "2000-01-01 01:00:00"


def import_skrub() -> Any:
    """Return the module, or say what to install."""
    try:
        import skrub
    except ImportError as error:
        raise ImportError(
            "Columns of dates need skrub, which is not installed: "
            'python -m pip install "kernlens[tables]".'
        ) from error
    return skrub


def date_format(levels: NDArray[Any]) -> str | None:
    """The format of dates that all texts have, or None."""
    if not all(any(letter.isdigit() for letter in level) for level in levels[:50]):
        return None
    skrub, pandas = import_skrub(), import_pandas()
    try:
        # Sorted, so that a guess from a sample does not depend on the order of rows.
        found = skrub.ToDatetime().fit(pandas.Series(np.sort(levels).tolist(), name="dates"))
    except skrub.core.RejectColumn:
        return None
    form: str | None = found.format_
    return form


def parse_dates(levels: NDArray[Any], form: str) -> FloatArray:
    """Microseconds since 1970 in UTC, with NaN for what has another format."""
    pandas = import_pandas()
    times = pandas.to_datetime(
        pandas.Series(levels.tolist(), dtype=object), format=form, errors="coerce", utc=True
    )
    moments = times.dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    numbers: FloatArray = moments.astype(np.int64).astype(np.float64)
    numbers[np.isnat(moments)] = np.nan
    return numbers


def date_parts(times: FloatArray, zone: str | None, hours: bool) -> dict[str, FloatArray]:
    """Year, month, day, weekday and perhaps hour of moments, by the clock of a zone."""
    skrub, pandas = import_skrub(), import_pandas()
    clock = pandas.Series(_moments(times, zone), name="date")
    encoder = skrub.DatetimeEncoder(resolution="hour", add_weekday=True, add_total_seconds=False)
    encoder.fit(pandas.Series(pandas.to_datetime([WITH_HOURS if hours else WITHOUT_HOURS])))
    parts = encoder.transform(clock)
    return {
        str(name).removeprefix("date_"): parts[name].to_numpy(dtype=np.float64) for name in parts
    }


def has_hours(times: FloatArray, zone: str | None) -> bool:
    """Whether some moment is not midnight."""
    moments = _moments(times[~np.isnan(times)], zone)
    return bool((moments != moments.normalize()).any())


def _moments(times: FloatArray, zone: str | None) -> Any:
    """Moments without a zone that show what the clock of `zone` shows."""
    pandas = import_pandas()
    known = ~np.isnan(times)
    moments = np.full(len(times), np.datetime64("NaT"), dtype="datetime64[us]")
    moments[known] = times[known].astype(np.int64).astype("datetime64[us]")
    index = pandas.DatetimeIndex(moments)
    return index if zone is None else index.tz_localize("UTC").tz_convert(zone).tz_localize(None)
