"""Kinds of columns that tables have, tame ones and others."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from fuzz.draws import EXTREMES, Generator

#: What stands in one column of objects.
MIXED: tuple[Any, ...] = (
    1, "a", None, 2.5, True, b"x", np.nan, pd.NA, pd.NaT, decimal.Decimal("1.5"), Fraction(1, 3),
    datetime.datetime(2020, 1, 1), np.datetime64("NaT"), 1j, float("inf"), 10**400, object,
)  # fmt: skip
TEXTS = ("a", "b", "", "  ", "nan", "1", "é\n", "\x00", "a" * 1000, "=cmd()", "<b>")
NUMBERS_AS_TEXT = ("1", "2.5", "1e400", "-0", "٣", "1_000", "0x10", "1,5", "NaN", "inf")
DATES_AS_TEXT = (
    *("2020-01-01", "2021-02-29", "0000-00-00", "9999-12-31", "1/2/2003", "13/13/2003"),
    *("2020-01-01T25:00", "2020-01-01T00:00:00Z"),
)
NESTED = ([1, 2], {"a": 1}, (1,), {1}, np.arange(3), None)

#: Values (n,) of whatever pandas makes a column of.
Draw = Callable[[Generator, int], Any]


def _objects(values: tuple[Any, ...]) -> Draw:
    def draw(rng: Generator, n: int) -> Any:
        drawn = np.empty(n, dtype=object)
        for row, place in enumerate(rng.integers(len(values), size=n)):
            drawn[row] = values[place]
        return drawn

    return draw


def _with_gaps(values: tuple[Any, ...], dtype: str) -> Draw:
    return lambda rng, n: pd.array(_objects((*values, None))(rng, n).tolist(), dtype=dtype)


def _moments(rng: Generator, n: int) -> Any:
    return pd.to_datetime(rng.integers(-(2**62), 2**62, n))


def _with_zone(rng: Generator, n: int) -> Any:
    moments = pd.to_datetime(rng.integers(0, 2**60, n))
    return moments.tz_localize("UTC").tz_convert("Europe/Berlin")


def _days(rng: Generator, n: int) -> Any:
    return np.array([datetime.date(int(year), 1, 1) for year in rng.integers(1, 9999, n)], object)


COLUMNS: dict[str, Draw] = {
    "numbers": lambda rng, n: rng.standard_normal(n),
    "powers of ten": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(-320, 308, n),
    "the largest": lambda rng, n: rng.choice([1.79e308, -1.79e308, 5e-324, 0.0, np.nan], n),
    "extremes": lambda rng, n: rng.choice(EXTREMES, n),
    "infinite": lambda rng, n: rng.choice([np.inf, -np.inf, np.nan, 1.0, 2.0], n),
    "small integers": lambda rng, n: rng.integers(-3, 4, n),
    "endless integers": _objects((1, -(10**400), 10**300, 10**5000)),
    "single precision": lambda rng, n: rng.random(n).astype(np.float32),
    "half precision": lambda rng, n: rng.random(n).astype(np.float16),
    "complex": lambda rng, n: rng.random(n) + 1j,
    "sparse": lambda rng, n: pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float)),
    "decimals": _objects((decimal.Decimal("1.5"), decimal.Decimal("NaN"), decimal.Decimal("2"))),
    "flags": lambda rng, n: rng.random(n) < 0.5,
    "flags with gaps": _with_gaps((True, False), "boolean"),
    "integers with gaps": _with_gaps((1, 2, 3), "Int64"),
    "texts with gaps": _with_gaps(("x", "y"), "string"),
    "texts": _objects(TEXTS),
    "numbers as text": _objects(NUMBERS_AS_TEXT),
    "dates as text": _objects(DATES_AS_TEXT),
    "levels": lambda rng, n: np.array([f"level {k}" for k in rng.integers(0, 40, n)], object),
    "categories": lambda rng, n: pd.Categorical(rng.choice(["u", "v"], n), ["u", "v", "unused"]),
    "numbered categories": lambda rng, n: pd.Categorical(rng.integers(0, 3, n)),
    "intervals": lambda rng, n: pd.cut(rng.random(n), 3),
    "moments": _moments,
    "moments with a zone": _with_zone,
    "days": _days,
    "lengths of time": lambda rng, n: pd.to_timedelta(rng.integers(-(2**40), 2**40, n)),
    "months": lambda rng, n: pd.PeriodIndex.from_ordinals(rng.integers(0, 600, n), freq="M"),
    "row numbers": lambda rng, n: np.arange(n),
    "identifiers": lambda rng, n: np.array([f"id {k}" for k in rng.permutation(n)], object),
    "mixed": _objects(MIXED),
    "nested": _objects(NESTED),
    "constant": lambda rng, n: np.full(n, 3.3),
    "nothing": lambda rng, n: np.full(n, None),
    "not a number": lambda rng, n: np.full(n, np.nan),
}
