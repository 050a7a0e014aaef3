"""Newton's method with a line search, on small problems whose minimum is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit

from kernlens.optim.damped_newton import MAX_NEWTON_STEPS, damped_newton


@dataclass
class Recorder:
    """A convex function with exact Newton steps; every call is written down."""

    value: callable
    gradient: callable
    hessian: callable
    points: list = field(default_factory=list)
    tolerances: list = field(default_factory=list)

    def minimize(self, start, tol=1e-12):
        return damped_newton(
            self.at(np.asarray(start, dtype=float)),
            step_from=self.step_from,
            between=lambda a, b, t: self.at(a.x + t * (b.x - a.x)),
            violation=lambda point: np.linalg.norm(self.gradient(point.x)),
            tol=tol,
        )

    def at(self, x):
        return Point(x, float(self.value(x)))

    def step_from(self, point, tol):
        self.points.append(point)
        self.tolerances.append(tol)
        step = np.linalg.solve(self.hessian(point.x), self.gradient(point.x))
        return self.at(point.x - step)


@dataclass(frozen=True)
class Point:
    x: np.ndarray
    value: float


def quadratic(seed=0):
    """1/2 (x - m)^T A (x - m) + 1, and m."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((5, 5))
    A, m = root @ root.T + np.eye(5), rng.standard_normal(5)
    return Recorder(
        lambda x: 0.5 * (x - m) @ A @ (x - m) + 1, lambda x: A @ (x - m), lambda x: A
    ), m


def logistic_regression():
    """Labels that no line separates, with a trace of ridge, in two columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = (X[:, 0] + rng.standard_normal(40) > 0).astype(float)

    def hessian(w):
        p = expit(X @ w)
        return X.T @ ((p * (1 - p))[:, None] * X) / 40 + 1e-6 * np.eye(2)

    return Recorder(
        lambda w: np.mean(np.logaddexp(0, X @ w) - y * (X @ w)) + 0.5e-6 * w @ w,
        lambda w: X.T @ (expit(X @ w) - y) / 40 + 1e-6 * w,
        hessian,
    )


def root_function():
    """sqrt(1 + x^2): full Newton steps are x -> -x^3, which diverge beyond 1."""
    return Recorder(
        lambda x: np.sqrt(1 + x @ x),
        lambda x: x / np.sqrt(1 + x @ x),
        lambda x: np.eye(1) / (1 + x @ x) ** 1.5,
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_quadratic_is_solved_by_the_first_step(seed):
    recorder, minimum = quadratic(seed)
    end = recorder.minimize(np.full(5, 100.0))
    np.testing.assert_allclose(end.x, minimum, rtol=1e-10, atol=1e-10)
    assert end.value == pytest.approx(1.0, rel=1e-12)
    # The second point is the minimum already; later steps only ask for more digits of it.
    np.testing.assert_allclose(recorder.points[1].x, minimum, atol=1e-10)


@pytest.mark.parametrize("make", [logistic_regression, root_function])
@pytest.mark.parametrize("start", [5.0, 40.0])
def test_where_full_steps_diverge_halved_ones_converge(make, start):
    recorder = make()
    x = np.full(len(recorder.gradient(np.zeros(2 if make is logistic_regression else 1))), start)
    full = x.copy()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(3):
            full = full - np.linalg.solve(recorder.hessian(full), recorder.gradient(full))
    assert not recorder.value(full) < recorder.value(x)
    end = recorder.minimize(x)
    assert np.linalg.norm(recorder.gradient(end.x)) < 1e-10


def test_the_objective_never_increases():
    recorder = logistic_regression()
    end = recorder.minimize([30.0, -30.0])
    values = [point.value for point in recorder.points] + [end.value]
    assert len(values) > 4
    assert np.all(np.diff(values) <= 1e-15)


def test_convergence_is_quadratic_at_the_end():
    recorder = logistic_regression()
    minimum = recorder.minimize([0.0, 0.0]).x
    errors = [np.linalg.norm(point.x - minimum) for point in recorder.points]
    near = [(a, b) for a, b in pairwise(errors) if 1e-6 < a < 0.3]
    assert near
    assert all(b <= 2 * a**2 for a, b in near)


@pytest.mark.parametrize("tol", [1e-3, 1e-8, 1e-12])
def test_linear_systems_are_solved_loosely_at_first_and_never_beyond_tol(tol):
    recorder = logistic_regression()
    recorder.minimize([5.0, 5.0], tol=tol)
    expected = [max(tol, 10.0 ** (-3 * step)) for step in range(1, len(recorder.tolerances) + 1)]
    assert recorder.tolerances == expected
    assert recorder.tolerances[-1] == tol


def test_it_stops_at_the_tolerance_asked_for():
    counts = {}
    for tol in (1e-3, 1e-12):
        recorder = logistic_regression()
        end = recorder.minimize([5.0, 5.0], tol=tol)
        assert np.linalg.norm(recorder.gradient(end.x)) <= 100 * tol
        counts[tol] = len(recorder.points)
    assert counts[1e-3] < counts[1e-12] < 30


def test_at_the_minimum_it_stays_there():
    recorder, minimum = quadratic()
    end = recorder.minimize(minimum)
    np.testing.assert_allclose(end.x, minimum, atol=1e-14)
    assert len(recorder.points) <= 5


def test_a_step_that_never_helps_leaves_the_point():
    # A wrong Newton step, uphill: the line search gives up and the point is kept.
    recorder, minimum = quadratic()
    uphill = Recorder(recorder.value, recorder.gradient, lambda x: -recorder.hessian(x))
    start = minimum + 1.0
    end = uphill.minimize(start)
    np.testing.assert_array_equal(end.x, start)
    assert len(uphill.points) < 10


def test_values_that_are_not_numbers_are_stepped_back_from():
    # -log x + x with its minimum at 1: a full step from 3 is to -3, where it has no value.
    def value(x):
        with np.errstate(invalid="ignore"):
            return (x - np.log(x))[0]

    recorder = Recorder(value, lambda x: 1 - 1 / x, lambda x: np.diag(1 / x**2))
    assert np.isnan(value(np.array([3.0 - 6.0])))
    np.testing.assert_allclose(recorder.minimize([3.0]).x, 1.0, rtol=1e-12)


def test_a_minimum_at_infinity_ends_after_the_largest_number_of_steps():
    recorder = Recorder(
        lambda x: np.exp(-x[0]), lambda x: -np.exp(-x), lambda x: np.diag(np.exp(-x))
    )
    end = recorder.minimize([0.0], tol=1e-200)
    assert len(recorder.points) == MAX_NEWTON_STEPS
    assert end.x[0] == pytest.approx(MAX_NEWTON_STEPS, rel=1e-9)
