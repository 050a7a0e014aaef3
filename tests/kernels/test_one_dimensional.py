"""Kernels of one variable: sorted sums, derivatives and tables against dense double sums."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels.one_dimensional import (
    GaussianKernel,
    SortedProjections,
    make_guide,
    make_kernel,
)
from reference import bkernn
from reference.bkernn_problems import KERNEL_NAMES

DATA = {
    "generic": lambda rng, m, n: rng.standard_normal((m, n)),
    "ties": lambda rng, m, n: rng.integers(-2, 3, (m, n)).astype(float),
    "all_equal": lambda rng, m, n: np.full((m, n), 0.7),
    "two_far_groups": lambda rng, m, n: rng.choice([-400.0, 400.0], (m, n)) + rng.random((m, n)),
    "offset": lambda rng, m, n: 1e3 + rng.standard_normal((m, n)),
}
SIZES = [1, 2, 3, 40]


def projections(data, n, m=4, seed=0):
    return DATA[data](np.random.default_rng(seed), m, n)


def centered_weights(n, n_targets=3, seed=1):
    v = np.random.default_rng(seed).standard_normal((n_targets, n))
    return v - v.mean(axis=1, keepdims=True)


def dense_kernel(kernel, left, right):
    """sum_j kappa(left_ji - right_ji'), with the true Brownian kernel."""
    return sum(
        bkernn.KERNEL[kernel](a[:, None], b[None, :]) for a, b in zip(left, right, strict=True)
    )


def close(actual, expected, scale, digits=1e-12):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=digits * scale)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("n", SIZES)
def test_product_equals_the_double_sum(kernel, data, n):
    p, v = projections(data, n), centered_weights(n)
    out = np.zeros_like(v)
    make_kernel(kernel).add_product(make_kernel(kernel).prepare(p), v, out)
    # Rows of the true Brownian matrix differ by a constant per target, as the weights sum to zero.
    difference = out - v @ dense_kernel(kernel, p, p)
    if kernel == "brownian":
        difference -= difference.mean(axis=1, keepdims=True)
    close(difference, 0.0, np.abs(p).max() * n)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("data", DATA)
