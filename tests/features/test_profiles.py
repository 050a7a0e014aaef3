"""Tabulated functions of one variable: against their definitions, at extremes, by differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf, ndtr

from kernlens.features.profiles import (
    CHUNK,
    DENSITY,
    LIMIT,
    STEP_WIDTH,
    Profile,
    Ramp,
    SmoothRamp,
    SmoothStep,
    Step,
    log_psi,
    psi,
)

EXTREMES = np.array([-1e3, -50.0, -LIMIT, 0.0, LIMIT, 50.0, 1e3])


def exact_psi(z):
    """phi(z) + z Phi(z); for negative z as the integral over t of t phi(|z| + t)."""
    if z >= 0:
        return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) + z * ndtr(z)
    return np.exp(exact_log_psi(z))


def exact_log_psi(z):
    """For negative z: t phi(|z| + t) is phi(z) times t exp(-|z| t - t^2 / 2), with |z| t = s."""
    x = max(-z, 1.0)
    rate = -z / x
    integral = quad(
        lambda s: s * np.exp(-rate * s - (s / x) ** 2 / 2), 0, 50, epsabs=0, epsrel=1e-13, limit=200
    )[0]
    return -z * z / 2 - np.log(2 * np.pi) / 2 + np.log(integral) - 2 * np.log(x)


def applied(profile, z, dtype=np.float64):
    values = np.array(z, dtype=dtype).reshape(1, -1)
    profile.apply(values)
    return values[0]


def grid():
    """Points between, at and just beside the tabulated ones."""
    rng = np.random.default_rng(0)
    centers = np.arange(-LIMIT * DENSITY, LIMIT * DENSITY + 1) / DENSITY
    # Half-way between two tabulated points the remainder of the series is largest.
    halves = centers + 0.5 / DENSITY
    return np.concatenate(
        [rng.uniform(-10, 10, 4000), centers, halves - 1e-9, halves + 1e-9, EXTREMES]
    )


def test_smooth_step_is_the_error_function():
    z = grid()
    np.testing.assert_allclose(applied(SmoothStep(), z), erf(z / np.sqrt(2)), rtol=0, atol=4e-15)


def test_smooth_ramp_is_psi():
    z = np.concatenate([grid()[::7], EXTREMES, [-8.99, -6.5, -3.0, -1e-3]])
    expected = np.array([exact_psi(value) for value in z])
    errors = np.abs(applied(SmoothRamp(), z) - expected)
    # Rounding of z itself, where that is more.
    assert np.max(errors / np.maximum(1.0, np.spacing(np.abs(z)) / 4e-15)) < 4e-15


def test_values_at_the_ends_of_the_table():
    near = np.array([LIMIT - 1e-12, LIMIT, LIMIT + 1e-12, LIMIT + 0.3, 1e3, 1e15])
    np.testing.assert_allclose(applied(SmoothRamp(), near), near, rtol=1e-15)
    np.testing.assert_allclose(applied(SmoothRamp(), -near), 0.0, atol=1e-18)
    np.testing.assert_array_equal(applied(SmoothStep(), near), 1.0)
    np.testing.assert_array_equal(applied(SmoothStep(), -near), -1.0)


def test_the_step_is_odd_and_zero_at_zero():
    z = np.abs(grid())
    np.testing.assert_allclose(
        applied(SmoothStep(), -z), -applied(SmoothStep(), z), rtol=0, atol=4e-15
    )
    for profile in (SmoothStep(), Step()):
        np.testing.assert_array_equal(applied(profile, [0.0, -0.0]), 0.0)


def test_ramp_of_both_signs_differs_by_the_argument():
    # psi(z) - psi(-z) = z
    z = grid()
    gap = applied(SmoothRamp(), z) - applied(SmoothRamp(), -z)
    np.testing.assert_allclose(gap, z, rtol=1e-15, atol=8e-15)


@pytest.mark.parametrize("profile", [SmoothStep(), SmoothRamp(), Step(), Ramp()])
def test_single_precision_stays_single(profile):
    z = grid().astype(np.float32)
    values = applied(profile, z, np.float32)
    assert values.dtype == np.float32
    # The function of the rounded argument, rounded once.
    np.testing.assert_allclose(values, applied(profile, z.astype(float)), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("profile", [SmoothStep(), SmoothRamp()])
@pytest.mark.parametrize("width", [0, 1, 255, 256, 257, 700])
def test_every_width_of_a_matrix(profile, width):
    assert CHUNK == 256
    Z = np.random.default_rng(width).normal(0, 4, (3, width))
    values = Z.copy()
    profile.apply(values)
    alone = np.array([applied(profile, [z])[0] for z in Z.ravel()]).reshape(Z.shape)
    np.testing.assert_array_equal(values, alone)


@pytest.mark.parametrize("profile", [SmoothStep(), SmoothRamp(), Ramp()])
def test_slopes_are_differences(profile):
    z = np.random.default_rng(1).normal(0, 3, 300)
    z = z[np.abs(z) > 1e-3]
    step = 1e-5
    differences = (applied(profile, z + step) - applied(profile, z - step)) / (2 * step)
    np.testing.assert_allclose(profile.slope(z), differences, rtol=0, atol=1e-9)


def test_slope_of_a_step_is_that_of_a_smoothed_one():
    z = np.linspace(-2, 2, 41)
    step = 1e-5
    smooth = [erf((z + sign * step) / STEP_WIDTH / np.sqrt(2)) for sign in (1, -1)]
    np.testing.assert_allclose(
        Step().slope(z), (smooth[0] - smooth[1]) / (2 * step), rtol=0, atol=1e-8
    )
    # As much is climbed as by the step itself.
    assert quad(lambda t: float(Step().slope(np.array(t))), -3, 3)[0] == pytest.approx(2, abs=1e-9)


def test_plain_profiles():
    z = np.array([-2.0, -0.0, 0.0, 3.0])
    np.testing.assert_array_equal(applied(Step(), z), [-1, 0, 0, 1])
    np.testing.assert_array_equal(applied(Ramp(), z), [0, 0, 0, 3])
    np.testing.assert_array_equal(Ramp().slope(z), [0, 0, 0, 1])


@pytest.mark.filterwarnings("error")
def test_log_psi_is_accurate_everywhere():
    z = np.array([-1e5, -1e3, -50.001, -49.999, -38.0, -20.0, -5.0, -1.0, -1e-8])
    expected = [exact_log_psi(value) for value in z]
    np.testing.assert_allclose(log_psi(z), expected, rtol=1e-13, atol=2e-13)
    above = np.array([0.0, 1e-8, 1.0, 8.0, 1e3, 1e5, 1e150])
    np.testing.assert_allclose(
        log_psi(above), np.log([exact_psi(min(v, 1e100)) for v in above[:-1]] + [1e150]), rtol=1e-14
    )
    assert np.all(np.isfinite(log_psi(np.array([-1e150, 1e150]))))


def test_the_two_forms_of_log_psi_meet():
    # The series takes over at -50: no step beyond the slope of the logarithm, 50.
    z = np.array([-50 - 1e-9, -50 + 1e-9])
    low, high = log_psi(z) + z * z / 2
    assert abs(high - low) < 1e-9


def test_psi_has_small_relative_error_for_negative_arguments():
    z = np.array([-0.5, -3.0, -9.0, -20.0, -37.0])
    errors = psi(z) / [exact_psi(value) for value in z] - 1
    # The logarithm is about z^2 / 2, and rounded.
    assert np.all(np.abs(errors) < 2 * np.finfo(float).eps * (1 + z * z))
    np.testing.assert_array_equal(psi(np.array([-1e3, -1e5])), 0.0)


def test_arguments_are_left_alone_where_values_are_returned():
    z = np.linspace(-60, 60, 7)
    kept = z.copy()
    log_psi(z), psi(z)
    for profile in (SmoothStep(), SmoothRamp(), Step(), Ramp()):
        profile.slope(z)
    np.testing.assert_array_equal(z, kept)


def test_a_profile_must_say_what_it_is():
    with pytest.raises(NotImplementedError):
        Profile().apply(np.zeros((1, 1)))
    with pytest.raises(NotImplementedError):
        Profile().slope(np.zeros((1, 1)))
