"""Weighted quantiles are the quantiles of the rows repeated as often as their weights say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from kernlens._quantiles import weighted_quantile

LEVELS = [Fraction(1, 100), Fraction(1, 20), Fraction(1, 3), Fraction(1, 2), Fraction(99, 100), 1]


def by_repetition(values, weights, level):
    repeated = np.sort(np.repeat(values, weights))
    # In fractions: a level of a third of three rows is one row, without rounding.
    return repeated[math.ceil(level * len(repeated)) - 1]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 2, 3, 20, 100])
@pytest.mark.parametrize("unit", [1.0, 0.1, 1e-9, 1e9])
def test_weights_are_repetitions_in_any_unit(level, n, unit):
    rng = np.random.default_rng(n)
    weights = rng.integers(0, 4, n)
    weights[0] += 1
    # Rounded, so that some values are the same.
    values = np.round(rng.standard_normal((n, 3)), 1)
    found = weighted_quantile(values, unit * weights, float(level))
    np.testing.assert_array_equal(found, [by_repetition(v, weights, level) for v in values.T])
    for column, expected in zip(values.T, found, strict=True):
        alone = weighted_quantile(column, unit * weights, float(level))
        assert alone == expected


def test_a_share_is_met_up_to_rounding():
    # Seven times 0.1 is rounded to less than half of fourteen times 0.1.
    assert weighted_quantile(np.arange(14.0), np.full(14, 0.1), 0.5) == 6.0
    # What is more than rounding counts.
    assert weighted_quantile(np.array([1.0, 2.0]), np.array([1.0, 1.0 + 1e-7]), 0.5) == 2.0


@pytest.mark.parametrize("level", LEVELS)
def test_the_order_of_rows_does_not_matter(level):
    rng = np.random.default_rng(0)
    values, weights = rng.standard_normal(50), rng.random(50)
    order = rng.permutation(50)
    shuffled = weighted_quantile(values[order], weights[order], float(level))
    assert shuffled == weighted_quantile(values, weights, float(level))


def test_a_row_without_weight_is_never_the_quantile():
    values, weights = np.array([-9.0, 1.0, 2.0, 9.0]), np.array([0.0, 1.0, 1.0, 0.0])
    assert weighted_quantile(values, weights, 1e-6) == 1.0
    assert weighted_quantile(values, weights, 1.0) == 2.0
