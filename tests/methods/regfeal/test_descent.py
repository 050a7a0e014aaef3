"""The descent over directions: never up, stationary at the end, and to the planted directions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.features.hermite_indices import GeometricSequence, TruncatedSequence
from kernlens.kernels.hermite import COARSE
from kernlens.methods.regfeal.descent import SMOOTHING, DescentRule, descend
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.options import BestFirst, GroupSampling, UpToDegree
from reference import regfeal
from reference.regfeal_problems import (
    RHO,
    objective_of,
    random_directions,
    random_rows,
    rows_of,
)

PLAIN = DescentRule(lengthen=False, turns=0, tol=0.0)


def geometric(k):
    return RHO**k


def random_problem(seed):
    """An objective, a start and a rule, of all kinds."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    loss = ["squared", "squared", "squared", "logistic", "multinomial"][seed % 5]
    rows = random_rows(loss, n=int(rng.integers(8, 40)), d=d, seed=seed, weighted=bool(seed % 3))
    # 8 to 40 rows and up to 83 indices: both views.
    rule = [None, UpToDegree(2), UpToDegree(3), UpToDegree(4 if d < 4 else 2)][seed % 4]
    sequence = GeometricSequence(float(rng.uniform(0.2, 0.8)))
    if rule is not None and rng.random() < 0.5:
        sequence = TruncatedSequence(rule.max_degree)
    objective = replace(
        objective_of(rows, loss, rule=rule, sequence=sequence),
        lam=float(10 ** rng.uniform(-8, -1)),
        mu=float(10 ** rng.uniform(-6, 0)),
        precision=COARSE,
    )
    r = float(rng.uniform(0.2, 1.9))
    start = WeightedDirections.equal(d, r) if seed % 2 else random_directions(d, d, r, seed)
    rotate = bool(rng.random() < 0.5)
    return objective, start, DescentRule(rotate=rotate, max_iter=8, turns=int(rng.integers(0, 3)))


@pytest.mark.parametrize("seed", range(50))
def test_objective_never_increases(seed):
    objective, start, rule = random_problem(seed)
    seen, kept = [], []
    result = descend(
        objective,
        start,
        rule,
        progress=lambda iteration, value: seen.append((iteration, value)),
        watch=kept.append,
    )
    history, point = np.array(result.history), result.solution
    assert np.all(np.diff(history) <= 0)
    assert len(history) == result.n_iter + 1 == len(seen) + 1
    assert [value for _, value in seen] == list(history[1:])
    assert [iteration for iteration, _ in seen] == list(range(1, len(history)))
    assert [p.value for p in kept] == list(history)
    assert kept[-1] is point
    # The values are those of the objective, not remembered from elsewhere.
    again = point.objective.at(point.directions)
    assert again.value == pytest.approx(point.value, rel=1e-7)
    directions = point.directions
    assert np.all(directions.shares > 0)
    assert directions.shares.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(
        directions.R.T @ directions.R, np.eye(len(directions.shares)), rtol=0, atol=1e-10
    )
    if not rule.rotate and seed % 2:
        # Variable selection keeps to the axes it started from.
        assert set(np.unique(directions.R)) <= {0.0, 1.0}


@pytest.mark.parametrize("rotate", [True, False])
@pytest.mark.parametrize("r", [0.2, 0.7, 1.0, 1.6, 1.9])
@pytest.mark.parametrize("n", [15, 60])
def test_reweighting_is_monotone_without_any_safeguard(rotate, r, n):
    # All polynomials up to a degree span the same functions in every frame, so each of the two
    # alternating minimisations can only lower J, with smoothing in both of them.
    rows = random_rows(n=n, d=3)
    objective = objective_of(rows, rule=UpToDegree(3), lam=1e-3, mu=1e-3, smoothing=1e-6)
    directions, values = random_directions(3, 3, r), []
    for _ in range(25):
        point = objective.at(directions)
        values.append(point.value)
        M, _ = point.derivatives
        directions = point.directions.reweighted(M, objective.smoothing, rotate=rotate)
    values = np.array(values)
    assert np.all(np.diff(values) <= 1e-12 * values[:-1])
    assert values[-1] < values[0]


def test_clipping_the_weights_alone_is_not_what_is_minimised():
    # The smoothing term belongs to J: without it, the same steps go up.
    smooth = objective_of(random_rows(n=60), rule=UpToDegree(3), mu=0.01, smoothing=0.3)
    plain = replace(smooth, smoothing=0.0)
    directions, with_term, without = random_directions(3, 3, 1.0), [], []
    for _ in range(15):
        point = smooth.at(directions)
        with_term.append(point.value)
        without.append(plain.at(directions).value)
        directions = directions.reweighted(point.derivatives[0], 0.3, rotate=False)
    assert np.all(np.diff(with_term) <= 1e-12)
    assert np.diff(without).max() > 1e-7


