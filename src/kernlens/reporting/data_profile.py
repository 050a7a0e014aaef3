"""The data: types, missing values, what was left out and why, and what looks suspicious."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray, IntArray
from kernlens.reporting.formats import entry
from kernlens.reporting.subject import CLASSES, Subject
from kernlens.tables.plans import dates_of_text
from kernlens.tables.preprocessor import WEAK
from kernlens.tables.reading import Column, as_frame, names_of, read_array, read_frame

#: Columns and levels that the page shows.
MOST_COLUMNS = 40
MOST_LEVELS = 5
MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Read:
    """A column with its name, as people look at it."""

    name: str
    column: Column

    @property
    def kind(self) -> str:
        """What it has."""
        return "category" if self.column.kind == "text" else self.column.kind

    @property
    def is_numeric(self) -> bool:
        """Whether its values are in an order."""
        return self.column.values.dtype != object

    def shown(self, row: int) -> str:
        """The value of a row."""
        if self.column.missing[row]:
            return MISSING
        value = self.column.values[row]
        if self.kind == "date":
            return _date(float(value))
        if self.kind == "boolean":
            return "true" if value else "false"
        return entry(float(value)) if self.is_numeric else str(value)

    def values_to_try(self, n_values: int, n_levels: int) -> tuple[IntArray, list[str]]:
        """Rows that have values worth trying, in order, and these as text."""
        there = np.flatnonzero(~self.column.missing)
        if self.is_numeric:
            order = there[np.argsort(self.column.values[there], kind="stable")]
            places = np.linspace(0.01, 0.99, n_values) * max(len(order) - 1, 0)
            rows = order[places.round().astype(np.intp)] if len(order) else order
            _, first = np.unique(self.column.values[rows], return_index=True)
        else:
            rows = there
            _, first, counts = np.unique(
                self.column.values[rows].astype(str), return_index=True, return_counts=True
            )
            common = np.sort(np.argsort(-counts, kind="stable")[:n_levels])
            first = first[common]
        rows = rows[first]
        gaps = np.flatnonzero(self.column.missing)[:1]
        rows = np.concatenate([rows, gaps]).astype(np.intp)
        return rows, [self.shown(int(row)) for row in rows]

    def nearest(self, row: int, donors: IntArray) -> int:
        """Place of the donor whose value is that of the row, or closest to it; -1 for none."""
        missing = self.column.missing
        if missing[row]:
            same = np.flatnonzero(missing[donors])
            return int(same[0]) if len(same) else -1
        values = self.column.values
        if not self.is_numeric:
            same = np.flatnonzero([values[donor] == values[row] for donor in donors])
            return int(same[0]) if len(same) else -1
        apart = np.abs(values[donors] - values[row])
        return int(np.nanargmin(np.where(missing[donors], np.inf, apart)))


def read_table(X: Any, names: tuple[str, ...]) -> list[Read]:
    """Columns of any table."""
    frame = as_frame(X)
    columns = read_frame(frame) if isinstance(frame, nw.DataFrame) else read_array(np.asarray(X))
    return [Read(name, _dated(column)) for name, column in zip(names, columns, strict=True)]


def _dated(column: Column) -> Column:
    """Text that is dates as dates, which have an order."""
    if column.kind != "text" or column.missing.all():
        return column
    levels = np.array(sorted({text for text in column.values if text is not None}), dtype=object)
    times, form = dates_of_text(column, levels)
    return Column("date", times) if form else column


def data_of(subject: Subject, importances: dict[str, float]) -> dict[str, Any]:
    """All that is said of the rows and columns.

    Parameters
    ----------
    subject : Subject
    importances : dict of str to float
        Of columns of X; those with larger ones are shown first.
    """
    read = read_table(subject.X, subject.names)
    prepared = _prepared(subject)
    order = sorted(
        range(len(read)), key=lambda place: _place_of(read[place], prepared, importances)
    )
    missing = np.array([float(np.mean(one.column.missing)) for one in read])
    kept = getattr(subject.model, "_kept", None)
    sampled = kept is not None and subject.X is kept.X
    return {
        "n_rows": kept.n_rows if kept is not None and sampled else subject.n_rows,
        "n_rows_looked_at": subject.n_rows,
        "n_test_rows": 0 if subject.y_test is None else len(subject.y_test),
        "n_columns": len(read),
        "kinds": _counted([one.kind for one in read]),
        "n_with_missing": int(np.count_nonzero(missing)),
        "share_missing": missing.mean(),
        "target": None if subject.y is None else _target(subject),
        "columns": [
            _column(read[place], missing[place], prepared) for place in order[:MOST_COLUMNS]
        ],
        "n_not_shown": max(0, len(read) - MOST_COLUMNS),
        "n_weak": subject.model.table_.n_weak_ if prepared else 0,
        "left_out": _left_out(prepared),
    }


def _place_of(
    one: Read, prepared: dict[str, tuple[str, bool]], importances: dict[str, float]
) -> tuple[bool, float]:
    """Columns that are used come first, and important ones before others."""
    return prepared.get(one.name, ("", False))[1], -importances.get(one.name, 0.0)


def _left_out(prepared: dict[str, tuple[str, bool]]) -> list[dict[str, str]]:
    """Columns that are not used; those that are one of too many come last."""
    found = [{"name": name, "why": why} for name, (why, out) in prepared.items() if out]
    return sorted(found, key=lambda one: one["why"] == WEAK)


def _prepared(subject: Subject) -> dict[str, tuple[str, bool]]:
    """What an automatic estimator did with every column, and whether it left it out."""
    if not hasattr(subject.model, "table_"):
        return {}
    report = subject.model.table_.columns_
    names = subject.names if names_of(subject.X) is None else report.names
    actions = [action.removeprefix("left out: ") for action in report.actions]
    triples = zip(names, actions, report.left_out.tolist(), strict=True)
    return {name: (action, out) for name, action, out in triples}


def _column(one: Read, missing: float, prepared: dict[str, tuple[str, bool]]) -> dict[str, Any]:
    action, out = prepared.get(one.name, (None, False))
    present = one.column.values[~one.column.missing]
    found: dict[str, Any] = {
        "name": one.name,
        "kind": one.kind,
        "missing": missing,
        "action": action,
        "left_out": out,
    }
    if one.is_numeric and len(present):
        marks = np.quantile(present, [0.0, 0.5, 1.0])
        found["n_levels"] = len(np.unique(present))
        if one.kind == "date":
            found["range"] = [_date(float(mark)) for mark in marks]
        else:
            found["quartiles"] = np.quantile(present, [0.0, 0.25, 0.5, 0.75, 1.0])
            found["mean"] = present.mean()
            found["histogram"] = _histogram(present)
    else:
        levels, counts = np.unique(present.astype(str), return_counts=True)
        common = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
        found["n_levels"] = len(levels)
        found["levels"] = [{"name": levels[k], "count": int(counts[k])} for k in common]
    return found


def _histogram(values: FloatArray) -> list[int]:
    counts: list[int] = np.histogram(values, bins=16)[0].tolist()
    return counts


def _target(subject: Subject) -> dict[str, Any]:
    y: NDArray[Any] = subject.y  # type: ignore[assignment]
    found: dict[str, Any] = {"name": subject.target, "classes": None, "n_classes": 0}
    if subject.kind == CLASSES:
        labels, counts = np.unique(y, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST_COLUMNS]
        found["n_classes"] = len(labels)
        found["classes"] = [{"name": str(labels[k]), "count": int(counts[k])} for k in order]
    elif y.dtype.kind in "fiub":
        known = y.astype(np.float64)[np.isfinite(y.astype(np.float64))]
        found["quartiles"] = np.quantile(known, [0.0, 0.25, 0.5, 0.75, 1.0])
        found["mean"], found["standard_deviation"] = known.mean(), known.std()
        found["histogram"] = _histogram(known)
    return found


def _counted(kinds: list[str]) -> dict[str, int]:
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def _date(microseconds: float) -> str:
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%d") if moment.time() == datetime.time() else str(moment)[:16]
