"""An interrupted fit ends with a warning and the best state so far, and can predict."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens._result import Status
from kernlens.optim.reduced_objective import ReducedObjective

FAST = {"n_particles": 8, "max_iter": 30, "random_state": 0, "n_jobs": 1}
ESTIMATORS = [BKerNNRegressor, BKerNNClassifier]


def sample(estimator, n=50):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, (y if estimator is BKerNNRegressor else (y > 1).astype(int))


@pytest.fixture
def interrupt_after(monkeypatch):
    """Press Ctrl-C once, in the evaluation after the first k; return the values before it."""
    evaluate = ReducedObjective.at

    def arm(k):
        values: list[float] = []

        def interrupted(self, W, **options):
            values.append(np.nan)
            if len(values) == k + 1:
                raise KeyboardInterrupt
            point = evaluate(self, W, **options)
            values[-1] = point.value
            return point

        monkeypatch.setattr(ReducedObjective, "at", interrupted)
        return values

    return arm


def decision(model, X):
    return model.predict(X) if isinstance(model, BKerNNRegressor) else model.decision_function(X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("k", [0, 1, 30])
@pytest.mark.parametrize("options", [{}, {"alpha": 0.02}, {"alpha": 0.02, "optimizer": "plain"}])
def test_interrupted_fit_is_a_fit(estimator, k, options, interrupt_after):
    X, y = sample(estimator)
    model = estimator(**FAST, **options)
    interrupt_after(k)
    with pytest.warns(UserWarning, match="interrupted"):
        assert model.fit(X, y) is model
    assert model.status_ == Status.INTERRUPTED.value
    assert "interrupted" in model.status_
    assert np.isfinite(decision(model, X)).all()
    assert np.isfinite(model.objective_)
    assert model.alpha_ > 0
    assert model.transform(X).shape == (50, model.n_directions_)
    np.testing.assert_allclose(model.component_importances_.sum(), 1.0)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_alpha_of_an_interrupted_search_is_a_value_of_its_grid(estimator, interrupt_after):
    X, y = sample(estimator)
    grid = estimator(**FAST).fit(X, y).alpha_search_["alpha"]
    interrupt_after(5)
    model = estimator(**FAST)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, y)
    assert np.min(np.abs(np.log(grid / model.alpha_))) < 1e-9


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("optimizer", ["plain", "auto"])
def test_a_late_interruption_costs_little(estimator, optimizer, interrupt_after):
    X, y = sample(estimator)
    options = {**FAST, "alpha": 0.02, "optimizer": optimizer, "tol": 0.0}
    evaluations = interrupt_after(10**9)
    whole = estimator(**options).fit(X, y)
    interrupt_after(int(0.9 * len(evaluations)))
    model = estimator(**options)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, y)
    first = estimator(**{**options, "optimizer": "plain", "max_iter": 1}).fit(X, y)
    progress = first.objective_history_[0] - whole.objective_
    assert model.objective_ - whole.objective_ < 0.1 * progress


def test_interrupted_algorithm_1_keeps_its_best_particles(interrupt_after):
    X, y = sample(BKerNNRegressor)
    options = {**FAST, "alpha": 0.02, "optimizer": "plain", "tol": 0.0}
    whole = BKerNNRegressor(**options).fit(X, y)
    interrupt_after(25)
    model = BKerNNRegressor(**options)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, y)
    # An iteration costs two evaluations, seldom more.
    assert model.objective_ <= whole.objective_history_[6]


@pytest.mark.parametrize("k", [3, 120])
def test_interrupted_fit_of_many_rows(k, interrupt_after):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4200, 3))
    y = np.abs(X[:, 0])
    model = BKerNNRegressor(n_particles=5, alpha=1e-3, max_iter=10, random_state=0, n_jobs=1)
    interrupt_after(k)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, y)
    assert model.score(X, y) > 0.5


def test_an_interrupted_fit_can_be_continued(interrupt_after):
    X, y = sample(BKerNNRegressor)
    model = BKerNNRegressor(**FAST, alpha=0.02, warm_start=True)
    interrupt_after(60)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, y)
    stopped = model.objective_
    model.fit(X, y)
    assert model.objective_ <= stopped
    assert model.status_ != Status.INTERRUPTED.value


def test_other_exceptions_are_not_swallowed(monkeypatch):
    X, y = sample(BKerNNRegressor)

    def broken(self, W, **options):
        raise RuntimeError("broken")

    monkeypatch.setattr(ReducedObjective, "at", broken)
    with pytest.raises(RuntimeError, match="broken"):
        BKerNNRegressor(**FAST).fit(X, y)
