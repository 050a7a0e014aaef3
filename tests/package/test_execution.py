"""Blocks of work: the cut covers everything once, and threads change neither order nor result."""

from __future__ import annotations

import os
import threading
import time
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info

from kernlens import BKerNNRegressor
from kernlens import _execution as execution
from kernlens._execution import (
    N_SUMS,
    SERIAL_WORK,
    SharedLimit,
    SharedPools,
    Use,
    effective_n_jobs,
    inside_worker,
    map_blocks,
    split_range,
    sum_blocks,
    working,
)
from kernlens._lazy import lazy


@pytest.mark.parametrize("n_items", [0, 1, 7, 8, 9, 100])
@pytest.mark.parametrize("block_size", [1, 3, 8, 200])
def test_slices_cover_the_range_once_and_in_order(n_items, block_size):
    slices = split_range(n_items, block_size)
    assert [i for part in slices for i in range(n_items)[part]] == list(range(n_items))
    assert all(part.stop - part.start == block_size for part in slices[:-1])
    assert all(0 < part.stop - part.start <= block_size for part in slices)


@pytest.fixture
def four_cores(monkeypatch):
    """A machine that leaves four cores to the process, whatever it has."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    execution._available_cores.cache_clear()
    yield
    execution._available_cores.cache_clear()


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 4), (-1, 4), (-2, 3), (-4, 1), (-1000, 1), (1, 1), (9, 9)]
)
def test_n_jobs_counts_the_cores_of_the_process(four_cores, n_jobs, expected):
    assert effective_n_jobs(n_jobs) == expected


@pytest.mark.parametrize(("in_context", "expected"), [(3, 3), (1, 1), (-1, 4), (-2, 3), (None, 4)])
def test_none_takes_the_number_of_a_joblib_context(four_cores, in_context, expected):
    with joblib.parallel_config(n_jobs=in_context):
        assert effective_n_jobs(None) == expected
        # What the user says to the estimator is nearer than what is said around it.
        assert effective_n_jobs(2) == 2
        assert effective_n_jobs(-1) == 4


def blas_threads():
    pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(pools, default=1)


def parallel_search(backend, monkeypatch, n_jobs=None):
    """What a model of ours finds in each of two workers of a search."""

    # Defined here, so that it travels to other processes by value.
    def seen(model, X, y):
        threads = map_blocks(
            lambda _: threading.current_thread().name, range(4), n_jobs=model.n_jobs
        )
        return {
            "inside": inside_worker(),
            "n_jobs": effective_n_jobs(model.n_jobs),
            "ours": len({name for name in threads if name.startswith("kernlens")}),
            "blas": blas_threads(),
        }

    # Left to itself, BLAS would take all cores in every worker.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(variable, raising=False)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    search = GridSearchCV(
        BKerNNRegressor(n_particles=4, max_iter=1, random_state=0, n_jobs=n_jobs),
        {"alpha": [0.1, 1.0]},
        scoring=seen,
        refit=False,
        cv=2,
        n_jobs=2,
        error_score="raise",
    )
    with joblib.parallel_config(backend=backend):
        results = search.fit(X, X[:, 0]).cv_results_
    names = ("inside", "n_jobs", "ours", "blas")
    return {name: np.ravel([results[f"split{i}_test_{name}"] for i in (0, 1)]) for name in names}


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("n_jobs", [None, -1])
def test_a_parallel_search_has_one_thread_in_every_worker(backend, n_jobs, monkeypatch):
    found = parallel_search(backend, monkeypatch, n_jobs)
    assert found["inside"].all()
    np.testing.assert_array_equal(found["n_jobs"], 1)
    np.testing.assert_array_equal(found["ours"], 0)
    if backend == "loky":
        assert 2 * found["blas"].max() <= max(2, joblib.cpu_count())


def test_threads_asked_for_by_number_are_given_to_a_worker(monkeypatch):
    found = parallel_search("threading", monkeypatch, n_jobs=2)
    np.testing.assert_array_equal(found["n_jobs"], 2)
    assert found["ours"].min() >= 1


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_worker_of_any_kind_has_one_thread(backend):
    run = joblib.Parallel(n_jobs=2, backend=backend)
    assert run(joblib.delayed(effective_n_jobs)(n) for n in (None, -1, 3)) == [1, 1, 3]
    # A context around the workers is about them, not about what they do.
    with joblib.parallel_config(n_jobs=3):
        assert run(joblib.delayed(effective_n_jobs)(n) for n in (None, -1)) == [1, 1]


def test_one_job_after_another_is_not_inside_a_worker():
    run = joblib.Parallel(n_jobs=1)
    assert run(joblib.delayed(inside_worker)() for _ in range(2)) == [False, False]


@pytest.mark.parametrize("n_jobs", [1, 2, 5, None])
def test_values_come_back_in_the_order_of_the_blocks(n_jobs):
    def late_first(block):
        time.sleep(0.02 if block == 0 else 0.0)
        return block * block

    assert map_blocks(late_first, range(6), n_jobs=n_jobs) == [0, 1, 4, 9, 16, 25]


def test_enough_work_runs_on_several_threads_at_once():
    # Every block waits for the others: serial execution would break the barrier.
    barrier = threading.Barrier(3, timeout=10)
    assert len(map_blocks(lambda _: barrier.wait(), range(3), n_jobs=3)) == 3


@pytest.mark.parametrize("options", [{"n_jobs": 1}, {"n_jobs": 4, "work": SERIAL_WORK - 1}])
def test_one_job_or_little_work_stays_on_the_calling_thread(options):
    threads = map_blocks(lambda _: threading.get_ident(), range(4), **options)
    assert set(threads) == {threading.get_ident()}


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_in_a_block_reaches_the_caller(n_jobs):
    with pytest.raises(ZeroDivisionError):
        map_blocks(lambda block: 1 / block, [1, 0, 2], n_jobs=n_jobs)


def test_no_blocks_give_no_values():
    assert map_blocks(lambda block: block, [], n_jobs=2) == []


def test_blocks_may_be_a_generator():
    assert map_blocks(str, (i for i in range(3)), n_jobs=2) == ["0", "1", "2"]


def test_blocks_within_blocks_do_not_wait_for_each_other():
    def outer(block):
        return sum(map_blocks(lambda inner: block * inner, range(3), n_jobs=2))

    assert map_blocks(outer, range(4), n_jobs=2) == [0, 3, 6, 9]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_starts_threads_of_its_own():
    assert map_blocks(lambda block: block, range(3), n_jobs=2) == [0, 1, 2]
    child = os.fork()
    if child == 0:
        alarm = threading.Timer(10.0, os._exit, [1])
        alarm.start()
        os._exit(0 if map_blocks(lambda block: block, range(3), n_jobs=2) == [0, 1, 2] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def our_threads():
    return [t for t in threading.enumerate() if t.name.startswith("kernlens")]


def test_threads_are_kept_between_calls_and_none_is_left_behind():
    with working():
        first = map_blocks(lambda _: threading.get_ident(), range(8), n_jobs=2)
        again = map_blocks(lambda _: threading.get_ident(), range(8), n_jobs=2)
        assert set(again) <= {thread.ident for thread in our_threads()}
        assert len(set(first) | set(again)) <= 2
    assert not our_threads()
    map_blocks(str, range(8), n_jobs=2)
    assert not our_threads()


def test_threads_end_after_an_error():
    with pytest.raises(ZeroDivisionError), working():
        map_blocks(lambda block: 1 / block, [1, 0, 2], n_jobs=2)
    deadline = time.monotonic() + 10
    while our_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not our_threads()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_blas_gets_its_threads_back_after_the_last_of_several_limits(order, monkeypatch):
    """The limits of several threads begin in one order and end in any other."""
    made = []

    class Limiter:
        def __init__(self, **limits):
            made.append(limits)

        def restore_original_limits(self):
            made.append("restored")

    monkeypatch.setattr(execution, "_thread_pools", lambda: SimpleNamespace(limit=Limiter))
    shared = SharedLimit()
    for thread in range(3):
        shared.enter(thread, use=thread)
    for place, thread in enumerate(order):
        assert made == [{"limits": 1, "user_api": "blas"}]
        shared.leave(thread, thread, interrupted=False)
        assert ("restored" in made) is (place == 2)
    shared.enter(0, use=9)
    assert len(made) == 3


def test_a_use_that_an_interruption_left_behind_ends_with_the_one_around_it():
    pools = SharedPools()
    with Use(pools):
        pools.of(2)
        behind = Use(pools)
        behind.__enter__()
    assert not pools._pools and pools.uses_of(threading.get_ident()) == 0


def test_a_use_that_is_forgotten_ends_alone():
    pools = SharedPools()
    behind = Use(pools)
    behind.__enter__()
    with Use(pools):
        threads = pools.of(2)
        del behind
        assert pools.of(2) is threads
        assert pools.uses_of(threading.get_ident()) == 1
    assert not pools._pools


class Slow:
    """A value that is computed on the shared threads, as those of a fit are."""

    @lazy
    def value(self):
        return sum(map_blocks(lambda block: Inner().value + block, range(4), n_jobs=2))


class Inner(Slow):
    @lazy
    def value(self):
        time.sleep(0.001)
        return 1


def test_values_computed_on_the_shared_threads_do_not_wait_for_each_other():
    found = []
    users = [
        threading.Thread(target=lambda: found.extend(Slow().value for _ in range(20)), daemon=True)
        for _ in range(4)
    ]
    for user in users:
        user.start()
    for user in users:
        user.join(timeout=30)
    assert found == [10] * 80


def test_a_lazy_value_is_computed_once_and_kept():
    calls = []

    class Owner:
        @lazy
        def value(self):
            """What it is."""
            calls.append(1)
            return object()

    owner = Owner()
    assert owner.value is owner.value and len(calls) == 1
    assert Owner().value is not owner.value
    assert Owner.value.__doc__ == "What it is."


@pytest.mark.parametrize("n_blocks", [1, 3, N_SUMS, N_SUMS + 1, 50])
def test_sums_over_blocks_are_the_sums(n_blocks):
    values = np.random.default_rng(0).standard_normal((n_blocks, 2, 3))
    before = values.copy()
    total, squares = sum_blocks(
        lambda block: (values[block].copy(), np.square(values[block]).sum(axis=1)),
        range(n_blocks),
        n_jobs=2,
    )
    np.testing.assert_allclose(total, values.sum(axis=0), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(squares, np.square(values).sum(axis=(0, 2)), rtol=1e-12)
    np.testing.assert_array_equal(values, before)


def test_sums_are_rounded_alike_for_every_number_of_threads():
    values = np.random.default_rng(0).standard_normal((60, 4)) * 10.0 ** np.arange(60)[:, None]

    def total(n_jobs):
        return sum_blocks(lambda block: (values[block].copy(),), range(60), n_jobs=n_jobs)[0]

    for n_jobs in [2, 3, 7]:
        np.testing.assert_array_equal(total(n_jobs), total(1))


def test_few_sums_exist_at_once():
    alive, most, lock = 0, 0, threading.Lock()

    class Counted(np.ndarray):
        def __array_finalize__(self, obj):
            pass

        def __del__(self):
            nonlocal alive
            with lock:
                alive -= 1

    def part(block):
        nonlocal alive, most
        with lock:
            alive += 1
            most = max(most, alive)
        return (np.ones(2).view(Counted),)

    np.testing.assert_allclose(sum_blocks(part, range(200), n_jobs=1)[0], 200.0)
    assert most <= N_SUMS + 2
