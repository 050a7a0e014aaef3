"""Variable projection: iterates of Algorithm 3, stationary ends, the constraint, the penalty."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens._result import Status
from kernlens._rows import canonical_rows
from kernlens.datasets import make_rising_sines
from kernlens.kernels.radial import GaussianKernel, make_radial_kernel
from kernlens.losses import SquaredLoss
from kernlens.methods.hkrr import varpro
from kernlens.methods.hkrr.objective import HyperKernelObjective
from kernlens.methods.hkrr.problem import HyperKernelProblem, constant_loss
from kernlens.methods.hkrr.varpro import VarPro, first_size, varpro_gradient, varpro_lbfgs
from kernlens.optim.backtracking import StepRule
from kernlens.penalties.operator_ball import INSIDE, project_on_ball
from reference import hkrr
from reference.bkernn_problems import LOSSES
from reference.hkrr_problems import (
    near_truth,
    never_increases,
    objective_of,
    planted_map,
    planted_problem,
    planted_rows,
    subspace_gap,
)

ALL_LOSSES = ["squared", "logistic", "multinomial"]
#: Loss and number of components.
PLANTED = [("squared", 1), ("squared", 2), ("logistic", 1), ("multinomial", 1)]
HUGE = 1e6


def norm(B):
    return np.linalg.norm(B, 2)


def ball(radius):
    """What the gradient steps need for the constraint alone."""
    return {"prox": lambda B, step: project_on_ball(B, radius), "penalty": lambda B: 0.0}


def by_gradient(objective, start, radius=HUGE, max_iter=3000, tol=0.0, **options):
    return varpro_gradient(objective, start, max_iter=max_iter, tol=tol, **ball(radius), **options)


def by_lbfgs(objective, start, radius=None, max_iter=1000, tol=0.0, **options):
    return varpro_lbfgs(objective, start, radius=radius, max_iter=max_iter, tol=tol, **options)


@pytest.fixture
def exact_coefficients(monkeypatch):
    monkeypatch.setattr(varpro, "SOLVE_TOL", 1e-13)


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize(("kernel", "radius"), [("gaussian", HUGE), ("matern52", 0.8)])
@pytest.mark.parametrize("reduced", [False, True])
def test_iterates_are_those_of_the_slow_algorithm_3(
    loss, kernel, radius, reduced, exact_coefficients
):
    case = hkrr.problem(loss, n=10, p=4, jitter=1e-2, seed=3)
    case = dataclasses.replace(case, B=hkrr.clip_singular_values(case.B, radius))
    objective = objective_of(case, kernel)
    start = objective.at(case.B, tol=1e-13)
    seen = [start.W]
    rule = StepRule(0.4, 0.7, 1e-2)
    options = {"rule": rule, "reduced": reduced, "watch": lambda point: seen.append(point.W)}
    by_gradient(objective, start, radius, 5, **options)
    first = first_size(objective.gradient(start), start.W)
    maps, _ = hkrr.algorithm_3(
        case, kernel, radius, first, 5, rho=0.4, delta=0.7, c=1e-2, reduced=reduced
    )
    assert len(seen) == len(maps) == 6
    for mine, slow in zip(seen, maps, strict=True):
        np.testing.assert_allclose(mine, slow, rtol=0, atol=1e-10)
    assert np.linalg.norm(maps[-1] - maps[0]) > 0.05


def test_the_largest_step_is_that_of_the_slow_algorithm_3():
    case = hkrr.problem("squared", n=10, p=4, jitter=1e-2, seed=3)
    objective = objective_of(case)
    start = objective.at(case.B)
    first = first_size(objective.gradient(start), start.W)
    end = by_gradient(objective, start, HUGE, 4, rule=StepRule(largest=1.5 * first)).solution
    maps, sizes = hkrr.algorithm_3(
        case, "gaussian", HUGE, first, 4, s_max=1.5 * first, reduced=True
    )
    assert max(sizes) == 1.5 * first
    np.testing.assert_allclose(end.W, maps[-1], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("loss", "k"), PLANTED)
@pytest.mark.parametrize("method", [by_gradient, by_lbfgs])
def test_the_end_is_stationary(loss, k, method, exact_coefficients):
    objective, start = planted_problem(loss, k=k)
    end = method(objective, start).solution
    before, after = (np.linalg.norm(objective.gradient(point)) for point in (start, end))
    assert after < 1e-5 * before
    assert end.value < 0.95 * start.value


@pytest.mark.parametrize(("loss", "k"), PLANTED)
def test_with_an_active_constraint_the_projected_gradient_vanishes(loss, k, exact_coefficients):
    objective, start = planted_problem(loss, k=k)
    radius = 0.9
    start = objective.at(project_on_ball(start.W, 0.9 * radius))
    end = by_gradient(objective, start, radius).solution
    assert norm(end.W) == pytest.approx(radius, rel=1e-12)
    gradient = objective.gradient(end)
    size = np.linalg.norm(gradient)
    assert size > 1e-3
    for step in (0.01 / size, 0.1 / size, 1.0 / size):
        moved = project_on_ball(end.W - step * gradient, radius) - end.W
        assert np.linalg.norm(moved) < 1e-5 * step * size
    # L-BFGS runs over the inside and gets as close to the boundary as it needs, up to rounding.
    inside = by_lbfgs(objective, start, radius).solution
    assert norm(inside.W) <= (1.0 + 1e-14) * radius
    assert inside.value == pytest.approx(end.value, rel=1e-5)


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("method", [by_gradient, by_lbfgs])
@pytest.mark.parametrize("radius", [0.4, HUGE])
def test_the_history_never_increases_and_ends_at_the_solution(loss, method, radius):
    case = hkrr.problem(loss, seed=5)
    objective = objective_of(case)
    start = objective.at(project_on_ball(case.B, 0.99 * radius))
    reports = []
    result = method(
        objective,
        start,
        radius,
        max_iter=40,
        tol=1e-8,
        progress=lambda iteration, value: reports.append((iteration, value)),
    )
    assert never_increases(result.history)
    assert result.history[0] == start.value
    assert reports == list(enumerate(result.history))[1:]
    assert result.n_iter == len(reports)
    assert result.solution.value == pytest.approx(result.history[-1], rel=1e-6)
    assert result.solution.value <= start.value


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("radius", [0.3, 0.9])
@pytest.mark.parametrize("method", [by_gradient, by_lbfgs])
def test_every_evaluated_map_honours_the_constraint(loss, radius, method):
    objective, start = planted_problem(loss, k=2)
    start = objective.at(project_on_ball(start.W, radius))
    seen = []
    method(objective, start, radius, max_iter=25, watch=lambda point: seen.append(point))
    assert len(seen) > 3
    assert max(norm(point.W) for point in seen) <= radius * (1 + 1e-12)
    for point in seen[:: len(seen) // 3]:
        assert point.value == pytest.approx(objective.at(point.W).value, rel=1e-6)


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_a_huge_ball_is_no_constraint(loss, exact_coefficients):
    objective, start = planted_problem(loss)
    free = by_lbfgs(objective, start, None).solution
    inside = by_lbfgs(objective, start, HUGE).solution
    assert inside.value == pytest.approx(free.value, rel=1e-9)
    np.testing.assert_allclose(inside.W, free.W, atol=1e-4)


@pytest.mark.parametrize(("loss", "k"), PLANTED)
def test_from_a_good_start_both_find_the_same_minimum(loss, k, exact_coefficients):
    objective, start = planted_problem(loss, k=k)
    first = by_gradient(objective, start).solution
    second = by_lbfgs(objective, start).solution
    assert first.value == pytest.approx(second.value, rel=1e-8)
    # Maps are the same up to a rotation of their images.
    np.testing.assert_allclose(first.W.T @ first.W, second.W.T @ second.W, atol=1e-3)
    assert second.value < 0.95 * start.value


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("radius", [None, 2.0])
def test_the_planted_map_is_recovered_without_noise(k, radius):
    rows = planted_rows(n=150, k=k)
    kernel = make_radial_kernel("gaussian")
    objective = HyperKernelObjective.of(rows, rows.X[:60], kernel, LOSSES["squared"], 1e-8)
    start = objective.at(near_truth(k, size=0.2))
    end = by_lbfgs(objective, start, radius, max_iter=300).solution
    truth = planted_map(k, 4)
    assert subspace_gap(start.W, truth) > 0.1
    assert subspace_gap(end.W, truth) < 2e-3
    assert np.mean((end.fit.decision - rows.y) ** 2) < 1e-5 * np.var(rows.y)


@pytest.mark.parametrize("method", [by_gradient, by_lbfgs])
def test_statuses(method):
    case = hkrr.problem()
    objective = objective_of(case)
    start = objective.at(case.B)
    assert method(objective, start, max_iter=2).status is Status.MAX_ITER
    result = method(objective, start, max_iter=500, tol=1e-4)
    assert result.status is Status.CONVERGED
    # A stationary point stays where it is: a map to zero.
    zero = objective.at(0.0 * case.B)
    stayed = method(objective, zero, tol=1e-6)
    np.testing.assert_array_equal(stayed.solution.W, 0.0)
    assert stayed.status is Status.CONVERGED


def test_a_start_on_the_sphere_is_kept_if_nothing_inside_is_lower():
    """L-BFGS moves the start inside before it begins; the answer is not higher for that."""
    case = hkrr.problem(alpha=0.01, jitter=1e-3)
    objective = objective_of(case)
    radius = 0.5
    best = by_gradient(objective, objective.at(project_on_ball(case.B, radius)), radius).solution
    again = by_lbfgs(objective, best, radius, max_iter=1).solution
    assert again.value <= best.value
    assert norm(best.W) > (1 - INSIDE) * radius


def test_first_size_moves_a_tenth():
    rng = np.random.default_rng(0)
    B, gradient = rng.standard_normal((2, 2, 3))
    moved = first_size(gradient, B) * gradient
    assert np.linalg.norm(moved) == pytest.approx(0.1 * np.linalg.norm(B))
    assert np.linalg.norm(first_size(gradient, 0 * B) * gradient) == pytest.approx(0.1)
    assert first_size(0 * gradient, B) == 1.0


# -- the trace norm -------------------------------------------------------------------------------


def trace_norm(B):
    return np.linalg.svd(B, compute_uv=False).sum()


def penalized(radius, trace=0.3, steps="gradient", loss="squared"):
    """A problem with the trace norm and its objective, with the jitter of `planted_problem`."""
    problem = HyperKernelProblem(
        make_radial_kernel("gaussian"),
        LOSSES[loss],
        radius=radius,
        trace_norm=trace,
        optimizer=VarPro(steps),
    )
    rows = planted_rows(loss, n=60, noise=0.1)
    objective = problem.objective(rows, rows.X[:8], 0.01)
    fitter = dataclasses.replace(objective.fitter, jitter=0.3)
    return problem, dataclasses.replace(objective, fitter=fitter), rows


@pytest.mark.parametrize("radius", [None, 0.7, 2.0])
@pytest.mark.parametrize("step", [1e-3, 0.5, 4.0])
@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (4, 2), (1, 4)])
def test_prox_of_trace_norm_and_ball_satisfies_its_optimality_conditions(radius, step, shape):
    problem, objective, _ = penalized(radius)
    rng = np.random.default_rng(0)
    B = 1.5 * rng.standard_normal(shape)
    kept = B.copy()
    limits = problem.limits(objective)
    prox, penalty = limits.prox, limits.value
    end = prox(B, step)
    np.testing.assert_array_equal(B, kept)
    tau = step * objective.penalty_strength

    def function(C):
        return 0.5 * np.sum((C - B) ** 2) + tau * trace_norm(C)

    # The function is strongly convex: another C of the ball is higher by half the squared gap.
    bound = np.inf if radius is None else radius
    assert norm(end) <= bound * (1 + 1e-12)
    for index in range(300):
        near = end + 10.0 ** -(index % 6) * rng.standard_normal(shape)
        C = hkrr.clip_singular_values(near, bound)
        assert function(C) >= function(end) + 0.5 * np.sum((C - end) ** 2) - 1e-12
    # The residual has the singular vectors of the end: tau inside, more on the sphere, less at 0.
    U, values, Vt = np.linalg.svd(B, full_matrices=False)
    inner = U.T @ end @ Vt.T
    np.testing.assert_allclose(end, U @ np.diag(np.diag(inner)) @ Vt, atol=1e-12)
    for value, kept_value in zip(values, np.diag(inner), strict=True):
        if kept_value > bound - 1e-9:
            assert value - bound >= tau - 1e-12
        elif kept_value > 1e-9:
            assert value - kept_value == pytest.approx(tau, abs=1e-12)
        else:
            assert value <= tau + 1e-9
    assert penalty(B) == pytest.approx(objective.penalty_strength * trace_norm(B), rel=1e-12)


def test_strength_of_the_trace_norm_is_in_units_of_the_best_constant():
    problem, objective, rows = penalized(None)
    mean_loss = 0.5 * np.var(rows.y)
    assert objective.penalty_strength == pytest.approx(0.3 * mean_loss, rel=1e-12)
    assert constant_loss(LOSSES["squared"], rows) == pytest.approx(mean_loss, rel=1e-12)
    B = np.random.default_rng(0).standard_normal((3, 4))
    expected = 0.3 * mean_loss * trace_norm(B)
    assert problem.limits(objective).value(B) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("radius", [None, 0.6])
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_with_the_trace_norm_steps_end_at_a_fixed_point_of_low_rank(
    radius, loss, exact_coefficients
):
    problem, objective, _ = penalized(radius, trace=0.03, loss=loss)
    start = objective.at(0.4 * near_truth(3))
    result = problem.minimize(objective, start, max_iter=2000, tol=0.0)
    assert never_increases(result.history)
    end = result.solution
    total = end.value + problem.limits(objective).value(end.W)
    assert total == pytest.approx(result.history[-1], rel=1e-12)
    prox = problem.limits(objective).prox
    gradient = objective.gradient(end)
    step = 0.1 / np.linalg.norm(gradient)
    assert np.linalg.norm(prox(end.W - step * gradient, step) - end.W) < 1e-6
    values = np.linalg.svd(end.W, compute_uv=False)
    assert values[0] > 0.3 and np.sum(values > 1e-9) < 3


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_factored_lbfgs_and_proximal_steps_find_the_same_penalised_minimum(loss):
    by_steps, objective, _ = penalized(None, trace=0.03, loss=loss)
    smooth = dataclasses.replace(by_steps, optimizer=VarPro("lbfgs"))
    start = objective.at(near_truth(2))
    seen = []
    first = by_steps.minimize(objective, start, max_iter=2000, tol=0.0).solution
    second = smooth.minimize(
        objective, start, max_iter=500, tol=1e-13, watch=lambda point: seen.append(point)
    ).solution
    values = [point.value + by_steps.limits(objective).value(point.W) for point in (first, second)]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    assert len(seen) > 5 and seen[-1].value == pytest.approx(second.value, rel=1e-6)


@pytest.mark.parametrize("steps", ["lbfgs", "gradient"])
@pytest.mark.parametrize("trace", [0.0, 0.01])
@pytest.mark.parametrize("radius", [None, 0.5])
def test_the_optimiser_of_the_problem_honours_the_ball(steps, trace, radius):
    problem, objective, _ = penalized(radius, trace, steps)
    start = objective.at(0.3 * near_truth(2))
    seen = []
    result = problem.minimize(objective, start, max_iter=100, tol=1e-9, watch=seen.append)
    first, last = (
        point.value + problem.limits(objective).value(point.W) for point in (start, result.solution)
    )
    assert last < first
    largest = max(norm(point.W) for point in [*seen, result.solution])
    assert largest > 0.6 if radius is None else largest <= 0.5 * (1 + 1e-12)


@pytest.mark.parametrize("steps", ["lbfgs", "gradient"])
@pytest.mark.parametrize("trace", [0.0, 0.01])
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_a_start_outside_the_ball_ends_inside(steps, trace, loss):
    """Even if it is lower than anything inside."""
    radius = 0.3
    problem, objective, _ = penalized(radius, trace, steps, loss)
    free = dataclasses.replace(problem, radius=None, trace_norm=0.0, optimizer=VarPro())
    start = free.minimize(
        dataclasses.replace(objective, penalty_strength=0.0),
        objective.at(near_truth(2)),
        max_iter=100,
        tol=1e-9,
    ).solution
    assert norm(start.W) > 2 * radius
    seen = []
    result = problem.minimize(objective, start, max_iter=20, tol=1e-9, watch=seen.append)
    assert max(norm(point.W) for point in [*seen, result.solution]) <= radius * (1 + 1e-12)
    nearest = objective.at(project_on_ball(start.W, radius))
    total = result.solution.value + problem.limits(objective).value(result.solution.W)
    assert total <= nearest.value + problem.limits(objective).value(nearest.W)


def test_inputs_are_left_alone():
    case = hkrr.problem()
    objective = objective_of(case)
    start = objective.at(case.B)
    arrays = (case.X, case.Z, case.y, case.weights, case.B, start.fit.coefficients)
    kept = [array.copy() for array in arrays]
    for radius in (0.5, HUGE):
        by_gradient(objective, start, radius, 5)
        by_lbfgs(objective, start, radius, 5)
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_testing_the_reduced_objective_moves_where_the_printed_test_hardly_does():
    # Default jitter: the coefficients of a nearly singular system are large and cancel.
    data = make_rising_sines(100, 6, n_relevant=2, n_test=1, random_state=0)
    rows = canonical_rows(data.X, data.y[None], np.ones(100))
    B = np.eye(2, 6) + 0.3
    objective = HyperKernelObjective.of(rows, rows.X[:40], GaussianKernel(), SquaredLoss(), 1e-4)
    start = objective.at(B)
    printed = by_gradient(objective, start, max_iter=50, reduced=False).solution.value
    reduced = by_gradient(objective, start, max_iter=50).solution.value
    assert start.value - printed < 0.05 * (start.value - reduced)
