"""The objective of RegFeaL for fixed directions: least squares, SciPy, and differences in R."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from scipy.optimize import minimize

from kernlens.features.hermite_indices import (
    GeometricSequence,
    TruncatedSequence,
    sample_indices,
)
from kernlens.features.hermite_indices import Smoothness as Penalty
from kernlens.kernels.hermite import COARSE
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.options import BestFirst, GroupSampling, UpToDegree
from reference import bkernn, regfeal
from reference.regfeal_problems import (
    RHO,
    objective_of,
    random_directions,
    random_rows,
    rows_of,
)

LOSSES = ["squared", "logistic", "multinomial"]
#: 9 indices in 2 directions and 25 rows, 44 indices and 25 rows, all indices.
VIEWS = {"features": UpToDegree(3), "kernel": UpToDegree(8), "exact": None}


def geometric(k):
    return RHO**k


def oracle_parts(objective, directions, degree, c=geometric):
    """Features at the rows, their weights, and their indices."""
    indices = regfeal.all_indices(len(directions.shares), degree)
    w = [regfeal.weight(a, directions.eta, objective.lam, objective.mu, c) for a in indices]
    return regfeal.design(indices, objective.rows.X @ directions.R), np.array(w), indices


def functions(point, n_targets):
    """The fitted polynomials as dictionaries."""
    indices = [tuple(int(k) for k in alpha) for alpha in point.function.features.indices]
    rows = point.function.coefficients
    assert len(rows) == n_targets
    return [dict(zip(indices, row, strict=True)) for row in rows]


@pytest.mark.parametrize("view", ["features", "kernel"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("c", [geometric, lambda k: 1.0])
def test_squared_loss_is_a_least_squares_problem(view, weighted, c):
    rows = random_rows(weighted=weighted)
    degree = VIEWS[view].max_degree
    sequence = GeometricSequence(RHO) if c is geometric else TruncatedSequence(degree)
    objective = objective_of(rows, rule=VIEWS[view], sequence=sequence)
    directions = random_directions(3, 2)
    point = objective.at(directions)
    H, w, indices = oracle_parts(objective, directions, degree, c)
    assert (len(w) < len(H)) == (view == "features")
    value, fresh = 0.0, np.random.default_rng(9).standard_normal((7, 3))
    for t, y in enumerate(rows.y):
        b, constant, minimum = regfeal.ridge(H, w, y, rows.weights)
        value += minimum
        np.testing.assert_allclose(point.decision[t], H @ b + constant, rtol=1e-8, atol=1e-9)
        expected = regfeal.design(indices, fresh @ directions.R) @ b + constant
        np.testing.assert_allclose(
            point.function.decision(fresh)[t], expected, rtol=1e-7, atol=1e-8
        )
        found = functions(point, 2)[t]
        np.testing.assert_allclose([found[a] for a in indices], b, rtol=1e-6, atol=1e-9)
    assert point.value == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("view", ["features", "kernel"])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_other_losses_are_minimised(view, loss):
    rows = random_rows(loss, weighted=True)
    objective = objective_of(rows, loss, rule=VIEWS[view])
    directions = random_directions(3, 2)
    point = objective.at(directions)
    H, w, indices = oracle_parts(objective, directions, VIEWS[view].max_degree)
    T, m = len(rows.y), len(w)

    def value_and_gradient(theta):
        # The coordinates theta = b / sqrt(w) are those in which the penalty is plain.
        parts = theta.reshape(T, m + 1)
        f = (parts[:, :-1] * np.sqrt(w)) @ H.T + parts[:, -1:]
        mean, slope, _ = bkernn.summed_loss(loss, rows.y, f, rows.weights)
        gradient = np.column_stack([slope @ (H * np.sqrt(w)) + parts[:, :-1], slope.sum(axis=1)])
        return mean + 0.5 * np.sum(parts[:, :-1] ** 2), gradient.ravel()

    found = [[f[a] for a in indices] / np.sqrt(w) for f in functions(point, T)]
    theta = np.column_stack([found, point.function.intercept])
    value, gradient = value_and_gradient(theta.ravel())
    assert point.value == pytest.approx(value, rel=1e-9)
    assert np.linalg.norm(gradient) < 1e-6 * np.linalg.norm(theta)
    best = minimize(value_and_gradient, np.zeros(theta.size), jac=True, method="BFGS").fun
    assert point.value == pytest.approx(best, rel=1e-7)
    f = (theta[:, :-1] * np.sqrt(w)) @ H.T + theta[:, -1:]
    np.testing.assert_allclose(point.decision, f, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_view_is_the_limit_of_high_degrees(loss):
    rows = random_rows(loss, weighted=True)
    directions = random_directions(3, 2)
    exact = objective_of(rows, loss, sequence=GeometricSequence(0.3)).at(directions)
    listed = objective_of(
        rows, loss, sequence=GeometricSequence(0.3), rule=UpToDegree(22, None)
    ).at(directions)
    assert exact.value == pytest.approx(listed.value, rel=1e-9)
    # Newton's method stops when the slopes are known to 1e-6.
    close = 1e-8 if loss == "squared" else 1e-5
    fresh = np.random.default_rng(9).standard_normal((7, 3))
    for one, other in [
        (exact.decision, listed.decision),
        (exact.function.decision(fresh), listed.function.decision(fresh)),
        *zip(exact.derivatives, listed.derivatives, strict=True),
    ]:
        np.testing.assert_allclose(one, other, rtol=0, atol=close * np.abs(other).max())


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repeated_rows(view, loss):
    rows = random_rows(loss)
    times = np.random.default_rng(1).integers(1, 4, len(rows.X))
    repeated = rows_of(np.repeat(rows.X, times, axis=0), np.repeat(rows.y, times, axis=1))
    weighted = replace(rows, weights=times.astype(float))
    directions = random_directions(3, 2)
    one = objective_of(weighted, loss, rule=VIEWS[view]).at(directions)
    other = objective_of(repeated, loss, rule=VIEWS[view]).at(directions)
    assert one.value == pytest.approx(other.value, rel=1e-9)
    decision = np.repeat(one.decision, times, axis=1)
    np.testing.assert_allclose(decision, other.decision, rtol=1e-5, atol=1e-6)
    for actual, expected in zip(one.derivatives, other.derivatives, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_in_the_directions_equals_differences(view, loss):
    # The function is fitted anew at every R: by the envelope theorem that adds nothing.
    rows = random_rows(loss, weighted=True)
    objective = objective_of(rows, loss, rule=VIEWS[view])
    directions = random_directions(3, 2)
    gradient = objective.at(directions).derivatives[1]
    step, slopes = 1e-4, np.empty_like(directions.R)
    for i, a in np.ndindex(slopes.shape):
        shift = np.zeros_like(slopes)
        shift[i, a] = step
        up = objective.at(replace(directions, R=directions.R + shift)).value
        down = objective.at(replace(directions, R=directions.R - shift)).value
        slopes[i, a] = (up - down) / (2 * step)
    np.testing.assert_allclose(gradient, slopes, rtol=0, atol=1e-5 * np.abs(slopes).max())


@pytest.mark.parametrize("view", ["features", "kernel"])
@pytest.mark.parametrize("loss", LOSSES)
def test_outer_product_is_that_of_the_fitted_functions(view, loss):
    rows = random_rows(loss)
    point = objective_of(rows, loss, rule=VIEWS[view]).at(random_directions(3, 2))
    parts = [regfeal.outer_product(f, geometric) for f in functions(point, len(rows.y))]
    np.testing.assert_allclose(point.derivatives[0], sum(parts), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("view", VIEWS)
def test_derivative_in_the_weights_is_the_diagonal_of_m(view):
    # d J / d(1/eta_a) = (mu / 2) (M_aa + eps), again by the envelope theorem.
    objective = objective_of(random_rows(), rule=VIEWS[view], smoothing=0.01)
    directions = random_directions(3, 2, r=1.0)
    M, _ = objective.at(directions).derivatives
    for a in range(2):
        inverse, step = 1 / directions.eta, 1e-4
        values = []
        for sign in (1, -1):
            changed = inverse.copy()
            changed[a] += sign * step
            # With r = 1 the shares are eta; nothing in the objective asks for their sum.
            values.append(objective.at(replace(directions, shares=1 / changed)).value)
        slope = (values[0] - values[1]) / (2 * step)
        assert slope == pytest.approx(0.5 * objective.mu * (M[a, a] + 0.01), rel=1e-5)


@pytest.mark.parametrize("view", VIEWS)
def test_smoothing_adds_its_term_only(view):
    rows, directions = random_rows(), random_directions(3, 2)
    plain = objective_of(rows, rule=VIEWS[view])
    smooth = replace(plain, smoothing=0.3)
    extra = 0.5 * plain.mu * 0.3 * np.sum(1 / directions.eta)
    assert smooth.at(directions).value - plain.at(directions).value == pytest.approx(extra)
    np.testing.assert_array_equal(smooth.at(directions).decision, plain.at(directions).decision)


@pytest.mark.parametrize("view", VIEWS)
def test_rotation_of_equal_directions_changes_nothing(view):
    rows = random_rows(d=2)
    objective = objective_of(rows, rule=VIEWS[view])
    R = random_directions(2, 2, seed=4).R
    one = objective.at(WeightedDirections(np.eye(2), np.full(2, 0.5), 0.7))
    other = objective.at(WeightedDirections(R, np.full(2, 0.5), 0.7))
    assert other.value == pytest.approx(one.value, rel=1e-10)
    np.testing.assert_allclose(other.decision, one.decision, rtol=1e-8, atol=1e-9)
    M, gradient = other.derivatives
    np.testing.assert_allclose(R @ M @ R.T, one.derivatives[0], rtol=1e-6, atol=1e-10)
    # So the gradient has no part along rotations.
    inner = R.T @ gradient
    assert np.abs(inner - inner.T).max() < 1e-8 * np.abs(inner).max()


def test_more_polynomials_fit_no_worse():
    rows, directions = random_rows(), random_directions(3, 2)
    values = [
        objective_of(rows, rule=BestFirst(n)).at(directions).value for n in (1, 3, 10, 24, 25, 100)
    ]
    values.append(objective_of(rows).at(directions).value)
    assert np.all(np.diff(values) <= 1e-12)
    assert values[-1] < 0.9 * values[0]
    assert values[-2] == pytest.approx(values[-1], rel=1e-3)


def test_all_of_the_best_are_all():
    rows, directions = random_rows(), random_directions(3, 2)
    options = {"sequence": TruncatedSequence(4)}
    listed = objective_of(rows, rule=UpToDegree(4), **options).at(directions)
    best = objective_of(rows, rule=BestFirst(1000), **options).at(directions)
    assert best.value == pytest.approx(listed.value, rel=1e-12)
    np.testing.assert_allclose(best.decision, listed.decision, rtol=1e-8, atol=1e-10)


def test_sampling_parts_the_groups_at_the_largest_gap():
    directions = WeightedDirections(np.eye(3), np.array([0.48, 0.06, 0.46]), 0.7)
    penalty = Penalty(directions.eta, 0.01, 0.02, GeometricSequence(RHO))
    drawn = GroupSampling(30).choose(penalty, directions, 2)
    random = np.random.RandomState([2, crc32(directions.shares.tobytes())])
    for one, other in zip(drawn, sample_indices(penalty, 30, 2, random), strict=True):
        np.testing.assert_array_equal(one, other)
    # The same directions draw the same indices, others draw others.
    again = GroupSampling(30).choose(penalty, directions, 2)
    np.testing.assert_array_equal(again[0], drawn[0])
    moved = replace(directions, shares=np.array([0.47, 0.06, 0.47]))
    other_indices, _ = GroupSampling(30).choose(penalty, moved, 2)
    assert not np.array_equal(other_indices, drawn[0])
    assert np.isfinite(
        objective_of(random_rows(), rule=GroupSampling(30), seed=2).at(directions).value
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_start_changes_the_way_only(loss):
    objective = objective_of(random_rows(loss), loss)
    near, here = random_directions(3, 2, seed=1), random_directions(3, 2)
    cold, warm = objective.at(here), objective.at(here, start=objective.at(near))
    assert warm.value == pytest.approx(cold.value, rel=1e-10)
    np.testing.assert_allclose(warm.decision, cold.decision, rtol=1e-5, atol=1e-6)


def test_coarse_precision_is_close():
    rows, directions = random_rows(n=40), random_directions(3, 2)
    fine = objective_of(rows)
    coarse = replace(fine, precision=COARSE)
    assert coarse.at(directions).value == pytest.approx(fine.at(directions).value, rel=1e-3)
    for actual, expected in zip(
        coarse.at(directions).derivatives, fine.at(directions).derivatives, strict=True
    ):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-3 * np.abs(expected).max())


def test_without_mu_the_function_is_mehler_ridge():
    rows = random_rows(d=2)
    objective = objective_of(rows, lam=0.3, mu=0.0)
    point = objective.at(WeightedDirections.equal(2, 0.7))
    K = regfeal.mehler(rows.X, rows.X, RHO) / 0.3
    center = np.eye(len(K)) - 1 / len(K)
    dual = np.linalg.solve(center @ K @ center + len(K) * np.eye(len(K)), center @ rows.y.T).T
    fitted = dual @ K
    fitted += (rows.y - fitted).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(point.decision, fitted, rtol=1e-9, atol=1e-10)


def test_kernel_of_all_polynomials_needs_a_geometric_sequence():
    with pytest.raises(ValueError, match="rho"):
        objective_of(random_rows(), sequence=TruncatedSequence(3)).at(
            WeightedDirections.equal(3, 0.5)
        )


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_threads_change_nothing(view, loss, monkeypatch):
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    monkeypatch.setattr("kernlens.features.hermite.BLOCK_ENTRIES", 100)
    rows, directions = random_rows(loss, n=60), random_directions(3, 2)
    rule = UpToDegree(12) if view == "kernel" else VIEWS[view]
    points = [
        objective_of(rows, loss, rule=rule, n_jobs=n_jobs).at(directions) for n_jobs in (1, 3)
    ]
    assert points[0].value == points[1].value
    np.testing.assert_array_equal(points[0].decision, points[1].decision)
    for one, several in zip(points[0].derivatives, points[1].derivatives, strict=True):
        np.testing.assert_array_equal(one, several)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("loss", LOSSES)
def test_inputs_stay_as_they_are(view, loss):
    rows, directions = random_rows(loss, weighted=True), random_directions(3, 2)
    arrays = (rows.X, rows.y, rows.weights, directions.R, directions.shares)
    before = [array.copy() for array in arrays]
    _ = objective_of(rows, loss, rule=VIEWS[view]).at(directions).derivatives
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)
