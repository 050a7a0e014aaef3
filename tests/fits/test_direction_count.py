"""The number of directions that predict held-out rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens._rows import canonical_rows
from kernlens.fits import direction_count
from kernlens.fits.direction_count import LearnedOnPart, count_directions

FUNCTIONS = {
    0: lambda Z: np.zeros(len(Z)),
    1: lambda Z: np.abs(Z[:, 0]),
    2: lambda Z: np.sin(2 * Z[:, 0]) + Z[:, 1],
    3: lambda Z: Z[:, 0] * Z[:, 1] + np.cos(2 * Z[:, 2]),
}


def rows_of(k, n, noise, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    y = FUNCTIONS[k](X) + noise * rng.standard_normal(n)
    return canonical_rows(X, y[None], rng.uniform(0.5, 2.0, n))


def parts_of(k, noise, seed, turned=None):
    """Three parts that have found the first axes, in order of importance."""
    rows = rows_of(k, 300, noise, seed)
    directions = np.eye(6) if turned is None else turned
    importances = np.array([1.0, 0.8, 0.6, 0.1, 0.05, 0.02])
    return [
        LearnedOnPart(rows.take(train), rows.take(test), directions, importances)
        for train, test in rows.folds(3)
    ]


def with_rows(parts, change):
    """The same directions of changed rows."""
    return [replace(part, train=change(part.train), test=change(part.test)) for part in parts]


@pytest.mark.parametrize("k", FUNCTIONS)
@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_directions_that_predict_are_counted(k, noise):
    found = [count_directions(parts_of(k, noise, seed)).number for seed in range(4)]
    assert found == [k] * 4


@pytest.mark.parametrize("k", [0, 1])
def test_noise_adds_no_direction(k):
    # As loud as the signal: one standard error counts 3 and 2 for 1 in two of these five.
    found = [count_directions(parts_of(k, 1.0, seed)).number for seed in range(5)]
    assert found == [k] * 5


@pytest.mark.parametrize(
    ("best", "standard_errors", "as_good"),
    [
        (8.0, 0.0, True),
        (8.0, 1.6, True),
        (8.0, 1.7, False),
        # Three quarters of the error are left, or less.
        (2.7, 0.9, True),
        (2.7, 1.1, False),
        (3.3, 1.1, True),
    ],
)
def test_the_best_number_must_be_clearly_better(best, standard_errors, as_good):
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.5, 2.0, 200)
    shares = weights / weights.sum()
    worse = rng.standard_normal(200)
    worse -= worse @ shares
    spread = np.sqrt(np.sum(np.square(shares * worse)))
    gain = 0.1 if best == 8.0 else 1.0
    worse = worse * gain / (standard_errors * spread) + gain if standard_errors else worse
    # The gain is above 2 % of what is explained, 0.04 and 0.15.
    errors = [np.full(200, 10.0), best + worse, np.full(200, best)]
    losses = np.array([error @ shares for error in errors])
    assert direction_count._as_good(errors, losses, weights, 1, 2) is as_good


def test_a_factor_of_the_weights_does_not_matter():
    parts = parts_of(2, 0.5, 0)
    heavy = with_rows(parts, lambda rows: replace(rows, weights=7.0 * rows.weights))
    one, other = count_directions(parts), count_directions(heavy)
    assert other.number == one.number
    np.testing.assert_allclose(other.losses, one.losses, rtol=1e-6)


def test_losses_are_those_of_the_first_directions():
    count = count_directions(parts_of(2, 0.3, 0))
    variance, first, both = count.losses[:3]
    assert variance > 1.2 * first > 3 * both
    assert both == pytest.approx(0.3**2, rel=0.5)


@pytest.mark.parametrize("unit", [1e-90, 1e-3, 1e90])
def test_the_unit_of_targets_does_not_matter(unit):
    parts = parts_of(2, 0.3, 0)
    scaled = with_rows(parts, lambda rows: replace(rows, y=unit * rows.y))
    one, other = count_directions(parts), count_directions(scaled)
    assert other.number == one.number
    np.testing.assert_allclose(other.losses / unit**2, one.losses, rtol=1e-6)


def test_a_direction_that_comes_second_takes_the_first_along():
    assert count_directions(parts_of(1, 0.1, 0, turned=np.eye(6)[[1, 0, 2, 3, 4, 5]])).number == 2


@pytest.mark.parametrize("share", [0.0005, 0.01])
def test_imprecision_is_no_direction_where_there_is_no_noise(share):
    # Half of what is left is gained by the second direction, and all by the third.
    errors = [np.full(50, 1.0), *(np.full(50, left) for left in (share, share / 2, 1e-9))]
    losses = np.array([error.mean() for error in errors])
    weights = np.ones(50)
    assert direction_count._as_good(errors, losses, weights, 1, 3) is (share < 0.001)
    assert not direction_count._as_good(errors, losses, weights, 0, 3)


def test_predictions_are_those_of_kernel_ridge_regression():
    (part, *_) = parts_of(2, 0.3, 1)
    rng = np.random.default_rng(0)
    features, at_test = rng.standard_normal((200, 5)), rng.standard_normal((100, 5))
    found = direction_count._predictions(features, at_test, part.train, 0.3)
    weights = part.train.weights / part.train.weights.sum()
    # The minimum of sum w (y - A b - c)^2 / 2 + 0.3 |b|^2 / 2 from its normal equations.
    A = np.column_stack([features, np.ones(200)])
    system = (A.T * weights) @ A + np.diag([0.3] * 5 + [0.0])
    solution = np.linalg.solve(system, A.T @ (weights * part.train.y[0]))
    expected = np.column_stack([at_test, np.ones(100)]) @ solution
    np.testing.assert_allclose(found[0], expected, rtol=1e-10, atol=1e-12)
