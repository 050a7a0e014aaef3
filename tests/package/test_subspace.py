"""Directions from gradients and maps: against sums written out, and definitions."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.subspace import average_outer_product, directions_of_map, leading_directions

RNG = np.random.default_rng(0)


def test_the_average_outer_product_is_the_weighted_mean_over_rows_and_the_sum_over_targets():
    gradients, weights = RNG.standard_normal((2, 15, 4)), RNG.uniform(0.1, 3.0, 15)
    expected = sum(
        weights[i] * np.outer(gradients[t, i], gradients[t, i]) for t in range(2) for i in range(15)
    )
    np.testing.assert_allclose(
        average_outer_product(gradients, weights), expected / weights.sum(), rtol=1e-12
    )


def test_weights_are_repetitions_of_gradients():
    gradients, counts = RNG.standard_normal((1, 6, 3)), np.array([1, 2, 1, 3, 1, 1])
    repeated = np.repeat(gradients, counts, axis=1)
    np.testing.assert_allclose(
        average_outer_product(gradients, counts.astype(float)),
        average_outer_product(repeated, np.ones(counts.sum())),
        rtol=1e-12,
    )


def test_leading_directions_are_eigenvectors_in_decreasing_order():
    A = RNG.standard_normal((5, 4))
    vectors, values = leading_directions(A.T @ A)
    assert np.all(np.diff(values) <= 0.0)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(A.T @ A @ vectors.T, vectors.T * values, atol=1e-10)


@pytest.mark.parametrize("rank", [0, 1, 7, 400])
def test_leading_directions_of_many_columns_are_eigenvectors(rank):
    A = np.geomspace(1.0, 1e-4, rank)[:, None] * RNG.standard_normal((rank, 520))
    vectors, values = leading_directions(A.T @ A)
    assert np.all(np.diff(values) <= 0.0)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(520), atol=1e-12)
    np.testing.assert_allclose(A.T @ (A @ vectors.T), vectors.T * values, atol=1e-9)
    expected = np.zeros(520)
    expected[:rank] = np.linalg.svd(A, compute_uv=False) ** 2
    np.testing.assert_allclose(values, expected, atol=1e-10)


def test_directions_of_a_map_are_those_of_the_whole_outer_product():
    B, root = RNG.standard_normal((2, 6)), RNG.standard_normal((2, 2))
    slopes, directions = directions_of_map(B, root @ root.T)
    vectors, values = leading_directions(B.T @ root @ root.T @ B)
    np.testing.assert_allclose(slopes**2, values[:2], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(directions * vectors[:2], axis=1)), 1.0, rtol=1e-10)
