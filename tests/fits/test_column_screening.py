"""Columns that matter: against the oracle, planted ones, chance, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import f as f_distribution
from scipy.stats import rankdata

from kernlens._rows import CanonicalRows
from kernlens.fits import column_screening
from kernlens.fits.column_screening import (
    LARGEST_FIT,
    LEVEL,
    MOST_ROUNDS,
    log_chance,
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
    X[:, 9], X[:, 4], X[:, 20] = 1.0, X[:, 4] > 0.0, np.abs(X[:, 0]) > 0.5
    Y = np.atleast_2d(TARGETS[name](X)).astype(float).T
    # The same by plain least squares on the polynomials of every column, and the F-test.
    chance = np.zeros(30)
    for j in range(30):
        ranks = 2.0 * (rankdata(X[:, j]) - 0.5) / len(X) - 1.0
        q = min(len(np.unique(ranks)) - 1, 4)
        if q == 0:
            continue
        P = np.polynomial.legendre.legvander(ranks, q)
        for y in Y.T:
            rest = y - P @ np.linalg.lstsq(P, y, rcond=None)[0]
            total, left = np.sum((y - y.mean()) ** 2), rest @ rest
            ratio = (total - left) / q / (left / (len(X) - 1 - q))
            chance[j] = min(chance[j], f_distribution.logsf(ratio, q, len(X) - 1 - q))
    for number in (1, 2, 7, 30):
        expected = np.sort(np.argsort(chance, kind="stable")[:number])
        np.testing.assert_array_equal(strongest_columns(X, Y, number), expected)


def test_probabilities_are_those_of_the_f_test_however_small():
    degrees = np.array([1, 4, 1, 4, 2, 0])
    for n in (8, 300):
        for share in (1e-3, 0.01, 0.5, 0.99):
            rest = n - 1 - degrees
            ratio = share / np.maximum(degrees, 1) / ((1.0 - share) / rest)
            expected = f_distribution.logsf(ratio, np.maximum(degrees, 1), rest)
            expected[degrees == 0] = 0.0
            found = log_chance(np.full(6, share), degrees, n)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    # Beyond the smallest number there is: log of the beta tail, by its series to many terms.
    a, b, left = 2995 / 2, 4 / 2, 0.3
    terms = np.cumprod(np.r_[1.0, (a + b + np.arange(200)) / (a + 1 + np.arange(200)) * left])
    exact = a * np.log(left) + b * np.log1p(-left) - np.log(a) - betaln(a, b) + np.log(terms.sum())
    found = log_chance(np.array([1.0 - left]), np.array([4]), 3000)[0]
    assert found == pytest.approx(exact, abs=0.01)
    assert exact < np.log(np.finfo(float).tiny)


@pytest.mark.parametrize("n", [60, 300, 5000])
def test_a_column_that_is_the_target_is_stronger_than_its_halves(n):
    y = np.random.default_rng(0).standard_normal(n)
    X = np.column_stack([y > 0.0, y > 0.5, y, np.sign(y) * np.sqrt(np.abs(y)) > 0.2])
    assert strongest_columns(X.astype(float), y[:, None], 1).tolist() == [2]


def test_noise_of_two_values_is_no_stronger_than_noise_of_many():
    counts = []
    for seed in range(40):
        X = sample(80, 40, seed)
        X[:, :20] = X[:, :20] > 0.0
        y = np.random.default_rng(1000 + seed).standard_normal((80, 1))
        counts.append(np.count_nonzero(strongest_columns(X, y, 20) < 20))
    # Half of 20 on average; the standard error of the mean is 0.35.
    assert np.mean(counts) == pytest.approx(10.0, abs=1.2)


def test_the_strongest_of_many_rows_do_not_depend_on_the_order_of_rows_and_columns():
    X = sample(4000, 15, 3)
    y = (X[:, [2]] + 0.3 * X[:, [11]] ** 2) + 3.0 * sample(4000, 1, 4)
    expected = strongest_columns(X, y, 6)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(4000), rng.permutation(15)
    found = strongest_columns(7.0 * X[rows][:, columns] - 3.0, y[rows], 6)
    np.testing.assert_array_equal(np.sort(columns[found]), expected)
