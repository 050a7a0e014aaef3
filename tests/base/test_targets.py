"""Targets in the units of a fit and back, within bounds, with their derivatives."""

from __future__ import annotations

import numpy as np

from kernlens.base.targets import Targets

RNG = np.random.default_rng(0)
Y = RNG.standard_normal((2, 40)) * [[3.0], [1e-3]] + [[5.0], [0.0]]
WEIGHTS = RNG.uniform(0.5, 2.0, size=40)


def test_as_they_are_changes_nothing():
    targets = Targets.as_they_are(2)
    np.testing.assert_array_equal(targets.apply(Y), Y)
    np.testing.assert_array_equal(targets.restore(Y), Y)
    assert targets.inner_bounds is None


def test_standardized_targets_count_alike_and_come_back():
    targets = Targets.standardized(Y, WEIGHTS)
    inner = targets.apply(Y)
    np.testing.assert_allclose(np.average(inner**2, axis=1, weights=WEIGHTS), 1.0)
    np.testing.assert_allclose(targets.restore(inner), Y, rtol=1e-12)


def test_bounds_hold_in_both_units():
    targets = Targets.standardized(Y, WEIGHTS).within(np.array([4.0, 0.0]), np.array([6.0, 1e-3]))
    restored = targets.restore(targets.apply(Y))
    np.testing.assert_allclose(restored, np.clip(Y, [[4.0], [0.0]], [[6.0], [1e-3]]), rtol=1e-12)
    low, high = targets.inner_bounds
    np.testing.assert_allclose(targets.restore(np.column_stack([low, high])), [[4, 6], [0, 1e-3]])


def test_derivatives_are_those_of_what_is_restored():
    targets = Targets.standardized(Y, WEIGHTS).within(np.array([4.0, 0.0]), np.array([6.0, 1e-3]))
    x, step = np.linspace(-2, 2, 41)[:, None] * np.ones(3), 1e-6
    w = np.array([1.0, -0.5, 0.2])

    def decision(rows):
        return np.vstack([rows @ w, np.sin(rows @ w)])

    slopes = np.stack([np.tile(w, (41, 1)), np.cos(x @ w)[:, None] * w])
    gradient = targets.gradient(decision(x), slopes)
    for j in range(3):
        move = step * np.eye(3)[j]
        ahead, behind = (targets.restore(decision(x + sign * move)) for sign in (1, -1))
        np.testing.assert_allclose(gradient[:, :, j], (ahead - behind) / (2 * step), atol=1e-7)
    assert np.any(gradient == 0.0)
