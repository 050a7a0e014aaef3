"""First maps: the median distance, random maps, gradients of a fitted function, a subspace."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens._geometry import MEDIAN_ROWS, median_distance
from kernlens.kernels.radial import make_radial_kernel
from kernlens.linalg import kernel_blocks
from kernlens.methods.hkrr.objective import HyperKernelObjective
from kernlens.methods.hkrr.starts import (
    gradient_outer_product,
    random_map,
    subspace_map,
)
from kernlens.subspace import truncated
from reference import hkrr
from reference.bkernn_problems import LOSSES
from reference.hkrr_problems import objective_of, planted_map, planted_rows, subspace_gap


def pairs(X, B):
    """All positive distances of images, one by one."""
    out = []
    for i in range(len(X)):
        for j in range(i):
            distance = np.linalg.norm(B @ (X[i] - X[j]))
            if distance > 0:
                out.append(distance)
    return out


@pytest.mark.parametrize("n", [2, 3, 30, 31])
@pytest.mark.parametrize("k", [1, 3])
def test_median_distance_is_that_of_all_pairs(n, k):
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((n, 4)), rng.standard_normal((k, 4))
    assert median_distance(X @ B.T) == pytest.approx(np.median(pairs(X, B)), rel=1e-12)


def test_equal_rows_have_no_part_in_the_median():
    X = np.array([[0.0, 1.0]] * 20 + [[0.0, 4.0], [2.0, 5.0]])
    B = np.eye(2)
    assert median_distance(X @ B.T) == pytest.approx(np.median(pairs(X, B)))
    # Images that coincide count as equal, too.
    onto_first = np.array([[1.0, 0.0]])
    assert median_distance(X @ onto_first.T) == 2.0
    assert median_distance(X[:20]) == 1.0
    assert median_distance(0.0 * X) == 1.0
    assert median_distance(X[:1]) == 1.0


def test_median_distance_uses_the_first_rows_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((MEDIAN_ROWS + 50, 3))
    far = np.vstack([X[:MEDIAN_ROWS], 1e6 * X[MEDIAN_ROWS:]])
    assert median_distance(X) == median_distance(far)


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e6])
def test_median_distance_scales_with_the_images(factor):
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((40, 3)), rng.standard_normal((2, 3))
    once = median_distance(X @ B.T)
    assert median_distance(factor * X @ B.T) == pytest.approx(factor * once, rel=1e-12)
    assert median_distance(X @ B.T / once) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 2), (20, 50)])
def test_random_maps_have_operator_norm_one_and_follow_the_generator(shape):
    first = random_map(*shape, np.random.RandomState(3))
    assert first.shape == shape
    assert np.linalg.svd(first, compute_uv=False)[0] == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_array_equal(first, random_map(*shape, np.random.RandomState(3)))
    random = np.random.RandomState(3)
    random_map(*shape, random)
    if shape != (1, 1):
        assert np.linalg.norm(random_map(*shape, random) - first) > 0.1


def test_random_maps_prefer_no_direction():
    random = np.random.RandomState(0)
    maps = np.array([random_map(2, 3, random) for _ in range(3000)])
    np.testing.assert_allclose(maps.mean(axis=0), 0.0, atol=0.05)
    second = np.einsum("nki,nkj->ij", maps, maps) / len(maps)
    np.testing.assert_allclose(second / second[0, 0], np.eye(3), atol=0.1)


@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "matern52", "rational_quadratic"])
@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_gradient_outer_product_equals_finite_differences(kernel, n_targets, k):
    case = hkrr.problem("squared", n=9, p=5, d=3, k=k, n_targets=n_targets)
    point = objective_of(case, kernel).with_coefficients(case.B, case.a, case.c)
    M = gradient_outer_product(point, case.weights)
    assert M.shape == (k, k)
    expected = hkrr.average_outer_product(case, kernel)
    np.testing.assert_allclose(case.B.T @ M @ case.B, expected, atol=1e-7 * expected.max())


def test_gradient_outer_product_of_the_laplace_kernel_away_from_its_kinks():
    case = hkrr.problem("squared", n=9, p=5)
    case = dataclasses.replace(case, Z=case.Z + 0.3)
    point = objective_of(case, "laplace").with_coefficients(case.B, case.a, case.c)
    M = gradient_outer_product(point, case.weights)
    expected = hkrr.average_outer_product(case, "laplace")
    np.testing.assert_allclose(case.B.T @ M @ case.B, expected, atol=1e-6 * expected.max())


def test_weights_of_the_outer_product_are_repetitions():
    case = hkrr.problem("squared", n=12, p=5)
    counts = np.array([1, 2, 3] * 4)
    point = objective_of(case).with_coefficients(case.B, case.a, case.c)
    weighted = gradient_outer_product(point, counts.astype(float))
    repeat = np.repeat(np.arange(12), counts)
    longer = dataclasses.replace(
        case, X=case.X[repeat], y=case.y[:, repeat], weights=np.ones(len(repeat))
    )
    point = objective_of(longer).with_coefficients(case.B, case.a, case.c)
    repeated = gradient_outer_product(point, np.ones(len(repeat)))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)
    # Only ratios of weights matter.
    again = gradient_outer_product(point, np.full(len(repeat), 7.0))
    np.testing.assert_allclose(again, repeated, rtol=1e-12)


def test_blocks_do_not_change_the_outer_product(monkeypatch):
    case = hkrr.problem("squared", n=200)

    def product():
        point = objective_of(case).with_coefficients(case.B, case.a, case.c)
        return gradient_outer_product(point, case.weights)

    whole = product()
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", 1)
    for held in (0, 10**9):
        monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", held)
        np.testing.assert_allclose(product(), whole, rtol=1e-11)


def plain_objective(rows, loss, n_centers=100, alpha=1e-3):
    kernel = make_radial_kernel("gaussian")
    return HyperKernelObjective.of(rows, rows.X[:n_centers], kernel, LOSSES[loss], alpha)


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_the_subspace_map_finds_a_planted_direction(loss, n_components):
    rows = planted_rows(loss, n=400, d=5)
    B = subspace_map(plain_objective(rows, loss), n_components, rows.weights)
    assert B.shape == (n_components, 5)
    values = np.linalg.svd(B, compute_uv=False)
    assert values[0] == pytest.approx(1.0, rel=1e-12)
    assert subspace_gap(B, planted_map(1, 5)) < 0.15
    assert np.all(values[1:] < 0.6)
    # Rows are the principal directions themselves, by decreasing strength.
    np.testing.assert_allclose(B @ B.T, np.diag(values**2), atol=1e-12)


def test_the_subspace_map_finds_a_planted_plane():
    rows = planted_rows(n=500, d=5, k=2)
    B = subspace_map(plain_objective(rows, "squared", 200), 4, rows.weights)
    assert subspace_gap(B, planted_map(2, 5)) < 0.2


def test_the_subspace_map_is_the_root_of_the_average_outer_product():
    rows = planted_rows(n=40, d=3)
    objective = plain_objective(rows, "squared", 15)
    plain = np.eye(3) / median_distance(rows.X)
    fit = objective.at(plain).fit
    case = hkrr.Problem(
        "squared",
        rows.X,
        objective.Z,
        rows.y,
        np.linspace(0.5, 2.0, 40),
        plain,
        fit.coefficients,
        fit.intercept,
        1e-3,
        1e-10,
    )
    dense = hkrr.average_outer_product(case, "gaussian")
    B = subspace_map(objective, 3, case.weights)
    np.testing.assert_allclose(B.T @ B, dense / np.linalg.eigvalsh(dense)[-1], atol=1e-6)


def test_a_constant_target_leaves_the_first_columns():
    rows = planted_rows(n=40)
    flat = dataclasses.replace(rows, y=np.ones_like(rows.y))
    B = subspace_map(plain_objective(flat, "squared", 10), 2, rows.weights)
    assert B.shape == (2, 4) and np.isfinite(B).all()
    assert np.linalg.norm(B, 2) == pytest.approx(1.0, rel=1e-12)


def test_truncation_is_the_best_approximation_up_to_rotation():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((4, 6))
    values = np.linalg.svd(B, compute_uv=False)
    for k in range(1, 5):
        kept = truncated(B, k)
        assert kept.shape == (k, 6)
        # |B x|^2 - |kept x|^2 is at most the next squared singular value.
        gap = np.linalg.eigvalsh(B.T @ B - kept.T @ kept)
        assert gap[0] > -1e-12
        assert gap[-1] == pytest.approx(values[k] ** 2 if k < 4 else 0.0, abs=1e-12)
