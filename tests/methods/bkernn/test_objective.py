"""The objective as a function of the particles: value, gradient, invariances."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from reference import bkernn
from reference import penalties as omega
from reference.bkernn_problems import KERNEL_NAMES, LOSSES, TIGHT, WEIGHTINGS, problem, solved


def value(case, W, kernel="brownian"):
    return case.smooth(kernel).at(W, tol=TIGHT).value


def gradient(case, W, kernel="brownian"):
    smooth = case.smooth(kernel)
    return smooth.gradient(smooth.at(W, tol=TIGHT))


def with_tied_rows(case):
    """Small integers, so that projections of distinct rows are exactly equal; one dead particle."""
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, case.X.shape).astype(float)
    W = rng.integers(-1, 2, case.W.shape).astype(float)
    W[1] = 0.0
    return dataclasses.replace(case, X=X, W=W)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_objective_with_every_penalty_equals_the_oracle(kernel, loss, weighting):
    case, oracle = solved(kernel, loss, weighting)
    for name, penalty in omega.OMEGA.items():
        objective = case.objective(name, kernel, TIGHT, strength=2.0)
        expected = oracle.value + case.alpha * 2.0 * penalty(case.W, 1.0)
        assert objective.value(objective.at(case.W)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_gradient_equals_the_double_sum(kernel, loss, weighting):
    case, oracle = solved(kernel, loss, weighting)
    expected = bkernn.gradient(kernel, case.W, case.X, oracle.dual, case.alpha)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient(case, case.W, kernel), expected, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_with_ties_equals_the_double_sum(kernel, loss):
    case = with_tied_rows(problem(loss, "with_zeros"))
    projections = case.W @ case.X.T
    assert all(len(np.unique(row)) < len(row) / 3 for row in projections)
    expected = bkernn.gradient(kernel, case.W, case.X, case.oracle(kernel).dual, case.alpha)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient(case, case.W, kernel), expected, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", ["random", "with_zeros"])
def test_gradient_equals_finite_differences(kernel, loss, weighting):
    # Rows are repeated, which makes no kink: |w . (x - x)| is zero for every w.
    case = problem(loss, weighting, n=20, m=3, alpha=0.05, seed=1)
    h = 1e-5
    rows = np.arange(len(case.X) - 2)
    differences = case.X[rows][:, None] - case.X[rows][None]
    gaps = np.abs(np.einsum("ika,ja->ikj", differences, case.W))[~np.eye(len(rows), dtype=bool)]
    assert gaps.min() > 2 * h * np.abs(differences).max(), "a kink of G is within reach of the step"
    numerical = np.empty(case.W.shape)
    for index in np.ndindex(*case.W.shape):
        move = np.zeros(case.W.shape)
        move[index] = h
        up, down = value(case, case.W + move, kernel), value(case, case.W - move, kernel)
        numerical[index] = (up - down) / (2 * h)
    exact = gradient(case, case.W, kernel)
    np.testing.assert_allclose(exact, numerical, rtol=0, atol=2e-7 * np.abs(exact).max())


def test_gradient_by_iterations_is_the_direct_one():
    case = problem("squared", "random", n=120, seed=2)
    direct, iterative = case.smooth(solver="direct"), case.smooth(solver="cg")
    one = direct.gradient(direct.at(case.W))
    other = iterative.gradient(iterative.at(case.W, tol=1e-12))
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-9 * np.abs(one).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_integer_weights_are_repetitions(loss, kernel):
    case = problem(loss, seed=3)
    counts = np.random.default_rng(1).integers(0, 4, len(case.X))
    rows = np.repeat(np.arange(len(case.X)), counts)
    weighted = dataclasses.replace(case, weights=counts.astype(float))
    repeated = dataclasses.replace(
        case, X=case.X[rows], y=case.y[:, rows], weights=np.ones(len(rows))
    )
    assert value(weighted, case.W, kernel) == pytest.approx(
        value(repeated, case.W, kernel), rel=1e-10
    )
    exact = gradient(repeated, case.W, kernel)
    atol = 1e-7 * np.abs(exact).max()
    np.testing.assert_allclose(gradient(weighted, case.W, kernel), exact, rtol=0, atol=atol)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_and_particles_have_no_order(loss):
    case = problem(loss, "random", seed=4)
    rng = np.random.default_rng(0)
    order, particles = rng.permutation(len(case.X)), rng.permutation(len(case.W))
    moved = dataclasses.replace(
        case, X=case.X[order], y=case.y[:, order], weights=case.weights[order]
    )
    exact = gradient(case, case.W)
    assert value(moved, case.W[particles]) == pytest.approx(value(case, case.W), rel=1e-11)
    atol = 1e-8 * np.abs(exact).max()
    np.testing.assert_allclose(gradient(moved, case.W[particles]), exact[particles], atol=atol)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_moving_and_rotating_the_data_changes_nothing(kernel):
    case = problem("squared", "random", seed=5)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    turned = dataclasses.replace(case, X=(case.X + 7.0) @ Q)
    assert value(turned, case.W @ Q, kernel) == pytest.approx(value(case, case.W, kernel), rel=1e-9)
    np.testing.assert_allclose(
        gradient(turned, case.W @ Q, kernel), gradient(case, case.W, kernel) @ Q, atol=1e-9
    )


def test_sign_of_a_particle_does_not_matter():
    case = problem("squared", seed=6)
    signs = np.array([1.0, -1.0, 1.0, -1.0, -1.0])[:, None]
    for kernel in KERNEL_NAMES:
        flipped = value(case, signs * case.W, kernel)
        assert flipped == pytest.approx(value(case, case.W, kernel), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_very_few_rows(loss, n):
    case = problem(loss, n=8, seed=7)
    few = dataclasses.replace(case, X=case.X[:n], y=case.y[:, :n], weights=case.weights[:n])
    assert value(few, few.W) == pytest.approx(few.oracle().value, rel=1e-9, abs=1e-15)
    expected = bkernn.gradient("brownian", few.W, few.X, few.oracle().dual, few.alpha)
    np.testing.assert_allclose(gradient(few, few.W), expected, atol=1e-10)


def test_all_dead_particles_leave_the_best_constant():
    case = problem("squared", "random", seed=8)
    mean = np.average(case.y, axis=1, weights=case.weights)[:, None]
    spread = np.average(0.5 * np.sum((case.y - mean) ** 2, axis=0), weights=case.weights)
    for kernel in KERNEL_NAMES:
        assert value(case, np.zeros_like(case.W), kernel) == pytest.approx(spread, rel=1e-12)
        np.testing.assert_array_equal(gradient(case, np.zeros_like(case.W), kernel), 0.0)


def test_best_point_is_remembered():
    case = problem("squared")
    objective = case.objective()
    points = [objective.at(scale * case.W) for scale in (1.0, 3.0, 0.1, 2.0)]
    values = [objective.value(point) for point in points]
    assert objective.best is points[int(np.argmin(values))]
    assert objective.best_value == min(values)


@pytest.mark.parametrize("loss", LOSSES)
def test_inputs_are_left_alone(loss):
    case = problem(loss, "with_zeros")
    arrays = (case.X, case.y, case.weights, case.W)
    kept = [a.copy() for a in arrays]
    smooth = case.smooth()
    point = smooth.at(case.W)
    smooth.gradient(smooth.at(case.W, start=point))
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
