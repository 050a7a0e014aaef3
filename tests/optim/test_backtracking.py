"""Backtracking: the corrected test of a step, its constants, and steps that Lemma 7 promises."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.optim.backtracking import MAX_BACKTRACKS, StepRule, backtrack


def trials_of(function, x, gradient, project=lambda x: x):
    """The `move` of a projected gradient step, and the list of sizes it was asked for."""
    sizes = []

    def move(size):
        sizes.append(size)
        new = project(x - size * gradient)
        return new, function(new), float(np.sum((new - x) ** 2))

    return move, sizes


def accepting_from(limit):
    """A move that lowers the objective if and only if the step is at most `limit`."""
    sizes = []

    def move(size):
        sizes.append(size)
        return size, -1.0 if size <= limit else 1.0, 0.0

    return move, sizes


def unit_disc(x):
    return x / max(1.0, np.linalg.norm(x))


@pytest.mark.parametrize("decrease", [1e-8, 1e-4, 0.3])
def test_a_constrained_stationary_point_is_accepted_where_the_printed_test_never_ends(decrease):
    """The lowest point of a linear function on the disc: the projected step goes nowhere."""
    gradient = np.array([3.0, 4.0])
    x = -gradient / 5.0

    def function(x):
        return float(gradient @ x) + 7.0

    move, sizes = trials_of(function, x, gradient, unit_disc)
    step = backtrack(move, function(x), 1.0, StepRule(decrease=decrease))
    assert step is not None and len(sizes) == 1
    np.testing.assert_allclose(step.trial, x, atol=1e-15)
    assert step.square_move < 1e-30
    square_norm = gradient @ gradient
    for size in 2.0 ** np.arange(-20.0, 40.0):
        # As printed: F(x+) - F(x) < -c s |grad|^2.
        gain = function(unit_disc(x - size * gradient)) - function(x)
        assert not gain < -decrease * size * square_norm


def test_a_step_of_length_zero_is_accepted_at_once_and_never_by_the_printed_test():
    slope, gain = 5.0, 0.0
    move, sizes = trials_of(lambda x: 2.0, np.zeros(2), np.array([3.0, 4.0]), lambda x: 0.0 * x)
    step = backtrack(move, 2.0, 1.0, StepRule())
    assert step.square_move == 0.0 and sizes == [2.0]
    assert not any(gain < -1e-4 * size * slope**2 for size in 0.5 ** np.arange(1000.0))


@pytest.mark.parametrize("decrease", [1e-4, 0.1, 0.6])
@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0, 30.0])
def test_without_constraint_the_accepted_steps_are_those_of_the_printed_test(decrease, size):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4, 3))

    def function(x):
        return float(np.sum(np.cos(A @ x)) + x @ x)

    for _ in range(20):
        x = rng.standard_normal(3)
        gradient = -A.T @ np.sin(A @ x) + 2 * x
        move, _ = trials_of(function, x, gradient)
        step = backtrack(move, function(x), size, StepRule(decrease=decrease))
        printed = size / 0.5
        while not (
            function(x - printed * gradient) - function(x)
            < -decrease * printed * gradient @ gradient
        ):
            printed *= 0.5
        assert step.size == printed
        np.testing.assert_array_equal(step.trial, x - printed * gradient)


@pytest.mark.parametrize("contraction", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dilation", [0.2, 0.5, 1.0])
def test_steps_grow_by_delta_and_shrink_by_rho(contraction, dilation):
    move, sizes = accepting_from(0.03)
    step = backtrack(move, 0.0, 0.7, StepRule(contraction, dilation))
    expected = (0.7 / dilation) * contraction ** np.arange(len(sizes))
    np.testing.assert_allclose(sizes, expected, rtol=1e-12)
    assert step.size == step.trial == sizes[-1] <= 0.03
    assert all(size > 0.03 for size in sizes[:-1])


def test_without_dilation_steps_never_grow():
    size, rule = 1.0, StepRule(dilation=1.0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        move, _ = accepting_from(rng.uniform(1e-3, 2.0))
        step = backtrack(move, 0.0, size, rule)
        assert step.size <= size * (1 + 1e-12)
        size = step.size


@pytest.mark.parametrize("largest", [0.5, 3.0, 1e-6])
def test_the_largest_step_is_honoured_and_used(largest):
    rule = StepRule(largest=largest)
    for size in (1e-8, largest / 3, largest, 1e9):
        move, sizes = accepting_from(np.inf)
        step = backtrack(move, 0.0, size, rule)
        assert max(sizes) <= largest * (1 + 1e-12)
        assert step.size == pytest.approx(min(2 * size, largest), rel=1e-12)


@pytest.mark.parametrize("decrease", [1e-4, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.01])
def test_steps_of_lemma_7_are_always_accepted_on_a_quadratic(decrease, share):
    """Any step up to 2 (1 - c) / L, for an L-smooth function, and so with a projection."""
    rng = np.random.default_rng(1)
    for project in (lambda x: x, unit_disc):
        for _ in range(50):
            A = rng.standard_normal((3, 3))
            H, b = A @ A.T, rng.standard_normal(3)
            x = project(rng.standard_normal(3))

            def function(x, H=H, b=b):
                return float(0.5 * x @ H @ x - b @ x)

            bound = share * 2 * (1 - decrease) / np.linalg.eigvalsh(H)[-1]
            move, sizes = trials_of(function, x, H @ x - b, project)
            rule = StepRule(dilation=1.0, decrease=decrease)
            assert backtrack(move, function(x), bound, rule) is not None
            assert len(sizes) == 1


@pytest.mark.parametrize("decrease", [0.1, 0.5])
def test_the_bound_of_lemma_7_is_sharp(decrease):
    """On F = L x^2 / 2 a longer step fails."""
    curvature = 3.0
    bound = 2 * (1 - decrease) / curvature
    rule = StepRule(dilation=1.0, decrease=decrease)
    for factor, tries in ((0.999, 1), (1.001, 2)):
        move, sizes = trials_of(lambda x: 0.5 * curvature * x**2, 2.0, 2.0 * curvature)
        step = backtrack(move, 0.5 * curvature * 4.0, factor * bound, rule)
        assert len(sizes) == tries
        assert step.size == pytest.approx(factor * bound * 0.5 ** (tries - 1))


def test_an_accepted_step_gains_what_it_must():
    rng = np.random.default_rng(2)
    rule = StepRule(decrease=0.2)
    for _ in range(50):
        x = unit_disc(rng.standard_normal(2))
        slope = rng.standard_normal(2)

        def function(x, slope=slope):
            return float(np.cos(3 * x[0]) + slope @ x + x[1] ** 4)

        gradient = slope + np.array([-3 * np.sin(3 * x[0]), 4 * x[1] ** 3])
        move, _ = trials_of(function, x, gradient, unit_disc)
        step = backtrack(move, function(x), 1.0, rule)
        moved = np.sum((step.trial - x) ** 2)
        assert step.square_move == pytest.approx(moved)
        assert function(step.trial) <= function(x) - 0.2 / step.size * moved + 1e-14


@pytest.mark.parametrize("rise", [1e-10, 1.0, np.inf, np.nan])
def test_none_if_no_step_works(rise):
    sizes = []

    def move(size):
        sizes.append(size)
        return None, 1.0 + rise, 1.0

    assert backtrack(move, 1.0, 1.0, StepRule()) is None
    assert len(sizes) == MAX_BACKTRACKS


def test_only_rounding_is_forgiven():
    eps = np.finfo(float).eps
    for rise, accepted in ((2 * eps, True), (20 * eps, False)):
        step = backtrack(lambda size, rise=rise: (0, 1.0 + rise, 0.0), 1.0, 1.0, StepRule())
        assert (step is not None) == accepted


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("contraction", value) for value in (0.0, 1.0, -1.0, 2.0, "a", None, np.nan)],
        *[("dilation", value) for value in (0.0, -0.5, 1.5, "a")],
        *[("decrease", value) for value in (0.0, -1.0, np.inf)],
        *[("largest", value) for value in (0.0, -1.0, np.nan)],
    ],
)
def test_constants_out_of_range_are_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be "):
        StepRule(**{name: value})
    assert StepRule(dilation=1.0, largest=2.0).largest == 2.0


def test_a_step_that_vanishes_is_none():
    move, sizes = accepting_from(0.0)
    assert backtrack(move, 0.0, 1e-322, StepRule(contraction=0.01)) is None
    assert all(size > 0.0 for size in sizes)
