"""Kernel blocks: the dense kernel for every cut, held or computed again, on any threads."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels.radial import RADIAL_KERNELS, GaussianKernel, make_radial_kernel
from kernlens.linalg import kernel_blocks
from kernlens.linalg.kernel_blocks import KernelBlocks, weighted_squared_distance_gradient
from reference import hkrr

NAMES = list(RADIAL_KERNELS)


@pytest.fixture(params=[True, False], ids=["held", "recomputed"])
def held(request, monkeypatch):
    """Both ways of using the blocks; small work goes to the threads, too."""
    monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", 10**9 if request.param else 0)
    monkeypatch.setattr(kernel_blocks, "WORK_PER_ENTRY", 10**9)
    return request.param


def cut(monkeypatch, entries):
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", entries)


def data(n=300, p=7, d=4, k=2, seed=0):
    """Rows, centres of which the first are rows, and a map."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Z = np.vstack([X[: p - 2], rng.standard_normal((2, d))])
    return rng.standard_normal((k, d)), X, Z


class CountingKernel(GaussianKernel):
    def __init__(self):
        self.calls = 0

    def profile_and_derivative(self, s):
        self.calls += 1
        return super().profile_and_derivative(s)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("entries", [1, 7 * 64, 7 * 100, 7 * 299, 7 * 300, 10**6])
def test_blocks_together_are_the_dense_kernel(held, monkeypatch, name, entries):
    cut(monkeypatch, entries)
    B, X, Z = data()
    kernel = make_radial_kernel(name)
    blocks = KernelBlocks(B, X, Z, kernel)
    parts = blocks.map(lambda block: block)
    assert len(parts) == -(-300 // max(64, entries // 7))
    assert [i for part in parts for i in range(300)[part.rows]] == list(range(300))
    np.testing.assert_allclose(np.concatenate([b.images for b in parts]), X @ B.T, rtol=1e-12)
    values = np.concatenate([block.values for block in parts])
    np.testing.assert_allclose(values, hkrr.kernel_matrix(name, B, X, Z), rtol=0, atol=1e-13)
    slopes = np.concatenate([block.slopes for block in parts])
    s = np.array([[np.sum((B @ (x - z)) ** 2) for z in Z] for x in X])
    # Slopes of Matern-3/2 go with the distance: near 0 half of the digits.
    np.testing.assert_allclose(slopes, kernel.derivative(s), rtol=1e-10, atol=3e-7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_centre_kernel_is_dense_symmetric_and_one_on_the_diagonal(name, shift):
    B, X, Z = data(p=40, k=3)
    values, slopes = KernelBlocks(B, X, shift + Z, make_radial_kernel(name)).center_kernel
    np.testing.assert_allclose(values, hkrr.kernel_matrix(name, B, Z, Z), rtol=0, atol=1e-11)
    for matrix in (values, slopes):
        np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(values), 1.0)
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize(
    ("n", "p", "d", "k"), [(300, 7, 3, 1), (1000, 25, 50, 3), (99, 50, 200, 5)]
)
def test_a_row_that_is_a_centre_has_distance_zero_whatever_the_shapes(held, n, p, d, k):
    # Matrix products of other shapes round otherwise, and Laplace's slope is 1 / distance.
    B, X, _ = data(n, p, d, k)
    blocks = KernelBlocks(B, X, X[:p], make_radial_kernel("laplace"))
    values = np.concatenate(blocks.map(lambda block: block.values))
    slopes = np.concatenate(blocks.map(lambda block: block.slopes))
    np.testing.assert_array_equal(np.diag(values), 1.0)
    np.testing.assert_array_equal(np.diag(slopes), 0.0)
    assert np.all(slopes[~np.eye(n, p, dtype=bool)] < 0.0)


def test_the_kernel_is_computed_once_if_held_and_otherwise_at_every_use(held, monkeypatch):
    cut(monkeypatch, 1)
    B, X, Z = data()
    kernel = CountingKernel()
    blocks = KernelBlocks(B, X, Z, kernel)
    n_blocks = -(-300 // 64)
    for use in range(1, 4):
        blocks.map(lambda block: block.values.sum())
        assert kernel.calls == (n_blocks if held else use * n_blocks)


def test_held_and_recomputed_agree_bitwise(monkeypatch):
    cut(monkeypatch, 500)
    B, X, Z = data()
    sums = []
    for entries in (0, 10**9):
        monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", entries)
        blocks = KernelBlocks(B, X, Z, make_radial_kernel("matern52"))
        blocks.map(lambda block: None)
        sums.append(blocks.map(lambda block: (block.values.sum(), block.slopes.sum())))
    assert sums[0] == sums[1]


def test_threads_change_not_one_bit(held, monkeypatch):
    cut(monkeypatch, 1)
    B, X, Z = data()
    rng = np.random.default_rng(1)
    C, D = rng.standard_normal((300, 7)), rng.standard_normal((7, 7))
    results = []
    for n_jobs in (1, 2, 3, None):
        blocks = KernelBlocks(B, X, Z, make_radial_kernel("gaussian"), n_jobs)
        total = sum(blocks.map(lambda block: block.values.T @ block.slopes))
        gradient = weighted_squared_distance_gradient(blocks, lambda b: C[b.rows], D + D.T)
        results.append((total, gradient))
    for total, gradient in results[1:]:
        np.testing.assert_array_equal(total, results[0][0])
        np.testing.assert_array_equal(gradient, results[0][1])


@pytest.mark.parametrize(("n", "p", "k"), [(150, 5, 2), (10, 4, 1), (9, 4, 6)])
def test_gradient_of_weighted_distances_equals_the_double_sum(held, monkeypatch, n, p, k):
    cut(monkeypatch, 1)
    B, X, Z = data(n, p, k=k)
    rng = np.random.default_rng(1)
    C, D = rng.standard_normal((n, p)), rng.standard_normal((p, p))
    D = D + D.T
    expected = np.zeros(B.shape)
    for j, z in enumerate(Z):
        for i, x in enumerate(X):
            expected += C[i, j] * 2 * np.outer(B @ (x - z), x - z)
        for i, other in enumerate(Z):
            expected += D[i, j] * 2 * np.outer(B @ (other - z), other - z)
    blocks = KernelBlocks(B, X, Z, make_radial_kernel("gaussian"))
    gradient = weighted_squared_distance_gradient(blocks, lambda block: C[block.rows], D)
    np.testing.assert_allclose(gradient, expected, atol=1e-12 * np.abs(expected).max())


def test_gradient_of_weighted_distances_ignores_where_the_origin_is():
    B, X, Z = data()
    rng = np.random.default_rng(1)
    C, D = rng.standard_normal((300, 7)), np.eye(7)
    gradients = []
    for shift in (0.0, 10.0):
        blocks = KernelBlocks(B, X + shift, Z + shift, make_radial_kernel("gaussian"))
        gradients.append(weighted_squared_distance_gradient(blocks, lambda b: C[b.rows], D))
    np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-11 * np.abs(gradients[0]).max())


def test_inputs_are_left_alone(held):
    arrays = data()
    C, D = np.ones((300, 7)), np.ones((7, 7))
    kept = [a.copy() for a in (*arrays, C, D)]
    blocks = KernelBlocks(*arrays, make_radial_kernel("laplace"))
    assert blocks.center_kernel[0].shape == (7, 7)
    weighted_squared_distance_gradient(blocks, lambda block: C[block.rows], D)
    for array, copy in zip((*arrays, C, D), kept, strict=True):
        np.testing.assert_array_equal(array, copy)
