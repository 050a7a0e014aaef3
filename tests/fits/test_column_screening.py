"""Columns that matter: against the oracle, planted ones, chance, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._rows import CanonicalRows
from kernlens.fits import column_screening
from kernlens.fits.column_screening import (
    LARGEST_FIT,
    LEVEL,
    MOST_ROUNDS,
    relevant_columns,
    strongest_columns,
    with_columns,
)
from reference import column_screening as oracle


def rows_of(X, y, weights=None):
    y = np.atleast_2d(y).astype(float)
    return CanonicalRows(X, y, np.ones(len(X)) if weights is None else weights, np.arange(len(X)))


def sample(n=120, d=12, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


TARGETS = {
    "even": lambda X: np.abs(X[:, 0]) + 0.3 * X[:, 1],
    "product": lambda X: X[:, 2] * X[:, 5],
    "weak": lambda X: 0.4 * X[:, 3] + np.sin(9.0 * X[:, 4]),
    "classes": lambda X: np.array([X[:, 0] > 0.5, X[:, 1] * X[:, 2] > 0.3, X[:, 0] < -0.5]),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("seed", range(4))
def test_the_columns_are_the_oracle_s(name, seed):
    X = sample(seed=seed)
    # Ties, and a column of two values, which has one polynomial.
    X[:, 3] = np.round(X[:, 3])
    X[:, 6] = X[:, 6] > 0.0
    y = np.atleast_2d(TARGETS[name](X)).astype(float)
    expected = oracle.relevant(X, y, LEVEL, MOST_ROUNDS, LARGEST_FIT)
    np.testing.assert_array_equal(relevant_columns(rows_of(X, y)), expected)


@pytest.mark.parametrize("d", [60, 300])
@pytest.mark.parametrize("seed", range(3))
def test_two_of_many_columns_are_found(d, seed):
    X = sample(400, d, seed)
    noise = 0.3 * np.random.default_rng(seed + 10).standard_normal(400)
    for j, k, y in [
        (0, 1, np.abs(X[:, 0]) + 0.5 * X[:, 1] + noise),
        (2, 5, X[:, 2] * X[:, 5] + noise),
    ]:
        found = np.flatnonzero(relevant_columns(rows_of(X, y)))
        assert {j, k} <= set(found) and len(found) <= 5


def test_chance_finds_hardly_any():
    y = np.random.default_rng(1).standard_normal((100, 80))
    found = [relevant_columns(rows_of(sample(80, 15, seed), y[seed])).any() for seed in range(100)]
    # Two tests of level 0.05 in each of a hundred; twenty or more have a probability of 0.002.
    assert np.sum(found) < 20


def test_a_column_behind_another_is_found_in_what_that_leaves():
    X = sample(200, 30, 3)
    y = 5.0 * X[:, 0] + 0.5 * X[:, 1]
    found = relevant_columns(rows_of(X, y))
    assert found[0] and found[1]
    U = column_screening.weighted_ranks(X, np.ones(200))
    root = np.full(200, 200**-0.5)
    left = column_screening.without_mean(np.atleast_2d(y), root)
    assert not column_screening.single_columns(U, root, left, 200.0)[1]


def test_what_must_not_matter():
    X = sample(seed=2)
    y = TARGETS["even"](X)
    expected = relevant_columns(rows_of(X, y))
    assert expected[0] and not expected.all()
    for same in (rows_of(np.exp(X), y), rows_of(X, 3.0 - 7.0 * y), rows_of(1e6 * X + 4.0, y)):
        np.testing.assert_array_equal(relevant_columns(same), expected)
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_array_equal(relevant_columns(rows_of(X[:, order], y)), expected[order])


def test_ranks_with_weights_are_those_of_repeated_rows():
    X = np.round(sample(30, 3), 1)
    counts = np.random.default_rng(0).integers(1, 4, 30)
    repeated = column_screening.weighted_ranks(np.repeat(X, counts, axis=0), np.ones(counts.sum()))
    weighted = column_screening.weighted_ranks(X, counts.astype(float))
    np.testing.assert_allclose(np.repeat(weighted, counts, axis=0), repeated, atol=1e-12)
    np.testing.assert_allclose(
        column_screening.weighted_ranks(X, np.ones(30)), oracle.ranks(X), atol=1e-12
    )


def test_constant_targets_and_columns_have_nothing_to_find():
    X = sample()
    assert not relevant_columns(rows_of(X, np.ones(120))).any()
    assert not relevant_columns(rows_of(np.zeros((120, 3)), X[:, 0])).any()


def test_columns_that_are_left_out_are_zero():
    rows = rows_of(sample(), np.zeros(120))
    kept = np.arange(12) < 2
    left = with_columns(rows, kept)
    np.testing.assert_array_equal(left.X[:, :2], rows.X[:, :2])
    assert not left.X[:, 2:].any()


@pytest.mark.parametrize("name", ["even", "classes"])
def test_the_strongest_columns_come_first(name):
    X = sample(300, 30, 5)
    X[:, 9] = 1.0
    Y = np.atleast_2d(TARGETS[name](X)).astype(float).T
    # The same by plain least squares on the polynomials of every column.
    strength = np.full(30, -np.inf)
    for j in range(30):
        ranks = (2.0 * np.argsort(np.argsort(X[:, j])) + 1.0) / len(X) - 1.0
        if np.ptp(X[:, j]) == 0.0:
            continue
        P = np.polynomial.legendre.legvander(ranks, 4)
        for y in Y.T:
            rest = y - P @ np.linalg.lstsq(P, y, rcond=None)[0]
            share = 1.0 - rest @ rest / np.sum((y - y.mean()) ** 2)
            strength[j] = max(strength[j], (len(X) * share - 4) / np.sqrt(8.0))
    for number in (1, 2, 7, 30):
        expected = np.sort(np.argsort(-strength, kind="stable")[:number])
        np.testing.assert_array_equal(strongest_columns(X, Y, number), expected)
