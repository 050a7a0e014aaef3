"""The linear system of a kernel fit: direct, conjugate gradients, preconditioned."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.linalg.centered_system import CenteredSystem
from kernlens.linalg.dense_kernel import DenseKernel
from kernlens.linalg.nystrom_preconditioner import NystromPreconditioner
from kernlens.linalg.projected_kernel_operator import ProjectedKernelOperator
from kernlens.losses import DiagonalRoot, MultinomialLoss, SoftmaxRoot
from reference import bkernn
from reference.bkernn_problems import KERNEL_NAMES, WEIGHTINGS, peak_bytes, sample_weights

SOLVERS = ["auto", "direct", "cg", "pcg"]


def setup(kernel="brownian", weighting="equal", n=80, m=5, alpha=0.01, seed=0):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, 4)), rng.standard_normal((m, 4))
    y = np.vstack([np.sin(2 * X[:, 0]), np.abs(X[:, 1])]) + 0.1 * rng.standard_normal((2, n))
    weights = sample_weights(weighting, n, rng)
    operator = ProjectedKernelOperator(W, X, make_kernel(kernel))
    root = DiagonalRoot(np.sqrt(weights)[None])
    system = CenteredSystem(operator, root, alpha * weights.sum(), 2)
    return system, X, W, y, weights, alpha


def softmax_root(n):
    p = np.random.default_rng(0).dirichlet(np.ones(3), n).T
    return SoftmaxRoot(p, np.ones(n))


def dense_matrix(apply, shape):
    columns = [apply(e.reshape(shape)).ravel() for e in np.eye(int(np.prod(shape)))]
    return np.array(columns).T


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_bordered_solution(kernel, weighting, solver):
    system, X, W, y, weights, alpha = setup(kernel, weighting)
    rhs = np.sqrt(weights) * y
    result = system.solve(rhs, solver=solver, tol=1e-12)
    assert result.status is Status.CONVERGED
    dual = system.root.apply(result.solution)
    oracle = bkernn.fit(kernel, "squared", W, X, y, weights, alpha)
    np.testing.assert_allclose(dual, oracle.dual, rtol=0, atol=1e-9 * np.abs(oracle.dual).max())
    np.testing.assert_array_equal(dual[:, weights == 0], 0.0)
    np.testing.assert_allclose(dual.sum(axis=1), 0.0, atol=1e-12 * np.abs(dual).sum())
    kernel_dual = system.operator.matvec(dual)
    decision = kernel_dual + system.intercept(rhs, kernel_dual)[:, None]
    np.testing.assert_allclose(decision, oracle.decision, rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_without_an_intercept_it_is_plain_kernel_ridge(weighting, solver):
    # A kernel that is positive without centring.
    centered, _, _, y, weights, alpha = setup("gaussian", weighting)
    system = CenteredSystem(centered.operator, centered.root, centered.shift, 2, intercept=False)
    root = np.sqrt(weights)
    result = system.solve(root * y, solver=solver, tol=1e-12)
    assert result.status is Status.CONVERGED
    K = centered.operator.matrix
    matrix = root[:, None] * K * root + alpha * weights.sum() * np.eye(len(root))
    expected = root * np.linalg.solve(matrix, (root * y).T).T
    dual = system.root.apply(result.solution)
    np.testing.assert_allclose(dual, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(system.intercept(root * y, dual @ K), 0.0)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_matrix_that_is_held_is_solved_like_one_that_is_not(kernel, solver):
    system, _, _, y, weights, _ = setup(kernel, "random", n=200)
    operator = system.operator
    held = DenseKernel(operator.matrix)
    rows, columns = np.array([3, 0, 3]), np.array([7, 199])
    np.testing.assert_allclose(
        held.submatrix(rows, columns), operator.submatrix(rows, columns), atol=1e-14
    )
    np.testing.assert_allclose(held.matvec(y), operator.matvec(y), atol=1e-10)
    whole = CenteredSystem(held, system.root, system.shift, 2)
    expected = system.solve(np.sqrt(weights) * y, solver="direct").solution
    found = whole.solve(np.sqrt(weights) * y, solver=solver, tol=1e-12)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.solution, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(solver, n):
    system, X, W, y, weights, alpha = setup(n=n)
    result = system.solve(y, solver=solver, tol=1e-13)
    oracle = bkernn.fit("brownian", "squared", W, X, y, weights, alpha)
    np.testing.assert_allclose(result.solution, oracle.dual, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_dead_particles_leave_the_centred_targets_over_the_shift(kernel, solver):
    _, X, _, y, _, _ = setup()
    operator = ProjectedKernelOperator(np.zeros((3, 4)), X, make_kernel(kernel))
    system = CenteredSystem(operator, DiagonalRoot(np.ones((1, len(X)))), 0.5, 2)
    solution = system.solve(y, solver=solver).solution
    np.testing.assert_allclose(solution, (y - y.mean(axis=1, keepdims=True)) / 0.5, atol=1e-12)


@pytest.mark.parametrize("coupled", [False, True])
def test_centring_is_an_orthogonal_projection_away_from_constants(coupled):
    system, X, *_ = setup(weighting="with_zeros")
    if coupled:
        system = CenteredSystem(system.operator, softmax_root(len(X)), 1.0, 3)
    shape = (system.n_targets, len(X))
    P = dense_matrix(system.center, shape)
    np.testing.assert_allclose(P, P.T, atol=1e-14)
    np.testing.assert_allclose(P @ P, P, atol=1e-14)
    for constant in np.eye(system.n_targets):
        image = system.root.adjoint(np.tile(constant[:, None], len(X)))
        np.testing.assert_allclose(system.center(image), 0.0, atol=1e-14)


@pytest.mark.parametrize("solver", SOLVERS)
def test_coupled_targets_are_solved_as_one_dense_system(solver):
    base = setup(n=40)[0]
    system = CenteredSystem(base.operator, softmax_root(40), 0.3, 3)
    rhs = np.random.default_rng(2).standard_normal((3, 40))
    result = system.solve(rhs, solver=solver, tol=1e-12)
    assert result.status is Status.CONVERGED
    P = dense_matrix(system.center, (3, 40))
    A = P @ dense_matrix(system.apply, (3, 40)) @ P + 0.3 * (np.eye(120) - P)
    expected = np.linalg.solve(A, P @ rhs.ravel()).reshape(3, 40)
    np.testing.assert_allclose(result.solution, expected, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_targets_with_curvatures_of_their_own(solver):
    base, _, _, y, _, alpha = setup(n=60)
    roots = np.random.default_rng(1).uniform(0.001, 1.0, (2, 60))
    system = CenteredSystem(base.operator, DiagonalRoot(roots), alpha * 60, 2)
    solution = system.solve(roots * y, solver=solver, tol=1e-12).solution
    for t in range(2):
        one = CenteredSystem(base.operator, DiagonalRoot(roots[t : t + 1]), alpha * 60, 1)
        alone = one.solve(roots[t : t + 1] * y[t : t + 1], solver="direct").solution
        np.testing.assert_allclose(solution[t : t + 1], alone, atol=1e-8)


def test_constants_shared_by_the_classes_stay_out_of_the_duals():
    # The total curvature has the null vector (1, ..., 1), whose eigenvalue is rounding of either
    # sign and size; taken for a real one, it makes duals that do not sum to zero.
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1500, 2500))
        y = np.eye(3)[rng.choice(3, n, p=rng.dirichlet(3 * np.ones(3)))].T
        start = np.tile(MultinomialLoss().best_constant(y, np.ones(n))[:, None], n)
        root, rhs = MultinomialLoss().working_system(y, start, np.ones(n))
        operator = ProjectedKernelOperator(
            np.eye(2), rng.standard_normal((n, 2)), make_kernel("brownian")
        )
        system = CenteredSystem(operator, root, 1e-3 * n, 3)
        result = system.solve(rhs, tol=1e-10)
        dual = root.apply(result.solution)
        assert result.status is Status.CONVERGED
        np.testing.assert_allclose(dual.sum(axis=1), 0.0, atol=1e-10)
        assert abs(system.intercept(rhs, operator.matvec(dual)).sum()) < 1e-10


@pytest.mark.parametrize("solver", ["cg", "pcg"])
def test_starting_at_the_solution_takes_no_step(solver):
    system, _, _, y, *_ = setup()
    solution = system.solve(y, solver="direct").solution
    again = system.solve(y, start=solution, solver=solver, tol=1e-9)
    assert again.n_iter == 0
    np.testing.assert_allclose(again.solution, solution, atol=1e-12)


@pytest.mark.parametrize("kernel", ["brownian", "exponential"])
@pytest.mark.parametrize("weighting", ["equal", "random"])
def test_preconditioner_is_the_inverse_of_the_nystrom_system(kernel, weighting):
    system, X, W, _, weights, _ = setup(kernel, weighting, n=30, alpha=0.05)
    built = NystromPreconditioner.build(system.operator, system.root, system.shift, rank=8)
    K = bkernn.kernel_matrix(kernel, W, X, X)
    first, others = built.landmarks[0], built.landmarks[1:]
    # Functions k(., r) - k(., r_0), seen by the centred and weighted rows.
    anchor = np.zeros((30, 8))
    anchor[others, np.arange(8)] = 1.0
    anchor[first] = -1.0
    unit = np.sqrt(weights / weights.sum())
    columns = np.sqrt(weights)[:, None] * (K @ anchor)
    columns -= np.outer(unit, unit @ columns)
    low_rank = columns @ np.linalg.solve(anchor.T @ K @ anchor, columns.T)
    expected = np.linalg.inv(low_rank + system.shift * np.eye(30))
    r = system.center(np.random.default_rng(1).standard_normal((2, 30)))
    np.testing.assert_allclose(system.center(built(r)), r @ expected, rtol=1e-7, atol=1e-9)


def test_preconditioner_with_all_rows_is_the_inverse():
    system, _, _, y, *_ = setup(n=60, alpha=1e-2)
    built = NystromPreconditioner.build(system.operator, system.root, system.shift, rank=59)
    exact = system.solve(y, solver="direct").solution
    np.testing.assert_allclose(system.center(built(system.center(y))), exact, atol=1e-8)


def test_preconditioner_refuses_targets_with_several_curvatures():
    system, X, *_ = setup()
    for root in (softmax_root(len(X)), DiagonalRoot(np.ones((2, len(X))))):
        with pytest.raises(TypeError, match="shared by all targets"):
            NystromPreconditioner.build(system.operator, root, 1.0)


def test_preconditioned_steps_do_not_grow_with_the_rows():
    def steps(n, solver):
        system, _, _, y, weights, _ = setup(n=n, m=10, alpha=0.05 / n, weighting="random")
        result = system.solve(np.sqrt(weights) * y, solver=solver, tol=1e-8)
        assert result.status is Status.CONVERGED
        return result.n_iter

    assert steps(8000, "pcg") <= 1.3 * steps(2000, "pcg") + 3
    assert steps(8000, "cg") >= 1.5 * steps(2000, "cg")


def test_preconditioned_solve_never_holds_a_square_matrix():
    n, m = 20_000, 5
    system, _, _, y, *_ = setup(n=n, m=m, alpha=1e-3)
    assert peak_bytes(lambda: system.solve(y, solver="pcg", tol=1e-6)) < 8 * n**2 / 50


def test_a_shift_below_rounding_still_factorises():
    system, _, _, y, *_ = setup(alpha=1e-22)
    dual = system.solve(y, solver="direct").solution
    residual = system.center(system.operator.matvec(dual)) - system.center(y)
    assert np.linalg.norm(residual) < 1e-8 * np.linalg.norm(y)


@pytest.mark.parametrize("intercept", [True, False])
def test_coupled_targets_beyond_the_reach_of_iterations(intercept):
    """Rows far out have kernels of 1e10 beside those of size 1."""
    rng = np.random.default_rng(6)
    n, n_targets = 12, 3
    G = rng.standard_normal((n, n)) * 10.0 ** np.linspace(0.0, 5.0, n)[:, None]
    y = np.eye(n_targets)[rng.integers(0, n_targets, n)].T
    root, rhs = MultinomialLoss().working_system(y, rng.standard_normal(y.shape), np.ones(n))
    system = CenteredSystem(DenseKernel(G @ G.T), root, 1.0, n_targets, intercept)
    result = system.solve(rhs, solver="direct", tol=1e-14)
    # One factorisation, where conjugate gradients go on for as long as they may.
    assert result.n_iter == 1
    residual = system.apply(result.solution) - system.center(rhs)
    assert np.linalg.norm(residual) <= 1e-4 * np.linalg.norm(rhs)


@pytest.mark.parametrize("intercept", [True, False])
def test_coupled_targets_factorised_or_iterated(intercept):
    rng = np.random.default_rng(7)
    n, n_targets = 12, 3
    G = rng.standard_normal((n, n))
    y = np.eye(n_targets)[rng.integers(0, n_targets, n)].T
    root, rhs = MultinomialLoss().working_system(y, rng.standard_normal(y.shape), np.ones(n))
    system = CenteredSystem(DenseKernel(G @ G.T), root, 1.0, n_targets, intercept)
    iterated = system.solve(rhs, solver="cg", tol=1e-14).solution
    factorised = system._solve_coupled(system.center(rhs)).solution
    np.testing.assert_allclose(factorised, iterated, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_many_targets_share_a_factor_and_few_iterate(weighting):
    rng = np.random.default_rng(0)
    n, m = 180, 40
    X, W = rng.standard_normal((n, 4)), rng.standard_normal((m, 4))
    weights = sample_weights(weighting, n, rng)
    operator = ProjectedKernelOperator(W, X, make_kernel("brownian"))
    root = DiagonalRoot(np.sqrt(weights)[None])
    steps = {}
    for n_targets in (1, 30):
        y = rng.standard_normal((n_targets, n))
        system = CenteredSystem(operator, root, 0.01 * weights.sum(), n_targets)
        result = system.solve(root.adjoint(y), tol=1e-12)
        steps[n_targets] = result.n_iter
        oracle = bkernn.fit("brownian", "squared", W, X, y, weights, 0.01)
        dual = root.apply(result.solution)
        np.testing.assert_allclose(dual, oracle.dual, rtol=0, atol=1e-9 * np.abs(oracle.dual).max())
    assert steps[30] == 1 < steps[1]


@pytest.mark.parametrize("kernel", ["exponential", "gaussian"])
def test_matrices_that_are_dear_to_form_are_not_factorised_for_many_targets(kernel):
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((160, 3)), rng.standard_normal((20, 3))
    operator = ProjectedKernelOperator(W, X, make_kernel(kernel))
    system = CenteredSystem(operator, DiagonalRoot(np.ones((1, 160))), 1.0, 50)
    assert system.solve(rng.standard_normal((50, 160))).n_iter > 1
