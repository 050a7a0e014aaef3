"""Many fits on a cluster, by joblib's backend of Dask: the same results, X sent once."""

from __future__ import annotations

import time

import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

from kernlens import (
    SIR,
    AutoLensClassifier,
    AutoLensRegressor,
    BrownianKernelRidge,
    RKHSWeightingRegressor,
)
from kernlens._reports import StopRequested
from kernlens.blocks.dask_workers import Workers
from kernlens.model_selection import SubspaceStability
from kernlens.model_selection.auto import regressor as regressor_module
from kernlens.model_selection.auto.candidates import Candidate
from kernlens.model_selection.auto.trials import seconds_over

pytest_plugins = ("model_selection.auto.conftest",)


@pytest.fixture(scope="module")
def client():
    """Two workers with a thread each."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            # Threads that talk as processes do: everything is pickled.
            protocol="tcp",
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.standard_normal(n)


@pytest.fixture
def scattered(client, monkeypatch):
    """Shapes of what was sent to the workers."""
    shapes, scatter = [], client.scatter

    def noting(data, *args, **options):
        for one in data if isinstance(data, list) else [data]:
            shapes.append(getattr(one, "shape", type(one).__name__))
        return scatter(data, *args, **options)

    monkeypatch.setattr(client, "scatter", noting)
    return shapes


def test_a_search_sends_its_rows_once_and_finds_the_same(client, scattered):
    X, y = rows(400)
    grid = {"alpha": [1e-3, 1e-2, 1e-1, 1.0]}
    search = GridSearchCV(BrownianKernelRidge(n_directions=2, n_jobs=1), grid, cv=3)
    expected = search.fit(X, y).cv_results_["mean_test_score"]
    with joblib.parallel_config("dask"):
        search.fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-9)
    assert scattered.count(X.shape) == 1


def test_stability_is_the_same(client, scattered):
    X, y = rows(400)
    stability = SubspaceStability(SIR(n_directions=1), n_resamples=12, random_state=0)
    expected = stability.fit(X, y).angles_.copy()
    with joblib.parallel_config("dask"):
        stability.fit(X, y)
    np.testing.assert_allclose(stability.angles_, expected, atol=1e-7)
    assert scattered.count(X.shape) <= 1


@pytest.mark.usefixtures("short_portfolios")
@pytest.mark.parametrize("estimator", [AutoLensRegressor, AutoLensClassifier])
def test_automatic_estimators_find_the_same_on_all_workers(client, scattered, estimator):
    X, y = rows()
    if estimator is AutoLensClassifier:
        y = np.where(y > 0.0, "high", "low")
    make = {"time_budget": 1e6, "random_state": 0, "n_directions": 2}
    expected = estimator(n_jobs=2, **make).fit(X, y)
    before = dict(client.run(n_done))
    with joblib.parallel_config("dask"):
        model = estimator(**make).fit(X, y)
    assert model.member_names_ == expected.member_names_
    np.testing.assert_allclose(model.member_weights_, expected.member_weights_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(X), expected.transform(X), rtol=1e-6, atol=1e-9)
    after = client.run(n_done)
    assert all(after[worker] > before[worker] for worker in after)
    # Every split, the rows of the members, and the targets.
    assert scattered.count("Split") == 5 and scattered.count(X.shape) <= 1


def n_done(dask_worker):
    """Tasks that a worker has seen."""
    return len(dask_worker.state.stimulus_log)


def test_without_time_only_the_first_candidate_is_fitted(client, monkeypatch):
    X, y = rows(400)

    candidates = tuple(
        Candidate(
            f"one {bias}",
            lambda k, seed, b=bias: RKHSWeightingRegressor(
                n_directions=1, random_state=seed, n_random_features=50, bias=b
            ),
        )
        for bias in (1.0, 2.0, 3.0)
    )
    monkeypatch.setattr(regressor_module, "REGRESSORS", candidates)
    with joblib.parallel_config("dask"):
        model = AutoLensRegressor(time_budget=1e-3, random_state=0, n_directions=1).fit(X, y)
    # The first candidate must be there; no other one was begun.
    assert model.member_names_ == ["one 1.0"]


def stopping():
    raise StopRequested


def test_a_fit_that_is_stopped_ends_no_worker(client):
    workers = Workers(client)
    with pytest.raises(StopRequested):
        workers.run(stopping, wanted=lambda: True)
    assert workers.run(int, "7", wanted=lambda: True) == 7
    assert workers.run(time.sleep, 3.0, wanted=lambda: False) is None
    assert workers.n_threads == 2


def test_errors_of_candidates_come_back(client, monkeypatch):
    X, y = rows()

    def broken(k, seed):
        return RKHSWeightingRegressor(n_random_features=-1)

    candidates = (
        Candidate("good", lambda k, s: RKHSWeightingRegressor(n_random_features=30)),
        Candidate("broken", broken),
    )
    monkeypatch.setattr(regressor_module, "REGRESSORS", candidates)
    with joblib.parallel_config("dask"):
        model = AutoLensRegressor(time_budget=1e6, random_state=0, n_directions=1).fit(X, y)
    assert model.member_names_ == ["good"]
    assert "n_random_features" in model.leaderboard_.set_index("candidate").loc["broken", "note"]


def test_a_deadline_is_counted_from_where_a_fit_begins():
    assert seconds_over(None) is None
    assert seconds_over(-1.0)(None) and not seconds_over(1e9)(None)