def test_product_equals_the_matrix_of_profiles_for_any_weights(kernel, data):
    p = projections(data, 30)
    v = 1.0 + centered_weights(30)
    out = np.zeros_like(v)
    one = make_kernel(kernel)
    one.add_product(one.prepare(p), v, out)
    dense = sum(one.profile(a[:, None] - a[None, :]) for a in p)
    close(out, v @ dense, 30 * (1 + np.abs(p).max()))
    close(one.pairwise_mean(p.T.copy(), p.T.copy()), dense / len(p), np.abs(dense).max())


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("n", SIZES)
def test_slopes_equal_the_double_sum_with_zero_at_ties(kernel, data, n):
    p, z = projections(data, n), centered_weights(n)
    out = np.zeros_like(p)
    make_kernel(kernel).add_slopes(SortedProjections.of(p), z, out)
    slopes = [bkernn.SLOPE[kernel](a[:, None] - a[None, :]) for a in p]
    expected = np.array([np.sum(z * (z @ slope.T), axis=0) for slope in slopes])
    close(out, expected, n)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_profile_and_its_slope_belong_together(kernel):
    u = np.concatenate([np.linspace(-5, -0.1, 40), np.linspace(0.1, 5, 40)])
    profile, h = make_kernel(kernel).profile, 1e-5
    numerical = (profile(u + h) - profile(u - h)) / (2 * h)
    np.testing.assert_allclose(numerical, bkernn.SLOPE[kernel](u), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("guided", [False, True])
def test_tables_give_the_expansion_anywhere(kernel, data, n, guided):
    p, v = projections(data, n), centered_weights(n)
    rng = np.random.default_rng(5)
    inside = rng.uniform(p.min() - 1, p.max() + 1, (len(p), 50))
    outside = p.mean() + np.array([-1e6, -1e3, 1e3, 1e6]) * np.ones((len(p), 1))
    queries = np.concatenate([inside, outside, p], axis=1)
    block, one = SortedProjections.of(p), make_kernel(kernel)
    out = np.zeros((len(v), queries.shape[1]))
    guide = make_guide(block.points, n_queries=10 * n if guided else 0)
    assert guide.shape == (len(p), n if guided else 0)
    one.add_values(block.points, one.tables(block, v), guide, queries, out)
    expected = sum(
        one.profile(q[:, None] - a[None, :]) @ v.T for q, a in zip(queries, p, strict=True)
    )
    # The dense sum cancels 1e6 far outside; the tables do not, so the dense side sets the digits.
    scale = np.ones(queries.shape[1])
    scale[50:54] = 1e6 if kernel == "brownian" else 1.0
    difference = (out - expected.T) / (scale * n * (1 + np.abs(p).max()))
    close(difference, 0.0, 1.0, 1e-13)


@pytest.mark.parametrize("data", DATA)
def test_brownian_functions_are_constant_outside_and_others_vanish(data):
    p, v = projections(data, 25, m=1), centered_weights(25)
    block = SortedProjections.of(p)
    ends = np.array(
        [[p.min(), p.min() - 3.0, p.min() - 1e9, p.max(), p.max() + 3.0, p.max() + 1e9]]
    )
    for kernel in KERNEL_NAMES:
        one, out = make_kernel(kernel), np.zeros((3, 6))
        one.add_values(block.points, one.tables(block, v), make_guide(block.points, 0), ends, out)
        if kernel == "brownian":
            np.testing.assert_array_equal(out[:, [1, 4]], out[:, [2, 5]])
            close(out[:, [1, 4]], out[:, [0, 3]], 1 + np.abs(p).max())
        else:
            np.testing.assert_array_equal(out[:, [2, 5]], 0.0)


def test_exponential_recursion_does_not_underflow_between_far_groups():
    # exp(-|p|/2) itself is 0 for |p| > 1500; the recursion decays only between neighbours.
    p = np.array([[-5000.0, -4999.0, 5000.0, 5001.0]])
    out = np.zeros((1, 4))
    one = make_kernel("exponential")
    one.add_product(one.prepare(p), np.ones((1, 4)), out)
    np.testing.assert_allclose(out, 1 + np.exp(-0.5), rtol=1e-15)


def test_slopes_of_a_query_beside_its_own_knot_do_not_overflow():
    # The knot is found a share of the range away: of a huge range that is many times the unit.
    block = SortedProjections.of(np.array([[-4e19, 1e18, 4e19]]))
    v, one, out = np.array([[1.0, -2.0, 1.0]]), make_kernel("exponential"), np.zeros((1, 1, 2))
    queries = np.array([[1e18 - 1e6, 1e18 + 1e6]])
    one.write_slopes(block.points, one.tables(block, v), make_guide(block.points, 0), queries, out)
    assert np.abs(out).max() <= 1.0


@pytest.mark.parametrize("rows_per_block", [1, 7, 40, 512])
def test_gaussian_blocks_do_not_change_the_sums(rows_per_block):
    p, v = projections("generic", 40), centered_weights(40)
    block, one = SortedProjections.of(p), GaussianKernel()
    one.rows_per_block = rows_per_block
    product, slopes, values = np.zeros_like(v), np.zeros_like(p), np.zeros_like(v)
    one.add_product(block, v, product)
    one.add_slopes(block, v, slopes)
    one.add_values(block.points, one.tables(block, v), make_guide(p, 0), p, values)
    close(product, v @ dense_kernel("gaussian", p, p), 1.0)
    close(values, product, 1.0)
    slope = [bkernn.SLOPE["gaussian"](a[:, None] - a[None, :]) for a in p]
    close(slopes, [np.sum(v * (v @ s.T), axis=0) for s in slope], 1.0)


def test_sums_are_added_and_inputs_are_left_alone():
    p, v = projections("ties", 20), centered_weights(20)
    for kernel in KERNEL_NAMES:
        one = make_kernel(kernel)
        block = one.prepare(p)
        kept = [a.copy() for a in (p, v, block.points, block.order)]
        first, again = np.zeros_like(v), np.full_like(v, 10.0)
        one.add_product(block, v, first)
        one.add_product(block, v, again)
        np.testing.assert_allclose(again - 10.0, first, atol=1e-13)
        one.add_slopes(block, v, np.zeros_like(p))
        one.add_values(block.points, one.tables(block, v), make_guide(p, 0), p, np.zeros_like(v))
        for array, copy in zip((p, v, block.points, block.order), kept, strict=True):
            np.testing.assert_array_equal(array, copy)


def test_sorting_keeps_the_projections_and_select_keeps_the_particles():
    p = projections("ties", 15)
    block = SortedProjections.of(p)
    assert np.all(np.diff(block.points, axis=1) >= 0)
    np.testing.assert_array_equal(np.take_along_axis(p, block.order, axis=1), block.points)
    chosen = block.select(np.array([True, False, False, True]))
    np.testing.assert_array_equal(chosen.points, block.points[[0, 3]])
    np.testing.assert_array_equal(chosen.order, block.order[[0, 3]])


def test_an_unknown_kernel_is_refused_with_the_names():
    with pytest.raises(ValueError, match=r"'cubic'.*'brownian'"):
        make_kernel("cubic")


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 70])
@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_pairs_within_the_same_points_are_those_of_two_copies(kernel, n):
    points = np.random.default_rng(n).standard_normal((n, 5))
    within = make_kernel(kernel).pairwise_mean(points, points)
    between = make_kernel(kernel).pairwise_mean(points, points.copy())
    expected = np.mean(make_kernel(kernel).profile(points[:, None] - points[None]), axis=2)
    np.testing.assert_allclose(within, expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(within, between, rtol=1e-14)
    np.testing.assert_array_equal(within, within.T)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8, 11])
def test_brownian_products_of_any_number_of_particles(m):
    rng = np.random.default_rng(m)
    kernel, projections = make_kernel("brownian"), rng.standard_normal((m, 9))
    v, out = rng.standard_normal((2, 9)), np.zeros((2, 9))
    kernel.add_product(kernel.prepare(projections), v, out)
    apart = np.abs(projections[:, :, None] - projections[:, None]).sum(axis=0)
    np.testing.assert_allclose(out, -0.5 * v @ apart, rtol=0, atol=1e-13 * m)