def coefficient_objective(rows, lam, mu, r, rotate, power, indices):
    """Half of (2.8) or (2.11) with Omega^power, as a function of coefficients and a constant."""

    def value(theta, H):
        function = dict(zip(indices, theta[:-1], strict=True))
        mean = 0.5 * np.mean((rows.y[0] - H @ theta[:-1] - theta[-1]) ** 2)
        Omega = regfeal.omega(function, r, geometric, rotate)
        return mean + 0.5 * (
            lam * regfeal.omega_zero_square(function, geometric) + mu * Omega**power
        )

    return value


@pytest.mark.parametrize("rotate", [True, False])
@pytest.mark.parametrize("r", [1.0, 1.3])
def test_limit_is_stationary_for_the_square_of_omega_but_not_as_printed(rotate, r):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    rows = rows_of(X, X[:, 0] ** 2 - X[:, 1] ** 2 + X[:, 1] + 0.4 * X[:, 0] * X[:, 1])
    lam, mu = 0.01, 0.05
    objective = objective_of(rows, rule=UpToDegree(3), lam=lam, mu=mu)
    rule = DescentRule(rotate=rotate, max_iter=400, tol=0.0)
    point = descend(objective, WeightedDirections.equal(2, r), rule).solution
    assert len(point.directions.shares) == 2
    indices = [tuple(int(k) for k in a) for a in point.function.features.indices]
    H = regfeal.design(indices, X @ point.directions.R)
    theta = np.append(point.function.coefficients[0], point.function.intercept)
    slopes = {}
    for name, power in (("square", 2), ("printed", r)):
        value = coefficient_objective(rows, lam, mu, r, rotate, power, indices)
        step = 1e-5
        slopes[name] = np.array(
            [(value(theta + e, H) - value(theta - e, H)) / (2 * step) for e in step * np.eye(10)]
        )
        if power == 2:
            # J with the best weights put in is this objective.
            assert value(theta, H) == pytest.approx(point.value, rel=1e-6)
    assert np.linalg.norm(slopes["square"]) < 1e-5
    assert np.linalg.norm(slopes["printed"]) > 1e-3


