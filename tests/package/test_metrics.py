from __future__ import annotations

import numpy as np
import pytest

from kernlens.metrics import (
    dimension_score,
    feature_learning_score,
    principal_angles,
    projection_distance,
)
from reference import subspace as oracle

SIZES = [(1, 1, 2), (2, 2, 7), (3, 2, 6), (2, 5, 6), (4, 4, 5), (3, 3, 3), (1, 4, 30)]


def random_pair(k_a, k_b, n_features, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((k_a, n_features)), rng.standard_normal((k_b, n_features))


def random_invertible(k, rng):
    return rng.standard_normal((k, k)) + 3 * np.eye(k)


@pytest.mark.parametrize("k_a, k_b, n_features", SIZES)
@pytest.mark.parametrize("seed", [0, 1])
def test_distance_and_angles_match_full_projectors(k_a, k_b, n_features, seed):
    a, b = random_pair(k_a, k_b, n_features, seed)
    # Squared distances: the square root of rounding noise, for equal subspaces, is not small.
    assert projection_distance(a, b) ** 2 == pytest.approx(
        oracle.projection_distance(a, b) ** 2, rel=1e-10, abs=1e-10
    )
    cosines = np.cos(principal_angles(a, b))
    np.testing.assert_allclose(cosines, np.cos(oracle.principal_angles(a, b)), atol=1e-10)


@pytest.mark.parametrize("k, k_estimate, n_features", [(2, 2, 7), (3, 2, 9), (3, 3, 6), (4, 4, 6)])
def test_score_is_equation_16(k, k_estimate, n_features):
    truth, estimate = random_pair(k, k_estimate, n_features)
    expected = oracle.feature_learning_score(truth, estimate)
    assert feature_learning_score(truth, estimate) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("function", [projection_distance, principal_angles])
def test_only_the_spans_matter(function):
    rng = np.random.default_rng(3)
    a, b = random_pair(3, 2, 8)
    expected = function(a, b)
    np.testing.assert_allclose(function(b, a), expected, atol=1e-14)
    rotation, _ = np.linalg.qr(rng.standard_normal((8, 8)))
    np.testing.assert_allclose(function(a @ rotation, b @ rotation), expected, atol=1e-13)
    mixed_a, mixed_b = random_invertible(3, rng) @ a, random_invertible(2, rng) @ b
    np.testing.assert_allclose(function(mixed_a, mixed_b), expected, atol=1e-12)
    scales = np.array([[1e200], [-1.0], [1e-200]])
    np.testing.assert_allclose(function(scales * a, -b), expected, atol=1e-13)


def test_score_is_invariant_to_the_choice_of_basis():
    rng = np.random.default_rng(4)
    truth, estimate = random_pair(3, 3, 8)
    score = feature_learning_score(random_invertible(3, rng) @ truth, -1e9 * estimate[::-1])
    assert score == pytest.approx(feature_learning_score(truth, estimate), abs=1e-12)


@pytest.mark.parametrize("n_features, k", [(9, 2), (9, 4), (9, 5), (9, 8), (9, 9)])
def test_same_subspace_is_perfect(n_features, k):
    rng = np.random.default_rng(5)
    basis = rng.standard_normal((k, n_features))
    same = random_invertible(k, rng) @ basis
    assert projection_distance(basis, same) < 1e-13
    np.testing.assert_allclose(principal_angles(basis, same), np.zeros(k), atol=1e-13)
    assert feature_learning_score(basis, same) == pytest.approx(1.0, abs=1e-14)


def test_orthogonal_subspaces():
    identity = np.eye(6)
    assert projection_distance(identity[:2], identity[3:6]) == pytest.approx(np.sqrt(5), rel=1e-15)
    np.testing.assert_allclose(principal_angles(identity[:2], identity[3:6]), [np.pi / 2] * 2)
    assert feature_learning_score(identity[:3], identity[3:]) == pytest.approx(0.0, abs=1e-15)
    # Above half the dimension two subspaces must meet; 0 is then "as far as possible".
    assert feature_learning_score(identity[:4], identity[2:]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    "angles",
    [[1e-9], [1e-9, 1.2], [3e-12, 1e-9, 0.1, 1.5], [0.0, 1e-5, np.pi / 4, np.pi / 2 - 1e-9]],
)
def test_planted_angles_are_found_to_rounding(angles):
    angles = np.array(angles)
    a, b = oracle.planted_pair(angles, 12, np.random.default_rng(6))
    np.testing.assert_allclose(principal_angles(a, b), angles, rtol=0, atol=4e-15)
    distance = np.sqrt(2 * np.sum(np.sin(angles) ** 2))
    assert projection_distance(a, b) == pytest.approx(distance, rel=1e-14, abs=1e-14)


def test_only_the_first_rows_of_the_estimate_count():
    truth, estimate = random_pair(2, 5, 8)
    score = feature_learning_score(truth, estimate)
    assert score == feature_learning_score(truth, estimate[:2])
    assert score != pytest.approx(feature_learning_score(truth, estimate[::-1]))
    repeated_tail = np.vstack([estimate[:2], estimate[:2]])
    assert score == feature_learning_score(truth, repeated_tail)


def test_a_missing_direction_costs_half_its_share():
    identity = np.eye(10)
    assert feature_learning_score(identity[:4], identity[:3]) == pytest.approx(1 - 1 / 8)
    assert feature_learning_score(identity[:4], identity[:1]) == pytest.approx(1 - 3 / 8)


def test_dimension_score_on_all_small_cases():
    for n_features in range(1, 8):
        for true in range(1, n_features + 1):
            scores = [dimension_score(true, k, n_features) for k in range(n_features + 1)]
            error = true if true > n_features / 2 else n_features - true
            expected = [1 - abs(k - true) / error for k in range(n_features + 1)]
            np.testing.assert_allclose(scores, expected, atol=1e-15)
            assert min(scores) == 0.0
            assert np.argmax(scores) == true
            assert max(scores) == 1.0


@pytest.mark.parametrize(
    "basis, message",
    [
        (np.ones(4), r"reshape\(1, -1\)"),
        (np.ones((0, 4)), "k >= 1"),
        (np.ones((1, 2, 4)), "shape"),
        (np.array([[1.0, np.nan, 0, 0]]), "finite"),
        (np.array([[1.0, np.inf, 0, 0]]), "finite"),
        (np.ones((2, 4)), "have rank 1"),
        (np.zeros((1, 4)), "have rank 0"),
        (np.random.default_rng(0).standard_normal((5, 4)), "have rank 4"),
        (np.array([["a", "b", "c", "d"]]), "real numbers"),
        (np.eye(4)[:1] * 1j, "real numbers"),
        (np.eye(3), "same number of columns"),
    ],
)
@pytest.mark.parametrize("function", [projection_distance, principal_angles])
def test_bad_bases_are_refused_on_either_side(function, basis, message):
    good = np.eye(4)[:1]
    with pytest.raises(ValueError, match=message):
        function(good, basis)
    with pytest.raises(ValueError, match=message):
        function(basis, good)


def test_score_refuses_bad_bases():
    with pytest.raises(ValueError, match=r"rows of components .* have rank 1"):
        feature_learning_score(np.eye(4)[:2], np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"rows of true_components .* have rank 1"):
        feature_learning_score(np.ones((2, 4)), np.eye(4))
    with pytest.raises(ValueError, match="same number of columns"):
        feature_learning_score(np.eye(4), np.eye(3))


def test_dimension_score_of_integers_without_a_sign():
    assert dimension_score(*np.array([3, 1, 5], dtype=np.uint8)) == dimension_score(3, 1, 5)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0, 1, 5), "true_dimension"),
        ((6, 1, 5), "true_dimension"),
        (
            (2, -1, 5),
            "dimension must be an integer of at least 0 and at most n_features = 5, got -1",
        ),
        ((2, 6, 5), "at most n_features = 5"),
        ((2, 2.0, 5), "must be an integer"),
        ((1, 1, 0), "n_features"),
    ],
)
def test_dimension_score_refuses_impossible_dimensions(arguments, message):
    with pytest.raises(ValueError, match=message):
        dimension_score(*arguments)


def test_inputs_are_unchanged_and_may_be_integers_or_lists():
    a, b = random_pair(2, 3, 5)
    copies = a.copy(), b.copy()
    projection_distance(a, b)
    principal_angles(a, b)
    feature_learning_score(a, b)
    np.testing.assert_array_equal(a, copies[0])
    np.testing.assert_array_equal(b, copies[1])
    assert projection_distance([[1, 0, 0]], [[1, 1, 0]]) == pytest.approx(1.0)
