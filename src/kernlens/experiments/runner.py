"""Runs the cells of an experiment, in this process or in several, and goes on where it stopped."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from joblib import parallel_config

from kernlens._execution import effective_n_jobs, single_threaded_blas, single_threaded_openmp
from kernlens.experiments.contract import Cell, Experiment, Measured, Run, key_of
from kernlens.experiments.data import DataFolder
from kernlens.experiments.journal import Finished, Journal


class Watcher(Protocol):
    """Is told how far a run has come."""

    def begin(self, experiment: Experiment, n_done: int, todo: Sequence[Cell]) -> None:
        """An experiment begins, some of its cells finished before."""

    def finished(self, one: Finished) -> None:
        """A cell is finished."""


@dataclass(frozen=True)
class Collected:
    """What came of the cells of an experiment, in their order.

    Attributes
    ----------
    finished : list of Finished
        Those with measurements.
    failures : list of Finished
        Those without.
    missing : list of str
        Data sets that are not there.
    """

    finished: list[Finished]
    failures: list[Finished]
    missing: list[str]


def run_cells(
    experiment: Experiment,
    scale: str,
    folder: Path,
    data: DataFolder,
    n_jobs: int | None,
    watcher: Watcher,
) -> Collected:
    """Run what is not finished yet.

    Parameters
    ----------
    experiment : Experiment
    scale : {"quick", "full"}
    folder : Path
        Of the experiment; ``cells.jsonl`` in it has what was finished before.
    data : DataFolder
    n_jobs : int or None
        Processes; each has one thread.
    watcher : Watcher
    """
    cells = experiment.cells(experiment.scales[scale])
    needed = [experiment.needs(cell) for cell in cells]
    missing = sorted({name for name in needed if name is not None and not data.has(name)})
    cells = [
        cell for cell, name in zip(cells, needed, strict=True) if name is None or data.has(name)
    ]
    journal = Journal(folder / "cells.jsonl")
    known = {key: one for key, one in journal.read().items() if one.failure is None}
    todo = [cell for cell in cells if key_of(cell) not in known]
    watcher.begin(experiment, len(cells) - len(todo), todo)
    for one in _results(partial(run_cell, experiment.run, data), todo, effective_n_jobs(n_jobs)):
        journal.write(one)
        known[key_of(one.cell)] = one
        watcher.finished(one)
    ran = [known[key_of(cell)] for cell in cells]
    return Collected(
        [one for one in ran if one.failure is None],
        [one for one in ran if one.failure is not None],
        missing,
    )


def run_cell(run: Run, data: DataFolder, cell: Cell) -> Finished:
    """Run one cell on one thread; a cell that fails says why, and the others go on."""
    start = time.perf_counter()
    measured: list[Measured] = []
    failure = None
    with (
        warnings.catch_warnings(),
        single_threaded_blas(),
        single_threaded_openmp(),
        parallel_config("threading", n_jobs=1),
    ):
        # Fits of a fixed number of steps stop early on purpose.
        warnings.simplefilter("ignore")
        try:
            found = run(cell, data)
            measured = [_plain(one) for one in (found if isinstance(found, list) else [found])]
        except Exception as error:
            failure = " ".join(f"{type(error).__name__}: {error}".split())
    return Finished(cell, measured, time.perf_counter() - start, failure)


def _plain(measured: Measured) -> Measured:
    """Numbers of Python only, as a line of JSON gives them back; none that is not finite."""
    scores = {name: float(value) for name, value in measured.scores.items()}
    bad = [name for name, value in scores.items() if not math.isfinite(value)]
    if bad:
        raise ValueError(f"{bad[0]} is not finite")
    curves: dict[str, list[Any]] = {
        name: [_item(value) for value in values] for name, values in measured.curves.items()
    }
    times = {name: float(seconds) for name, seconds in measured.times.items()}
    return Measured(scores, curves, times, measured.labels)


def _item(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _results(
    work: Callable[[Cell], Finished], todo: Sequence[Cell], n_jobs: int
) -> Iterator[Finished]:
    """Results as they are finished."""
    if n_jobs == 1 or len(todo) < 2:
        yield from map(work, todo)
        return
    # A fork would copy locks and threads of the libraries in whatever state they are.
    pool = ProcessPoolExecutor(min(n_jobs, len(todo)), mp_context=get_context("spawn"))
    try:
        waiting: set[Future[Finished]] = {pool.submit(work, cell) for cell in todo}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
