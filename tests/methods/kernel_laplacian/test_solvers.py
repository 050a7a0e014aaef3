"""Ways to solve the kernel Laplacian problem, against its direct minimisation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens._rows import canonical_rows
from kernlens.methods.kernel_laplacian import function as laplacian_function
from kernlens.methods.kernel_laplacian.plan import LabeledPoints, Penalties
from kernlens.methods.kernel_laplacian.solvers.conjugate import ConjugateSolver
from kernlens.methods.kernel_laplacian.solvers.exact import ExactSolver
from kernlens.methods.kernel_laplacian.solvers.features import FeatureSolver, draw_map
from reference import kernel_laplacian as oracle
from reference.laplacian_problems import (
    KERNELS,
    PENALTIES,
    D,
    N,
    assert_same,
    data,
    make_plan,
    problem_of,
    solver_of,
)

every_kernel = pytest.mark.parametrize("case", KERNELS)
both_metrics = pytest.mark.parametrize("neighbors", [None, 4])


@every_kernel
@both_metrics
@pytest.mark.parametrize("ratio", [0.1, 30.0])
def test_exact_is_the_minimum_over_the_span(case, neighbors, ratio):
    kernel, pair = KERNELS[case]
    rows, penalties = data(), Penalties(ratio, 0.01)
    expected = oracle.minimize_over_span(pair, problem_of(rows, penalties, neighbors))
    solver = solver_of(ExactSolver, rows, neighbors, kernel)
    assert_same(solver.fit(penalties), expected, rows, 1e-10)


@every_kernel
@both_metrics
def test_eigenvectors_and_factorisation_agree(case, neighbors):
    kernel, _ = KERNELS[case]
    rows = data()
    factored = solver_of(ExactSolver, rows, neighbors, kernel)
    once = factored.fit(PENALTIES)
    # What was computed before does not decide how it is solved.
    factored.spectrum(1.0)
    same = factored.fit(PENALTIES)
    np.testing.assert_array_equal(once.function.coefficients, same.function.coefficients)
    again = solver_of(ExactSolver, rows, neighbors, kernel).fit(PENALTIES, searched=True)
    assert not np.array_equal(once.function.coefficients, again.function.coefficients)
    X = rows.points
    np.testing.assert_allclose(once.function.decision(X), again.function.decision(X), atol=1e-10)
    np.testing.assert_allclose(once.function.gradient(X), again.function.gradient(X), atol=1e-9)
    assert once.objective == pytest.approx(again.objective, rel=1e-10)


@pytest.mark.parametrize("case", ["gaussian", "matern32", "polynomial"])
def test_the_minimum_is_one(case):
    # Nothing near the solution is better, in any direction of the span.
    kernel, pair = KERNELS[case]
    rows = data()
    problem = problem_of(rows)
    best = solver_of(ExactSolver, rows, kernel=kernel).fit(PENALTIES)
    expected = oracle.minimize_over_span(pair, problem)
    rng = np.random.default_rng(0)
    at_points, gradients = expected.evaluate(rows.points)
    for _ in range(20):
        moved = expected.coordinates + 0.01 * rng.standard_normal(expected.coordinates.shape)
        fitted = moved @ at_points[rows.labeled].T + expected.intercept[:, None]
        slopes = np.einsum("ndq,tq->tnd", gradients, moved)
        assert problem.terms(fitted, slopes, np.sum(moved**2, axis=1)) > best.objective


@pytest.mark.parametrize("kind", [ExactSolver, ConjugateSolver, FeatureSolver])
@both_metrics
def test_the_objective_reported_is_that_of_the_function(kind, neighbors):
    rows = data()
    solver = solver_of(kind, rows, neighbors)
    learned = solver.fit(PENALTIES)
    function = learned.function
    # The squared norm: coefficients times the inner products of the atoms they belong to.
    gram = oracle.gram_of_atoms(oracle.KERNELS["gaussian"], function.centers)
    slopes = function.arrays().get("slopes_", np.zeros((2, *function.centers.shape)))
    stacked = np.hstack([function.coefficients, slopes.reshape(2, -1)])
    norms = np.einsum("ta,ab,tb->t", stacked, gram, stacked)
    objective = problem_of(rows, PENALTIES, neighbors).terms(
        function.decision(rows.labeled_points), function.gradient(rows.points), norms
    )
    assert learned.objective == pytest.approx(objective, rel=1e-9)


@both_metrics
@pytest.mark.parametrize("case", KERNELS)
def test_nystrom_is_the_minimum_over_its_centers(case, neighbors):
    kernel, pair = KERNELS[case]
    rows = data()
    # No more centres than functions the kernel has.
    solver = solver_of(FeatureSolver, rows, neighbors, kernel, n_components=3)
    centers = solver.basis.map.centers
    assert len(centers) == 3 and all((x == rows.points).all(axis=1).any() for x in centers)
    problem = problem_of(rows, PENALTIES, neighbors)
    expected = oracle.minimize_over_centers(pair, problem, centers)
    assert_same(solver.fit(PENALTIES), expected, rows, 1e-10)


def test_all_points_as_centers_are_not_the_exact_solution():
    rows = data()
    all_centers = solver_of(FeatureSolver, rows, n_components=100)
    assert len(all_centers.basis.map.centers) == len(rows.points)
    centers = np.sort(all_centers.basis.map.centers, axis=0)
    np.testing.assert_array_equal(centers, np.sort(rows.points, axis=0))
    exact = solver_of(ExactSolver, rows).fit(PENALTIES).objective
    few = solver_of(FeatureSolver, rows).fit(PENALTIES).objective
    assert exact < 0.999 * all_centers.fit(PENALTIES).objective
    assert all_centers.fit(PENALTIES).objective < few


@both_metrics
def test_random_features_are_the_minimum_over_their_waves(neighbors):
    rows = data()
    solver = solver_of(FeatureSolver, rows, neighbors, solver="random_features", n_components=7)
    waves = solver.basis.map
    expected = oracle.minimize_over_waves(
        problem_of(rows, PENALTIES, neighbors), waves.frequencies, waves.phases
    )
    assert_same(solver.fit(PENALTIES), expected, rows, 1e-10)


def test_many_random_features_come_near_the_exact_solution():
    rows = data()
    exact = solver_of(ExactSolver, rows).fit(PENALTIES).function.decision(rows.points)
    errors = []
    for n_components in (10, 600):
        options = {"solver": "random_features", "n_components": n_components}
        waves = solver_of(FeatureSolver, rows, **options).fit(PENALTIES).function
        errors.append(np.abs(waves.decision(rows.points) - exact).max())
    assert errors[1] < 0.1 and errors[1] < errors[0] / 3


@every_kernel
@pytest.mark.parametrize("kind", [ExactSolver, ConjugateSolver])
def test_without_a_penalty_on_gradients_it_is_kernel_ridge(case, kind):
    kernel, pair = KERNELS[case]
    rows = data()
    Z = rows.labeled_points
    K = oracle.values(pair, Z, Z)
    dual, intercept = oracle.kernel_ridge(K, rows.y, rows.label_weights, 0.01)
    X = np.vstack([rows.points, rows.points[:5] + 0.4])
    expected = dual @ oracle.values(pair, Z, X) + intercept[:, None]
    for ratio in (0.0, 1e-9):
        learned = solver_of(kind, rows, None, kernel).fit(Penalties(ratio, 0.01))
        np.testing.assert_allclose(learned.function.decision(X), expected, atol=2e-6)
    learned = solver_of(kind, rows, None, kernel).fit(Penalties(0.0, 0.01))
    np.testing.assert_allclose(learned.function.decision(X), expected, atol=1e-9)


def test_nystrom_without_a_penalty_on_gradients_is_kernel_ridge():
    rows = data()
    Z = rows.labeled_points
    K = oracle.values(oracle.KERNELS["matern32"], Z, Z)
    dual, intercept = oracle.kernel_ridge(K, rows.y, rows.label_weights, 0.01)
    expected = dual @ K + intercept[:, None]
    solver = solver_of(FeatureSolver, rows, None, "matern32", n_components=N)
    found = solver.fit(Penalties(0.0, 0.01)).function.decision(Z)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_strong_penalty_leaves_the_mean():
    rows = data()
    mean = np.average(rows.y, axis=1, weights=rows.label_weights)
    for kind in (ExactSolver, ConjugateSolver, FeatureSolver):
        learned = solver_of(kind, rows).fit(Penalties(1.0, 1e6))
        values = learned.function.decision(rows.points)
        np.testing.assert_allclose(values, np.tile(mean[:, None], N), atol=1e-4)


@pytest.mark.parametrize("kind", [ExactSolver, ConjugateSolver, FeatureSolver])
def test_weights_are_repetitions(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, D))
    y = np.where(np.arange(10) < 6, np.sin(X[:, 0]), np.nan)[None]
    times = np.array([1, 3, 1, 2, 1, 1, 2, 1, 4, 1])
    weighted = LabeledPoints.of(canonical_rows(X, y, times.astype(float)))
    solver = solver_of(kind, weighted)
    learned = solver.fit(PENALTIES)
    repeated = np.repeat(np.arange(10), times)
    labels = np.flatnonzero(repeated < 6)
    problem = oracle.Problem(
        X[repeated],
        np.ones(len(repeated)),
        labels,
        y[:, repeated[labels]],
        np.ones(len(labels)),
        PENALTIES.mu,
        PENALTIES.alpha,
    )
    if kind is FeatureSolver:
        centers = solver.basis.map.centers
        expected = oracle.minimize_over_centers(oracle.KERNELS["gaussian"], problem, centers)
    else:
        expected = oracle.minimize_over_span(oracle.KERNELS["gaussian"], problem)
    assert_same(learned, expected, weighted, 1e-8)


def test_labels_and_points_from_rows_with_nan():
    X = np.array([[0.0], [1.0], [0.0], [2.0], [0.0]])
    y = np.array([[1.0, np.nan, 2.0, 5.0, np.nan]])
    rows = LabeledPoints.of(canonical_rows(X, y, np.array([1.0, 2.0, 3.0, 4.0, 5.0])))
    weights = dict(zip(rows.points[:, 0], rows.weights, strict=True))
    assert weights == {0.0: 9.0, 1.0: 2.0, 2.0: 4.0}
    found = sorted(zip(rows.labeled_points[:, 0], rows.y[0], rows.label_weights, strict=True))
    assert found == [(0.0, 1.0, 1.0), (0.0, 2.0, 3.0), (2.0, 5.0, 4.0)]
    sums = dict(zip(rows.points[:, 0], rows.on_points(rows.y)[0], strict=True))
    assert sums == {0.0: 3.0, 1.0: 0.0, 2.0: 5.0}
    part = rows.with_labels(slice(1, 3))
    np.testing.assert_array_equal(part.y, rows.y[:, 1:])
    np.testing.assert_array_equal(part.points, rows.points)


@pytest.mark.parametrize("kind", [ExactSolver, FeatureSolver, "waves"])
def test_functions_in_blocks_and_their_gradients(monkeypatch, kind):
    rows = data()
    if kind == "waves":
        solver = solver_of(FeatureSolver, rows, solver="random_features")
    else:
        solver = solver_of(kind, rows)
    function = solver.fit(PENALTIES).function
    X = rows.points + 0.1
    function = replace(function, n_jobs=1)
    values, gradients = function.decision(X), function.gradient(X)
    h = 1e-5
    for k in range(D):
        step = h * np.eye(D)[k]
        numerical = (function.decision(X + step) - function.decision(X - step)) / (2 * h)
        np.testing.assert_allclose(gradients[:, :, k], numerical, atol=1e-7)
    monkeypatch.setattr(laplacian_function, "BLOCK_ENTRIES", 3 * N)
    function = replace(function, n_jobs=2)
    np.testing.assert_allclose(function.decision(X), values, rtol=1e-12)
    np.testing.assert_allclose(function.gradient(X), gradients, rtol=1e-10, atol=1e-12)
    longer = replace(function, length=2.0)
    np.testing.assert_allclose(longer.decision(2.0 * X), values, rtol=1e-12)
    np.testing.assert_allclose(longer.gradient(2.0 * X), gradients / 2.0, rtol=1e-10, atol=1e-12)


def test_centers_are_distinct_points_drawn_by_the_seed():
    rows = data()
    kernel = make_plan().kernel
    first = draw_map(kernel, None, rows.points, 6, 0).centers
    again = draw_map(kernel, None, rows.points, 6, 0).centers
    other = draw_map(kernel, None, rows.points, 6, 1).centers
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(np.unique(first, axis=0)) == 6


@pytest.mark.parametrize("kind", [ExactSolver, ConjugateSolver, FeatureSolver])
def test_one_point_and_one_label(kind):
    rows = LabeledPoints(
        np.array([[0.3, -1.0, 0.2]]), np.ones(1), np.zeros(1, int), np.array([[7.0]]), np.ones(1)
    )
    learned = solver_of(kind, rows).fit(PENALTIES)
    np.testing.assert_allclose(learned.function.decision(np.zeros((2, D))), 7.0, rtol=1e-12)


@pytest.mark.parametrize("kind", [ExactSolver, ConjugateSolver, FeatureSolver])
def test_inputs_are_left_alone(kind):
    rows = data()
    given = [rows.points, rows.weights, rows.labeled, rows.y, rows.label_weights]
    kept = [array.copy() for array in given]
    solver = solver_of(kind, rows, 4)
    solver.losses(3.0, [0.1])
    solver.fit(PENALTIES)
    for array, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(array, before)
