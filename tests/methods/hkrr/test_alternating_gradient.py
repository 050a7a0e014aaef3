"""Alternating gradient descent: the iterates of the corrected Algorithm 4, and where they end."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.kernels.radial import make_radial_kernel
from kernlens.methods.hkrr.alternating_gradient import AlternatingGradient, alternating_gradient
from kernlens.methods.hkrr.problem import HyperKernelProblem
from kernlens.methods.hkrr.varpro import first_size, varpro_lbfgs
from kernlens.optim.backtracking import StepRule
from kernlens.penalties.operator_ball import project_on_ball
from reference import hkrr
from reference.bkernn_problems import LOSSES
from reference.hkrr_problems import (
    near_truth,
    never_increases,
    objective_of,
    planted_problem,
    planted_rows,
)

ALL_LOSSES = ["squared", "logistic", "multinomial"]
HUGE = 1e6


def alternate(objective, start, radius=HUGE, max_iter=2000, tol=0.0, **options):
    return alternating_gradient(
        objective,
        start,
        prox=lambda B, step: project_on_ball(B, radius),
        penalty=lambda B: 0.0,
        max_iter=max_iter,
        tol=tol,
        **options,
    )


def slopes(objective, point):
    """Norms of the gradients in the map and in the coefficients."""
    along_a, along_c = objective.coefficient_gradients(point)
    return np.linalg.norm(objective.gradient(point)), np.hypot(
        np.linalg.norm(along_a), np.linalg.norm(along_c)
    )


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("n_steps", [1, 3])
@pytest.mark.parametrize(("kernel", "radius"), [("gaussian", HUGE), ("matern52", 0.8)])
def test_iterates_are_those_of_the_slow_algorithm_4(loss, n_steps, kernel, radius):
    case = hkrr.problem(loss, n=10, p=4, jitter=1e-2, seed=3)
    case = dataclasses.replace(case, B=hkrr.clip_singular_values(case.B, radius))
    objective = objective_of(case, kernel)
    start = objective.with_coefficients(case.B, case.a, case.c)
    seen = [start]
    alternate(
        objective,
        start,
        radius,
        6,
        n_coefficient_steps=n_steps,
        rule=StepRule(0.4, 0.7, 1e-2),
        watch=seen.append,
    )
    first = first_size(objective.gradient(start), case.B), 1.0
    slow = hkrr.algorithm_4(case, kernel, radius, first, 6, n_steps, rho=0.4, delta=0.7, c=1e-2)
    assert len(seen) == len(slow) == 7
    for point, (B, a, c) in zip(seen, slow, strict=True):
        np.testing.assert_allclose(point.W, B, rtol=0, atol=1e-10)
        np.testing.assert_allclose(point.fit.coefficients, a, rtol=0, atol=1e-10)
        np.testing.assert_allclose(point.fit.intercept, c, rtol=0, atol=1e-10)
    assert np.linalg.norm(slow[-1][0] - slow[0][0]) > 0.05


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_a_single_step_in_the_coefficients_moves_them(loss):
    """The printed index keeps alpha^{i, n - 1}, which for n = 1 is where it began."""
    case = hkrr.problem(loss, jitter=1e-2)
    objective = objective_of(case)
    start = objective.with_coefficients(case.B, case.a, case.c)
    end = alternate(objective, start, max_iter=1, n_coefficient_steps=1).solution
    assert np.linalg.norm(end.fit.coefficients - case.a) > 1e-3
    # Along the gradient at the new map, not at the old one.
    at_new = objective.with_coefficients(end.W, case.a, case.c)
    along, _ = objective.coefficient_gradients(at_new)
    moved = case.a - end.fit.coefficients
    cosine = np.vdot(moved, along) / np.linalg.norm(moved) / np.linalg.norm(along)
    assert cosine == pytest.approx(1.0, abs=1e-12)
    old, _ = objective.coefficient_gradients(start)
    assert np.vdot(moved, old) / np.linalg.norm(moved) / np.linalg.norm(old) < 1 - 1e-6


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("n_steps", [1, 10])
@pytest.mark.parametrize("radius", [0.4, HUGE])
def test_the_history_never_increases_and_the_ball_is_honoured(loss, n_steps, radius):
    case = hkrr.problem(loss, jitter=1e-2, seed=5)
    objective = objective_of(case)
    start = objective.with_coefficients(project_on_ball(case.B, radius), case.a, case.c)
    seen, reports = [], []
    result = alternate(
        objective,
        start,
        radius,
        40,
        n_coefficient_steps=n_steps,
        progress=lambda iteration, value: reports.append((iteration, value)),
        watch=seen.append,
    )
    assert never_increases(result.history)
    assert result.history[0] == start.value
    assert reports == list(enumerate(result.history))[1:]
    assert [point.value for point in seen] == pytest.approx(result.history[1:], rel=1e-12)
    assert seen[-1] is result.solution
    assert max(np.linalg.norm(point.W, 2) for point in seen) <= radius * (1 + 1e-12)
    assert result.history[-1] < 0.9 * result.history[0]


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_both_blocks_are_stationary_at_the_end(loss):
    objective, start = planted_problem(loss)
    begin = objective.with_coefficients(
        start.W, 0.5 * start.fit.coefficients, 0.5 * start.fit.intercept
    )
    end = alternate(objective, begin).solution
    before, after = slopes(objective, begin), slopes(objective, end)
    assert after[0] < 1e-4 * before[0]
    assert after[1] < 1e-5 * before[1]


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("radius", [None, 0.9])
def test_the_minimum_is_that_of_variable_projection(loss, radius):
    objective, start = planted_problem(loss)
    start = objective.at(project_on_ball(start.W, 0.8))
    end = alternate(objective, start, radius or HUGE, 800, 1e-12).solution
    best = varpro_lbfgs(objective, start, radius=radius, max_iter=500, tol=0.0).solution
    assert end.value == pytest.approx(best.value, rel=1e-6)
    np.testing.assert_allclose(end.W.T @ end.W, best.W.T @ best.W, atol=5e-3)
    assert best.value < 0.95 * start.value


def test_the_trace_norm_goes_through_the_map_step():
    rows = planted_rows(n=60, noise=0.1)
    problem = HyperKernelProblem(
        make_radial_kernel("gaussian"),
        LOSSES["squared"],
        radius=0.7,
        trace_norm=0.03,
        optimizer=AlternatingGradient(5),
    )
    objective = problem.objective(rows, rows.X[:8], 0.01)
    fitter = dataclasses.replace(objective.fitter, jitter=0.3)
    objective = dataclasses.replace(objective, fitter=fitter)
    start = objective.at(0.4 * near_truth(3))
    result = problem.minimize(objective, start, max_iter=600, tol=1e-11)
    assert never_increases(result.history)
    end = result.solution
    values = np.linalg.svd(end.W, compute_uv=False)
    assert values[0] <= 0.7 * (1 + 1e-12) and np.sum(values > 1e-9) < 3
    penalty = objective.penalty_strength * values.sum()
    assert result.history[-1] == pytest.approx(end.value + penalty, rel=1e-9)
    prox = problem.limits(objective).prox
    gradient = objective.gradient(end)
    step = 0.1 / np.linalg.norm(gradient)
    assert np.linalg.norm(prox(end.W - step * gradient, step) - end.W) < 1e-3


def test_statuses():
    objective, start = planted_problem()
    assert alternate(objective, start, max_iter=2).status is Status.MAX_ITER
    converged = alternate(objective, start, tol=1e-4)
    assert converged.status is Status.CONVERGED
    assert 0 < converged.n_iter == len(converged.history) - 1 < 2000


def test_a_stationary_point_stays():
    case = hkrr.problem(jitter=1e-2)
    objective = objective_of(case)
    zero = objective.at(0.0 * case.B)
    end = alternate(objective, zero, tol=1e-9).solution
    np.testing.assert_array_equal(end.W, 0.0)
    assert end.value == pytest.approx(zero.value, rel=1e-12)


def test_inputs_are_left_alone():
    case = hkrr.problem()
    objective = objective_of(case)
    start = objective.with_coefficients(case.B, case.a, case.c)
    arrays = (case.X, case.Z, case.y, case.weights, case.B, case.a, case.c)
    kept = [array.copy() for array in arrays]
    alternate(objective, start, 0.5, 5)
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
