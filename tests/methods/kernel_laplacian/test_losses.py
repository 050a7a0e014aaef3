"""How penalties are judged: the deformed kernel, and fits without a row."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.methods.kernel_laplacian.plan import Penalties
from kernlens.methods.kernel_laplacian.solvers import exact as laplacian_exact
from kernlens.methods.kernel_laplacian.solvers import features as laplacian_features
from kernlens.methods.kernel_laplacian.solvers import solver as laplacian_solver
from kernlens.methods.kernel_laplacian.solvers.conjugate import ConjugateSolver
from kernlens.methods.kernel_laplacian.solvers.exact import ExactSolver
from kernlens.methods.kernel_laplacian.solvers.features import FeatureSolver
from reference import kernel_laplacian as oracle
from reference.laplacian_problems import (
    PENALTIES,
    data,
    problem_of,
    solver_of,
)

both_metrics = pytest.mark.parametrize("neighbors", [None, 4])


@pytest.mark.parametrize("kind", [ExactSolver, FeatureSolver])
@both_metrics
def test_the_deformed_kernel_is_that_of_both_penalties(kind, neighbors):
    # With norm theta^T A theta over atoms of values v, the kernel is v(x)^T A^{-1} v(z).
    rows, ratio = data(), 30.0
    solver = solver_of(kind, rows, neighbors)
    found = solver.sample_kernel(ratio)
    pair, X = oracle.KERNELS["gaussian"], rows.points
    frames = None if neighbors is None else oracle.local_frames(X, rows.weights, neighbors)
    if kind is ExactSolver:
        gram = oracle.gram_of_atoms(pair, X)
        at_X, gradients = oracle.of_atoms(pair, X, X)
    else:
        Z = solver.basis.map.centers
        gram = oracle.values(pair, Z, Z)
        at_X, gradients = oracle.values(pair, X, Z), oracle.slopes(pair, X, Z)
    energy = oracle.energy(gradients, rows.weights / rows.weights.sum(), frames)
    expected = at_X @ np.linalg.lstsq(gram + ratio * energy, at_X.T, rcond=None)[0]
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("kind", [ExactSolver, ConjugateSolver, FeatureSolver])
def test_the_unit_is_the_spread_of_the_deformed_kernel(monkeypatch, kind):
    rows = data()
    for module in (laplacian_solver, laplacian_exact, laplacian_features):
        monkeypatch.setattr(module, "SAMPLE", 11)
    solver = solver_of(kind, rows)
    K = solver.sample_kernel(5.0)
    assert K.shape == (11, 11)
    # The mean squared distance of two points in the deformed space, halved.
    weights = rows.weights[:11]
    spread = 0.0
    for i in range(11):
        for j in range(11):
            spread += weights[i] * weights[j] * (K[i, i] - 2 * K[i, j] + K[j, j]) / 2
    assert solver.unit(5.0) == pytest.approx(spread / weights.sum() ** 2, rel=1e-10)


@pytest.mark.parametrize("kind", [ExactSolver, FeatureSolver])
@both_metrics
@pytest.mark.parametrize("ratio", [0.0, 30.0])
def test_losses_are_those_of_fits_without_the_row(kind, neighbors, ratio):
    rows = data()
    solver = solver_of(kind, rows, neighbors)
    alphas = [1e-3, 0.1]
    found = solver.losses(ratio, alphas)
    if kind is FeatureSolver:
        evaluate = oracle.span_of_centers(oracle.KERNELS["gaussian"], solver.basis.map.centers)
    else:
        evaluate = oracle.span(oracle.KERNELS["gaussian"], rows.points)
    for alpha, loss in zip(alphas, found, strict=True):
        penalties = Penalties(ratio, alpha)
        problem = problem_of(rows, penalties, neighbors)
        predictions = np.empty_like(rows.y)
        for i, point in enumerate(rows.labeled):
            fit = oracle.minimize(problem.without(i), evaluate)
            predictions[:, i] = fit.values(rows.points)[:, point]
        errors = np.square(predictions - rows.y).sum(axis=0)
        assert loss == pytest.approx(np.average(errors, weights=rows.label_weights), rel=1e-8)
        left_out = solver.left_out(penalties)
        np.testing.assert_allclose(left_out.decision, predictions, atol=1e-8)
        np.testing.assert_array_equal(left_out.y, rows.y)
        np.testing.assert_array_equal(left_out.weights, rows.label_weights)


def few_rows(monkeypatch, most):
    for module in (laplacian_solver, laplacian_exact, laplacian_features):
        monkeypatch.setattr(module, "LEAVE_ONE_OUT_ROWS", most)


def test_of_many_labels_the_exact_solver_leaves_out_the_first(monkeypatch):
    rows = data()
    few_rows(monkeypatch, 6)
    found = solver_of(ExactSolver, rows)
    part = solver_of(ExactSolver, rows.with_labels(slice(0, 6)))
    assert found.losses(30.0, [0.1])[0] == pytest.approx(part.losses(30.0, [0.1])[0], rel=1e-9)
    left, expected = (solver.left_out(Penalties(30.0, 0.1)) for solver in (found, part))
    np.testing.assert_allclose(left.decision, expected.decision, atol=1e-9)
    assert left.decision.shape == left.y.shape == (2, 6) and left.weights.shape == (6,)


@both_metrics
@pytest.mark.parametrize("ratio", [0.0, 30.0])
def test_of_many_labels_features_hold_out_the_last(monkeypatch, neighbors, ratio):
    rows = data()
    few_rows(monkeypatch, 6)
    solver = solver_of(FeatureSolver, rows, neighbors)
    alphas = [1e-3, 0.1]
    found = solver.losses(ratio, alphas)
    for alpha, loss in zip(alphas, found, strict=True):
        penalties = Penalties(ratio, alpha)
        problem = problem_of(rows.with_labels(slice(0, 8)), penalties, neighbors)
        fit = oracle.minimize_over_centers(
            oracle.KERNELS["gaussian"], problem, solver.basis.map.centers
        )
        predictions = fit.values(rows.labeled_points[8:])
        errors = np.square(predictions - rows.y[:, 8:]).sum(axis=0)
        expected = np.average(errors, weights=rows.label_weights[8:])
        assert loss == pytest.approx(expected, rel=1e-8)
    # The fit is on all of them again.
    merged = solver.fit(PENALTIES, searched=True)
    direct = solver_of(FeatureSolver, rows, neighbors).fit(PENALTIES)
    X = rows.points
    np.testing.assert_allclose(merged.function.decision(X), direct.function.decision(X), atol=1e-10)
    assert merged.objective == pytest.approx(direct.objective, rel=1e-9)
