"""The operator-norm ball: the nearest point of it, and the smooth map onto its inside."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.penalties.operator_ball import (
    INSIDE,
    into_ball,
    out_of_ball,
    project_on_ball,
    pull_gradient_back,
)
from reference.hkrr import central_differences

SHAPES = [(3, 5), (1, 4), (4, 4), (5, 3), (4, 1)]
RADII = [1.0, 0.3, 20.0]


def matrix(shape, scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).standard_normal(shape)


def with_singular_values(values, shape, seed=0):
    rng = np.random.default_rng(seed)
    k = len(values)
    U = np.linalg.qr(rng.standard_normal((shape[0], k)))[0]
    V = np.linalg.qr(rng.standard_normal((shape[1], k)))[0]
    return (U * values) @ V.T


def norm(B):
    return np.linalg.norm(B, 2)


def members(B, radius, n=200, seed=1):
    """Random matrices of the ball, some of them close to B or with all values on the sphere."""
    rng = np.random.default_rng(seed)
    for index in range(n):
        noise = radius * rng.standard_normal(B.shape)
        near = noise if index % 2 else B + 10.0 ** -(index % 5) * noise
        U, values, Vt = np.linalg.svd(near, full_matrices=False)
        values = np.full_like(values, radius) if index % 3 == 0 else np.minimum(values, radius)
        yield (U * values) @ Vt


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", RADII)
def test_projection_clips_the_singular_values_and_keeps_the_vectors(shape, radius):
    B = matrix(shape, 2 * radius)
    U, values, Vt = np.linalg.svd(B, full_matrices=False)
    assert values[0] > radius
    expected = sum(min(s, radius) * np.outer(u, v) for u, s, v in zip(U.T, values, Vt, strict=True))
    np.testing.assert_allclose(project_on_ball(B, radius), expected, atol=1e-13 * radius)
    assert norm(project_on_ball(B, radius)) <= radius * (1 + 1e-14)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", RADII)
def test_projection_satisfies_the_variational_inequality(shape, radius):
    B = matrix(shape, 2 * radius)
    nearest = project_on_ball(B, radius)
    for C in members(B, radius):
        assert np.vdot(B - nearest, C - nearest) <= 1e-12 * radius**2
        assert np.linalg.norm(B - nearest) <= np.linalg.norm(B - C)


def test_rescaling_is_not_the_projection():
    B = with_singular_values([3.0, 0.5], (3, 5))
    rescaled = B / norm(B)
    violations = [np.vdot(B - rescaled, C - rescaled) for C in members(B, 1.0)]
    assert max(violations) > 0.05
    nearest = project_on_ball(B, 1.0)
    assert np.linalg.norm(B - nearest) < np.linalg.norm(B - rescaled)


@pytest.mark.parametrize("shape", SHAPES)
def test_projection_is_idempotent_and_keeps_what_is_inside(shape):
    once = project_on_ball(matrix(shape, 5.0), 1.0)
    np.testing.assert_allclose(project_on_ball(once, 1.0), once, atol=1e-15)
    inside = matrix(shape)
    inside /= 1.1 * norm(inside)
    np.testing.assert_array_equal(project_on_ball(inside, 1.0), inside)


def test_projection_does_not_move_points_apart():
    for seed in range(50):
        A, B = matrix((3, 4), 2.0, seed), matrix((3, 4), 2.0, seed + 1000)
        moved = np.linalg.norm(project_on_ball(A, 1.0) - project_on_ball(B, 1.0))
        assert moved <= np.linalg.norm(A - B) * (1 + 1e-14)


@pytest.mark.parametrize("radius", RADII)
def test_inside_the_ball_every_singular_value_is_shrunk(radius):
    values = np.array([30.0, 1.0, 1e-3])
    M = with_singular_values(values, (4, 6))
    expected = with_singular_values(radius * values / np.sqrt(1 + values**2), (4, 6))
    np.testing.assert_allclose(into_ball(M, radius), expected, rtol=0, atol=1e-13 * radius)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_images_are_strictly_inside(shape, scale):
    for seed in range(20):
        assert norm(into_ball(matrix(shape, scale, seed), 0.7)) < 0.7


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", RADII)
def test_into_and_out_of_the_ball_are_inverse_to_each_other(shape, radius):
    M = matrix(shape)
    M *= 5.0 / norm(M)
    np.testing.assert_allclose(out_of_ball(into_ball(M, radius), radius), M, rtol=0, atol=1e-12)
    B = matrix(shape, seed=3)
    B *= 0.99 * radius / norm(B)
    back = into_ball(out_of_ball(B, radius), radius)
    np.testing.assert_allclose(back, B, rtol=0, atol=1e-12 * radius)


@pytest.mark.parametrize("k", [1, 2])
def test_matrices_without_full_rank_come_back(k):
    B = with_singular_values(np.linspace(0.9, 0.3, k), (4, 5))
    np.testing.assert_allclose(into_ball(out_of_ball(B, 1.0), 1.0), B, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(into_ball(out_of_ball(0.0 * B, 1.0), 1.0), 0.0)


@pytest.mark.parametrize("values", [[1.0, 1.0, 0.2], [3.0, 1.0, 0.5], [1.0 - INSIDE / 2, 0.1]])
def test_what_touches_or_leaves_the_ball_is_moved_inside(values):
    shape, radius = (3, 5), 2.0
    B = with_singular_values(radius * np.array(values), shape)
    M = out_of_ball(B, radius)
    assert np.isfinite(M).all()
    clipped = with_singular_values(radius * np.minimum(values, 1 - INSIDE), shape)
    np.testing.assert_allclose(into_ball(M, radius), clipped, rtol=0, atol=1e-12)


SPECIAL = {
    "random": matrix((3, 5)),
    "tall": matrix((5, 2)),
    "one row": matrix((1, 4)),
    "large": matrix((3, 5), 20.0),
    "repeated": with_singular_values([1.5, 1.5, 0.4], (3, 5)),
    "nearly repeated": with_singular_values([1.5, 1.5 + 1e-9, 0.4], (3, 5)),
    "all equal": 0.7 * np.eye(3, 5),
    "rank one": with_singular_values([0.8], (3, 5)),
    "rank one, tall": with_singular_values([0.8], (5, 3)),
    "zero": np.zeros((3, 5)),
}


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_gradient_pulled_back_equals_finite_differences(name, radius):
    M = SPECIAL[name]
    target, slope = matrix(M.shape, seed=7), matrix(M.shape, seed=8)

    def function(M):
        B = into_ball(M, radius)
        return np.vdot(slope, B) + 0.5 * np.sum((B - target) ** 2)

    gradient = slope + into_ball(M, radius) - target
    exact = pull_gradient_back(M, gradient, radius)
    numerical = central_differences(function, M)
    atol = 1e-8 * np.abs(numerical).max()
    np.testing.assert_allclose(exact, numerical, rtol=0, atol=atol)


def test_at_zero_the_map_is_a_multiple_of_the_identity():
    gradient = matrix((3, 5))
    np.testing.assert_allclose(pull_gradient_back(np.zeros((3, 5)), gradient, 2.5), 2.5 * gradient)
    tiny = 1e-9 * gradient
    np.testing.assert_allclose(into_ball(tiny, 2.5), 2.5 * tiny, rtol=1e-12)


@pytest.mark.parametrize("function", [into_ball, out_of_ball])
def test_maps_turn_with_the_matrix(function):
    M = matrix((3, 5))
    M /= 2 * norm(M)
    Q, R = np.linalg.qr(matrix((3, 3)))[0], np.linalg.qr(matrix((5, 5)))[0]
    np.testing.assert_allclose(function(Q @ M @ R, 1.0), Q @ function(M, 1.0) @ R, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_inputs_are_left_alone(shape):
    M, gradient = matrix(shape, 3.0), matrix(shape, seed=1)
    kept = M.copy(), gradient.copy()
    project_on_ball(M, 1.0)
    into_ball(M, 1.0)
    out_of_ball(M, 1.0)
    pull_gradient_back(M, gradient, 1.0)
    np.testing.assert_array_equal(M, kept[0])
    np.testing.assert_array_equal(gradient, kept[1])
