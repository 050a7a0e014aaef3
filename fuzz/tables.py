"""Hostile tables for the transformer of tables: ``python -m fuzz.tables --cases 1000 --seed 0``.

Every table is turned into numbers, and so are other rows, of the same kinds of columns or of other
ones. What comes of it must be finite numbers with as many names, or a refusal in one sentence. The
same number and seed are the same table anywhere. Nothing compiled is run, so that no process of its
own is needed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from fuzz.columns import COLUMNS
from fuzz.draws import Generator, chance, pick
from fuzz.outcomes import FITTED, REFUSED, Finding, Outcome
from fuzz.refusals import is_refusal, our_line
from fuzz.warned import recorded
from kernlens import TablePreprocessor

#: Arguments that sentences may begin with.
ARGUMENTS = ("X", "y", *TablePreprocessor().get_params())
#: Names of a column by its place.
NAMES = (
    *(lambda place: f"column {place}",) * 12,
    lambda place: place,
    lambda place: 1.5 * place,
    lambda place: "the same",
    lambda place: "",
    lambda place: None,
    lambda place: (1, place),
    lambda place: f"customer_id {place}",
    lambda place: f"{place}\n" + "x" * 1000,
)


@dataclass(frozen=True)
class TableCase:
    """A table, targets, and other rows.

    Attributes
    ----------
    number, seed : int
        What the rest was drawn from.
    parameters : dict
    X, rows : data frame, ndarray or list
    y : ndarray or None
    words : list of str
        Kinds of the columns, for a reader.
    """

    number: int
    seed: int
    parameters: dict[str, Any]
    X: Any
    y: Any
    rows: Any
    words: list[str] = field(default_factory=list)


def draw_table(number: int, seed: int) -> TableCase:
    """The table of a number."""
    rng = np.random.default_rng([seed, number])
    n, m = pick(rng, (1, 2, 3, 5, 20, 60, 200)), pick(rng, (1, 3, 30))
    kinds = _draw_kinds(rng, pick(rng, (0, *(1, 2, 3, 6) * 10)))
    name = pick(rng, NAMES)
    names = [name(place) for place in range(len(kinds))]
    form = pick(rng, ("pandas",) * 3 + ("polars", "objects", "lists"))
    X = _formed(_frame(rng, n, kinds, names), form)
    others = _draw_kinds(rng, len(kinds)) if chance(rng, 0.2) else kinds
    rows = _formed(_frame(rng, m, others, names), form)
    return TableCase(number, seed, _draw_parameters(rng, names), X, _draw_y(rng, n), rows, kinds)


def _draw_kinds(rng: Generator, number: int) -> list[str]:
    return [pick(rng, list(COLUMNS)) for _ in range(number)]


def _frame(rng: Generator, n: int, kinds: list[str], names: list[Any]) -> pd.DataFrame:
    columns = [pd.Series(COLUMNS[kind](rng, n)) for kind in kinds]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(n))
    frame.columns = pd.Index(names, dtype=object, tupleize_cols=False)
    if chance(rng, 0.2):
        frame.index = pd.Index(rng.permutation(n) + 5)
    return frame


def _formed(frame: pd.DataFrame, form: str) -> Any:
    """The same table as something else; polars has no place for some columns."""
    if form == "polars":
        try:
            return pl.from_pandas(frame)
        except Exception:
            return frame
    if form == "pandas":
        return frame
    array = frame.to_numpy(dtype=object)
    return array if form == "objects" else array.tolist()


def _draw_y(rng: Generator, n: int) -> Any:
    numbers = rng.standard_normal(n)
    kinds: tuple[Any, ...] = (
        *(None, numbers, numbers > 0.0, numbers * 1e300, numbers * 1e-300, np.full(n, 1.0)),
        *(np.where(numbers > 1.0, np.nan, numbers), np.where(numbers > 0.0, "a", "b")),
        *(rng.integers(0, 3, n), rng.standard_normal((n, 2)), numbers.astype(object)),
        *(
            np.array(["a", None] * n, object)[:n],
            pd.Series(numbers),
            numbers.tolist(),
            numbers[:-1],
        ),
    )
    return kinds[int(rng.integers(len(kinds)))]


def _draw_parameters(rng: Generator, names: list[Any]) -> dict[str, Any]:
    values = {
        "task": ("classification", "regression"),
        "max_levels": (1, 2, 3, 1000, 0, 1.5),
        "imputation": ("mean", "mean", "mode"),
        "n_folds": (2, 3, 50, 1),
        "keep": (names[:1], names, "all", ["absent"]),
    }
    drawn = {name: pick(rng, some) for name, some in values.items() if chance(rng, 0.2)}
    return {**drawn, "random_state": int(rng.integers(4))}


class _Trial:
    """A table while it is looked at."""

    def __init__(self, case: TableCase) -> None:
        self.case, self.findings = case, list[Finding]()
        self.model: Any = None

    def outcome(self) -> Outcome:
        """Make numbers of all rows."""
        start = time.process_time()
        case = self.case
        found = self._try("fit_transform(X, y)", self._fitted)
        if found is not None:
            self._judge("fit_transform(X, y)", found, len(case.X))
            for name, rows in (("X", case.X), ("rows", case.rows)):
                text = f"transform({name})"
                numbers = self._try(text, lambda rows=rows: self.model.transform(rows))
                if numbers is not None:
                    self._judge(text, numbers, len(rows))
            self._try("columns_", lambda: f"{self.model.columns_}{self.model.left_out_}")
        state = REFUSED if found is None else FITTED
        return Outcome(state, tuple(self.findings), time.process_time() - start)

    def _fitted(self) -> Any:
        self.model = TablePreprocessor(**self.case.parameters)
        return self.model.fit_transform(self.case.X, self.case.y)

    def _try(self, where: str, call: Any) -> Any:
        """What a call gives; None if it raises, and a finding if that is no refusal."""
        found = None
        with recorded() as leaks:
            try:
                found = call()
            except Exception as error:
                if not is_refusal(error, ARGUMENTS):
                    self._add("foreign exception", where, error)
        for kind, message, line in leaks:
            self.findings.append(Finding("RuntimeWarning", where, message, kind, line))
        return found

    def _add(self, kind: str, where: str, error: Exception) -> None:
        detail, line = str(error)[:200], our_line(error)
        self.findings.append(Finding(kind, where, detail, type(error).__name__, line))

    def _judge(self, where: str, found: Any, n_rows: int) -> None:
        numbers, names = np.asarray(found), self.model.get_feature_names_out()
        if numbers.shape != (n_rows, len(names)) or len(set(names)) < len(names):
            detail = f"{numbers.shape} instead of {(n_rows, len(set(names)))}"
            self.findings.append(Finding("wrong shape", where, detail))
        elif numbers.dtype.kind != "f" or not np.isfinite(numbers).all():
            self.findings.append(Finding("not finite", where, str(numbers.dtype)))


def outcomes(cases: int, seed: int, start: int = 0) -> Iterator[tuple[TableCase, Outcome]]:
    """Tables one after another, and what came of them."""
    for number in range(start, start + cases):
        case = draw_table(number, seed)
        yield case, _Trial(case).outcome()


def main(given: list[str] | None = None) -> int:
    """Print what was found, every kind of it once; 1 if there was something."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.tables", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(given)
    states, groups, slowest = Counter[str](), Counter[tuple[str, str, str]](), (0.0, 0)
    for case, outcome in outcomes(asked.cases, asked.seed, asked.start):
        states[outcome.state] += 1
        slowest = max(slowest, (outcome.seconds, case.number))
        for finding in outcome.findings:
            groups[finding.signature] += 1
            if groups[finding.signature] == 1:
                print(f"{finding}\n    draw_table({case.number}, {case.seed}): {case.words}")
    print(f"{dict(states)}; the slowest took {slowest[0]:.2f} s, number {slowest[1]}")
    print(f"{sum(groups.values())} findings of {len(groups)} kinds")
    return 1 if groups else 0


if __name__ == "__main__":
    sys.exit(main())
