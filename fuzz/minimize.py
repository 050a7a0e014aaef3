"""Makes the case of a finding smaller, as long as it shows the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.arrays import Array
from fuzz.cases import Case
from fuzz.outcomes import Finding, Outcome
from fuzz.spelling import SMALL

#: Runs a case, most likely in a worker.
Run = Callable[[Case], Outcome]


class _Spent(Exception):
    """There are no tries or no time left."""


class Minimizer:
    """Tries smaller cases.

    Parameters
    ----------
    run : callable
        Runs a case.
    tries : int
        How many smaller cases are run at most.
    seconds : float
        After how long no further one is run.
    """

    def __init__(self, run: Run, tries: int = 60, seconds: float = 10.0) -> None:
        self._run, self._tries, self._seconds = run, tries, seconds

    def minimize(self, case: Case, finding: Finding) -> tuple[Case, Finding]:
        """The smallest case found, and what it shows."""
        self._left, self._end = self._tries, time.monotonic() + self._seconds
        self.case, self.finding = case, finding
        try:
            # Rows and columns again at the end: simpler parameters often need fewer.
            for reduce in (self._data, self._parameters, self._data, self._numbers):
                reduce()
        except _Spent:
            pass
        return self.case, self.finding

    def _try(self, smaller: Case) -> bool:
        """Take a smaller case if it shows the same."""
        if self._left == 0 or time.monotonic() > self._end:
            raise _Spent
        self._left -= 1
        for finding in self._run(smaller).findings:
            if finding.signature == self.finding.signature:
                self.case, self.finding = smaller, finding
                return True
        return False

    def _data(self) -> None:
        if self.case.weights is not None and not self._try(replace(self.case, weights=None)):
            self._try(replace(self.case, weights=np.ones(len(self.case.X))))
        if self.case.form != "array":
            self._try(replace(self.case, form="array"))
        if self.case.target_form != "array":
            self._try(replace(self.case, target_form="array"))
        y = self.case.y
        if y is not None and y.ndim == 2:
            self._try(replace(self.case, y=y[:, 0].copy()))
        self._rows()
        self._columns()
        self._new_rows()

    def _rows(self) -> None:
        """Halve the rows, keeping the first, the second or every other half."""
        shrunk = True
        while shrunk and len(self.case.X) > 2:
            n = len(self.case.X)
            halves = (slice(0, n // 2), slice(n // 2, n), slice(0, n, 2))
            shrunk = any(self._try(_with_rows(self.case, half)) for half in halves)
        for i in reversed(range(len(self.case.X)) if len(self.case.X) <= 8 else ()):
            self._try(_with_rows(self.case, np.delete(np.arange(len(self.case.X)), i)))

    def _columns(self) -> None:
        d = self.case.X.shape[1]
        if d > 4 and not self._try(_with_columns(self.case, np.arange(d // 2))):
            self._try(_with_columns(self.case, np.arange(d // 2, d)))
        for j in reversed(range(self.case.X.shape[1])):
            if self.case.X.shape[1] > 1:
                self._try(_with_columns(self.case, np.delete(np.arange(self.case.X.shape[1]), j)))

    def _new_rows(self) -> None:
        """One new row, if one is enough; none matter if nothing was asked of them."""
        if len(self.case.rows) < 2:
            return
        if "rows" not in self.finding.where:
            self._try(replace(self.case, rows=self.case.rows[:1]))
            return
        for i in np.argsort(np.abs(self.case.rows).max(axis=1)):
            if self._try(replace(self.case, rows=self.case.rows[i : i + 1])):
                return

    def _parameters(self) -> None:
        """Leave out one after the other, all that make no difference."""
        kept = ("random_state", "n_jobs")
        if self._try(_without(self.case, set(self.case.parameters) - set(kept))):
            return
        for name in list(self.case.parameters):
            if name not in kept:
                self._try(_without(self.case, {name}))

    def _numbers(self) -> None:
        """Short numbers, where all are written out."""
        for name in ("X", "rows", "y"):
            values: Any = getattr(self.case, name)
            if values is not None and values.dtype.kind == "f" and values.size <= SMALL:
                short = _shortened(values)
                if not np.array_equal(short, values, equal_nan=True):
                    changed: dict[str, Any] = {name: short}
                    self._try(replace(self.case, **changed))


def _with_rows(case: Case, kept: Any) -> Case:
    y = None if case.y is None else case.y[kept]
    weights = None if case.weights is None else case.weights[kept]
    return replace(case, X=case.X[kept], y=y, weights=weights)


def _with_columns(case: Case, kept: Array) -> Case:
    smaller = replace(case, X=case.X[:, kept], rows=case.rows[:, kept])
    return replace(smaller, parameters=dict(_narrowed(case, kept)))


def _narrowed(case: Case, kept: Array) -> Iterator[tuple[str, Any]]:
    """Parameters, of which matrices of directions lose the same columns."""
    for name, value in case.parameters.items():
        wide = isinstance(value, np.ndarray) and value.ndim == 2
        fits = wide and value.shape[1] == case.X.shape[1]
        yield name, value[:, kept] if fits else value


def _without(case: Case, names: set[str]) -> Case:
    left = {name: value for name, value in case.parameters.items() if name not in names}
    return replace(case, parameters=left)


def _shortened(values: Array) -> Array:
    """Numbers of two digits."""
    short = np.array([float(f"{value:.2g}") for value in values.ravel()])
    return short.reshape(values.shape)
