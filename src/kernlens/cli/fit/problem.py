"""From a table to rows to learn from: the target, what it is, and which rows and columns stay."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray, IntArray
from kernlens._pandas import import_pandas
from kernlens._table import shortened
from kernlens.cli._errors import CommandError, explained
from kernlens.cli._tables import check_columns
from kernlens.cli._talk import Talk
from kernlens.tables.dates import date_format, parse_dates
from kernlens.tables.plans import looks_like_counted, named_like_id, parse_numbers, spread
from kernlens.tables.reading import Column, as_frame, read_series, text_of
from kernlens.tables.target_means import MOST_CLASSES

#: Fewer rows than this tell nothing that could be checked.
FEWEST_ROWS = 8
#: Letters of a class.
LONGEST_LABEL = 200
REGRESSION = "regression"
CLASSIFICATION = "classification"


@dataclass(frozen=True)
class Problem:
    """Rows with a target, in the order of the file.

    Attributes
    ----------
    X : pandas.DataFrame of shape (n_rows, n_columns)
    y : ndarray of shape (n_rows,)
        Numbers or labels.
    task : {"regression", "classification"}
    target : str
    rows : ndarray of int of shape (n_rows,)
        Numbers of the rows in the file, from 1.
    weights, moments : ndarray of shape (n_rows,) or None
    groups : ndarray of int of shape (n_rows,) or None
    rows_read : int
        Rows of the file.
    left_out : dict of str to str
        Columns that are not passed on, and why.
    """

    X: Any
    y: NDArray[Any]
    task: str
    target: str
    rows: IntArray
    rows_read: int
    weights: FloatArray | None = None
    groups: IntArray | None = None
    moments: FloatArray | None = None
    left_out: dict[str, str] = field(default_factory=dict)

    def part(self, rows: IntArray) -> Problem:
        """Some of the rows."""

        def of(values: Any) -> Any:
            return None if values is None else values[rows]

        return Problem(
            self.X.iloc[rows],
            self.y[rows],
            self.task,
            self.target,
            self.rows[rows],
            self.rows_read,
            of(self.weights),
            of(self.groups),
            of(self.moments),
            self.left_out,
        )


def make_problem(frame: Any, arguments: argparse.Namespace, talk: Talk) -> Problem:
    """Check the columns that are named, and leave out what cannot be learned from."""
    target = arguments.target
    roles = {
        "--target": target,
        "--groups": arguments.groups,
        "--time": arguments.time,
        "--weight": arguments.weight,
    }
    named = [(option, name) for option, name in roles.items() if name is not None]
    for option, name in [*named, *(("--ignore", name) for name in arguments.ignore)]:
        check_columns(frame, [name], option)
    _check_distinct(named, arguments.ignore)
    _check_twice(frame, target, talk)
    left_out = dict.fromkeys(arguments.ignore, "ignored, as you asked")
    texts = {"--groups": "groups of rows", "--time": "order of rows", "--weight": "weights of rows"}
    left_out |= {name: texts[option] for option, name in named if option in texts}
    column = column_of(frame, target)
    y, task = target_of(target, column, arguments.task)
    kept = _kept_rows(y, task, frame, arguments, talk)
    problem = Problem(
        frame.drop(columns=[target, *left_out]),
        y,
        task,
        target,
        np.arange(1, len(frame) + 1),
        len(frame),
        _weights(frame, arguments.weight),
        _groups(frame, arguments.groups),
        _moments(frame, arguments.time),
        left_out,
    ).part(np.flatnonzero(kept))
    _check_rows(problem)
    if task == CLASSIFICATION:
        problem = replace(problem, y=problem.y.astype(str))
    if problem.X.shape[1] == 0:
        raise CommandError(f"{target!r} is the only column that is left; there is nothing to use.")
    _warn_identifier(problem, talk)
    return problem


def column_of(frame: Any, name: str) -> Column:
    """One column, as the preprocessor of tables reads it."""
    with explained():
        return read_series(as_frame(frame[[name]])[name])


def _check_distinct(named: list[tuple[str, str]], ignored: list[str]) -> None:
    seen = dict.fromkeys(ignored, "--ignore")
    for option, name in named:
        if name in seen:
            raise CommandError(f"{seen[name]} and {option} both name {name!r}; give it once.")
        seen[name] = option


def _check_twice(frame: Any, target: str, talk: Talk) -> None:
    if f"{target} (2)" in frame.columns:
        talk(
            f"Two columns are named {target!r}: the first is the target, and the second is used to "
            f"predict it as {target + ' (2)'!r}. If it is a copy, leave it out with --ignore."
        )


def target_of(name: str, column: Column, task: str) -> tuple[NDArray[Any], str]:
    """Targets with NaN or None where there is none, and the task.

    Text is classes, and so are at most 10 different whole numbers, unless the user says otherwise.
    """
    if column.kind in ("date", "nested"):
        kind = "dates" if column.kind == "date" else "lists"
        raise CommandError(f"the target {name!r} has {kind}; it must have numbers or classes.")
    if column.missing.all():
        raise CommandError(f"the target {name!r} has no value in any row.")
    texts: NDArray[Any] | None = None
    if column.kind in ("text", "category"):
        texts = column.values
        levels = np.array(sorted({text for text in texts if text is not None}), dtype=object)
        numbers = parse_numbers(levels)
        if column.kind == "text" and not np.isnan(numbers).any():
            known = dict(zip(levels.tolist(), numbers.tolist(), strict=True))
            values = np.array([known.get(text, np.nan) for text in texts], dtype=np.float64)
            values[~np.isfinite(values)] = np.nan
            column, texts = Column("number", values), None
        elif date_format(levels) is not None:
            raise CommandError(f"the target {name!r} has dates; it must have numbers or classes.")
        elif task == REGRESSION:
            place = next(row for row, text in enumerate(texts) if _is_word(text))
            raise CommandError(
                f"the target {name!r} must have numbers for --task regression, but row "
                f"{place + 1} has {texts[place]!r}."
            )
    if texts is not None:
        return texts, CLASSIFICATION
    values = column.values
    present = values[~np.isnan(values)]
    whole = bool((present == np.round(present)).all())
    if column.kind == "boolean" and task != REGRESSION:
        return _labels(values, lambda v: str(bool(v))), CLASSIFICATION
    few = whole and len(np.unique(present)) <= MOST_CLASSES
    if task == CLASSIFICATION or (task == "auto" and few):
        return _labels(values, lambda v: text_of(float(v))), CLASSIFICATION
    return values, REGRESSION


def _is_word(text: str | None) -> bool:
    return text is not None and bool(np.isnan(parse_numbers(np.array([text], dtype=object)))[0])


def _labels(values: FloatArray, spelled: Any) -> NDArray[Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = [None if np.isnan(value) else spelled(value) for value in values]
    return found


def _kept_rows(
    y: NDArray[Any], task: str, frame: Any, arguments: argparse.Namespace, talk: Talk
) -> NDArray[np.bool_]:
    """Rows with a target, and with what orders and groups them."""
    kept = np.array([one is not None for one in y]) if y.dtype == object else ~np.isnan(y)
    if not kept.all():
        talk(without_value(~kept, arguments.target))
    for name in (arguments.time, arguments.groups):
        if name is not None:
            gaps = column_of(frame, name).missing & kept
            if gaps.any():
                talk(without_value(gaps, name))
                kept &= ~gaps
    if task == CLASSIFICATION:
        counts = Counter(y[kept].tolist())
        single = sorted(label for label, count in counts.items() if count == 1)
        if 0 < len(single) <= len(counts) - 2:
            shown = ", ".join(map(repr, single[:5])) + (" ..." if len(single) > 5 else "")
            talk(
                f"Classes with one row only cannot be learned and checked, and were left out: "
                f"{shown}."
            )
            kept &= np.array([counts[one] > 1 for one in y])
    return kept


def without_value(gaps: NDArray[np.bool_], name: str) -> str:
    """A sentence about rows that cannot be used."""
    number = int(gaps.sum())
    rows, were = ("row", "was") if number == 1 else ("rows", "were")
    return f"{number} {rows} without a value of {name!r} {were} left out."


def _check_rows(problem: Problem) -> None:
    n_rows = len(problem.y)
    if n_rows < FEWEST_ROWS:
        raise CommandError(
            f"{n_rows} row{'' if n_rows == 1 else 's'} with a target of {problem.rows_read} can be "
            f"used; at least {FEWEST_ROWS} are needed to learn from some and to check on others."
        )
    levels = set(problem.y.tolist())
    if len(levels) == 1:
        only = next(iter(levels))
        shown = repr(shortened(only, 60)) if isinstance(only, str) else f"{only:g}"
        raise CommandError(
            f"the target {problem.target!r} is {shown} in all rows that can be used; there is "
            "nothing to learn."
        )
    if problem.task == CLASSIFICATION and max(map(len, levels)) > LONGEST_LABEL:
        raise CommandError(
            f"the target {problem.target!r} has values of more than {LONGEST_LABEL} letters: it "
            "looks like free text, not like classes."
        )
    if problem.task == CLASSIFICATION and len(levels) > n_rows / 2:
        raise CommandError(
            f"the target {problem.target!r} has {len(levels)} different values in {n_rows} rows: "
            "it looks like an identifier or free text, not like classes."
        )


def _warn_identifier(problem: Problem, talk: Talk) -> None:
    if problem.task == CLASSIFICATION:
        return
    y = problem.y
    if looks_like_counted(problem.target, y) or (
        named_like_id(problem.target) and len(np.unique(y)) == len(y)
    ):
        talk(
            f"The target {problem.target!r} looks like an identifier, which nothing can predict: "
            "see whether --target names the right column."
        )


def _weights(frame: Any, name: str | None) -> FloatArray | None:
    if name is None:
        return None
    column = column_of(frame, name)
    if column.kind != "number":
        raise CommandError(f"--weight names {name!r}, which has {column.kind}, not numbers.")
    bad = ~(column.values >= 0.0)
    if bad.any():
        row = int(np.argmax(bad))
        value = column.values[row]
        found = "no number" if np.isnan(value) else f"{value:g}"
        raise CommandError(
            f"--weight names {name!r}, which has {found} in row {row + 1}; weights are numbers of "
            "at least 0."
        )
    return column.values


def _groups(frame: Any, name: str | None) -> IntArray | None:
    if name is None:
        return None
    column = column_of(frame, name)
    if column.kind == "nested":
        raise CommandError(f"--groups names {name!r}, which has lists, not groups.")
    codes: IntArray = import_pandas().factorize(column.values)[0]
    return codes


def _moments(frame: Any, name: str | None) -> FloatArray | None:
    """Numbers that rise with time: of numbers, of dates, or of text that is dates."""
    if name is None:
        return None
    column = column_of(frame, name)
    if column.values.dtype != object:
        return column.values
    levels = np.array(sorted({v for v in column.values if v is not None}), dtype=object)
    form = date_format(levels) if len(levels) else None
    if form is None:
        raise CommandError(
            f"--time names {name!r}, which has values such as {str(levels[0])!r}: they are neither "
            "numbers nor dates such as 2024-05-31."
            if len(levels)
            else f"--time names {name!r}, which has no values."
        )
    return spread(column, levels, parse_dates(levels, form))
