"""Appendix D.2 of HKRR: alternating steps leave a local minimum that variable projection keeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernlens.datasets import make_alternating_toy
from kernlens.optim.backtracking import StepRule, backtrack

#: The constants of the package. The first step is short: from 1, both methods jump over the hill.
RULE = StepRule()
FIRST_STEP = 0.01


def step_in_y(toy, x, y, size):
    return _step(lambda t: toy.value(x, t), y, toy.gradient(x, y)[1], size)


def step_in_x(toy, x, y, size):
    return _step(lambda t: toy.value(t, y), x, toy.gradient(x, y)[0], size)


def _step(function, at, gradient, size):
    def move(size):
        new = float(at - size * gradient)
        return new, float(function(new)), (new - at) ** 2

    return backtrack(move, float(function(at)), size, RULE)


def variable_projection(toy, y, n_iter=300):
    """Points after every iteration; x is the best for y from the beginning."""
    x, size = float(toy.best_x(y)), FIRST_STEP
    path = [(x, y)]
    for _ in range(n_iter):
        step = step_in_y(toy, x, y, size)
        y, size = step.trial, step.size
        x = float(toy.best_x(y))
        path.append((x, y))
    return np.array(path)


def alternating(toy, x, y, n_iter=300):
    """Points after every iteration of one step in y and one in x."""
    sizes = [FIRST_STEP, FIRST_STEP]
    path = [(x, y)]
    for _ in range(n_iter):
        step = step_in_y(toy, x, y, sizes[0])
        y, sizes[0] = step.trial, step.size
        step = step_in_x(toy, x, y, sizes[1])
        x, sizes[1] = step.trial, step.size
        path.append((x, y))
    return np.array(path)


def local_minimum(toy):
    """Of the reduced function, left of the hill near -0.3."""
    y = minimize_scalar(toy.reduced_value, bounds=(-0.8, -0.4), method="bounded").x
    return np.array([toy.best_x(y), y])


def first_within(toy, path, distance=1e-3):
    return int(np.argmax(np.linalg.norm(path - toy.minimizer, axis=1) < distance))


def test_alternating_steps_reach_the_global_minimum_where_reduced_steps_stay():
    toy = make_alternating_toy()
    np.testing.assert_allclose(alternating(toy, -1.5, -1.5)[-1], (1.0, 1.0), atol=1e-6)
    stuck = variable_projection(toy, -1.5)[-1]
    np.testing.assert_allclose(stuck, local_minimum(toy), atol=1e-5)
    assert abs(toy.reduced_derivative(stuck[1])) < 1e-6
    assert toy.value(*stuck) > 3.0


def test_from_the_other_start_both_reach_the_minimum_and_reduced_steps_sooner():
    toy = make_alternating_toy()
    reduced, both = variable_projection(toy, -0.1), alternating(toy, -1.5, -0.1)
    np.testing.assert_allclose(reduced[-1], (1.0, 1.0), atol=1e-6)
    np.testing.assert_allclose(both[-1], (1.0, 1.0), atol=1e-6)
    assert 0 < first_within(toy, reduced) < first_within(toy, both)


def test_with_the_sigmoid_curve_it_is_the_same():
    toy = make_alternating_toy("sigmoid")
    np.testing.assert_allclose(alternating(toy, 5.0, -1.75)[-1], toy.minimizer, atol=1e-6)
    stuck = variable_projection(toy, -1.75)[-1]
    np.testing.assert_allclose(stuck, local_minimum(toy), atol=1e-5)


@pytest.mark.parametrize("start", [(-1.5, -1.5), (-1.5, -0.1), (2.0, 2.5), (0.0, -2.0)])
def test_the_objective_never_rises(start):
    toy = make_alternating_toy()
    for path in (alternating(toy, *start), variable_projection(toy, start[1])):
        values = toy.value(*path.T)
        # Two steps an iteration, each known to its rounding.
        assert np.all(np.diff(values) <= 16 * np.finfo(float).eps * values[:-1])


def test_more_starts_lead_alternating_steps_to_the_global_minimum():
    """Figure 4, on a coarse grid left of the global minimum."""
    toy = make_alternating_toy()
    reached = {"reduced": 0, "alternating": 0}
    for y in np.linspace(-2.0, 0.0, 5):
        found = abs(variable_projection(toy, y)[-1, 1] - 1.0) < 1e-3
        for x in np.linspace(-2.0, 2.0, 5):
            reached["reduced"] += found
            reached["alternating"] += abs(alternating(toy, x, y)[-1, 1] - 1.0) < 1e-3
    assert reached["alternating"] > reached["reduced"]
