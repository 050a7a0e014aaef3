"""An interrupted fit keeps the best state so far, can predict, and hands the interruption on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import ESTIMATORS, FAMILIES, decision, family_of, fit_interrupted, light
from kernlens import (
    BKerNNClassifier,
    BKerNNRegressor,
    HKRRClassifier,
    HKRRRegressor,
    KernelLaplacianClassifier,
    RandomKitchenSinksClassifier,
    RKHSWeightingClassifier,
)
from kernlens._result import Status
from kernlens.base import fitting

every = pytest.mark.parametrize(
    "estimator", [estimator for estimator in ESTIMATORS if family_of(estimator).iterative]
)


def sample(estimator, n=50):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 1).astype(int) if is_classifier(estimator()) else y)


@pytest.fixture
def interrupt_after(monkeypatch):
    """Press Ctrl-C once, in the evaluation after the first k; return the values before it."""
    evaluate = {family.objective: family.objective.at for family in FAMILIES if family.iterative}

    def arm(k):
        values: list[float] = []

        def interrupted(self, W, **options):
            values.append(np.nan)
            if len(values) == k + 1:
                raise KeyboardInterrupt
            point = evaluate[type(self)](self, W, **options)
            values[-1] = point.value
            return point

        for objective in evaluate:
            monkeypatch.setattr(objective, "at", interrupted)
        return values

    return arm


def check_interrupted(model, X, y):
    fit_interrupted(model, X, y)
    assert model.status_ == Status.INTERRUPTED.value
    assert "interrupted" in model.status_
    assert np.isfinite(decision(model, X)).all()
    assert np.isfinite(model.objective_)
    assert model.alpha_ > 0
    assert model.transform(X).shape == (len(X), model.n_directions_)
    np.testing.assert_allclose(model.component_importances_.sum(), 1.0)
    return model


@every
@pytest.mark.parametrize("k", [0, 1, 12])
@pytest.mark.parametrize("given", [True, False])
def test_interrupted_fit_is_a_fit(estimator, k, given, interrupt_after):
    X, y = sample(estimator)
    for settings in family_of(estimator).settings(estimator):
        options = {"tol": 0.0, "max_iter": 30, **({} if given else {"alpha": "auto"})}
        interrupt_after(k)
        check_interrupted(light(estimator, **{**settings, **options}), X, y)


@every
def test_an_interruption_can_come_at_any_evaluation(estimator, interrupt_after):
    X, y = sample(estimator)
    model = light(estimator)
    evaluations = interrupt_after(10**9)
    whole = decision(model.fit(X, y), X)
    for k in np.unique(np.linspace(0, len(evaluations) - 1, 40).astype(int)):
        interrupt_after(k)
        check_interrupted(model, X, y)
    interrupt_after(len(evaluations))
    np.testing.assert_array_equal(decision(model.fit(X, y), X), whole)
    assert model.status_ != Status.INTERRUPTED.value


@every
def test_alpha_of_an_interrupted_search_is_a_value_of_its_grid(estimator, interrupt_after):
    X, y = sample(estimator)
    grid = light(estimator, alpha="auto").fit(X, y).alpha_search_["alpha"]
    interrupt_after(5)
    model = check_interrupted(light(estimator, alpha="auto"), X, y)
    assert np.min(np.abs(np.log(grid / model.alpha_))) < 1e-9


@pytest.mark.parametrize(
    ("estimator", "optimizer"),
    [
        *((e, o) for e in (BKerNNRegressor, BKerNNClassifier) for o in ("plain", "auto")),
        *((e, o) for e in (HKRRRegressor, HKRRClassifier) for o in ("varpro_gradient", "auto")),
    ],
)
def test_a_late_interruption_costs_little(estimator, optimizer, interrupt_after):
    X, y = sample(estimator)
    options = {"optimizer": optimizer, "tol": 0.0, "max_iter": 30}
    evaluations = interrupt_after(10**9)
    whole = light(estimator, **options).fit(X, y)
    interrupt_after(int(0.9 * len(evaluations)))
    model = check_interrupted(light(estimator, **options), X, y)
    worst = max(value for value in evaluations if np.isfinite(value))
    assert model.objective_ - whole.objective_ < 0.1 * (worst - whole.objective_)


def test_interrupted_algorithm_1_keeps_its_best_particles(interrupt_after):
    X, y = sample(BKerNNRegressor)
    options = {"optimizer": "plain", "tol": 0.0, "max_iter": 30}
    whole = light(BKerNNRegressor, **options).fit(X, y)
    interrupt_after(25)
    model = check_interrupted(light(BKerNNRegressor, **options), X, y)
    # An iteration costs two evaluations, seldom more.
    assert model.objective_ <= whole.objective_history_[6]


@pytest.mark.parametrize("estimator", [BKerNNRegressor, HKRRRegressor])
@pytest.mark.parametrize("k", [3, 20])
def test_interrupted_fit_of_many_rows(estimator, k, interrupt_after):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4200, 3))
    y = np.abs(X[:, 0])
    model = light(estimator, alpha=1e-3, max_iter=200, tol=0.0)
    interrupt_after(k)
    assert check_interrupted(model, X, y).score(X, y) > 0.5


@every
def test_an_interrupted_fit_can_be_continued(estimator, interrupt_after):
    X, y = sample(estimator)
    options = {"tol": 0.0, "max_iter": 30}
    evaluations = interrupt_after(10**9)
    whole = light(estimator, **options).fit(X, y)
    interrupt_after(len(evaluations) // 2)
    model = check_interrupted(light(estimator, **options, warm_start=True), X, y)
    stopped = model.objective_
    model.fit(X, y)
    assert model.status_ != Status.INTERRUPTED.value
    assert model.objective_ <= stopped
    assert model.score(X, y) > 0.9 * whole.score(X, y)


@every
def test_other_exceptions_are_not_swallowed(estimator, monkeypatch):
    X, y = sample(estimator)

    def broken(self, W, **options):
        raise RuntimeError("broken")

    monkeypatch.setattr(family_of(estimator).objective, "at", broken)
    with pytest.raises(RuntimeError, match="broken"):
        light(estimator).fit(X, y)


calibrated = pytest.mark.parametrize(
    "estimator", [RKHSWeightingClassifier, RandomKitchenSinksClassifier, KernelLaplacianClassifier]
)


def interrupted_calibration(monkeypatch, estimator):
    def interrupted(self, learner, learned):
        raise KeyboardInterrupt

    monkeypatch.setattr(estimator, "_calibrate", interrupted)


@calibrated
def test_an_interrupted_calibration_keeps_the_fit(estimator, monkeypatch):
    X, y = sample(estimator)
    whole = light(estimator).fit(X, y)
    interrupted_calibration(monkeypatch, estimator)
    model = fit_interrupted(light(estimator), X, y)
    assert model.status_ == Status.INTERRUPTED.value
    assert model.alpha_ == whole.alpha_
    # Calibration is increasing: it changes probabilities, and not which class wins.
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    assert np.isfinite(model.predict_proba(X)).all()


@calibrated
def test_a_second_interruption_during_calibration_ends_the_fit(estimator, monkeypatch):
    X, y = sample(estimator)
    interrupted_calibration(monkeypatch, estimator)
    learn = fitting._learn_or_keep
    monkeypatch.setattr(
        fitting,
        "_learn_or_keep",
        lambda *args: replace(learn(*args), status=Status.INTERRUPTED),
    )
    model = light(estimator)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert not caught.value.args
    assert not hasattr(model, "alpha_")
