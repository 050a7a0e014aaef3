"""Ctrl-C at random moments of the fits of every estimator (systems with SIGINT and timers).

``python -m benchmarks.interrupts`` sends a real SIGINT at 20 moments of every fit, half of them
followed by a second one, and prints what came of them. In every case

* the interruption reaches the caller: with a sentence, and then the model predicts, or without
  one, and then the model is as it was before;
* after a second SIGINT the fit ends within two seconds;
* no thread of ours is left, BLAS has as many threads as before, and the next fit is exactly one
  that was never interrupted (but for the automatic mode, whose fits depend on the clock).

Moments are counted in seconds of CPU, so that they are the same share of a fit on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from threadpoolctl import threadpool_info

import kernlens

NAMES = [
    *(
        f"{family}{kind}"
        for family in (
            *("BKerNN", "HKRR", "RegFeaL", "RKHSWeighting", "RandomKitchenSinks"),
            *("KernelLaplacian", "RFM"),
        )
        for kind in ("Regressor", "Classifier")
    ),
    *("KernelLaplacianEmbedding", "KernelLaplacianClustering"),
    *("BrownianKernelRidge", "MARSRegressor"),
    *("SIR", "SAVE", "DirectionalRegression", "PHD", "OPG", "MAVE"),
]
#: Fits that end by the clock.
TIMED = {name: {"time_budget": 6.0} for name in ("AutoLensRegressor", "AutoLensClassifier")}
SENTENCE = "was interrupted; the model has the best state found so far."
#: Seconds from a second SIGINT to the end of a fit.
AT_ONCE = 2.0
#: Seconds for all fits of one estimator.
LONGEST = 3600


@dataclass
class Presses:
    """SIGINT after some seconds of CPU, and again after some more."""

    delays: list[float]
    pressed: list[float] = field(default_factory=list)

    def __enter__(self) -> Presses:
        # A process in the background inherits that SIGINT is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGPROF, self._press)
        signal.setitimer(signal.ITIMER_PROF, self.delays[0])
        return self

    def _press(self, *_: object) -> None:
        self.pressed.append(time.process_time())
        if len(self.pressed) < len(self.delays):
            signal.setitimer(signal.ITIMER_PROF, self.delays[len(self.pressed)])
        os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def sample(model: Any, n: int) -> tuple[Any, Any]:
    """Rows with one direction that matters."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, (y > 1.0 if is_classifier(model) else y)


def decision(model: Any, X: Any) -> Any:
    """Predictions, scores of the classes, or what a transformer gives."""
    if is_classifier(model):
        return model.decision_function(X)
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def blas_threads() -> list[int]:
    """Threads that BLAS may use."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def outcome_of(model: Any, X: Any, y: Any, delays: list[float]) -> str:
    """Interrupt a fit, check what is left, and say in a word what it is."""
    before, word = dict(vars(model)), "ended before"
    presses = Presses(delays)
    try:
        with presses:
            model.fit(X, y)
    except KeyboardInterrupt as error:
        word = "best state kept" if str(error).endswith(SENTENCE) else "nothing found yet"
        if word == "nothing found yet" and str(error):
            raise AssertionError(f"a message of its own: {error}") from error
    if len(presses.pressed) > 1 and word != "ended before":
        word = f"{word}, twice"
        waited = time.process_time() - presses.pressed[1]
        assert waited < AT_ONCE, f"{waited:.1f} s from the second SIGINT to the end"
    if word.startswith("nothing"):
        now = vars(model)
        assert now.keys() == before.keys() and all(now[k] is before[k] for k in now), "changed"
    else:
        status = getattr(model, "status_", "")
        assert ("interrupted" in status) == word.startswith("best"), status
        assert np.isfinite(decision(model, X)).all(), "no finite predictions"
        if hasattr(model, "n_directions_"):
            assert model.transform(X).shape == (len(X), model.n_directions_), "no transform"
    return word


def check(name: str, n_moments: int, n_rows: int, seed: int) -> Counter[str]:
    """Interrupt the fits of one estimator; raise AssertionError if anything is not as it must."""
    model = getattr(kernlens, name)(**TIMED.get(name, {}))
    given = {"random_state": 0, "n_jobs": 2}
    model.set_params(**{key: given[key] for key in given.keys() & model.get_params().keys()})
    X, y = sample(model, n_rows)
    small = sample(model, 40)
    model.fit(*small)  # compiled code is loaded
    threads = blas_threads()
    start = time.process_time()
    expected = decision(model.fit(X, y), X)
    seconds = time.process_time() - start
    words: Counter[str] = Counter()
    rng = np.random.default_rng(seed)
    for k in range(n_moments):
        first = float(rng.uniform(0.0, 1.0)) * seconds + 1e-3
        delays = [first] if k % 2 == 0 else [first, float(rng.uniform(1e-4, 2e-2))]
        words[outcome_of(model, X, y, delays)] += 1
        deadline = time.monotonic() + 30.0
        while any(t.name.startswith("kernlens") for t in threading.enumerate()):
            assert time.monotonic() < deadline, "a thread is left"
            time.sleep(0.01)
        assert blas_threads() == threads, "BLAS has another number of threads"
    again = decision(model.fit(X, y), X)
    same = again.shape == expected.shape if name in TIMED else np.array_equal(again, expected)
    assert same, "the next fit is another one"
    return words


def main() -> int:
    """Check the estimators named, all by default, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interrupts", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ESTIMATOR")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--here", action="store_true", help="in this process, one after another")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    for name in options.names or [*NAMES, *TIMED]:
        if options.here:
            words = check(name, options.moments, options.rows, options.seed)
            print(name, dict(words), flush=True)
            continue
        numbers = [f"--{key}={getattr(options, key)}" for key in ("moments", "rows", "seed")]
        command = [sys.executable, "-m", "benchmarks.interrupts", "--here", name, *numbers]
        failed += subprocess.run(command, timeout=LONGEST).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
