"""Columns of any table: pandas, polars, Arrow (through narwhals) or arrays."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from kernlens._array import FloatArray, IntArray
from kernlens.tables.dates import microseconds

#: Texts that say that there is nothing, in small letters.
NULL_TEXTS = frozenset(
    ("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "nil", "?", "nat", "missing")
)


@dataclass(frozen=True, eq=False)
class Column:
    """One column as it was read.

    Attributes
    ----------
    kind : {"number", "boolean", "date", "category", "text", "nested"}
        Categories are text that is said to be no numbers and no dates.
    values : ndarray of shape (n_rows,)
        Text or None for categories and text; float64 with NaN where nothing is for the others:
        dates are microseconds since 1970 by the clock of their zone.
    zone : str
        That zone, or nothing.
    """

    kind: str
    values: NDArray[Any]
    zone: str = ""

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Rows without a value."""
        if self.values.dtype == object:
            return np.array([value is None for value in self.values], dtype=bool)
        return np.isnan(self.values)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame or an Arrow table."""
    return isinstance(as_frame(X), nw.DataFrame)


def as_frame(X: Any) -> Any:
    """X as narwhals sees it, or X itself."""
    if isinstance(X, np.ndarray | list | tuple):
        return X
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise ValueError("X is a lazy table, whose rows are not there yet; call its collect().")
    check_names(names_of(X))
    return nw.from_native(X, eager_only=True, pass_through=True)


def take_rows(X: Any, rows: IntArray) -> Any:
    """Some rows of a table or an array, as what they were."""
    frame = as_frame(X)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else _safe_indexing(X, rows)


def names_of(X: Any) -> list[Any] | None:
    """Names of the columns of a data frame, or None."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None or callable(names) else list(names)


def check_names(names: Sequence[Any] | None) -> None:
    """Refuse names that occur twice."""
    if names is not None and len({str(name) for name in names}) < len(names):
        seen: set[str] = set()
        twice = next(str(n) for n in names if str(n) in seen or seen.add(str(n)))  # type: ignore[func-returns-value]
        raise ValueError(f"The table has more than one column named {twice!r}; rename one of them.")


def read_frame(frame: Any, zones: Sequence[str] | None = None) -> list[Column]:
    """Columns of a narwhals frame; dates with a zone by the clock of these zones, or their own."""
    columns = list(frame.iter_columns())
    pairs = zip(columns, zones or [""] * len(columns), strict=True)
    return [read_series(series, zone) for series, zone in pairs]


def read_array(X: NDArray[Any]) -> list[Column]:
    """Columns of an array of two dimensions."""
    if X.dtype.kind in "iuf":
        return [_numbers(values) for values in X.T]
    if X.dtype.kind == "b":
        return [Column("boolean", values.astype(np.float64)) for values in X.T]
    if X.dtype.kind == "M":
        return [_moments(values) for values in X.T]
    return [read_objects(values) for values in X.T.tolist()]


def read_series(series: Any, zone: str = "") -> Column:
    """A column of a frame, by its type."""
    native = getattr(series.to_native(), "dtype", None)
    if isinstance(native, np.dtype) and native.kind in "iuf":
        # The same as below in a tenth of the time, which counts where columns are thousands.
        return _numbers(series.to_numpy())
    dtype = series.dtype
    if dtype == nw.Boolean:
        flags = series.to_list()
        return Column("boolean", np.array([_flag(flag) for flag in flags], dtype=np.float64))
    if dtype.is_numeric():
        return _numbers(series.cast(nw.Float64).fill_null(np.nan).to_numpy())
    if dtype in (nw.Date, nw.Datetime):
        return _moments_of(series, zone)
    if dtype == nw.Duration:
        lengths = series.dt.total_microseconds().cast(nw.Float64).to_list()
        return _numbers(np.array([_flag(length) for length in lengths]) / 1e6)
    if dtype in (nw.Categorical, nw.Enum):
        return Column("category", _texts(series.to_list()))
    if dtype in (nw.List, nw.Struct, nw.Array):
        return Column("nested", np.full(len(series), None, dtype=object))
    return read_objects(series.to_list())


def read_objects(values: Sequence[Any]) -> Column:
    """A column of Python's objects, by what they are: mixed ones are text."""
    present = [value for value in values if not is_null(value)]
    if present and all(isinstance(value, bool | np.bool_) for value in present):
        return Column("boolean", np.array([_flag(v) for v in values], dtype=np.float64))
    if present and all(isinstance(value, Real) for value in present):
        return _numbers(np.array([_flag(v) for v in values], dtype=np.float64))
    if present and all(isinstance(v, datetime.date | np.datetime64) for v in present):
        return _dates(values)
    if any(isinstance(value, list | tuple | dict | set | np.ndarray) for value in present):
        return Column("nested", np.full(len(values), None, dtype=object))
    return Column("text", _texts(values))


def is_null(value: Any) -> bool:
    """Whether an object says that there is nothing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def text_of(value: Any) -> str | None:
    """An object as the text of a level; whole numbers have no decimals, whatever their type."""
    if is_null(value):
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    text = str(value).strip()
    return None if text.lower() in NULL_TEXTS else text


def _texts(values: Iterable[Any]) -> NDArray[Any]:
    texts = [text_of(value) for value in values]
    found = np.empty(len(texts), dtype=object)
    found[:] = texts
    return found


def _flag(value: Any) -> float:
    try:
        return np.nan if is_null(value) else float(value)
    except OverflowError:
        # Python's integers and fractions may be larger than any number.
        return np.inf


def _numbers(values: NDArray[Any]) -> Column:
    """Numbers, with nothing in the place of infinite ones."""
    numbers: FloatArray = np.array(values, dtype=np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return Column("number", numbers)


def _moments_of(series: Any, zone: str) -> Column:
    """Dates of a frame by the clock of a zone, of their own if none is given."""
    own = getattr(series.dtype, "time_zone", None)
    if own is None:
        moments = series if series.dtype == nw.Datetime else series.cast(nw.Datetime("us"))
    else:
        zone = zone or own
        moments = series.dt.convert_time_zone(zone).dt.replace_time_zone(None)
    times = moments.dt.timestamp("us").cast(nw.Float64).to_list()
    found = np.array([_flag(time) for time in times], dtype=np.float64)
    return Column("date", found, zone if own else "")


def _moments(values: NDArray[Any]) -> Column:
    times = values.astype("datetime64[us]")
    numbers = times.astype(np.int64).astype(np.float64)
    numbers[np.isnat(times)] = np.nan
    return Column("date", numbers)


def _dates(values: Sequence[Any]) -> Column:
    """Dates of Python: those with a zone by the clock of UTC."""
    known = [not is_null(value) for value in values]
    numbers = np.full(len(values), np.nan)
    numbers[known] = [microseconds(v) for v, there in zip(values, known, strict=True) if there]
    return Column("date", numbers)
