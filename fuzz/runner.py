"""Runs cases in worker processes, each with a time limit, and survives what they do not."""

from __future__ import annotations

import os
import pickle
import queue
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

from fuzz.cases import Case
from fuzz.estimators import own_files
from fuzz.outcomes import Finding, Outcome
from fuzz.refusals import is_ours, line_text

#: One thread for every library that would start several.
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
#: Methods that are called after a fit.
CALLS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "gradient",
    "sensitivity",
)
#: Seconds that a worker may take for its imports.
START = 300.0


class Closed(Exception):
    """The worker was closed while a case ran."""


class Worker:
    """One process, started again when it was killed.

    Parameters
    ----------
    time_limit : float
        Seconds for one case.
    """

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._stack = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the worker

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        self._stack.close()

    def run(self, case: Case) -> Outcome:
        """The outcome of a case, whatever it does to the process."""
        process = self._process or self._start()
        start = time.perf_counter()
        try:
            _send(process, case)
            answer = _receive(process, self.time_limit)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            return self._ended(case, process, "crash", time.perf_counter() - start)
        if answer is None:
            return self._ended(case, process, "hang", time.perf_counter() - start)
        self._stack.truncate(0)
        outcome: Outcome = answer
        return outcome

    def stop(self) -> None:
        """Kill the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def close(self) -> None:
        """Kill the process for good, from another thread than the one that runs cases."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        self._stack.seek(0)
        self._stack.truncate()
        path = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", str(self.time_limit)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stack,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            # Ctrl-C is for the parent, which ends its workers itself.
            start_new_session=True,
        )
        # It may have been closed before there was a process to kill.
        if self._closed:
            self.stop()
            raise Closed
        try:
            ready = _receive(self._process, START)
        except EOFError:
            ready = None
        if ready != "ready":
            self.stop()
            raise Closed if self._closed else RuntimeError("A worker did not start.")
        return self._process

    def _ended(
        self, case: Case, process: subprocess.Popen[bytes], kind: str, seconds: float
    ) -> Outcome:
        code = process.wait() if kind == "crash" else None
        self.stop()
        if self._closed:
            raise Closed
        if kind == "hang":
            exception, detail = "", f"no end within {self.time_limit:g} s"
        else:
            exception = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
            detail = "the process died"
        stack = self._stack_of_ours(own_files(case.estimator))
        finding = Finding(kind, _call_of(stack), detail, exception, _place_of(stack, kind))
        return Outcome(kind, (finding,), seconds)

    def _stack_of_ours(self, own: Collection[str]) -> list[tuple[str, str]]:
        """Lines and functions of ours on the stack that the worker wrote, innermost first."""
        self._stack.seek(0)
        text = self._stack.read().decode(errors="replace")
        frames = re.findall(r'File "([^"]+)", line (\d+) in (\S+)', text)
        return [(line_text(f, int(n)), function) for f, n, function in frames if is_ours(f, own)]


def _place_of(stack: list[tuple[str, str]], kind: str) -> str:
    """Where a process was; a loop without end is on one of its lines by chance."""
    if not stack:
        return ""
    line, function = stack[0]
    return f"{line.rpartition(':')[0]} in {function}" if kind == "hang" else line


def _call_of(stack: list[tuple[str, str]]) -> str:
    """The call that did not come back; on which rows, the stack does not say."""
    called = next((name for _, name in reversed(stack) if name in CALLS), "fit")
    if called == "fit":
        return "model.fit(X, y, ...)"
    return f"model.{called}(X), model.{called}(rows)"


def run_all(
    cases: Iterable[Case], n_workers: int, time_limit: float
) -> Iterator[tuple[Case, Outcome]]:
    """Cases with their outcomes, in the order they end in."""
    if n_workers == 1:
        with Worker(time_limit) as worker:
            for case in cases:
                yield case, worker.run(case)
        return
    yield from _side_by_side(iter(cases), n_workers, time_limit)


def _side_by_side(
    cases: Iterator[Case], n_workers: int, time_limit: float
) -> Iterator[tuple[Case, Outcome]]:
    ended: queue.Queue[tuple[Case, Outcome] | None] = queue.Queue()
    taking, stopped = threading.Lock(), threading.Event()
    workers = [Worker(time_limit) for _ in range(n_workers)]

    def work(worker: Worker) -> None:
        try:
            while not stopped.is_set():
                with taking:
                    case = next(cases, None)
                if case is None:
                    break
                ended.put((case, worker.run(case)))
        except Closed:
            pass
        finally:
            worker.stop()
            ended.put(None)

    threads = [threading.Thread(target=work, args=(one,), daemon=True) for one in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in threads:
            yield from iter(ended.get, None)
    finally:
        stopped.set()
        for worker in workers:
            worker.close()
        for thread in threads:
            thread.join()


def _send(process: subprocess.Popen[bytes], case: Case) -> None:
    assert process.stdin is not None
    pickle.dump(case, process.stdin)
    process.stdin.flush()


def _receive(process: subprocess.Popen[bytes], seconds: float) -> Any:
    """What a worker sends, or None if it takes too long."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    return pickle.load(process.stdout) if ready else None
