"""Conjugate gradients on values and derivatives: exact, in any units, and kept when interrupted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.methods.kernel_laplacian.solvers import preconditioner as laplacian_preconditioner
from kernlens.methods.kernel_laplacian.solvers.conjugate import ConjugateSolver
from reference import kernel_laplacian as oracle
from reference.laplacian_problems import (
    KERNELS,
    PENALTIES,
    N,
    assert_same,
    data,
    problem_of,
    solver_of,
)

every_kernel = pytest.mark.parametrize("case", KERNELS)
both_metrics = pytest.mark.parametrize("neighbors", [None, 4])


@every_kernel
@both_metrics
def test_conjugate_gradients_are_exact_too(case, neighbors):
    kernel, pair = KERNELS[case]
    rows = data()
    expected = oracle.minimize_over_span(pair, problem_of(rows, PENALTIES, neighbors))
    learned = solver_of(ConjugateSolver, rows, neighbors, kernel).fit(PENALTIES)
    assert learned.status is Status.CONVERGED
    assert_same(learned, expected, rows, 1e-8)


@both_metrics
@pytest.mark.parametrize("rank", [2, 8, 20])
def test_a_preconditioner_of_low_rank_changes_nothing_but_the_steps(monkeypatch, neighbors, rank):
    rows = data()
    full = solver_of(ConjugateSolver, rows, neighbors).fit(PENALTIES)
    monkeypatch.setattr(laplacian_preconditioner, "RANK", rank)
    poor = solver_of(ConjugateSolver, rows, neighbors).fit(PENALTIES)
    assert poor.status is Status.CONVERGED and poor.n_iter > full.n_iter
    X = rows.points
    np.testing.assert_allclose(poor.function.decision(X), full.function.decision(X), atol=1e-8)


def test_the_full_preconditioner_is_the_inverse():
    rows = data()
    learned = solver_of(ConjugateSolver, rows).fit(PENALTIES)
    assert learned.n_iter <= 4
    assert learned.residuals[-1] <= 1e-12 and len(learned.residuals) == learned.n_iter + 1


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_conjugate_gradients_do_not_depend_on_the_units_of_targets(monkeypatch, size, offset):
    monkeypatch.setattr(laplacian_preconditioner, "RANK", 8)
    rows = data()
    plain = solver_of(ConjugateSolver, rows, tol=1e-8).fit(PENALTIES)
    scaled = replace(rows, y=size * (rows.y + offset))
    other = solver_of(ConjugateSolver, scaled, tol=1e-8).fit(PENALTIES)
    X = rows.points
    found = other.function.decision(X) / size - offset
    np.testing.assert_allclose(found, plain.function.decision(X), atol=1e-6)


def interrupting(after):
    """Products that end in an interruption after some."""
    original = laplacian_preconditioner.ShiftedSystem.apply
    calls = []

    def apply(shifted, unknowns):
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(None)
        return original(shifted, unknowns)

    return apply


@pytest.mark.parametrize("after", [1, 3])
def test_an_interrupted_solve_keeps_its_iterate(monkeypatch, after):
    monkeypatch.setattr(laplacian_preconditioner, "RANK", 4)
    rows = data()
    stopped = solver_of(ConjugateSolver, rows, max_iter=after).fit(PENALTIES)
    assert stopped.status is Status.MAX_ITER
    solver = solver_of(ConjugateSolver, rows)
    monkeypatch.setattr(laplacian_preconditioner.ShiftedSystem, "apply", interrupting(after))
    learned = solver.fit(PENALTIES)
    assert learned.status is Status.INTERRUPTED and learned.n_iter == after
    X = rows.points
    np.testing.assert_array_equal(learned.function.decision(X), stopped.function.decision(X))


@pytest.mark.parametrize("after", [0, 1, 2, 5])
def test_a_solve_cut_short_is_no_worse_than_a_constant(monkeypatch, after):
    monkeypatch.setattr(laplacian_preconditioner, "RANK", 2)
    rows = data()
    solver = solver_of(ConjugateSolver, rows)
    monkeypatch.setattr(laplacian_preconditioner.ShiftedSystem, "apply", interrupting(after))
    learned = solver.fit(PENALTIES)
    mean = np.average(rows.y, axis=1, weights=rows.label_weights)
    squares = np.average((rows.y - mean[:, None]) ** 2, axis=1, weights=rows.label_weights)
    assert learned.objective <= squares.sum() * (1 + 1e-12)
    # And the intercept is the best one for these functions.
    errors = learned.function.decision(rows.labeled_points) - rows.y
    np.testing.assert_allclose(errors @ rows.label_weights, 0.0, atol=1e-10)


def test_a_solve_interrupted_at_once_is_a_constant(monkeypatch):
    rows = data()
    solver = solver_of(ConjugateSolver, rows)
    monkeypatch.setattr(laplacian_preconditioner.ShiftedSystem, "apply", interrupting(0))
    with np.errstate(all="raise"):
        learned = solver.fit(PENALTIES)
    assert learned.status is Status.INTERRUPTED and learned.n_iter == 0
    mean = np.average(rows.y, axis=1, weights=rows.label_weights)
    values = learned.function.decision(rows.points)
    np.testing.assert_allclose(values, np.tile(mean[:, None], N), rtol=1e-12)
    np.testing.assert_array_equal(learned.function.gradient(rows.points), 0.0)


def test_iterations_are_reported(monkeypatch):
    monkeypatch.setattr(laplacian_preconditioner, "RANK", 4)
    solver = solver_of(ConjugateSolver, data())
    seen = []
    solver.report = lambda number, residual: seen.append((number, residual))
    learned = solver.fit(PENALTIES)
    assert seen == list(enumerate(learned.residuals[1:]))
