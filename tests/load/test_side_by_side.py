"""Fits side by side, in threads and in processes, give what they give one after another."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.base import is_classifier
from threadpoolctl import threadpool_info, threadpool_limits

from families import ESTIMATORS, UNSUPERVISED, decision, family_of, light
from kernlens import MAVE, SIR, HKRRRegressor, RegFeaLRegressor, RKHSWeightingRegressor
from kernlens import _execution as execution
from kernlens.fits.direction_count import LearnedOnPart
from kernlens.methods.sdr.candidate import Candidate
from kernlens.methods.sdr.local_linear import LocalMoments

N_FITS = 50

has_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


def sample(model, n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 1).astype(int) if is_classifier(model) else y)


def models(number, **options):
    """So many models, of all families in turn, each with another seed and other settings."""
    made = []
    settings = {e: list(family_of(e).settings(e)) for e in ESTIMATORS}
    kinds = [*ESTIMATORS, *UNSUPERVISED]
    for k in range(number):
        kind, turn = kinds[k % len(kinds)], k // len(kinds)
        if kind in UNSUPERVISED:
            made.append(kind(n_centers=20, random_state=k, n_jobs=1))
        else:
            own = settings[kind]
            made.append(light(kind, **{**own[turn % len(own)], "random_state": k}))
    return [model.set_params(**options) for model in made]


def outcome(model):
    X, y = sample(model)
    if type(model) in UNSUPERVISED:
        values = getattr(model.fit(X), "labels_", None)
        return model.transform(X) if values is None else values
    return decision(model.fit(X, y), X)


def our_threads():
    return [t for t in threading.enumerate() if t.name.startswith("kernlens")]


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def wait_until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def run_side_by_side(work, made):
    """Call ``work(k, model)`` in a thread for every model, and wait for all of them."""
    users = [
        threading.Thread(target=work, args=(k, model), daemon=True) for k, model in enumerate(made)
    ]
    for user in users:
        user.start()
    deadline = time.monotonic() + 240
    for user in users:
        user.join(timeout=max(0.0, deadline - time.monotonic()))
    assert not any(user.is_alive() for user in users)


def test_fifty_fits_in_threads_equal_fits_one_after_another(monkeypatch):
    # Light fits would hand nothing to other threads.
    monkeypatch.setattr(execution, "SERIAL_WORK", 0)
    expected = [outcome(model) for model in models(N_FITS)]
    found: list[np.ndarray | None] = [None] * N_FITS
    most = []

    def work(k, model):
        found[k] = outcome(model)
        most.append(len(our_threads()))

    before = blas_threads()
    run_side_by_side(work, models(N_FITS, n_jobs=2))
    assert wait_until(lambda: not our_threads())
    assert blas_threads() == before
    for one, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, same)
    # The threads that work are shared by all fits.
    assert max(most) <= max(2, joblib.cpu_count())


def test_blas_has_its_threads_back_after_fits_side_by_side():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        run_side_by_side(lambda k, model: outcome(model), [light(HKRRRegressor) for _ in range(4)])
        assert blas_threads() == before


@pytest.mark.parametrize(
    ("model", "owner", "step"),
    [
        (RKHSWeightingRegressor(alpha=0.1), LearnedOnPart, "squared_errors"),
        (MAVE(), LearnedOnPart, "squared_errors"),
        (MAVE(n_directions=1), LocalMoments, "lines"),
        (SIR(n_directions=1), Candidate, "spectrum_of"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_many_small_systems_have_one_thread_of_blas(model, owner, step, monkeypatch):
    seen, work = [], getattr(owner, step)

    def watched(*arguments):
        seen.extend(blas_threads())
        return work(*arguments)

    monkeypatch.setattr(owner, step, watched)
    X = np.random.default_rng(0).standard_normal((40, 3))
    with threadpool_limits(limits=2, user_api="blas"):
        model.fit(X, X[:, 0])
    assert set(seen) == {1}


@pytest.mark.parametrize("start", ["loky", "spawn", pytest.param("fork", marks=has_fork)])
def test_eight_fits_in_processes_equal_fits_one_after_another(start):
    tasks = [(model, *sample(model)) for model in models(8, n_jobs=2)]
    if start == "loky":
        run = joblib.Parallel(n_jobs=2, backend="loky", timeout=120)
        fitted = run(joblib.delayed(model.fit)(X, y) for model, X, y in tasks)
    else:
        with multiprocessing.get_context(start).Pool(2) as pool:
            waiting = [pool.apply_async(model.fit, (X, y)) for model, X, y in tasks]
            fitted = [one.get(timeout=120) for one in waiting]
    for (_, X, _), model, serial in zip(tasks, fitted, models(8), strict=True):
        np.testing.assert_array_equal(decision(model, X), outcome(serial))


@has_fork
@pytest.mark.parametrize("kind", [HKRRRegressor, RegFeaLRegressor])
def test_a_child_of_a_process_that_fits_can_fit(kind, monkeypatch):
    monkeypatch.setattr(execution, "SERIAL_WORK", 0)
    expected = outcome(light(kind))
    ended = threading.Event()

    def fit_again_and_again():
        while not ended.is_set():
            outcome(light(kind, n_jobs=2))

    busy = threading.Thread(target=fit_again_and_again, daemon=True)
    busy.start()
    try:
        for _ in range(6):
            time.sleep(0.05)
            child = os.fork()
            if child == 0:
                signal.alarm(30)  # a child that hangs ends by this signal
                same = np.array_equal(outcome(light(kind, n_jobs=2)), expected)
                os._exit(0 if same else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        ended.set()
        busy.join(timeout=60)
    assert not busy.is_alive()
