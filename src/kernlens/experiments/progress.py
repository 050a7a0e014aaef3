"""How far a run has come, and how long the rest will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from kernlens.experiments.contract import Cell, Experiment
from kernlens.experiments.journal import Finished

#: Seconds between two lines.
INTERVAL = 10.0


class Progress:
    """Lines on the error stream: cells done, and the time left at the pace of each method.

    Parameters
    ----------
    n_jobs : int
        Cells that run at once.
    quiet : bool
        Say nothing.
    """

    def __init__(self, n_jobs: int = 1, quiet: bool = False) -> None:
        self._n_jobs = n_jobs
        self._quiet = quiet
        self._name = ""
        self._left: list[Cell] = []
        self._n_all = 0
        self._paces: dict[str, list[float]] = {}
        self._next = 0.0

    def begin(self, experiment: Experiment, n_done: int, todo: Sequence[Cell]) -> None:
        """An experiment begins."""
        self._name, self._left, self._paces = experiment.name, list(todo), {}
        self._n_all = n_done + len(todo)
        self._next = time.monotonic() + INTERVAL
        before = f", {n_done} finished before" if n_done else ""
        self._say(f"{self._name}: {self._n_all} cells{before}")

    def finished(self, one: Finished) -> None:
        """A cell is finished."""
        self._left.remove(one.cell)
        self._paces.setdefault(_method(one.cell), []).append(one.seconds)
        if one.failure is not None:
            self._say(f"{self._name}: a cell failed ({one.failure}): {one.cell}")
        if time.monotonic() >= self._next or not self._left:
            self._next = time.monotonic() + INTERVAL
            done = self._n_all - len(self._left)
            left = f", about {_duration(self.seconds_left())} left" if self._left else ""
            self._say(f"{self._name}: {done} of {self._n_all} cells{left}")

    def seconds_left(self) -> float:
        """Cells that are left take as long as those of their method did, or as all did."""
        every = [seconds for known in self._paces.values() for seconds in known]
        total = 0.0
        for cell in self._left:
            known = self._paces.get(_method(cell), every)
            total += sum(known) / max(1, len(known))
        return total / self._n_jobs

    def _say(self, line: str) -> None:
        if not self._quiet and sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)


def _method(cell: Cell) -> str:
    return str(cell.get("method", ""))


def _duration(seconds: float) -> str:
    """Seconds as people say them.

    Examples
    --------
    >>> [_duration(seconds) for seconds in (12.4, 300, 7300)]
    ['12 s', '5 min', '2 h 2 min']
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
