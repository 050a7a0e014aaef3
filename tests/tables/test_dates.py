"""Dates: parts against Python's calendar, text, and zones."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernlens import TablePreprocessor
from kernlens.tables.dates import ISO, date_format, date_parts, microseconds, parse_dates


def moments(n=300):
    rng = np.random.default_rng(0)
    start = datetime.datetime(1890, 3, 1)
    return [start + datetime.timedelta(minutes=int(k)) for k in rng.integers(0, 9 * 10**7, n)]


def test_parts_are_those_of_the_calendar():
    times = moments()
    parts = date_parts(np.array([microseconds(time) for time in times] + [np.nan]))
    for name, of in (
        ("year", lambda t: t.year),
        ("month", lambda t: t.month),
        ("day", lambda t: t.day),
        ("weekday", lambda t: t.isoweekday()),
        ("hour", lambda t: t.hour + t.minute / 60),
    ):
        np.testing.assert_allclose(parts[name][:-1], [of(time) for time in times])
        assert np.isnan(parts[name][-1])


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%d.%m.%Y %H:%M", "%Y/%m/%d"])
def test_text_of_dates_is_read(form):
    times = moments(100)
    levels = np.array(sorted({time.strftime(form) for time in times}), dtype=object)
    assert date_format(levels) == form


@pytest.mark.parametrize("text", ["level 3", "A-12", "3 apples", "10.0.0.1x", "2020-13-45", "May"])
def test_other_text_is_no_date(text):
    assert date_format(np.array([text, text + " "], dtype=object)) is None


def test_iso_dates_are_dates_whatever_holds_them():
    levels = np.array(["2021-02-03", "2021-02-03 10:30", "2021-02-03T10:30:00+02:00"], dtype=object)
    assert date_format(levels) == ISO
    hours = (parse_dates(levels, ISO) - microseconds(datetime.date(2021, 2, 3))) / 3600e6
    np.testing.assert_allclose(hours, [0.0, 10.5, 8.5])
    X = pd.DataFrame({"when": pd.to_datetime(moments(50)), "x": np.arange(50) / 7})
    for frame in (X, pl.from_pandas(X), X.assign(when=X["when"].dt.strftime("%Y-%m-%d"))):
        names = TablePreprocessor().fit(frame).get_feature_names_out()
        assert {"when year", "when elapsed days"} <= set(names)


@pytest.mark.parametrize(
    ("levels", "form"),
    [
        (["1.2.2021", "3.4.2021"], "%d.%m.%Y"),
        (["1/2/2021", "3/4/2021"], "%m/%d/%Y"),
        (["1/2/2021", "13/4/2021"], "%d/%m/%Y"),
        (["1/13/21 4:05 PM", "3/4/21 11:00 AM"], "%m/%d/%y %I:%M %p"),
        (["1.2.3", "4.5.6"], None),
        (["12-34-5678"], None),
    ],
)
def test_days_and_months_are_told_apart_where_they_can_be(levels, form):
    assert date_format(np.array(levels, dtype=object)) == form


def test_zones_are_those_of_the_fit():
    clock = pd.date_range("2021-06-01 00:00", periods=48, freq="7h")
    X = pd.DataFrame({"when": clock.tz_localize("Europe/Paris")})
    model = TablePreprocessor().fit(X)
    expected = model.transform(X)
    hours = expected[:, model.get_feature_names_out().tolist().index("when hour")]
    np.testing.assert_array_equal(hours, clock.hour)
    tokyo = X.assign(when=X["when"].dt.tz_convert("Asia/Tokyo"))
    frames = [tokyo, pl.from_pandas(tokyo), pl.from_pandas(tokyo).to_arrow()]
    for frame in [*frames, pd.DataFrame({"when": clock})]:
        np.testing.assert_allclose(model.transform(frame), expected)
    for frame in frames[1:]:
        found = TablePreprocessor().fit(frame)
        np.testing.assert_allclose(found.transform(X), found.transform(frame))


def test_elapsed_days_begin_with_the_first_row_of_a_fit():
    X = pd.DataFrame({"when": pd.date_range("2021-01-30", periods=5, freq="12h")})
    model = TablePreprocessor().fit(X)
    names = model.get_feature_names_out().tolist()
    assert "when year" not in names
    elapsed = model.transform(X)[:, names.index("when elapsed days")]
    np.testing.assert_allclose(elapsed, [0.0, 0.5, 1.0, 1.5, 2.0])
    later = model.transform(pd.DataFrame({"when": [pd.Timestamp("2022-01-30")]}))
    assert later[0, names.index("when elapsed days")] == 365.0
