"""Fits on processes of a cluster: where rows are, and what happens when workers die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from dask.sizeof import sizeof
from distributed import Client, LocalCluster, wait

from kernlens import MAVE, PHD, SIR, BrownianKernelRidge, RowBlocks
from kernlens.blocks import as_blocks, dask_table
from kernlens.blocks.folding import GROUP
from kernlens.blocks.survey import survey_block

N_BLOCKS, BLOCK_ROWS = 12, 100
#: A worker that nobody starts again.
ALONE = ("--no-nanny", "--no-dashboard", "--nthreads", "1")


@pytest.fixture(scope="module")
def cluster():
    settings = {
        "distributed.scheduler.allowed-failures": 3,
        "distributed.comm.timeouts.connect": "10s",
        "distributed.worker.memory.terminate": 0.9,
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit="700MB",
        ) as found,
    ):
        yield found


@pytest.fixture
def client(cluster):
    with Client(cluster) as found:
        try:
            found.wait_for_workers(2, timeout=20)
        except TimeoutError:
            # Nannies do not always start a worker again that was killed.
            cluster.scale(len(cluster.workers) + 1)
            found.wait_for_workers(2)
        yield found


def block(number, seconds=0.0):
    """Rows that take a while to be read."""
    time.sleep(seconds)
    rng = np.random.default_rng(number)
    return rng.standard_normal((BLOCK_ROWS, 4)) * [0.01, 1.0, 10.0, 100.0] + 7.0


def targets(X):
    return X[:, 0] * 100.0 + (X[:, 1] - 7.0) ** 2


def collections(seconds=0.0):
    parts = [
        da.from_delayed(delayed(block, pure=False)(n, seconds), (BLOCK_ROWS, 4), float)
        for n in range(N_BLOCKS)
    ]
    X = da.concatenate(parts)
    return X, X.map_blocks(targets, drop_axis=1, dtype=float)


def blocks():
    X = [block(number) for number in range(N_BLOCKS)]
    return RowBlocks.from_iterable([(part, targets(part)) for part in X])


def kill(cluster, rng):
    """Kill one worker, as the system does that has no memory left."""
    pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid is not None]
    chosen = int(rng.choice(pids))
    os.kill(chosen, signal.SIGKILL)
    return chosen


@pytest.mark.parametrize("estimator", [SIR, PHD, MAVE])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_killed_worker_changes_nothing(cluster, client, monkeypatch, estimator, seed):
    monkeypatch.setattr(estimator, "_sample_rows", 300)
    make = {"n_directions": 2}
    expected = estimator(**make).fit(blocks())
    rng = np.random.default_rng(seed)
    # Reading takes at least this long on two workers, and is not over when one is killed.
    seconds = 0.1
    moment = rng.uniform(0.1, 0.9) * seconds * N_BLOCKS / 2.0
    killed = []
    killer = threading.Timer(moment, lambda: killed.append(kill(cluster, rng)))
    killer.start()
    model = estimator(**make).fit(*collections(seconds))
    killer.join()
    assert len(killed) == 1
    np.testing.assert_allclose(model.components_, expected.components_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.mean_, expected.mean_, rtol=1e-10)


def test_answers_are_computed_by_the_workers(client):
    X, y = collections()
    rows = X.compute()
    model = BrownianKernelRidge(n_directions=2, n_jobs=1).fit(rows[:200], y.compute()[:200])
    answer = model.predict(X)
    np.testing.assert_allclose(answer.compute(), model.predict(rows), rtol=1e-9)
    frame = dd.from_pandas(pd.DataFrame(rows), npartitions=3)
    np.testing.assert_allclose(model.transform(frame).compute(), model.transform(rows), rtol=1e-9)


def made(block, begin):
    """When a part is made, which is after all of them are asked for."""
    time.sleep(max(begin - time.monotonic(), 0.1))
    return [time.monotonic()]


def joined(one, other):
    """When the last part was made, and when the first were joined."""
    return [*one, *other, -time.monotonic()]


def test_parts_are_joined_before_others_are_made(client):
    n_blocks = 4 * GROUP
    rows = da.ones((n_blocks * 10, 3), chunks=(10, 3))
    table = as_blocks(rows, rows[:, 0])
    # Blocks are made in any order, and a function of one begins as soon as it is made.
    wait(list(table.futures))
    times = table.fold(made, joined, time.monotonic() + 3.0)
    assert sum(when > 0.0 for when in times) == n_blocks
    first_join = min(-when for when in times if when < 0.0)
    assert sum(when > first_join for when in times) >= n_blocks // 2


def test_blocks_and_sums_say_how_large_they_are(client):
    X, y = collections()
    table = as_blocks(X, y).through(turned)
    wait(list(table.futures))
    n_bytes = client.run_on_scheduler(sizes_of, [future.key for future in table.futures])
    assert all(size >= 8 * BLOCK_ROWS * 6 for size in n_bytes)
    assert all(size >= 8 * BLOCK_ROWS * 6 for size in table.map(size_of_survey))


def turned(block):
    return replace(block, y=block.y[None])


def sizes_of(keys, dask_scheduler):
    return [dask_scheduler.tasks[key].nbytes for key in keys]


def size_of_survey(block):
    return sizeof(survey_block(block, BLOCK_ROWS))


def huge(part):
    """Takes more memory than a worker has for one of the blocks."""
    if part[0, 0] == block(5)[0, 0]:
        part = np.ones((40, len(part) * 40_000)).sum(axis=0).reshape(len(part), -1)[:, :4]
    return part


def test_a_block_that_is_too_large_is_named(client):
    X, y = collections()
    X = X.map_blocks(huge, dtype=float)
    with pytest.raises(MemoryError, match=r"killed by block 5.*smaller partitions"):
        SIR().fit(X, y)


def test_without_workers_a_fit_ends_soon(monkeypatch):
    monkeypatch.setattr(dask_table, "PATIENCE", 2.0)
    with (
        LocalCluster(n_workers=0, dashboard_address=None) as lonely,
        Client(lonely) as client,
        subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", *ALONE, lonely.scheduler_address],
            stderr=subprocess.DEVNULL,
        ) as worker,
    ):
        client.wait_for_workers(1)
        X, y = collections(0.2)
        leave = threading.Timer(0.5, worker.kill)
        leave.start()
        with pytest.raises(RuntimeError, match="no worker for 2 seconds; start workers"):
            SIR().fit(X, y)
        leave.join()
