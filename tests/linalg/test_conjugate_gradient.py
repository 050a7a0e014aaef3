"""Conjugate gradients on systems whose solution is known."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.linalg.conjugate_gradient import conjugate_gradient


def system(n=40, condition=100.0, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = (Q * np.geomspace(1.0, condition, n)) @ Q.T
    return (A + A.T) / 2, rng.standard_normal(n)


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e6])
def test_solution_equals_the_dense_solve(condition):
    A, rhs = system(condition=condition)
    result = conjugate_gradient(lambda x: A @ x, rhs, tol=1e-12)
    assert result.status is Status.CONVERGED
    exact = np.linalg.solve(A, rhs)
    error = np.linalg.norm(result.solution - exact)
    assert error <= 10 * condition * 1e-12 * np.linalg.norm(exact)


def test_the_residual_reported_is_the_residual():
    A, rhs = system()
    for tol in (1e-2, 1e-6, 1e-10):
        result = conjugate_gradient(lambda x: A @ x, rhs, tol=tol)
        actual = np.linalg.norm(rhs - A @ result.solution) / np.linalg.norm(rhs)
        assert actual == pytest.approx(result.history[-1], rel=1e-3)
        assert result.history[-1] <= tol < result.history[-2]
        assert result.history[0] == 1.0 and len(result.history) == result.n_iter + 1


@pytest.mark.parametrize("n_distinct", [1, 2, 5])
def test_as_many_steps_as_distinct_eigenvalues(n_distinct):
    eigenvalues = np.tile(np.arange(1.0, n_distinct + 1), 6)
    rhs = np.random.default_rng(0).standard_normal(eigenvalues.size)
    result = conjugate_gradient(lambda x: eigenvalues * x, rhs, tol=1e-12)
    assert result.n_iter == n_distinct


def test_error_in_the_energy_norm_decreases_at_every_step():
    A, rhs = system(condition=1e4)
    exact = np.linalg.solve(A, rhs)
    energies = []
    for max_iter in range(30):
        error = conjugate_gradient(lambda x: A @ x, rhs, max_iter=max_iter).solution - exact
        energies.append(error @ A @ error)
    assert np.all(np.diff(energies) < 0)


def test_preconditioned_solution_is_the_same():
    A, rhs = system(condition=1e6)
    rough = np.linalg.inv(A + 0.1 * np.eye(len(A)))
    plain = conjugate_gradient(lambda x: A @ x, rhs, tol=1e-12)
    helped = conjugate_gradient(lambda x: A @ x, rhs, precondition=lambda r: rough @ r, tol=1e-12)
    np.testing.assert_allclose(helped.solution, np.linalg.solve(A, rhs), rtol=1e-6, atol=1e-8)
    assert helped.status is Status.CONVERGED
    assert helped.n_iter < plain.n_iter / 4


def test_the_inverse_as_preconditioner_needs_one_step():
    A, rhs = system(condition=1e3)
    inverse = np.linalg.inv(A)
    result = conjugate_gradient(lambda x: A @ x, rhs, precondition=lambda r: inverse @ r, tol=1e-9)
    assert result.n_iter == 1


def test_zero_right_hand_side_gives_zero_without_a_product():
    def never(x):
        raise AssertionError("a product was computed")

    result = conjugate_gradient(never, np.zeros((2, 5)), start=np.ones((2, 5)))
    np.testing.assert_array_equal(result.solution, np.zeros((2, 5)))
    assert result.status is Status.CONVERGED and result.n_iter == 0


def test_starting_at_the_solution_takes_no_step():
    A, rhs = system()
    solution = np.linalg.solve(A, rhs)
    result = conjugate_gradient(lambda x: A @ x, rhs, start=solution, tol=1e-10)
    assert result.n_iter == 0 and result.status is Status.CONVERGED
    np.testing.assert_array_equal(result.solution, solution)


def test_a_start_nearby_saves_steps_and_changes_nothing():
    A, rhs = system(condition=1e4)
    exact = np.linalg.solve(A, rhs)
    cold = conjugate_gradient(lambda x: A @ x, rhs, tol=1e-11)
    warm = conjugate_gradient(lambda x: A @ x, rhs, start=exact * (1 + 1e-6), tol=1e-11)
    assert warm.n_iter < cold.n_iter
    np.testing.assert_allclose(warm.solution, exact, rtol=1e-6, atol=1e-9)


def test_stacked_right_hand_sides_are_solved_together():
    A, _ = system()
    rhs = np.random.default_rng(1).standard_normal((3, len(A)))
    result = conjugate_gradient(lambda x: x @ A, rhs, tol=1e-13)
    np.testing.assert_allclose(result.solution, np.linalg.solve(A, rhs.T).T, rtol=1e-9, atol=1e-11)


def test_too_few_steps_are_reported():
    A, rhs = system(condition=1e6)
    result = conjugate_gradient(lambda x: A @ x, rhs, max_iter=3)
    assert result.status is Status.MAX_ITER and result.n_iter == 3
    none = conjugate_gradient(lambda x: A @ x, rhs, max_iter=0)
    assert none.status is Status.MAX_ITER
    np.testing.assert_array_equal(none.solution, np.zeros_like(rhs))


@pytest.mark.parametrize("sign", [-1.0, 0.0, np.nan])
def test_an_operator_that_is_not_positive_is_noticed(sign):
    rhs = np.ones(4)
    result = conjugate_gradient(lambda x: sign * x, rhs)
    assert result.status is Status.NO_PROGRESS
    np.testing.assert_array_equal(result.solution, np.zeros(4))


def test_every_iteration_is_reported():
    A, rhs = system()
    seen = []
    result = conjugate_gradient(
        lambda x: A @ x, rhs, tol=1e-8, report=lambda number, value: seen.append((number, value))
    )
    assert seen == list(enumerate(result.history[1:]))
    assert len(seen) == result.n_iter


def interrupted_after(A, n_products):
    """Products with A that end in an interruption after some."""
    calls = []

    def apply(x):
        if len(calls) == n_products:
            raise KeyboardInterrupt
        calls.append(None)
        return A @ x

    return apply


@pytest.mark.parametrize("n_products", [0, 1, 5])
def test_an_interruption_keeps_the_iterate_if_asked_to(n_products):
    A, rhs = system(condition=1e4)
    expected = conjugate_gradient(lambda x: A @ x, rhs, max_iter=n_products)
    apply = interrupted_after(A, n_products)
    result = conjugate_gradient(apply, rhs, keep_when_interrupted=True)
    assert result.status is Status.INTERRUPTED and result.n_iter == n_products
    np.testing.assert_array_equal(result.solution, expected.solution)
    assert result.history == expected.history


def test_an_interrupted_preconditioner_keeps_the_iterate_too():
    A, rhs = system(condition=1e4)
    scales = np.diag(1 / np.diag(A))
    expected = conjugate_gradient(
        lambda x: A @ x, rhs, precondition=lambda r: scales @ r, max_iter=3
    )
    result = conjugate_gradient(
        lambda x: A @ x,
        rhs,
        precondition=interrupted_after(scales, 3),
        keep_when_interrupted=True,
    )
    assert result.status is Status.INTERRUPTED
    np.testing.assert_array_equal(result.solution, expected.solution)


def test_who_is_told_of_an_iteration_may_end_the_solve():
    A, rhs = system(condition=1e4)
    expected = conjugate_gradient(lambda x: A @ x, rhs, max_iter=4)

    def stop(iteration, residual):
        if iteration == 3:
            raise KeyboardInterrupt

    result = conjugate_gradient(lambda x: A @ x, rhs, report=stop, keep_when_interrupted=True)
    assert result.status is Status.INTERRUPTED and result.n_iter == 4
    np.testing.assert_array_equal(result.solution, expected.solution)
    assert result.history == expected.history
    with pytest.raises(KeyboardInterrupt):
        conjugate_gradient(lambda x: A @ x, rhs, report=stop)


def test_an_interruption_is_raised_otherwise():
    A, rhs = system(condition=1e4)
    with pytest.raises(KeyboardInterrupt):
        conjugate_gradient(interrupted_after(A, 2), rhs)


def test_inputs_are_left_alone():
    A, rhs = system()
    start = np.ones_like(rhs)
    kept = rhs.copy()
    conjugate_gradient(lambda x: A @ x, rhs, start=start)
    np.testing.assert_array_equal(rhs, kept)
    np.testing.assert_array_equal(start, np.ones_like(rhs))
