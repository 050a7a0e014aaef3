"""Quasi-Newton steps on the factors: never above the start, ahead of the proximal steps."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import replace

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.optim.factored_lbfgs import factored_lbfgs
from kernlens.optim.proximal_gradient import proximal_gradient
from kernlens.penalties import PENALTIES
from reference import bkernn
from reference.bkernn_problems import KERNEL_NAMES, LOSSES, problem

NAMES = list(PENALTIES)


class Counted:
    """An objective that counts its evaluations, and stops them at a limit."""

    def __init__(self, objective, limit=np.inf):
        self.objective = objective
        self.limit = limit
        self.count = 0

    def __getattr__(self, name):
        return getattr(self.objective, name)

    def at(self, W, start=None):
        self.count += 1
        if self.count > self.limit:
            raise StopIteration
        return self.objective.at(W, start)


def minimize(case, penalty="feature", kernel="brownian", **options):
    objective = case.objective(penalty, kernel)
    return objective, factored_lbfgs(objective, objective.at(case.W), **options)


def proximal_value(case, penalty, n_evaluations):
    """Lowest F that proximal steps see within so many evaluations."""
    objective = case.objective(penalty)
    counted = Counted(objective, n_evaluations)
    with contextlib.suppress(StopIteration):
        proximal_gradient(counted, objective.at(case.W), max_iter=10**6)
    return objective.best_value


@pytest.mark.parametrize("penalty", NAMES)
@pytest.mark.parametrize("loss", LOSSES)
def test_end_is_below_the_start_and_history_never_increases(penalty, loss):
    for seed, kernel in enumerate(KERNEL_NAMES):
        case = problem(loss, "random", alpha=10.0 ** -(seed + 1), seed=seed)
        objective, result = minimize(case, penalty, kernel, max_iter=15)
        assert np.all(np.diff(result.history) <= 1e-12 * result.history[0])
        assert objective.value(result.solution) < result.history[0]
        assert objective.value(result.solution) <= result.history[-1] * (1 + 1e-12)
        assert len(result.history) == result.n_iter + 1


@pytest.mark.parametrize("penalty", NAMES)
def test_history_starts_at_the_objective_of_the_start(penalty):
    case = problem("squared")
    objective, result = minimize(case, penalty, max_iter=2)
    assert result.history[0] == objective.value(objective.at(case.W))


def lead_over_proximal_steps(penalty, n_problems=8):
    """F at the end over the lowest F that proximal steps see with three times the evaluations."""
    ratios = []
    for seed in range(n_problems):
        case = problem("squared", n=60, d=5, m=8, alpha=0.02, seed=seed)
        counted = Counted(case.objective(penalty))
        result = factored_lbfgs(counted, counted.at(case.W), max_iter=30, tol=0.0)
        reached = counted.value(result.solution)
        ratios.append(reached / proximal_value(case, penalty, 3 * counted.count))
    return np.array(ratios)


@pytest.mark.parametrize("penalty", ["variable", "feature", "concave_variable", "concave_feature"])
def test_ahead_of_proximal_steps_with_three_times_the_evaluations(penalty):
    ratios = lead_over_proximal_steps(penalty)
    assert np.all(ratios < 1.0) and ratios.mean() < 0.95


@pytest.mark.parametrize("penalty", ["basic", "basic_l1"])
def test_ahead_of_proximal_steps_most_of_the_time_where_particles_die_one_by_one(penalty):
    # F is not convex: factors at zero stay there, and now and then the wrong particle has died.
    ratios = lead_over_proximal_steps(penalty)
    assert np.mean(ratios < 1.0) >= 7 / 8 and ratios.mean() < 0.98


@pytest.mark.parametrize("penalty", ["basic", "variable", "feature"])
def test_end_satisfies_the_fixed_point_of_the_proximal_step(penalty):
    # With the smooth Gaussian kernel a long run ends where W = prox(W - step * gradient).
    case = problem("squared", n=25, m=3, alpha=0.05, seed=3)
    objective, result = minimize(case, penalty, "gaussian", max_iter=2000, tol=1e-15)
    point = result.solution
    moved = objective.prox(point.W - objective.smooth.gradient(point), 1.0)
    first = objective.at(case.W)
    scale = np.linalg.norm(objective.prox(case.W - objective.smooth.gradient(first), 1.0) - case.W)
    assert np.linalg.norm(moved - point.W) < 1e-3 * scale


def test_the_end_is_what_the_oracle_computes():
    case = problem("multinomial", "random", seed=4)
    objective, result = minimize(case, "concave_feature", max_iter=10)
    W = result.solution.W
    oracle = bkernn.fit("brownian", "multinomial", W, case.X, case.y, case.weights, case.alpha)
    expected = oracle.value + case.alpha * objective.penalty.value(W)
    assert objective.value(result.solution) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_targets_does_not_matter(scale):
    # With y, alpha and W in other units F is in units squared; absolute tolerances would show here.
    case, scaled = (problem("squared", alpha=0.05 * unit, seed=5) for unit in (1.0, scale))
    scaled.y[:] *= scale
    scaled.W[:] *= scale
    _, plain = minimize(case, max_iter=25, tol=0.0)
    _, other = minimize(scaled, max_iter=25, tol=0.0)
    assert other.history[0] == pytest.approx(plain.history[0] * scale**2, rel=1e-9)
    assert other.history[-1] == pytest.approx(plain.history[-1] * scale**2, rel=1e-2)


@pytest.mark.parametrize("penalty", NAMES)
def test_zero_particles_stay_where_they_are(penalty):
    case = problem("squared")
    objective = case.objective(penalty)
    start = objective.at(np.zeros_like(case.W))
    result = factored_lbfgs(objective, start)
    np.testing.assert_array_equal(result.solution.W, 0.0)
    assert objective.value(result.solution) == result.history[0]


def test_status_and_progress():
    case = problem("squared", alpha=0.05, seed=6)
    seen = []
    _, result = minimize(case, max_iter=3, tol=0.0, progress=lambda *step: seen.append(step))
    assert result.status is Status.MAX_ITER and result.n_iter == 3
    assert seen == list(zip(range(1, 4), result.history[1:], strict=True))
    _, result = minimize(case, max_iter=500, tol=1e-3)
    assert result.status is Status.CONVERGED and result.n_iter < 500


def test_inputs_are_left_alone():
    case = problem("squared", "random")
    arrays = (case.X, case.y, case.weights, case.W)
    kept = [a.copy() for a in arrays]
    for penalty in NAMES:
        minimize(case, penalty, max_iter=3)
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)


class Noisy(Counted):
    """An objective that is known to few digits, as on data of very different sizes."""

    def at(self, W, start=None):
        point = super().at(W, start)
        noise = 0.1 * np.random.default_rng(self.count).standard_normal()
        return replace(point, fit=replace(point.fit, value=point.fit.value * np.exp(noise)))


@pytest.mark.parametrize("seed", range(5))
def test_an_objective_that_rises_by_rounding_leaves_the_best_point(seed):
    case = problem("squared", "random", alpha=1e-3, seed=seed)
    noisy = Noisy(case.objective("feature", "brownian"))
    start = noisy.at(case.W)
    result = factored_lbfgs(noisy, start, max_iter=15)
    assert np.all(np.diff(result.history) <= 0.0)
    assert noisy.value(result.solution) <= result.history[-1]


def test_no_point_is_evaluated_twice_in_a_row():
    for penalty in NAMES:
        case = problem("squared", n=40, d=4, m=6, alpha=0.05, seed=7)
        counted = Counted(case.objective(penalty))
        maps = []
        evaluate = counted.objective.at
        counted.objective.at = lambda W, start=None, evaluate=evaluate, maps=maps: (
            maps.append(W) or evaluate(W, start)
        )
        factored_lbfgs(counted, counted.at(case.W), max_iter=8, tol=0.0)
        assert counted.count == len(maps) >= 9
        moves = [np.abs(W - V).max() for V, W in itertools.pairwise(maps)]
        assert min(moves) > 1e-12
