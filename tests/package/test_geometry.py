"""Distances of rows, against differences one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kernlens._geometry import squared_distances


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_squared_distances_are_those_of_differences(size):
    rng = np.random.default_rng(0)
    X, Z = size * rng.standard_normal((30, 4)), size * rng.standard_normal((20, 4))
    expected = cdist(X, Z, "sqeuclidean")
    np.testing.assert_allclose(squared_distances(X, Z), expected, rtol=0, atol=1e-13 * size**2)


def test_a_row_is_not_at_a_negative_distance_of_itself():
    X = 1e3 + np.random.default_rng(0).standard_normal((200, 5))
    squares = squared_distances(X, X)
    assert squares.min() >= 0.0
    assert np.diagonal(squares).max() <= 1e-15 * 100 * np.square(X).sum(axis=1).max()


def test_far_rows_are_kept_within_a_bound():
    X = np.array([[0.0], [3.0], [1e200]])
    with np.errstate(over="ignore"):
        squares = squared_distances(X, np.zeros((1, 1)), most=4.0)
    np.testing.assert_array_equal(squares, [[0.0], [4.0], [4.0]])
