"""The path in alpha for users: order, scores, independence of the fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import KFold

from families import decision, having, light
from kernlens import (
    BKerNNClassifier,
    BKerNNRegressor,
    KernelLaplacianClassifier,
    KernelLaplacianRegressor,
    MARSRegressor,
    PaperAlpha,
    RKHSWeightingRegressor,
    regularization_path,
)
from kernlens.datasets import make_absolute_sum


@pytest.fixture(scope="module")
def data():
    return make_absolute_sum(120, 4, n_relevant=2, noise=0.1, random_state=0)


@pytest.fixture(scope="module")
def path(data):
    model = BKerNNRegressor(n_particles=10, max_iter=30, random_state=0)
    return regularization_path(model, data.X, data.y, alphas=[1e-3, 1.0, 1e-2], cv=KFold(3))


def test_alphas_decrease_and_every_fit_has_its_own(path):
    np.testing.assert_array_equal(path.alphas, [1.0, 1e-2, 1e-3])
    assert [fitted.alpha_ for fitted in path.estimators] == [1.0, 1e-2, 1e-3]
    assert [fitted.alpha for fitted in path.estimators] == [1.0, 1e-2, 1e-3]
    assert not any(fitted.warm_start for fitted in path.estimators)


def test_scores_are_those_of_the_held_out_parts(path, data):
    assert path.scores.shape == (3, 3)
    train, test = next(KFold(3).split(data.X))
    model = BKerNNRegressor(n_particles=10, max_iter=30, random_state=0, alpha=1.0)
    expected = model.fit(data.X[train], data.y[train]).score(data.X[test], data.y[test])
    # The first value of the path is a fit from scratch.
    assert path.scores[0, 0] == pytest.approx(expected, abs=1e-12)


def test_best_is_the_largest_mean(path, data):
    assert path.best_index == int(np.argmax(path.scores.mean(axis=1)))
    assert path.best_alpha == path.alphas[path.best_index]
    assert path.best_estimator.score(data.X, data.y) > 0.9
    assert path.n_directions.tolist() == [fitted.n_directions_ for fitted in path.estimators]


def test_fits_are_independent_of_each_other(path, data):
    predictions = [fitted.predict(data.X) for fitted in path.estimators]
    path.estimators[0].fit(data.X[:50], data.y[:50])
    for fitted, before in zip(path.estimators[1:], predictions[1:], strict=True):
        np.testing.assert_array_equal(fitted.predict(data.X), before)


def test_number_of_alphas_is_placed_around_the_automatic_one(data):
    model = BKerNNRegressor(n_particles=10, max_iter=5, random_state=0)
    path = regularization_path(model, data.X, data.y, alphas=3, cv=2)
    center = model.fit(data.X, data.y).alpha_
    expected = center * 10.0 ** np.array([0.5, 0.0, -0.5])
    np.testing.assert_allclose(path.alphas, expected, rtol=1e-12)


def test_classifier_and_scoring(data):
    labels = np.where(data.y > np.median(data.y), "high", "low")
    model = BKerNNClassifier(n_particles=10, max_iter=20, random_state=0)
    path = regularization_path(
        model, data.X, labels, alphas=[0.1, 0.01], cv=2, scoring="neg_log_loss"
    )
    assert np.all(path.scores < 0) and path.scores.shape == (2, 2)


@pytest.mark.parametrize("alphas", [3, [0.1]])
def test_an_estimator_without_alpha_has_no_path(data, alphas):
    with pytest.raises(ValueError, match="MARSRegressor has no parameter alpha"):
        regularization_path(MARSRegressor(), data.X, data.y, alphas=alphas)


@pytest.mark.parametrize("alphas", [[], [0.0, 1.0], [np.nan], [-1.0], "many", [["a"]]])
def test_bad_alphas_are_named(data, alphas):
    with pytest.raises(ValueError, match="alphas must be positive finite numbers"):
        regularization_path(BKerNNRegressor(), data.X, data.y, alphas=alphas)


# Every family


def sample(learner):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((45, 3))
    y = np.abs(X[:, 0]) + 0.5 * X[:, 1]
    return X, (y > np.median(y)).astype(int) if is_classifier(learner()) else y


@pytest.mark.parametrize("learner", having("alpha"))
def test_a_path_is_fits_at_its_alphas_whatever_the_learner(learner):
    X, y = sample(learner)
    path = regularization_path(light(learner), X, y, alphas=[1e-3, 1e-1], cv=3)
    assert [fitted.alpha_ for fitted in path.estimators] == [1e-1, 1e-3]
    assert path.scores.shape == (2, 3)
    first = light(learner, alpha=1e-1).fit(X, y)
    np.testing.assert_allclose(decision(path.estimators[0], X), decision(first, X), rtol=1e-9)
    if not hasattr(learner(), "warm_start"):
        # Nothing is carried on from one fit to the next.
        second = light(learner, alpha=1e-3).fit(X, y)
        np.testing.assert_allclose(decision(path.estimators[1], X), decision(second, X), rtol=1e-9)


@pytest.mark.parametrize("learner", having("alpha"))
def test_weights_are_repetitions_along_a_path(learner):
    X, y = sample(learner)
    weights = np.where(np.arange(len(X)) < 9, 2.0, 1.0)
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))
    halves = np.arange(len(X)) % 2 == 0
    cv = [(np.flatnonzero(halves), np.flatnonzero(~halves))]
    kept = halves[repeated]
    cv_repeated = [(np.flatnonzero(kept), np.flatnonzero(~kept))]
    one = regularization_path(light(learner), X, y, alphas=[0.1], cv=cv, sample_weight=weights)
    two = regularization_path(
        light(learner), X[repeated], y[repeated], alphas=[0.1], cv=cv_repeated
    )
    np.testing.assert_allclose(one.scores, two.scores, rtol=1e-6)
    np.testing.assert_allclose(
        decision(one.estimators[0], X), decision(two.estimators[0], X), rtol=1e-6, atol=1e-8
    )


def test_rows_without_a_target_are_learned_from_and_not_scored(data):
    few = np.arange(len(data.y)) % 3 == 0
    y = np.where(few, data.y, np.nan)
    model = KernelLaplacianRegressor(random_state=0)
    path = regularization_path(model, data.X, y, alphas=[1e-3], cv=KFold(2))
    train, test = next(KFold(2).split(data.X))
    fitted = KernelLaplacianRegressor(alpha=1e-3, random_state=0).fit(data.X[train], y[train])
    scored = test[few[test]]
    assert path.scores[0, 0] == pytest.approx(fitted.score(data.X[scored], data.y[scored]))

    labels = np.where(few, (data.y > np.median(data.y)).astype(int), -1)
    model = KernelLaplacianClassifier(random_state=0)
    path = regularization_path(model, data.X, labels, alphas=[1e-3], cv=KFold(2))
    fitted = KernelLaplacianClassifier(alpha=1e-3, random_state=0).fit(data.X[train], labels[train])
    expected = fitted.score(data.X[scored], labels[scored])
    assert path.scores[0, 0] == pytest.approx(expected)
    assert set(labels[model.labeled_rows(labels)]) == {0, 1}


def test_alphas_stay_in_the_unit_of_the_estimator(data):
    model = RKHSWeightingRegressor(
        alpha=PaperAlpha(1e-4), instantiation="relu", correlation=0.5, random_state=0
    )
    path = regularization_path(model, data.X, data.y, alphas=[1e-3, 1e-5], cv=2)
    assert [fit.alpha for fit in path.estimators] == [PaperAlpha(1e-3), PaperAlpha(1e-5)]
    with pytest.raises(ValueError, match="alphas must be a list of values"):
        regularization_path(model, data.X, data.y, alphas=3)
