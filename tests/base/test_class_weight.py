"""Weights of classes multiply those of their rows, for every classifier."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from families import ESTIMATORS, decision, light
from kernlens import KernelLaplacianClassifier, RFMClassifier, RKHSWeightingClassifier
from kernlens.base.class_weights import class_weighted

CLASSIFIERS = [estimator for estimator in ESTIMATORS if is_classifier(estimator())]
STREAMS = [estimator for estimator in CLASSIFIERS if hasattr(light(estimator), "partial_fit")]
every_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS)
every_stream = pytest.mark.parametrize("estimator", STREAMS)


def sample(n=60, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(n)
    # Classes of very different sizes.
    edges = np.quantile(score, [0.6, 0.9] if n_classes == 3 else [0.8])
    return X, np.searchsorted(edges, score), rng.random(n) + 0.5


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_equals_the_weighted_fit(estimator, n_classes):
    X, y, weights = sample(n_classes=n_classes)
    given = {0: 0.5, 1: 3.0, 2: 7.0}
    given = {label: given[label] for label in range(n_classes)}
    found = light(estimator, class_weight=given).fit(X, y, sample_weight=weights)
    factors = np.array(list(given.values()))[y]
    expected = light(estimator).fit(X, y, sample_weight=weights * factors)
    np.testing.assert_array_equal(decision(found, X), decision(expected, X))
    plain = light(estimator).fit(X, y, sample_weight=weights)
    assert np.abs(decision(plain, X) - decision(found, X)).max() > 1e-3


@every_classifier
def test_balanced_is_that_of_scikit_learn(estimator):
    X, y, _ = sample()
    found = light(estimator, class_weight="balanced").fit(X, y)
    expected = light(estimator).fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    np.testing.assert_allclose(decision(found, X), decision(expected, X), rtol=1e-6, atol=1e-8)


@every_classifier
def test_balanced_classes_with_weights_instead_of_repetitions(estimator):
    X, y, _ = sample()
    times = np.where(y == 1, 3, 1)
    model = light(estimator, class_weight="balanced")
    repeated = decision(model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)), X)
    weighted = decision(model.fit(X, y, sample_weight=times), X)
    np.testing.assert_array_equal(weighted, repeated)


@every_classifier
def test_labels_of_any_type(estimator):
    X, y, _ = sample(n_classes=2)
    expected = decision(light(estimator, class_weight={0: 1.0, 1: 4.0}).fit(X, y), X)
    kinds = (
        np.array(["10", "11"]),
        np.array(["a", "b"], dtype=object),
        np.array([False, True]),
        np.array([3.0, 5.0]),
        np.array([10, 20], dtype=np.int8),
    )
    for names in kinds:
        given = {names.tolist()[1]: 4.0}
        model = light(estimator, class_weight=given).fit(X, names[y])
        np.testing.assert_array_equal(decision(model, X), expected)
        assert model.class_weight is given


@every_classifier
def test_a_rare_class_is_predicted_more_often(estimator):
    X, y, _ = sample(n=80, n_classes=2)
    plain = light(estimator).fit(X, y).predict_proba(X)[:, 1]
    balanced = light(estimator, class_weight="balanced").fit(X, y).predict_proba(X)[:, 1]
    assert balanced.mean() > plain.mean() + 0.01
    # The mean over balanced rows is the share of the class among them.
    assert (balanced[y == 0].mean() + balanced[y == 1].mean()) / 2 == pytest.approx(0.5, abs=0.05)


@every_classifier
def test_an_unknown_class_is_named(estimator):
    X, y, _ = sample()
    match = r"^class_weight has 'b', which is not among the classes \[0, 1, 2\]; name .* in y\.$"
    with pytest.raises(ValueError, match=match):
        light(estimator, class_weight={0: 2.0, "b": 3.0}).fit(X, y)
    # Every class has a weight: rows may lack a class, as those of a fold do.
    given = {0: 2.0, 1: 1.0, 2: 1.0, 3: 5.0}
    found = light(estimator, class_weight=given).fit(X, y)
    expected = light(estimator, class_weight={0: 2.0}).fit(X, y)
    np.testing.assert_array_equal(decision(found, X), decision(expected, X))


@every_classifier
def test_bad_weights_are_refused(estimator):
    X, y, _ = sample(n_classes=2)
    for value, match in (
        ("even", r"^class_weight must be None, 'balanced' or a dictionary, got 'even'\.$"),
        ({0: -1.0}, r"^class_weight must be a dictionary of numbers from 0 .*, got -1.0 for 0\.$"),
        ({1: np.inf}, r"^class_weight must be a dictionary of numbers .*, got inf for 1\.$"),
        ({0: 0.0}, "at least 2 classes.* only one class: 1"),
        ({0: 0.0, 1: 0.0}, "^class_weight is zero for every class of a row with a positive"),
    ):
        model = light(estimator, class_weight=value)
        with pytest.raises(ValueError, match=match):
            model.fit(X, y)
        assert not hasattr(model, "classes_")


@every_classifier
def test_weights_that_are_too_large_together(estimator):
    X, y, _ = sample(n_classes=2)
    model = light(estimator, class_weight={1: 1e60})
    with pytest.raises(ValueError, match=r"^sample_weight times class_weight has values as large"):
        model.fit(X, y, sample_weight=np.full(len(X), 1e60))


@every_stream
def test_a_stream_multiplies_the_weights_of_batches(estimator):
    X, y, weights = sample()
    given = {0: 0.5, 1: 3.0, 2: 7.0}
    factors = np.array([0.5, 3.0, 7.0])[y]
    found, expected = light(estimator, class_weight=given), light(estimator)
    for batch in (slice(0, 40), slice(40, 41), slice(41, 60)):
        found.partial_fit(X[batch], y[batch], [0, 1, 2], sample_weight=weights[batch])
        expected.partial_fit(
            X[batch], y[batch], [0, 1, 2], sample_weight=(weights * factors)[batch]
        )
    np.testing.assert_array_equal(decision(found, X), decision(expected, X))


@every_stream
def test_a_stream_cannot_be_balanced(estimator):
    X, y, _ = sample()
    model = light(estimator, class_weight="balanced")
    with pytest.raises(ValueError, match=r"^class_weight='balanced' is not for partial_fit, .*\.$"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert not hasattr(model, "classes_")


@every_stream
def test_a_stream_knows_classes_that_a_batch_lacks(estimator):
    X, y, _ = sample()
    model = light(estimator, class_weight={2: 5.0})
    few = y < 2
    model.partial_fit(X[few], y[few], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="class_weight has 3, which is not among the classes"):
        light(estimator, class_weight={3: 5.0}).partial_fit(X, y, classes=[0, 1, 2])


def test_rows_without_a_label_keep_their_weights():
    X, y, weights = sample(n_classes=2)
    gaps = np.where(np.arange(len(X)) % 3 > 0, -1, y)
    more = X[:10] + 0.1
    model = light(KernelLaplacianClassifier, class_weight={0: 0.5, 1: 3.0})
    found = model.fit(X, gaps, sample_weight=weights, X_unlabeled=more)
    factors = np.where(gaps < 0, 1.0, np.where(gaps == 1, 3.0, 0.5))
    expected = light(KernelLaplacianClassifier)
    expected.fit(X, gaps, sample_weight=weights * factors, X_unlabeled=more)
    np.testing.assert_array_equal(decision(found, X), decision(expected, X))


def test_balance_is_that_of_the_labelled_rows():
    X, y, _ = sample(n_classes=2)
    labeled = np.arange(len(X)) % 3 == 0
    gaps = np.where(labeled, y, -1)
    weights = np.ones(len(X))
    weights[labeled] = compute_sample_weight("balanced", y[labeled])
    found = light(KernelLaplacianClassifier, class_weight="balanced").fit(X, gaps)
    expected = light(KernelLaplacianClassifier).fit(X, gaps, sample_weight=weights)
    np.testing.assert_allclose(decision(found, X), decision(expected, X), rtol=1e-6, atol=1e-9)


def test_the_label_of_rows_that_have_none_is_no_class():
    X, y, _ = sample(n_classes=2)
    gaps = np.where(np.arange(len(X)) % 3 > 0, -1, y)
    model = light(KernelLaplacianClassifier, class_weight={-1: 2.0})
    with pytest.raises(ValueError, match=r"class_weight has -1, .* the classes \[0, 1\];"):
        model.fit(X, gaps)


def test_factors_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 50) ** 2
    for given in ("balanced", {0: 2.0, 9: 0.25}, {}, None):
        factors = compute_class_weight(given, classes=np.unique(y), y=y)
        found = class_weighted(given, y, np.ones(50))
        np.testing.assert_allclose(found, factors[np.searchsorted(np.unique(y), y)], rtol=1e-15)


def test_a_class_of_weight_zero_is_not_balanced():
    y, weights = np.array([0, 0, 1, 2]), np.array([1.0, 1.0, 2.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(class_weighted("balanced", y, weights), [1.0, 1.0, 2.0, 0.0])


def test_what_is_lost_beside_the_largest_weight_is_zero():
    y = np.array([0, 1])
    np.testing.assert_array_equal(class_weighted({0: 1e-20}, y, np.ones(2)), [0.0, 1.0])


# Logarithms of probabilities


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logarithms_of_probabilities(estimator, n_classes):
    X, y, _ = sample(n_classes=n_classes)
    model = light(estimator).fit(X, y)
    found = model.predict_log_proba(X)
    assert found.shape == (len(X), n_classes)
    np.testing.assert_allclose(found, np.log(model.predict_proba(X)), rtol=1e-9, atol=1e-12)


def test_logarithms_are_exact_where_probabilities_round_to_zero_and_one(monkeypatch):
    model = RKHSWeightingClassifier()
    odds = np.array([-800.0, -50.0, 1e-20, 50.0, 800.0])
    monkeypatch.setattr(model, "_decision", lambda X: odds[None])
    found = model.predict_log_proba(None)
    np.testing.assert_allclose(found[:, 1], [-800.0, -50.0, -np.log(2), -np.exp(-50.0), 0.0])
    np.testing.assert_array_equal(found[:, 0], found[::-1, 1])
    # Small probabilities of either class keep their digits.
    np.testing.assert_allclose(model.predict_proba(None)[3], [np.exp(-50.0), 1.0], rtol=1e-12)
    scores = np.array([[0.0, -900.0, 5.0], [0.0, 0.0, 800.0], [-1e4, 1.0, 800.0]])
    monkeypatch.setattr(model, "_decision", lambda X: scores)
    found = model.predict_log_proba(None)
    largest = scores.max(axis=0)
    sums = np.array([2.0, 1.0 + np.exp(-1.0), 2.0])
    np.testing.assert_allclose(found, (scores - largest - np.log(sums)).T, rtol=1e-14)


@pytest.mark.parametrize("n_rare", [1, 2])
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("estimator", [RFMClassifier, RKHSWeightingClassifier])
def test_classes_of_one_or_two_rows_show_no_direction(estimator, balanced, n_rare):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((120, 4))
        y = np.arange(120) < n_rare
        model = estimator(random_state=0, class_weight="balanced" if balanced else None)
        with pytest.warns(UserWarning, match="no direction predicts"):
            model.fit(X, y)
        assert model.n_directions_ == 0
