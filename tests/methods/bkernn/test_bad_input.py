"""Bad input that only the BKerNN estimators can get, and odd input that only they take."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from families import FAMILIES, light
from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.losses import HuberLoss, LogisticLoss, MultinomialLoss
from kernlens.penalties import FeaturePenalty

both = pytest.mark.parametrize("estimator", [BKerNNRegressor, BKerNNClassifier])


def sample(estimator=BKerNNRegressor, n=40, d=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 0.7).astype(int) if is_classifier(estimator()) else y)


@pytest.fixture
def no_work(monkeypatch):
    """Fail if the objective is evaluated at all: complaints come before any work."""

    def evaluated(self, W, **options):
        raise AssertionError("work began before the input was refused")

    monkeypatch.setattr(FAMILIES[0].objective, "at", evaluated)


@both
@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("alpha", "cv", "alpha must be 'auto', 'heuristic' or a positive finite number, got 'cv'."),
        ("alpha", [0.1, 0.01], "alpha must be .* or a positive finite number, got "),
        ("n_particles", 0, "n_particles must be an integer of at least 1, got 0."),
        ("n_particles", 2.5, "n_particles must be an integer of at least 1, got 2.5."),
        ("n_particles", True, "n_particles must be an integer of at least 1, got True."),
        ("penalty", "ridge", "penalty must be one of 'auto', 'basic', .*, got 'ridge'."),
        ("penalty", None, "penalty must be one of 'auto', 'basic', .*, got None."),
        ("penalty", FeaturePenalty, "penalty must be one of 'auto', 'basic', .*, got <class"),
        ("init", "zeros", "init must be one of 'random', got 'zeros'."),
        ("init", np.ones((8, 2)), r"init must have shape .* = \(8, 3\), got \(8, 2\)."),
        ("init", np.ones((7, 3)), r"init must have shape .* = \(8, 3\), got \(7, 3\)."),
        ("init", np.full((8, 3), np.nan), "init has NaN or infinite entries; give finite"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_parameters(estimator, name, value, match):
    X, y = sample(estimator)
    with pytest.raises(ValueError, match=match):
        light(estimator, **{name: value}).fit(X, y)


@pytest.mark.parametrize("loss", ["absolute", None, HuberLoss])
@pytest.mark.usefixtures("no_work")
def test_bad_loss(loss):
    with pytest.raises(
        ValueError, match="loss must be one of 'squared', 'huber', or a Loss of numbers, got "
    ):
        light(BKerNNRegressor, loss=loss).fit(*sample())


@both
@pytest.mark.usefixtures("no_work")
def test_more_particles_than_memory(estimator):
    X, y = sample(estimator)
    match = (
        "needs about .* GiB and this process may use .* GiB; lower n_particles or fit on fewer rows"
    )
    for rows, targets in ((X, y), (X[:4], [0, 1, 0, 1])):
        with pytest.raises(MemoryError, match=match):
            estimator(n_particles=10**9).fit(rows, targets)


@both
def test_functions_of_an_unfitted_model(estimator):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        estimator().partial_functions()


@pytest.mark.parametrize("n_points", [0, 2.5, "many"])
def test_bad_number_of_grid_points(n_points):
    model = light(BKerNNRegressor).fit(*sample())
    with pytest.raises(ValueError, match="n_points must be an integer of at least 1"):
        model.partial_functions(n_points)


@both
def test_particles_that_start_at_zero_stay_there(estimator):
    X, y = sample(estimator)
    model = light(estimator, init=np.zeros((8, 3))).fit(X, y)
    assert np.isfinite(model.objective_)
    assert np.ptp(model.predict(X)) == 0
    assert len(model.particles_) == 0


@both
@pytest.mark.parametrize("optimizer", ["auto", "plain"])
def test_only_constant_columns_with_the_heuristic_alpha(estimator, optimizer):
    X, y = sample(estimator)
    model = light(estimator, alpha="heuristic", optimizer=optimizer)
    model.fit(np.full_like(X, 0.1), y)
    predicted = model.predict_proba(X)[:, 1] if is_classifier(model) else model.predict(X)
    np.testing.assert_allclose(predicted, y.mean(), rtol=1e-6)


@both
def test_the_smallest_sets_with_the_heuristic_alpha(estimator):
    model = light(estimator, alpha="heuristic")
    for X in ([[0.0], [1.0]], [[0.0, 1.0], [0.0, 2.0]], [[1.0], [1.0]]):
        assert np.isfinite(model.fit(X, [0, 1]).predict(X)).all()


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_constant_targets_with_the_heuristic_alpha(value, loss):
    X, _ = sample(n=20)
    model = light(BKerNNRegressor, alpha="heuristic", loss=loss).fit(X, np.full(20, value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("loss", [LogisticLoss(), MultinomialLoss()])
def test_numbers_are_not_fitted_by_a_loss_of_classes(loss):
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match="loss must be a loss of numbers"):
        BKerNNRegressor(loss=loss).fit(X, X[:, 0])


@pytest.mark.parametrize("init", [[1, "a"], {}, object()])
def test_first_particles_that_are_no_numbers(init):
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match="init must be a word or a matrix of numbers"):
        BKerNNRegressor(init=init).fit(X, X[:, 0])
