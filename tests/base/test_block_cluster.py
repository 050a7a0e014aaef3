"""Fits of Dask collections: on workers as in this process, and rows stay where they are."""

from __future__ import annotations

import os
import pickle
import signal

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from kernlens import (
    BKerNNRegressor,
    HKRRClassifier,
    KernelLaplacianRegressor,
    RKHSWeightingRegressor,
)
from kernlens.blocks.dask_table import DaskTable
from reference.block_problems import SAMPLE_ROWS, blocks, classes, problem, small_samples

WEIGHTING = RKHSWeightingRegressor(n_random_features=30, instantiation="relu", random_state=0)
HYPER_KERNEL = HKRRClassifier(
    alpha=1e-3, n_components=2, init=1, centers=20, refit=20, max_iter=3, random_state=0
)
PARTICLES = BKerNNRegressor(
    alpha=2e-3, n_particles=6, penalty="feature", max_iter=5, n_directions=1, random_state=0
)
LAPLACIAN = KernelLaplacianRegressor(
    mu=1e-3, alpha=1e-4, n_centers=20, n_directions=1, random_state=0
)
PART = 90


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    families = RKHSWeightingRegressor, HKRRClassifier, BKerNNRegressor, KernelLaplacianRegressor
    small_samples(monkeypatch, families)


def collections(X, y):
    return da.from_array(X, chunks=(PART, -1)), da.from_array(y, chunks=PART)


def decision(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.filterwarnings("ignore:The fit stopped at max_iter")
@pytest.mark.parametrize("model", [WEIGHTING, HYPER_KERNEL, PARTICLES, LAPLACIAN], ids=type)
def test_workers_find_the_same_to_the_last_bit(client, model):
    X, y = problem(700)
    targets = classes(y) if model is HYPER_KERNEL else y
    there = decision(model.fit(*collections(X, targets)), X).copy()
    here = decision(model.fit(blocks(X, targets, block_rows=PART)), X)
    np.testing.assert_array_equal(there, here)


def test_a_worker_killed_during_a_fit_changes_nothing(client, monkeypatch):
    X, y = problem(700)
    expected = WEIGHTING.fit(blocks(X, y, block_rows=PART)).predict(X)
    gathered, passes, killed = DaskTable._gathered, [], []

    def killing(table, *futures):
        passes.append(None)
        if len(passes) == 3:
            killed.extend(list(client.run(os.getpid).values())[:1])
            os.kill(killed[0], signal.SIGKILL)
        return gathered(table, *futures)

    monkeypatch.setattr(DaskTable, "_gathered", killing)
    found = WEIGHTING.fit(*collections(X, y)).predict(X)
    assert len(passes) > 3 and killed[0] not in client.run(os.getpid).values()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * expected.std())


def test_rows_never_come_to_the_client(client, monkeypatch):
    n, d = 20_000, 10
    draw = da.random.default_rng(0)
    X = draw.standard_normal((n, d), chunks=(2000, d))
    y = da.sin(X[:, 0]) + X[:, 1]
    gather, received = Client.gather, []

    def weighed(self, futures, *args, **options):
        found = gather(self, futures, *args, **options)
        received.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(Client, "gather", weighed)
    model = WEIGHTING.fit(X, y)
    n_features = WEIGHTING.n_random_features
    sample, sums = SAMPLE_ROWS * (d + 4), n_features**2 + 4 * n_features
    # What pickle adds to numbers is less than some thousand bytes.
    assert len(received) > 3 and max(received) < 8 * max(sample, sums) + 4000
    assert sum(received) < 0.05 * 8 * n * d
    assert model.mean_.shape == (d,)
