"""RegFeaLClassifier: classes learned, probabilities, refits, searches, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from families import inputs_of
from kernlens import RegFeaLClassifier, Reweighting, UpToDegree
from kernlens._invariance import invariant_order
from kernlens.methods.regfeal import estimator as regfeal_estimator
from kernlens.methods.regfeal import search as setting_search
from kernlens.methods.regfeal.plan import LAMBDA
from kernlens.metrics import feature_learning_score
from reference import regfeal

FAST = {
    "alpha": 0.1,
    "rho": 0.3,
    "refit": None,
    "max_iter": 4,
    "n_folds": 2,
    "n_directions": 2,
    "n_jobs": 1,
    "random_state": 0,
}
two_and_three = pytest.mark.parametrize("n_classes", [2, 3])
WAYS = [
    {},
    {"structure": "variables"},
    {"refit": "kernel", "max_iter": 2},
    {"refit": LogisticRegression()},
    {"alpha": [0.01, 0.1], "rho": [0.1, 0.4], "max_iter": 2},
    {"basis": UpToDegree(2)},
]
every_way = pytest.mark.parametrize("options", WAYS, ids=str)


def sample(n_classes=2, n=60, seed=0, noise=0.3):
    """Columns of different units; the classes are intervals of one direction."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [0.5, 1.0, 3.0] + [-2.0, 10.0, 0.0]
    z = (X - [-2.0, 10.0, 0.0]) @ [2.0, 1.0, -1.0 / 3.0] / np.sqrt(3.0)
    z += noise * rng.standard_normal(n)
    return X, np.digitize(z, [0.0] if n_classes == 2 else [-0.5, 0.5])


def fit(X, y, sample_weight=None, **options):
    return RegFeaLClassifier(**{**FAST, **options}).fit(X, y, sample_weight=sample_weight)


def explicit_objective(scores, y, n_classes, penalty):
    """The mean logistic or multinomial loss and half the square norm."""
    if n_classes == 2:
        return np.mean(np.logaddexp(0.0, scores[0]) - y * scores[0]) + 0.5 * penalty
    return -np.mean(log_softmax(scores, axis=0)[y, np.arange(len(y))]) + 0.5 * penalty


@two_and_three
def test_the_function_is_penalised_logistic_regression_on_explicit_polynomials(n_classes):
    X, y = sample(n_classes, n=40)
    model = fit(X, y, basis=UpToDegree(2), r=1.0)
    Z = inputs_of(model, X) @ model.rotation_
    indices = [tuple(int(k) for k in alpha) for alpha in model.indices_]
    parts = (model.eta_, LAMBDA / 3, 0.1 / 3, lambda k: 1.0)
    H = regfeal.design(indices, Z)
    root = np.sqrt([regfeal.weight(alpha, *parts) for alpha in indices])
    n_targets = 1 if n_classes == 2 else 3

    def scores_of(theta):
        theta = theta.reshape(n_targets, -1)
        return (theta[:, :-1] * root) @ H.T + theta[:, -1:]

    def value(theta):
        norm = np.sum(theta.reshape(n_targets, -1)[:, :-1] ** 2)
        return explicit_objective(scores_of(theta), y, n_classes, norm)

    found = minimize(
        value, np.zeros(n_targets * (len(indices) + 1)), method="BFGS", options={"gtol": 1e-7}
    )
    scores = scores_of(found.x).T
    # Scores of several classes are known up to a constant.
    expected = expit(scores) if n_classes == 2 else softmax(scores, axis=1)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba[:, 1:] if n_classes == 2 else proba, expected, atol=1e-4)
    assert model.objective_ == pytest.approx(found.fun, rel=1e-5)


@two_and_three
@every_way
def test_classes_are_learned(n_classes, options):
    X, y = sample(n_classes, n=150)
    train, test = slice(0, 90), slice(90, None)
    model = fit(X[train], y[train], **options)
    frequencies = np.bincount(y[train]) / 90
    proba = model.predict_proba(X[test])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    assert proba.min() >= 0.0
    assert log_loss(y[test], proba) < 0.8 * log_loss(y[test], np.tile(frequencies, (60, 1)))
    assert model.score(X[test], y[test]) > np.mean(y[test] == frequencies.argmax()) + 0.15
    np.testing.assert_array_equal(model.predict(X[test]), proba.argmax(axis=1))


@two_and_three
def test_the_planted_direction_is_found(n_classes):
    X, y = sample(n_classes, n=120, noise=0.1)
    model = fit(X, y, max_iter=6)
    assert feature_learning_score([[2.0, 1.0, -1.0 / 3.0]], model.components_) > 0.95
    assert model.shares_[0] > 0.8


def test_classes_of_two_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = (np.hypot(X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]) > 1.6).astype(int)
    model = fit(X, y, max_iter=10)
    truth = [[1.0, 1.0, 0, 0, 0], [0, 0, 1.0, -1.0, 0]]
    assert model.n_directions_ == 2
    assert feature_learning_score(truth, model.components_) > 0.9


