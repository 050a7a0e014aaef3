"""The kernel matrix as an operator: dense equality, threads, memory."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._execution import SERIAL_WORK
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.linalg.projected_kernel_operator import ProjectedKernelOperator
from reference import bkernn
from reference.bkernn_problems import KERNEL_NAMES, peak_bytes


def data(n, m=6, d=3, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    if ties:
        # Small integers: projections are exact, so that ties are ties in floating point too.
        X, W = rng.integers(-2, 3, (n, d)).astype(float), rng.integers(-2, 3, (m, d)).astype(float)
    v = rng.standard_normal((2, n))
    return X, W, v - v.mean(axis=1, keepdims=True)


def centered(K):
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [1, 2, 60])
def test_matrix_and_products_equal_the_kernel_of_the_paper(kernel, ties, n):
    X, W, v = data(n, ties=ties)
    operator = ProjectedKernelOperator(W, X, make_kernel(kernel))
    K = bkernn.kernel_matrix(kernel, W, X, X)
    np.testing.assert_allclose(centered(operator.matrix), centered(K), atol=1e-13)
    product, dense = operator.matvec(v), v @ K
    if kernel == "brownian":
        product = product - product.mean(axis=1, keepdims=True)
        dense = dense - dense.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(product, dense, atol=1e-12)
    np.testing.assert_allclose(np.sum(v * operator.matvec(v)), np.sum(v * (v @ K)), rtol=1e-11)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_weighted_slopes_equal_half_the_derivative_of_the_quadratic_form(kernel, ties, n):
    X, W, v = data(n, ties=ties)
    operator = ProjectedKernelOperator(W, X, make_kernel(kernel))
    expected = -bkernn.gradient(kernel, W, X, v, alpha=1.0)
    np.testing.assert_allclose(operator.weighted_slopes(v), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_submatrix_reads_the_matrix(kernel):
    X, W, _ = data(30)
    operator = ProjectedKernelOperator(W, X, make_kernel(kernel))
    rows, columns = np.array([3, 29, 0]), np.array([7, 7, 12, 1])
    part = operator.submatrix(rows, columns)
    np.testing.assert_allclose(part, operator.matrix[np.ix_(rows, columns)], atol=1e-14)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_products_are_linear_and_symmetric(kernel):
    X, W, v = data(50)
    operator = ProjectedKernelOperator(W, X, make_kernel(kernel))
    np.testing.assert_allclose(
        operator.matvec(2 * v - 1),
        2 * operator.matvec(v) - operator.matvec(np.ones_like(v)),
        atol=1e-11,
    )
    assert v[0] @ operator.matvec(v)[1] == pytest.approx(v[1] @ operator.matvec(v)[0], rel=1e-11)


@pytest.mark.parametrize("kernel", ["brownian", "exponential"])
def test_threads_do_not_change_a_single_bit(kernel):
    X, W, v = data(SERIAL_WORK // 16, m=20)

    def results(n_jobs):
        operator = ProjectedKernelOperator(W, X, make_kernel(kernel), n_jobs)
        assert len(operator.blocks) == 3
        return operator.matvec(v), operator.weighted_slopes(v)

    for serial, threaded in zip(results(1), results(3), strict=True):
        np.testing.assert_array_equal(serial, threaded)


def test_blocks_of_particles_do_not_change_the_operator():
    X, W, v = data(SERIAL_WORK // 16, m=20)
    whole = ProjectedKernelOperator(W, X, make_kernel("brownian"))
    parts = [ProjectedKernelOperator(w[None], X, make_kernel("brownian")) for w in W]
    mean = sum(part.matvec(v) for part in parts) / len(W)
    np.testing.assert_allclose(whole.matvec(v), mean, rtol=1e-9, atol=1e-9 * np.abs(mean).max())
    slopes = np.concatenate([part.weighted_slopes(v) for part in parts]) / len(W)
    atol = 1e-10 * np.abs(slopes).max()
    np.testing.assert_allclose(whole.weighted_slopes(v), slopes, atol=atol)


@pytest.mark.parametrize("kernel", ["brownian", "exponential"])
def test_memory_stays_linear_in_the_rows(kernel):
    n, m = 20_000, 10
    X, W, v = data(n, m=m)

    def work():
        operator = ProjectedKernelOperator(W, X, make_kernel(kernel), n_jobs=1)
        operator.matvec(v)
        operator.weighted_slopes(v)

    # Points, order, and what sorting and slopes need meanwhile; one n x n matrix would be 3.2 GB.
    assert peak_bytes(work) < 8 * 8 * m * n


def test_gaussian_memory_is_a_block_of_rows():
    n = 6000
    X, W, v = data(n, m=1)
    operator = ProjectedKernelOperator(W, X, make_kernel("gaussian"), n_jobs=1)
    block = 8 * operator.kernel.rows_per_block * n
    # The values of a block, and the intermediate arrays of their formula.
    assert peak_bytes(lambda: operator.matvec(v)) < 5 * block < 8 * n**2 / 2


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_inputs_are_left_alone(kernel):
    X, W, v = data(20)
    kept = [a.copy() for a in (W, v, X)]
    operator = ProjectedKernelOperator(W, X, make_kernel(kernel))
    operator.matvec(v)
    operator.weighted_slopes(v)
    _ = operator.matrix
    for array, copy in zip((W, v, X), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_single_precision_projections_are_summed_in_double_precision():
    X, W, v = data(200)
    W, X = W.astype(np.float32), X.astype(np.float32)
    for kernel in KERNEL_NAMES:
        single = ProjectedKernelOperator(W, X, make_kernel(kernel)).matvec(v)
        double = ProjectedKernelOperator(
            W.astype(float), X.astype(float), make_kernel(kernel)
        ).matvec(v)
        assert single.dtype == np.float64
        np.testing.assert_allclose(single, double, rtol=0, atol=1e-6 * np.abs(double).max())
