"""Hostile tables: ``python -m fuzz.tables --cases 1000 --seed 0 --estimator AutoLensRegressor``.

A table is given to the transformer of tables, or to an automatic estimator with hardly any time,
and so are other rows, of the same kinds of columns or of other ones. What comes of it must be
finite numbers of the right shape, or a refusal in one sentence. The same number and seed are the
same table anywhere. Tables are many and quick, so that they have no processes of their own.
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
from kernlens import AutoLensClassifier, AutoLensRegressor, TablePreprocessor

ESTIMATORS: dict[str, Any] = {
    one.__name__: one for one in (TablePreprocessor, AutoLensRegressor, AutoLensClassifier)
}
#: What is asked of a fitted model, if it has that.
CALLS = ("transform", "predict", "predict_proba")
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
        # Last, so that what is drawn before stays as it was.
        "max_columns": (1, 2, 3, 5, 0),
    }
    drawn = {name: pick(rng, some) for name, some in values.items() if chance(rng, 0.2)}
    return {**drawn, "random_state": int(rng.integers(4))}


class _Trial:
    """A table while it is looked at."""

    def __init__(self, case: TableCase, estimator: str) -> None:
        self.case, self.findings = case, list[Finding]()
        plain = estimator == "TablePreprocessor"
        quick = {"time_budget": 0.01, "n_jobs": 1, "random_state": 0}
        self.model = ESTIMATORS[estimator](**(case.parameters if plain else quick))

    def outcome(self) -> Outcome:
        """Fit, and ask for numbers of all rows."""
        start = time.process_time()
        case, model = self.case, self.model
        fitted = self._try("fit(X, y)", lambda: model.fit(case.X, case.y))
        if fitted is not None:
            for call in filter(lambda call: hasattr(model, call), CALLS):
                for name, rows in (("X", case.X), ("rows", case.rows)):
                    found = self._try(f"{call}({name})", lambda: getattr(model, call)(rows))  # noqa: B023
                    self._judge(f"{call}({name})", found, (len(rows), *self._width(call)))
            if hasattr(model, "columns_"):
                self._try("columns_", lambda: f"{model.columns_}{model.left_out_}")
                found = self._try(
                    "fit_transform(X, y)", lambda: model.fit_transform(case.X, case.y)
                )
                self._judge("fit_transform(X, y)", found, (len(case.X), *self._width("transform")))
        state = REFUSED if fitted is None else FITTED
        return Outcome(state, tuple(self.findings), time.process_time() - start)

    def _width(self, call: str) -> tuple[int, ...]:
        """Columns of what a call gives."""
        if call == "transform":
            return (len(set(self.model.get_feature_names_out())),)
        return (len(self.model.classes_),) if call == "predict_proba" else ()

    def _try(self, where: str, call: Any) -> Any:
        """What a call gives; None if it raises, and a finding if that is no refusal."""
        found = None
        with recorded() as leaks:
            try:
                found = call()
            except Exception as error:
                if not is_refusal(error, ("X", "y", *self.model.get_params())):
                    self._add("foreign exception", where, error)
        for kind, message, line in leaks:
            self.findings.append(Finding("RuntimeWarning", where, message, kind, line))
        return found

    def _add(self, kind: str, where: str, error: Exception) -> None:
        detail, line = str(error)[:200], our_line(error)
        self.findings.append(Finding(kind, where, detail, type(error).__name__, line))

    def _judge(self, where: str, found: Any, shape: tuple[int, ...]) -> None:
        """Look at numbers, or at labels, which are among the classes."""
        if found is None:
            return
        values = np.asarray(found)
        labels = where.startswith("predict(") and hasattr(self.model, "classes_")
        if values.shape != shape:
            self.findings.append(Finding("wrong shape", where, f"{values.shape}, not {shape}"))
        elif labels and not np.isin(values, self.model.classes_).all():
            self.findings.append(Finding("wrong value", where, "no class"))
        elif not labels and (values.dtype.kind != "f" or not np.isfinite(values).all()):
            self.findings.append(Finding("not finite", where, str(values.dtype)))


def outcomes(
    estimator: str, cases: int, seed: int, start: int = 0
) -> Iterator[tuple[TableCase, Outcome]]:
    """Tables one after another, and what came of them."""
    for number in range(start, start + cases):
        case = draw_table(number, seed)
        yield case, _Trial(case, estimator).outcome()


def main(given: list[str] | None = None) -> int:
    """Print what was found, every kind of it once; 1 if there was something."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.tables", description=__doc__)
    parser.add_argument("--estimator", choices=ESTIMATORS, default="TablePreprocessor")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(given)
    states, groups, slowest = Counter[str](), Counter[tuple[str, str, str]](), (0.0, 0)
    for case, outcome in outcomes(asked.estimator, asked.cases, asked.seed, asked.start):
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