@two_and_three
def test_the_objective_never_increases(n_classes):
    X, y = sample(n_classes)
    for options in (
        {},
        {"structure": "variables"},
        {"basis": UpToDegree(2), "descent": Reweighting(accelerate=False)},
    ):
        history = fit(X, y, **options, max_iter=8, tol=0.0).objective_history_
        # Newton's method stops at a gradient of relative size 1e-8.
        assert np.all(np.diff(history) <= 1e-9 * history[0])
        assert history[-1] < history[0]


@two_and_three
@pytest.mark.parametrize("classifier", [LogisticRegression(), KNeighborsClassifier(5)], ids=str)
def test_a_given_classifier_gives_the_probabilities(n_classes, classifier):
    X, y = sample(n_classes)
    model = fit(X, y, refit=classifier)
    rows, new = (Z @ model.projection_.T for Z in (inputs_of(model, X), model._columns.apply(X)))
    expected = classifier.__class__(**classifier.get_params()).fit(rows, y).predict_proba(new)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)
    assert not hasattr(classifier, "classes_")


def test_a_pipeline_can_be_the_refit():
    X, y = sample(3)
    pipeline = make_pipeline(PolynomialFeatures(2), LogisticRegression())
    assert fit(X, y, refit=pipeline).score(X, y) > 0.7


@pytest.mark.parametrize("refit", [LogisticRegression(), "auto"], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_a_class_of_one_row(n_classes, refit):
    # No part without it can learn it.
    X, y = sample(3 if n_classes == 4 else 2)
    y[:] = 0 if n_classes == 2 else y
    y[7] = n_classes - 1
    model = fit(X, y, refit=refit, max_iter=2)
    assert model.predict_proba(X).shape == (60, n_classes)
    assert model.score(X, y) > 0.7


def test_a_class_that_the_search_does_not_see(monkeypatch):
    X, y = sample(3)
    monkeypatch.setattr(setting_search, "SEARCH_ROWS", 30)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y[invariant_order(Z, y[None].astype(float), np.ones(60)).rows[-1]] = 3
    splits = []

    def split_rows(*args):
        splits.extend(setting_search.split_rows(*args))
        return splits

    monkeypatch.setattr(regfeal_estimator, "split_rows", split_rows)
    model = fit(X, y, refit=LogisticRegression(), max_iter=1)
    for split in splits:
        assert len(split.train.X) + len(split.test.X) == 30
        assert not split.train.y[3].any() and not split.test.y[3].any()
    assert len(splits) == 2
    assert model.predict_proba(X).shape == (60, 4)


@pytest.mark.parametrize("refit", [LogisticRegression(), "auto"], ids=str)
def test_a_class_without_weight_has_a_probability_of_zero(refit):
    X, y = sample(3)
    model = fit(X, y, sample_weight=(y != 1).astype(float), refit=refit, max_iter=2)
    assert model.predict_proba(X).shape == (60, 3)
    assert model.predict_proba(X)[:, 1].max() < 1e-3
    assert model.gradient(X).shape == (60, 3, X.shape[1]) if refit == "auto" else True


@two_and_three
def test_a_search_ends_at_a_given_setting(n_classes):
    X, y = sample(n_classes)
    options = {"alpha": [0.02, 0.3], "rho": [0.1, 0.4], "max_iter": 2}
    model = fit(X, y, **options)
    assert model.alpha_ in options["alpha"]
    assert model.rho_ in options["rho"]
    tried = set(zip(model.alpha_search_["alpha"], model.alpha_search_["rho"], strict=True))
    assert tried == {(a, p) for a in options["alpha"] for p in options["rho"]}


def test_labels_may_be_words():
    X, y = sample(3)
    words = np.array(["short", "tall", "middle"])[y]
    model, numbers = fit(X, words), fit(X, y)
    np.testing.assert_array_equal(model.classes_, ["middle", "short", "tall"])
    # Classes are in the order of their names, which changes the rounding.
    np.testing.assert_allclose(
        model.predict_proba(X)[:, [1, 2, 0]], numbers.predict_proba(X), atol=1e-4
    )
    assert set(model.predict(X)) <= set(words)


@every_way
def test_weights_are_repetitions_and_order_is_irrelevant(options):
    X, y = sample(3, n=40)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, 40)
    expected = fit(np.repeat(X, counts, axis=0), np.repeat(y, counts), **options)
    order = rng.permutation(40)
    weighted = fit(X[order], y[order], counts[order], **options)
    np.testing.assert_array_equal(weighted.predict_proba(X), expected.predict_proba(X))


def test_class_weights_move_the_mean_probability():
    # The optimality condition of the intercept: mean probabilities are the weighted shares.
    X, y = sample()
    for weight in (1.0, 5.0):
        weights = np.where(y == 1, weight, 1.0)
        proba = fit(X, y, weights).predict_proba(X)[:, 1]
        assert weights @ proba == pytest.approx(weights @ y, rel=1e-5)


@pytest.mark.parametrize("options", [{}, {"refit": LogisticRegression()}], ids=str)
def test_rows_far_from_all_others_have_probabilities(options):
    X, y = sample(3)
    proba = fit(X, y, **options).predict_proba([[1e100, -1e100, 0.0], [1e5, 1e5, -1e5]])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