def planted(n=150, d=6, seed=1):
    """Rows whose target depends on two directions, and these (d, 2)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    R = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    z = X @ R
    return rows_of(X, np.sin(1.2 * z[:, 0]) + 0.5 * z[:, 1] ** 2 + 0.05 * rng.standard_normal(n)), R


@pytest.mark.parametrize("rule", [None, UpToDegree(3)])
def test_planted_directions_are_found(rule):
    rows, R = planted()
    objective = replace(objective_of(rows, rule=rule, lam=1e-8, mu=1e-7), precision=COARSE)
    start = WeightedDirections.equal(6, 0.33)
    result = descend(objective, start, DescentRule(max_iter=40))
    found = result.solution.directions
    assert found.relevant(6) == 2
    overlap = np.linalg.svd(R.T @ found.leading(2).R, compute_uv=False)
    assert overlap.min() > 0.99
    # Far from what all columns alike give.
    assert result.history[-1] < 0.5 * result.history[0]


@pytest.mark.parametrize("rule", [None, UpToDegree(3)])
def test_planted_variables_are_found(rule):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 6))
    rows = rows_of(X, np.sin(1.2 * X[:, 4]) + 0.5 * X[:, 1] ** 2)
    objective = replace(objective_of(rows, rule=rule, lam=1e-8, mu=1e-7), precision=COARSE)
    found = descend(
        objective, WeightedDirections.equal(6, 0.33), DescentRule(rotate=False, max_iter=40)
    ).solution.directions
    assert found.relevant(6) == 2
    assert sorted(np.argmax(found.leading(2).R, axis=0)) == [1, 4]


def test_longer_steps_and_turns_get_lower():
    rows, _ = planted()
    objective = replace(objective_of(rows, lam=1e-8, mu=1e-5), precision=COARSE)
    start = WeightedDirections.equal(6, 0.33)
    plain = descend(objective, start, replace(PLAIN, max_iter=10))
    full = descend(objective, start, DescentRule(max_iter=10))
    assert full.history[-1] < 0.9 * plain.history[-1]


def test_turning_leaves_a_subspace_that_reweighting_cannot_leave():
    rows, R = planted(d=3)
    # The start has no part along one of the two directions.
    off = np.linalg.svd(R[:, :1].T)[2][1:].T
    start = WeightedDirections(off, np.array([0.5, 0.5]), 0.33)
    objective = replace(objective_of(rows, lam=1e-8, mu=1e-4), precision=COARSE)
    plain = descend(objective, start, replace(PLAIN, max_iter=10)).solution
    assert np.abs(R[:, 0] @ plain.directions.R).max() < 1e-10
    turned = descend(objective, start, DescentRule(max_iter=40)).solution
    assert np.linalg.norm(R[:, 0] @ turned.directions.R) > 0.95
    assert turned.value < plain.value


@pytest.mark.parametrize("rule", [None, UpToDegree(3), BestFirst(10)])
@pytest.mark.parametrize("rotate", [True, False])
def test_one_column(rule, rotate):
    objective = objective_of(random_rows(d=1), rule=rule)
    start = WeightedDirections.equal(1, 0.5)
    result = descend(objective, start, DescentRule(rotate=rotate))
    assert result.status is Status.CONVERGED
    np.testing.assert_array_equal(np.abs(result.solution.directions.R), [[1.0]])
    np.testing.assert_array_equal(result.solution.directions.shares, [1.0])
    # There is nothing to learn.
    assert result.history[-1] == pytest.approx(objective.at(start).value, rel=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("constant", [0.0, 3.7, -1e8])
@pytest.mark.parametrize("rule", [None, UpToDegree(2), UpToDegree(6)])
@pytest.mark.parametrize("rotate", [True, False])
def test_constant_target(constant, rule, rotate):
    X = random_rows().X
    objective = objective_of(rows_of(X, np.full(len(X), constant)), rule=rule)
    result = descend(objective, WeightedDirections.equal(3, 0.5), DescentRule(rotate=rotate))
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.solution.decision, constant, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        result.solution.function.decision(X), constant, rtol=1e-12, atol=1e-12
    )


def test_no_iterations_are_a_fit_where_it_starts():
    objective, start = objective_of(random_rows()), random_directions(3, 3)
    result = descend(objective, start, DescentRule(max_iter=0))
    assert result.n_iter == 0
    assert result.solution.directions is start
    assert result.history == (objective.at(start).value,)


@pytest.mark.parametrize("rotate", [True, False])
@pytest.mark.parametrize("rule", [None, UpToDegree(3)])
def test_descent_ends_when_it_no_longer_pays(rotate, rule):
    rows, _ = planted(n=60)
    objective = replace(objective_of(rows, rule=rule, lam=1e-8, mu=1e-3), precision=COARSE)
    start = WeightedDirections.equal(6, 1.0)
    result = descend(objective, start, DescentRule(rotate=rotate, max_iter=200))
    assert result.status is Status.CONVERGED
    gains = -np.diff(result.history) / result.history[:-1]
    assert gains[-1] <= 1e-5
    # One stalled step may have been too long; two of them in a row end it.
    assert np.all(np.maximum(gains[:-2], gains[1:-1]) > 1e-5)


def test_start_that_is_the_end_stays():
    rows, _ = planted(n=60, d=3)
    objective = objective_of(rows, rule=UpToDegree(3), mu=1e-3)
    rule = DescentRule(max_iter=300, tol=0.0)
    end = descend(objective, WeightedDirections.equal(3, 1.0), rule)
    again = descend(objective, end.solution.directions, DescentRule())
    assert again.status is Status.CONVERGED
    assert again.n_iter <= 3
    assert again.history[-1] == pytest.approx(end.history[-1], rel=1e-6)


def test_smoothing_is_set_from_the_first_fit():
    objective, start = objective_of(random_rows()), WeightedDirections.equal(3, 0.5)
    point = descend(objective, start, DescentRule(max_iter=2)).solution
    size = np.mean(np.diag(objective.at(start).derivatives[0]))
    assert point.objective.smoothing == pytest.approx(SMOOTHING * size, rel=1e-12)
    assert objective.smoothing == 0.0


def test_sampled_indices_may_go_up_and_never_stop_early():
    objective = objective_of(random_rows(n=40), rule=GroupSampling(15))
    rule = replace(PLAIN, monotone=False, max_iter=12)
    result = descend(objective, WeightedDirections.equal(3, 0.5), rule)
    assert result.n_iter == 12
    assert result.status is Status.ALL_STEPS
    assert np.diff(result.history).max() > 0


def test_inputs_stay_as_they_are():
    rows, start = random_rows(weighted=True), random_directions(3, 3)
    arrays = (rows.X, rows.y, rows.weights, start.R, start.shares)
    before = [array.copy() for array in arrays]
    descend(objective_of(rows), start, DescentRule(max_iter=3))
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_same_start_gives_the_same_descent():
    objective, start = objective_of(random_rows()), random_directions(3, 3)
    one, other = (descend(objective, start, DescentRule(max_iter=5)) for _ in range(2))
    assert one.history == other.history
    np.testing.assert_array_equal(one.solution.directions.R, other.solution.directions.R)
