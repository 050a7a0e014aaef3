"""L-BFGS in units of its own: known minima, the same steps in every unit, an honest status."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._result import Status
from kernlens.optim.lbfgs import lbfgs

CURVATURES = np.geomspace(1.0, 100.0, 12)


def quadratic(x):
    """Minimum 3 at (1, ..., 1)."""
    return 3.0 + 0.5 * float(CURVATURES @ (x - 1) ** 2), CURVATURES * (x - 1)


def rosenbrock(x):
    """Minimum 0 at (1, 1)."""
    a, b = 1 - x[0], x[1] - x[0] ** 2
    return float(a**2 + 100 * b**2), np.array([-2 * a - 400 * x[0] * b, 200 * b])


def run(function, start, max_iter=500, tol=1e-14, **options):
    start = np.asarray(start, dtype=float)
    return lbfgs(function, start, function(start)[0], max_iter=max_iter, tol=tol, **options)


@pytest.mark.parametrize("start", [[-1.2, 1.0], [0.0, 0.0], [30.0, -20.0]])
def test_the_minimum_of_rosenbrock_is_found(start):
    result = run(rosenbrock, start, tol=1e-18)
    np.testing.assert_allclose(result.solution, 1.0, atol=1e-5)
    assert result.history[-1] < 1e-10
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_of_a_quadratic_is_found(seed):
    result = run(quadratic, 10.0 * np.random.default_rng(seed).standard_normal(12))
    np.testing.assert_allclose(result.solution, 1.0, atol=1e-4)
    assert result.history[-1] == pytest.approx(3.0, rel=1e-9)
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("shift", [-3.0, -1e3, -np.inf])
def test_objectives_may_be_zero_or_negative(shift):
    # Zero or below at the start, and everywhere below at the end.
    start = np.full(12, 2.0)
    shift = -quadratic(start)[0] if shift == -np.inf else shift
    result = run(lambda x: (quadratic(x)[0] + shift, quadratic(x)[1]), start)
    np.testing.assert_allclose(result.solution, 1.0, atol=1e-4)
    assert result.history[-1] == pytest.approx(3.0 + shift, abs=1e-6)


@pytest.mark.parametrize("function", [quadratic, rosenbrock])
@pytest.mark.parametrize("unit", [2.0**-30, 2.0**20])
@pytest.mark.parametrize("scale", [2.0**-40, 1.0, 2.0**25])
def test_steps_are_the_same_in_every_unit(function, unit, scale):
    """Powers of two round nowhere: variables and objective differ by them alone, bit for bit."""
    start = np.full(12 if function is quadratic else 2, -1.5)
    start[0] = 2.5

    def rescaled(x):
        value, gradient = function(x / unit)
        return scale * value, (scale / unit) * gradient

    plain, other = run(function, start), run(rescaled, unit * start)
    assert plain.n_iter > 5
    np.testing.assert_array_equal(other.solution, unit * plain.solution)
    assert other.history == tuple(scale * value for value in plain.history)
    assert (other.n_iter, other.status) == (plain.n_iter, plain.status)


@pytest.mark.parametrize("function", [quadratic, rosenbrock])
def test_history_starts_at_the_start_and_never_increases(function):
    start = np.full(12 if function is quadratic else 2, -2.0)
    result = run(function, start)
    assert result.history[0] == function(start)[0]
    assert result.history[-1] == pytest.approx(function(result.solution)[0], rel=1e-12, abs=1e-25)
    assert len(result.history) == result.n_iter + 1
    assert np.all(np.diff(result.history) <= 0.0)


@pytest.mark.parametrize("max_iter", [1, 3, 7])
def test_too_few_iterations_say_so(max_iter):
    result = run(rosenbrock, [-1.2, 1.0], max_iter=max_iter)
    assert result.status is Status.MAX_ITER
    assert result.n_iter <= max_iter
    enough = run(rosenbrock, [-1.2, 1.0], max_iter=500)
    assert enough.status is Status.CONVERGED
    assert enough.history[: result.n_iter + 1] == result.history


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_it_stops_at_the_first_small_decrease(tol):
    result = run(quadratic, np.full(12, 4.0), tol=tol)
    decreases = -np.diff(result.history) / result.history[0]
    assert result.status is Status.CONVERGED
    assert decreases[-1] <= tol
    assert np.all(decreases[:-1] > tol)


def test_at_the_minimum_it_stays_there():
    result = run(quadratic, np.ones(12))
    assert result.status is Status.CONVERGED
    np.testing.assert_array_equal(result.solution, 1.0)
    assert set(result.history) == {3.0}


def test_a_start_at_the_origin_has_a_unit_of_one():
    result = run(quadratic, np.zeros(12))
    np.testing.assert_allclose(result.solution, 1.0, atol=1e-4)


def test_a_wrong_gradient_is_no_convergence():
    result = run(lambda x: (quadratic(x)[0], -quadratic(x)[1]), np.full(12, 4.0))
    assert result.status is Status.NO_PROGRESS
    np.testing.assert_allclose(result.solution, 4.0)


def test_progress_sees_every_iteration():
    seen = []
    result = run(rosenbrock, [-1.2, 1.0], progress=lambda *call: seen.append(call))
    assert [iteration for iteration, _ in seen] == list(range(1, result.n_iter + 1))
    assert tuple(value for _, value in seen) == result.history[1:]


def test_inputs_are_left_alone():
    start = np.full(12, 3.0)
    run(quadratic, start)
    np.testing.assert_array_equal(start, 3.0)


def test_a_gradient_that_vanishes_ends_the_run():
    # Products of such gradients are zero, and a step that divides by them is no number.
    scales = np.array([1e-70, 1e-90])
    result = run(lambda x: (1.0 + float(scales @ x**2), 2.0 * scales * x), [1.0, 1.0], tol=0.0)
    assert np.isfinite(result.solution).all()
    assert result.status is Status.CONVERGED


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_any_tolerance_is_taken():
    assert run(quadratic, np.zeros(12), tol=1e308).n_iter == 1


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [1e-300, 1e-150])
def test_a_start_of_next_to_nothing_overflows_nowhere(size):
    result = run(lambda x: (1e100 + 0.5 * (x @ x), x), np.full(2, size))
    assert np.isfinite(result.solution).all()
    assert np.abs(result.solution).max() <= size
