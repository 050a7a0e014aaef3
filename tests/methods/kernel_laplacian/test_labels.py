"""Labels of every kind, few and missing ones, and what they become, for the kernel Laplacian."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import log_loss

from kernlens import KernelLaplacianClassifier, KernelLaplacianRegressor
from kernlens.base.calibration import UNCALIBRATED, with_doubts

SOLVERS = ("exact", "cg", "nystrom", "random_features")


def classifier(**options):
    return KernelLaplacianClassifier(**({"n_jobs": 1, "random_state": 0} | options))


def light(**options):
    return classifier(**({"mu": 0.1, "alpha": 1e-3, "n_centers": 60} | options))


def data(n=40, n_labeled=8, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    truth = np.digitize(X[:, 0], np.linspace(-0.7, 0.7, n_classes + 1)[1:-1])
    return X, np.where(np.arange(n) < n_labeled, truth, -1), truth


def one_per_class(truth, seed):
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for label in np.unique(truth):
        y[rng.choice(np.flatnonzero(truth == label))] = label
    return y


# Few labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("X", "truth"),
    [
        make_moons(300, noise=0.05, random_state=0),
        make_circles(300, noise=0.05, factor=0.5, random_state=0),
        make_blobs(200, centers=3, random_state=3),
    ],
    ids=["moons", "circles", "blobs"],
)
def test_one_label_per_class_is_enough_on_clusters(X, truth, seed):
    y = one_per_class(truth, seed)
    assert classifier().fit(X, y).score(X, truth) >= 0.99


@pytest.mark.parametrize("solver", ["exact", "nystrom"])
@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_labels_spread_to_rows_never_seen(make, solver):
    shape = {"noise": 0.05, "random_state": 0} | ({"factor": 0.5} if make is make_circles else {})
    X, truth = make(400, **shape)
    y = one_per_class(truth[:300], 0)
    model = classifier(solver=solver).fit(X[:300], y)
    assert model.score(X[300:], truth[300:]) >= 0.99
    # Kernel ridge on two labels separates by a plane, about.
    ridge = classifier(mu=0.0, solver=solver).fit(X[:300], y)
    assert ridge.score(X[300:], truth[300:]) < 0.9


def test_one_label_of_a_regressor_is_a_constant():
    X, _, _ = data()
    y = np.full(40, np.nan)
    y[7] = 5.0
    for solver in SOLVERS:
        model = KernelLaplacianRegressor(solver=solver, n_centers=60, n_jobs=1)
        np.testing.assert_allclose(model.fit(X, y).predict(X), 5.0, rtol=1e-12)
        alone = clone(model).fit(X[7:8], [5.0], X_unlabeled=X)
        np.testing.assert_allclose(alone.predict(X), 5.0, rtol=1e-12)
        assert alone.n_labeled_ == 1
        np.testing.assert_allclose(alone.feature_importances_, 1 / 3)


def test_without_clusters_few_labels_are_followed_as_by_kernel_ridge():
    X, y, truth = data(n=150, n_labeled=40)
    scores = [classifier(mu=mu).fit(X, y).score(X, truth) for mu in ("auto", 0.0)]
    assert scores[0] > scores[1] - 0.05


# Kinds of labels ---------------------------------------------------------------------------------


def words(y):
    return np.array(["none", "no", "yes"])[y + 1]


def mixed(y):
    """Words, and -1 as a number."""
    listed = [-1 if label == -1 else ("no", "yes")[label] for label in y]
    return np.array(listed, dtype=object)


KINDS = {
    "integers": (lambda y: y, "auto"),
    "small integers": (lambda y: y.astype(np.int8), "auto"),
    "floats": (lambda y: y.astype(float), "auto"),
    "list": (lambda y: y.tolist(), "auto"),
    "given -1": (lambda y: y, -1),
    "another number": (lambda y: np.where(y == -1, 255, y).astype(np.uint8), 255),
    "words": (words, "none"),
    "-1 as a word": (lambda y: np.where(y == -1, "-1", words(y)), "auto"),
    "the empty word": (lambda y: np.where(y == -1, "", words(y)), ""),
    "objects": (lambda y: words(y).astype(object), "none"),
    "objects, -1 as a word": (lambda y: np.where(y == -1, "-1", words(y)).astype(object), "auto"),
    "words and -1": (mixed, "auto"),
    "list of words and -1": (lambda y: mixed(y).tolist(), "auto"),
    "series": (lambda y: pd.Series(y, index=np.arange(len(y))[::-1]), "auto"),
    "categories": (lambda y: pd.Series(words(y), dtype="category"), "none"),
    "categories with -1": (lambda y: pd.Categorical(mixed(y)), "auto"),
    "categories with -1 as a word": (lambda y: pd.Categorical(mixed(y).astype(str)), "auto"),
    "nullable": (lambda y: pd.Series(y, dtype="Int64"), "auto"),
    "strings": (lambda y: pd.Series(mixed(y).astype(str), dtype="string"), "auto"),
    "polars": (pl.Series, "auto"),
    "polars words": (lambda y: pl.Series(words(y).tolist()), "none"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("error")
def test_every_kind_of_label_gives_the_same_fit(kind):
    X, y, _ = data()
    make, unlabeled = KINDS[kind]
    plain = light().fit(X, y)
    model = light(unlabeled=unlabeled).fit(X, make(y))
    assert model.n_labeled_ == 8
    assert [str(label).split(".")[0] for label in model.classes_] in (["0", "1"], ["no", "yes"])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[plain.predict(X)])


@pytest.mark.filterwarnings("error")
def test_truth_values_are_labels():
    X, _, truth = data()
    plain = light().fit(X, truth)
    for unlabeled in ("auto", None, "x"):
        model = light(unlabeled=unlabeled).fit(X, truth == 1)
        np.testing.assert_array_equal(model.classes_, [False, True])
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("kind", [int, float])
def test_minus_one_and_one_are_classes_with_a_warning(kind):
    X, _, truth = data()
    signs = np.where(truth == 1, 1, -1).astype(kind)
    with pytest.warns(UserWarning, match="taken as two classes; set unlabeled=None") as caught:
        model = light().fit(X, signs)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = light(unlabeled=None).fit(X, signs)
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    np.testing.assert_array_equal(told.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match=r"only one class: 1.* \(label -1 means that a row has no"):
        light(unlabeled=-1).fit(X, signs)


def test_none_unlabeled_makes_minus_one_a_class():
    X, y, _ = data()
    model = light(unlabeled=None).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [-1, 0, 1])
    assert model.n_labeled_ == 40


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_every_kind_of_missing_target_gives_the_same_fit(make):
    X, y, _ = data()
    numbers = [None if label == -1 else 2.5 * label for label in y]
    gaps = np.array(numbers, dtype=float)
    model = KernelLaplacianRegressor(mu=0.1, alpha=1e-3, n_jobs=1)
    expected = clone(model).fit(X, gaps).predict(X)
    np.testing.assert_array_equal(clone(model).fit(X, make(numbers)).predict(X), expected)
    if make is pd.Series:
        nullable = pd.Series(numbers, dtype="Float64")
        np.testing.assert_array_equal(clone(model).fit(X, nullable).predict(X), expected)


# More rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_rows_are_rows_without_a_label(solver, n_classes):
    X, y, _ = data(n_labeled=15, n_classes=n_classes)
    for model in (light(solver=solver), classifier(solver=solver, n_centers=60)):
        together = clone(model).fit(X, y)
        apart = clone(model).fit(X[:15], y[:15], X_unlabeled=X[15:])
        np.testing.assert_array_equal(apart.predict_proba(X), together.predict_proba(X))
        np.testing.assert_array_equal(apart.classes_, together.classes_)


def test_every_row_labeled_is_the_supervised_case():
    X, _, truth = data()
    supervised = light(unlabeled=None).fit(X, truth)
    model = light().fit(X, truth, X_unlabeled=None)
    np.testing.assert_array_equal(model.predict_proba(X), supervised.predict_proba(X))
    # A row once more without its label changes the weight of its gradient only.
    again = light(mu=0.0, standardize=False).fit(X, truth, X_unlabeled=X[:5])
    alone = light(mu=0.0, standardize=False).fit(X, truth)
    np.testing.assert_allclose(again.gradient(X), alone.gradient(X), atol=1e-8)


def test_names_of_more_rows_are_checked():
    X, y, _ = data()
    frame = pd.DataFrame(X, columns=list("abc"))
    light().fit(frame, y, X_unlabeled=frame)
    with pytest.raises(ValueError, match="feature names should match"):
        light().fit(frame, y, X_unlabeled=frame[["a", "c", "b"]])
    with pytest.raises(ValueError, match="feature names should match"):
        light().fit(frame, y, X_unlabeled=frame.rename(columns={"a": "z"}))


# Duplicates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_contradicting_labels_of_a_row_are_averaged(solver):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]], 4, axis=0)
    y = [0, 0, 0, 1, 1, 1, 1, 0, 1, -1, -1, 1]
    model = light(solver=solver, mu=0.0, alpha=1e-7, n_centers=200).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:8:4])[:, 1], [0.25, 0.75], atol=1e-3)
    assert model.n_labeled_ == 5
    same = light(solver=solver, n_centers=200).fit(np.ones((6, 2)), [0, 1, 1, 1, -1, -1])
    np.testing.assert_allclose(same.predict_proba(np.ones((1, 2))), [[0.25, 0.75]])


@pytest.mark.parametrize("solver", SOLVERS)
def test_repeated_rows_with_and_without_labels(solver):
    X, y, _ = data(n_labeled=8)
    rows = np.concatenate([np.arange(40), [0, 0, 1, 20, 20]])
    gaps = np.concatenate([y, [-1, y[0], -1, -1, -1]])
    weights = np.ones(40)
    weights[0], weights[1], weights[20] = 3.0, 2.0, 3.0
    model = light(solver=solver, standardize=False, length_scale=2.0)
    found = clone(model).fit(X[rows], gaps)
    # Labels of the first rows weigh 2 and 1, their gradients 3 and 2.
    once = np.r_[0:40, 0, 1]
    parts = np.where(np.arange(40) == 0, 2.0, np.where(np.arange(40) == 20, 3.0, 1.0))
    expected = clone(model).fit(
        X[once],
        np.concatenate([y, [-1, -1]]),
        sample_weight=np.concatenate([parts, [1.0, 1.0]]),
    )
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


# Probabilities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("n_labeled", [25, 40, 200])
def test_probabilities_are_probabilities(n_classes, n_labeled):
    X, y, truth = data(n=200, n_labeled=n_labeled, n_classes=n_classes)
    model = classifier().fit(X, y)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert found.shape == (200, n_classes) and found.min() > 0
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
    counts = np.unique(y[y >= 0], return_counts=True)[1]
    if counts.min() < 5:
        assert (model.trusted_score_, model.stretch_) == (UNCALIBRATED.trusted, 1.0)
    # Better than a guess, which mistakes held for certain would not be.
    assert log_loss(truth, found) < 0.9 * np.log(n_classes)


@pytest.mark.parametrize("seed", range(4))
def test_few_labels_promise_little(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 3))
    truth = (X[:, 0] + 0.7 * rng.standard_normal(300) > 0).astype(int)
    y = np.where(np.arange(300) < 40, truth, -1)
    found = classifier().fit(X, y).predict_proba(X[40:])
    assert log_loss(truth[40:], found) < 1.1 * np.log(2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_doubts_are_those_of_platt(n_classes):
    numbers = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 0]) % n_classes
    y = np.where(numbers == np.arange(n_classes)[:, None], 1.0, -1.0)
    y = y[1:] if n_classes == 2 else y
    scores = np.random.default_rng(0).standard_normal(y.shape)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 10)
    got_scores, labels, shares = with_doubts(scores, y, weights)
    np.testing.assert_array_equal(got_scores, np.hstack([scores] * n_classes))
    np.testing.assert_allclose(shares.reshape(n_classes, -1).sum(axis=0), weights)
    # The mean label of every row is that of its smoothed probabilities.
    for row in range(10):
        copies = labels[:, row::10]
        mean = copies @ shares[row::10] / weights[row]
        own = numbers[row]
        count = weights[numbers == own].sum() * weights.sum() / np.sum(weights**2)
        sure = (count + 1) / (count + 2)
        odds = np.full(n_classes, (1 - sure) / (n_classes - 1))
        odds[own] = sure
        np.testing.assert_allclose(mean, 2 * odds[-len(y) :] - 1)


def test_the_names_of_classes_do_not_matter():
    X, y, _ = data(n_labeled=20, n_classes=3)
    plain = light().fit(X, y)
    for names in ([2, 0, 1], [10, 5, 7]):
        renamed = np.where(y == -1, -1, np.array(names)[y])
        model = light().fit(X, renamed)
        np.testing.assert_array_equal(model.classes_, np.sort(names))
        np.testing.assert_allclose(
            model.predict_proba(X)[:, np.argsort(np.argsort(names))],
            plain.predict_proba(X),
            atol=1e-10,
        )
    two = np.where(y == 2, -1, y)
    flipped = light().fit(X, two), light().fit(X, np.where(two == -1, -1, 1 - two))
    np.testing.assert_allclose(
        flipped[1].predict_proba(X)[:, ::-1], flipped[0].predict_proba(X), atol=1e-10
    )


def test_weights_of_classes_that_vanish_beside_rows_without_a_label_are_refused():
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, -1, -1])
    model = KernelLaplacianClassifier(class_weight={0: 1e-300, 1: 1e-300})
    with pytest.raises(ValueError, match="labelled rows vanish beside those of rows without"):
        model.fit(X, y)
    # Among themselves small weights are as good as any.
    model.fit(X[:4], y[:4])
