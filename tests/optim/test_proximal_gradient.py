"""Algorithm 1: the same path as the plain version, monotone, honest about how it ended."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.optim.proximal_gradient import proximal_gradient
from kernlens.penalties import PENALTIES
from reference import bkernn
from reference.bkernn_problems import KERNEL_NAMES, LOSSES, problem

NAMES = list(PENALTIES)


def descend(case, penalty="feature", kernel="brownian", tol_inner=1e-10, **options):
    objective = case.objective(penalty, kernel, tol_inner)
    return objective, proximal_gradient(objective, objective.at(case.W), **options)


@pytest.mark.parametrize("penalty", NAMES)
def test_path_equals_the_plain_algorithm(penalty):
    case = problem("squared", n=25, m=4, alpha=0.05, seed=1)
    path, objectives = bkernn.algorithm_1(penalty, case.W, case.X, case.y, case.alpha, n_iter=5)
    for n_iter in (1, 5):
        _, result = descend(case, penalty, max_iter=n_iter)
        assert result.n_iter == n_iter
        np.testing.assert_allclose(result.solution.W, path[n_iter], rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.history, objectives, rtol=1e-11)
    assert objectives[-1] < 0.99 * objectives[0]


@pytest.mark.parametrize("kernel", ["exponential", "gaussian"])
def test_path_equals_the_plain_algorithm_for_other_kernels(kernel):
    case = problem("squared", n=25, m=4, alpha=0.02, seed=2)
    path, objectives = bkernn.algorithm_1(
        "variable", case.W, case.X, case.y, case.alpha, n_iter=5, kernel=kernel, step=50.0
    )
    _, result = descend(case, "variable", kernel, max_iter=5, step=50.0)
    np.testing.assert_allclose(result.solution.W, path[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.history, objectives, rtol=1e-11)


@pytest.mark.parametrize("penalty", NAMES)
@pytest.mark.parametrize("loss", LOSSES)
def test_history_never_increases(penalty, loss):
    for seed in range(3):
        kernel = KERNEL_NAMES[seed]
        case = problem(loss, "random", alpha=10.0 ** -(seed + 1), seed=seed)
        objective, result = descend(case, penalty, kernel, max_iter=12)
        assert np.all(np.diff(result.history) <= 0)
        assert result.history[-1] < result.history[0]
        assert objective.value(result.solution) == result.history[-1]
        assert len(result.history) == result.n_iter + 1


@pytest.mark.parametrize("penalty", ["concave_variable", "concave_feature"])
@pytest.mark.parametrize("step", [1e-3, 500.0, 1e8])
def test_history_never_increases_whatever_the_first_step(penalty, step):
    for seed in range(5):
        case = problem("squared", "random", alpha=0.02, seed=seed)
        _, result = descend(case, penalty, max_iter=10, step=step)
        assert np.all(np.diff(result.history) <= 0)
        assert result.history[-1] < result.history[0]


def test_the_history_is_what_the_oracle_computes():
    case = problem("logistic", "random", seed=3)
    objective, result = descend(case, "feature", tol_inner=1e-12, max_iter=8)
    W = result.solution.W
    oracle = bkernn.fit("brownian", "logistic", W, case.X, case.y, case.weights, case.alpha)
    expected = oracle.value + case.alpha * objective.penalty.value(W)
    assert result.history[-1] == pytest.approx(expected, rel=1e-10)


def test_iterative_and_direct_inner_solves_follow_the_same_path():
    case = problem("squared", "random", n=160, alpha=0.05, seed=4)
    ends = []
    for solver in ("direct", "cg"):
        objective = case.objective("feature", tol=1e-12)
        fitter = objective.smooth.fitter
        object.__setattr__(fitter, "solver", solver)
        ends.append(proximal_gradient(objective, objective.at(case.W), max_iter=5).solution.W)
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-7)


def test_a_strong_penalty_kills_every_particle():
    case = problem("squared", alpha=1e3, seed=5)
    _, result = descend(case, "feature", max_iter=50)
    np.testing.assert_array_equal(result.solution.W, 0.0)
    mean = case.y.mean(axis=1, keepdims=True)
    assert result.history[-1] == pytest.approx(0.5 * np.sum((case.y - mean) ** 2) / 30, rel=1e-10)


def test_features_that_do_not_matter_are_dropped():
    rng = np.random.default_rng(0)
    case = problem("squared", n=120, d=4, m=8, alpha=0.02, seed=6)
    case.y[:] = np.abs(case.X[:, 0]) + 0.01 * rng.standard_normal(case.y.shape)
    _, result = descend(case, "variable", max_iter=80)
    norms = np.linalg.norm(result.solution.W, axis=0)
    assert norms[0] > 0.1
    assert np.all(norms[1:] < 0.05 * norms[0])


def test_tolerance_stops_early_and_says_so():
    case = problem("squared", alpha=0.05, seed=7)
    _, result = descend(case, max_iter=500, tol=1e-4)
    assert result.status is Status.CONVERGED and result.n_iter < 500
    decreases = -np.diff(result.history) / np.array(result.history[1:])
    assert decreases[-1] <= 1e-4 < decreases[:-1].min()
    _, result = descend(case, max_iter=3)
    assert result.status is Status.MAX_ITER and result.n_iter == 3


def test_no_iterations_return_the_start():
    case = problem("squared")
    objective = case.objective()
    start = objective.at(case.W)
    result = proximal_gradient(objective, start, max_iter=0)
    assert result.solution is start and result.history == (objective.value(start),)


def test_progress_is_reported_after_every_iteration():
    seen = []
    _, result = descend(
        problem("squared"), max_iter=4, progress=lambda step, value: seen.append((step, value))
    )
    assert seen == list(zip(range(1, 5), result.history[1:], strict=True))


def test_inputs_are_left_alone():
    case = problem("squared", "random")
    arrays = (case.X, case.y, case.weights, case.W)
    kept = [a.copy() for a in arrays]
    for penalty in NAMES:
        descend(case, penalty, max_iter=3)
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
