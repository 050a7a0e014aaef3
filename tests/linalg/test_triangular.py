"""Triangular products and pivoted factors: against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.linalg.triangular import (
    PANEL,
    PivotedCholesky,
    divide_by_upper,
    mirror_upper,
    multiply_upper,
)


def semidefinite(n, rank, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, rank))
    return A @ A.T


@pytest.mark.parametrize("size", [1, 2, PANEL - 1, PANEL, PANEL + 1, 4 * PANEL + 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_product_with_an_upper_triangular_matrix(size, dtype):
    rng = np.random.default_rng(size)
    A = rng.standard_normal((5, size)).astype(dtype)
    U = np.triu(rng.standard_normal((size, size))).astype(dtype)
    kept = A.copy(), U.copy()
    product = multiply_upper(A, U)
    assert product.dtype == dtype
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(product, A.astype(float) @ U, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(A, kept[0])
    np.testing.assert_array_equal(U, kept[1])


def test_product_leaves_out_what_is_below_the_panels():
    size = 4 * PANEL
    A, U = np.ones((2, size)), np.triu(np.ones((size, size)))
    U[-1, 0] = 1e6
    np.testing.assert_array_equal(multiply_upper(A, U), np.tile(np.arange(1.0, size + 1), (2, 1)))


@pytest.mark.parametrize("n", [1, 2, 30])
def test_factor_of_a_definite_matrix(n):
    M = semidefinite(n, n) + 0.1 * np.eye(n)
    kept = M.copy()
    factor = PivotedCholesky.of(M, 1e-12)
    np.testing.assert_array_equal(M, kept)
    np.testing.assert_array_equal(np.sort(factor.kept), np.arange(n))
    part = M[np.ix_(factor.kept, factor.kept)]
    np.testing.assert_allclose(factor.root.T @ factor.root, part, atol=1e-13 * np.abs(M).max())
    np.testing.assert_array_equal(factor.root, np.triu(factor.root))
    assert 1.0 <= factor.condition <= np.linalg.cond(M) * (1 + 1e-10)


@pytest.mark.parametrize("rank", [1, 7, 19])
def test_factor_of_a_deficient_matrix(rank):
    M = semidefinite(20, rank)
    factor = PivotedCholesky.of(M, 1e-11)
    assert len(factor.kept) == len(set(factor.kept.tolist())) == rank
    part = M[np.ix_(factor.kept, factor.kept)]
    np.testing.assert_allclose(factor.root.T @ factor.root, part, atol=1e-13 * np.abs(M).max())
    # Nothing is lost: the rows that are kept span all.
    columns = divide_by_upper(M[:, factor.kept], factor.root)
    np.testing.assert_allclose(columns @ columns.T, M, atol=1e-10 * np.abs(M).max())


def test_repeated_rows_are_kept_once():
    M = semidefinite(6, 6) + np.eye(6)
    rows = np.array([0, 3, 3, 5, 0, 1])
    factor = PivotedCholesky.of(M[np.ix_(rows, rows)], 1e-12)
    assert sorted(rows[factor.kept]) == [0, 1, 3, 5]


def test_elimination_starts_with_the_largest_pivot():
    M = np.diag([1.0, 4.0, 9.0, 1e-14])
    factor = PivotedCholesky.of(M, 1e-12)
    np.testing.assert_array_equal(factor.kept, [2, 1, 0])
    np.testing.assert_allclose(np.diagonal(factor.root), [3.0, 2.0, 1.0], rtol=1e-15)
    assert factor.condition == pytest.approx(9.0)


@pytest.mark.parametrize(("cutoff", "rank"), [(1e-3, 2), (1e-5, 3), (1e-9, 4)])
def test_cutoff_is_relative_to_the_largest(cutoff, rank):
    for scale in (1e-8, 1.0, 1e8):
        M = scale * np.diag([1.0, 1e-4, 1e-2, 1e-7])
        assert len(PivotedCholesky.of(M, cutoff).kept) == rank


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_division_undoes_the_product(dtype):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 5)).astype(dtype)
    R = (np.triu(rng.standard_normal((5, 5))) + 3 * np.eye(5)).astype(dtype)
    quotient = divide_by_upper(A @ R, R)
    assert quotient.dtype == dtype
    np.testing.assert_allclose(quotient, A, atol=50 * np.finfo(dtype).eps)


@pytest.mark.parametrize("n", [1, 5, PANEL, PANEL + 1, 3 * PANEL - 7])
def test_the_lower_triangle_becomes_the_upper_one(n):
    A = np.random.default_rng(0).standard_normal((n, n))
    expected = np.triu(A) + np.triu(A, 1).T
    for order in ("C", "F"):
        mirrored = np.array(A, order=order)
        mirror_upper(mirrored)
        np.testing.assert_array_equal(mirrored, expected)
