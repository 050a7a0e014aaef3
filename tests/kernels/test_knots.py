"""Functions with knots: the sums of kernels that they stand for, their norm, their adjoint."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels.knots import make_knot_space
from kernlens.kernels.one_dimensional import KERNELS, make_kernel

M, N_PARTICLES, T = 4, 6, 2


def problem(kernel, n_knots=6, n=40, seed=0):
    rng = np.random.default_rng(seed)
    knots = np.cumsum(rng.uniform(0.3, 1.2, (M, n_knots)), axis=1) - 2.0
    space = make_knot_space(make_kernel(kernel), knots, N_PARTICLES)
    # Beyond the knots on both sides, and at some of them.
    projections = np.hstack([rng.uniform(-4.0, 6.0, (M, n)), knots[:, ::2]])
    return rng, space, projections, rng.standard_normal((T, M, space.n_coordinates))


def sums_of_kernels(space, coefficients, projections):
    out = np.zeros((len(coefficients), projections.shape[1]))
    for j, knots in enumerate(space.knots):
        out += coefficients[:, j] @ space.kernel.profile(projections[j][None] - knots[:, None])
    return out


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_knots", [2, 6])
def test_values_are_sums_of_kernels(kernel, n_knots):
    _, space, projections, u = problem(kernel, n_knots)
    expected = sums_of_kernels(space, space.coefficients(u), projections)
    found = space.seen_by(projections).values(space.tables(u))
    apart = found - expected
    if kernel == "brownian":
        # Constants have no norm.
        apart -= apart[:, :1]
        np.testing.assert_allclose(space.tables(u).mean(axis=2), 0.0, atol=1e-13)
    np.testing.assert_allclose(apart, 0.0, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
def test_coordinates_have_the_norm_of_the_functions(kernel):
    _, space, _, u = problem(kernel)
    norm = np.zeros(T)
    for j, knots in enumerate(space.knots):
        b = space.coefficients(u)[:, j]
        K = space.kernel.profile(knots[:, None] - knots)
        norm += N_PARTICLES * np.einsum("tk,kl,tl->t", b, K, b)
    np.testing.assert_allclose(np.square(u).sum(axis=(1, 2)), norm, rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_are_adjoint_to_values(kernel):
    rng, space, projections, u = problem(kernel)
    seen, r = space.seen_by(projections), rng.standard_normal((T, projections.shape[1]))
    one = np.vdot(r, seen.values(space.tables(u)))
    np.testing.assert_allclose(np.vdot(space.coordinates(seen.sums(r)), u), one, rtol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_gram_has_the_sums_of_squares(kernel, n_jobs):
    rng, space, projections, u = problem(kernel)
    weights = rng.random(projections.shape[1])
    gram = space.gram(projections, weights, n_jobs)
    values = space.seen_by(projections).values(space.tables(u))
    expected = (values * weights) @ values.T
    flat = u.reshape(T, -1)
    np.testing.assert_allclose(flat @ gram @ flat.T, expected, rtol=1e-10)
    np.testing.assert_allclose(gram, gram.T, atol=1e-12 * np.abs(gram).max())


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_function_is_found_again_from_its_values_at_the_knots(kernel):
    _, space, _, u = problem(kernel)
    # The functions h_j / sqrt(m); tables of a Gaussian are coefficients.
    values = np.stack(
        [
            np.einsum(
                "tk,kl->tl", space.coefficients(u)[:, j], space.kernel.profile(t[:, None] - t)
            )
            for j, t in enumerate(space.knots)
        ],
        axis=1,
    )
    np.testing.assert_allclose(space.interpolating(values), u, rtol=1e-7, atol=1e-7)


def test_between_far_knots_an_exponential_function_decays_without_overflow():
    knots = np.array([[-1e4, 0.0, 1e4]])
    space = make_knot_space(make_kernel("exponential"), knots, 1)
    seen = space.seen_by(np.array([[-2e4, -1e4, -9998.0, 2.0, 9999.0, 1e5]]))
    values = seen.values(np.ones((1, 1, 3)))
    np.testing.assert_allclose(values[0], [0.0, 1.0, np.exp(-1), np.exp(-1), np.exp(-0.5), 0.0])


def test_a_knot_more_changes_no_function_that_was_there():
    _, space, projections, u = problem("brownian")
    middle = 0.5 * (space.knots[:, 2:3] + space.knots[:, 3:4])
    finer = np.sort(np.hstack([space.knots, middle]), axis=1)
    larger = make_knot_space(space.kernel, finer, N_PARTICLES)
    tables = np.stack(
        [
            [np.interp(t, k, v) for t, k, v in zip(finer, space.knots, of_target, strict=True)]
            for of_target in space.tables(u)
        ]
    )
    found = larger.interpolating(tables)
    np.testing.assert_allclose(np.square(found).sum(), np.square(u).sum(), rtol=1e-12)
    both = [s.seen_by(projections).values(s.tables(c)) for s, c in ((space, u), (larger, found))]
    np.testing.assert_allclose(np.diff(both[1] - both[0]), 0.0, atol=1e-12)
