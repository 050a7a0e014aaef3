"""Columns of RegFeaL: unit variance, clipped, measured without their tails, constants left out."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.methods.regfeal.columns import measure_columns

LIMIT = 4.0


def measure(X, weights=None, limit=LIMIT, standardize=True):
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    return measure_columns(X, weights, limit, standardize)


def normal(n=400, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * [0.01, 1.0, 300.0][:d] + [5.0, 0.0, -1e4][:d]


def assert_same(one, other, rtol=1e-12):
    np.testing.assert_allclose(one.mean, other.mean, rtol=rtol, atol=1e-13)
    np.testing.assert_allclose(one.scale, other.scale, rtol=rtol)
    np.testing.assert_allclose(one.limit, other.limit, rtol=rtol)
    np.testing.assert_array_equal(one.used, other.used)


@pytest.mark.parametrize("limit", [LIMIT, None])
def test_units_are_weighted_mean_and_deviation_of_well_behaved_columns(limit):
    X = normal()
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(X))
    mean = weights @ X / weights.sum()
    std = np.sqrt(weights @ (X - mean) ** 2 / weights.sum())
    columns = measure(X, weights, limit)
    np.testing.assert_allclose(columns.mean, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(columns.scale, std, rtol=1e-10)
    np.testing.assert_allclose(columns.apply(X), (X - mean) / std, rtol=1e-8, atol=1e-9)
    assert len(columns.used) == len(columns.mean)


def test_without_standardisation_columns_are_only_centred():
    X = normal(d=2)
    columns = measure(X, standardize=False, limit=None)
    np.testing.assert_array_equal(columns.scale, 1.0)
    np.testing.assert_allclose(columns.apply(X), X - X.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("limit", [0.5, 1.0, LIMIT])
def test_values_are_clipped_at_the_limit(limit):
    X = normal()
    columns = measure(X, limit=limit)
    far = columns.mean + np.array([[1e3], [-1e3], [0.3]]) * columns.scale
    expected = np.array([[limit], [-limit], [0.3]]) * np.ones((1, 3))
    np.testing.assert_allclose(columns.apply(far), expected, rtol=1e-8)
    assert np.abs(columns.apply(X)).max() <= limit
    # The units are those of the column, however much of it is clipped.
    np.testing.assert_allclose(columns.scale, X.std(axis=0), rtol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_a_few_wild_values_do_not_squeeze_the_others_together(seed):
    X = np.random.default_rng(seed).standard_cauchy((1000, 1))
    used = measure(X).apply(X)
    middle_half = np.subtract(*np.quantile(used, [0.75, 0.25]))
    # Divided by the plain standard deviation, half of the rows are next to each other.
    plain = np.subtract(*np.quantile(X, [0.75, 0.25])) / X.std()
    assert middle_half > 0.15
    assert middle_half > 3 * plain
    assert np.abs(used).max() == LIMIT


@pytest.mark.parametrize("wild", [1e6, -1e6, 1e100])
def test_one_wild_value_changes_the_others_little(wild):
    X = normal(n=200, d=1)
    spoiled = X.copy()
    spoiled[17] = wild
    clean, used = measure(X).apply(X), measure(spoiled).apply(spoiled)
    others = np.arange(200) != 17
    # Drawn in to 4.7 deviations, the value adds 4.7^2 / 200 to a variance of 1.
    assert np.abs(used - clean)[others].max() < 0.2
    assert used[17, 0] == np.sign(wild) * LIMIT
    # Without the limit there is one value and the rest.
    assert np.ptp(measure(spoiled, limit=None).apply(spoiled)[others]) < 1e-3


@pytest.mark.parametrize("n_ones", [1, 3, 30])
def test_rare_binary_columns_keep_varying(n_ones):
    X = np.zeros((1000, 1))
    X[:n_ones] = 1.0
    columns = measure(X)
    assert len(columns.used) == len(columns.mean)
    share = n_ones / 1000
    assert columns.mean[0] == pytest.approx(share)
    assert columns.scale[0] == pytest.approx(np.sqrt(share * (1 - share)))
    used = columns.apply(X)
    assert used[0, 0] == pytest.approx(min(LIMIT, (1 - share) / columns.scale[0]))
    assert used[-1, 0] == pytest.approx(-share / columns.scale[0])


@pytest.mark.parametrize("constant", [0.0, 7.0, 0.1, 1e12, -1e-30])
@pytest.mark.parametrize("limit", [LIMIT, None])
def test_constant_columns_are_left_out(constant, limit):
    X = normal(d=3)
    X[:, 1] = constant
    columns = measure(X, limit=limit)
    np.testing.assert_array_equal(columns.used, [0, 2])
    used = columns.apply(X)
    varying = X[:, [0, 2]]
    expected = measure(varying, limit=limit).apply(varying)
    np.testing.assert_allclose(used, expected, rtol=1e-9, atol=1e-9)
    elsewhere = X.copy()
    elsewhere[:, 1] = np.linspace(-1e3, 1e3, len(X))
    np.testing.assert_array_equal(columns.apply(elsewhere), used)


def test_embedding_puts_zeros_where_columns_were_left_out():
    X = normal()
    X[:, 1] = 2.0
    columns = measure(X)
    directions = np.array([[0.6, 0.8], [0.8, -0.6]])
    full = columns.embed(directions)
    np.testing.assert_array_equal(full, [[0.6, 0.0, 0.8], [0.8, 0.0, -0.6]])
    np.testing.assert_allclose(
        columns.apply(X) @ directions.T, (X - columns.mean) / columns.scale @ full.T, atol=1e-12
    )


def test_if_all_columns_are_constant_one_input_is_zero():
    X = np.full((5, 3), 3.3)
    columns = measure(X)
    assert len(columns.used) == 0
    np.testing.assert_array_equal(columns.apply(X), np.zeros((5, 1)))


@pytest.mark.parametrize("limit", [LIMIT, None])
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_repetitions_and_zero_is_absence(limit, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.5, (60, 3))
    counts = rng.integers(0, 4, 60)
    counted = measure(X[counts > 0], counts[counts > 0], limit)
    assert_same(counted, measure(np.repeat(X, counts, axis=0), limit=limit))
    assert_same(counted, measure(X[counts > 0], 7.5 * counts[counts > 0], limit))


def test_tails_are_found_by_weight_not_by_number():
    # Ten rows out of 110, but a thousandth of the weight: they are tails.
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal(100), np.full(10, 50.0)])[:, None]
    light = np.concatenate([np.ones(100), np.full(10, 0.01)])
    assert measure(X, light).scale[0] < 1.3 * X[:100].std()
    assert measure(X).scale[0] > 5.0


@pytest.mark.parametrize("limit", [LIMIT, None])
def test_the_order_of_the_rows_does_not_matter(limit):
    rng = np.random.default_rng(5)
    X, weights = rng.standard_t(2, (200, 3)), rng.uniform(0.1, 2.0, 200)
    order = rng.permutation(200)
    assert_same(measure(X[order], weights[order], limit), measure(X, weights, limit))


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_the_columns_do_not_matter(shift, unit):
    X = np.random.default_rng(6).standard_t(2, (150, 2))
    moved = unit * (X + shift)
    np.testing.assert_allclose(
        measure(moved).apply(moved), measure(X).apply(X), rtol=1e-9, atol=1e-9
    )


def test_without_a_limit_training_rows_are_as_they_are_and_others_within_what_was_seen():
    X = np.random.default_rng(7).standard_cauchy((300, 2))
    columns = measure(X, limit=None)
    used = columns.apply(X)
    np.testing.assert_allclose(used, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-9)
    largest = np.abs(used).max(axis=0)
    far = columns.apply(np.array([[1e9, -1e9], [-1e9, 1e9]]))
    np.testing.assert_array_equal(far, [[largest[0], -largest[1]], [-largest[0], largest[1]]])


def test_rows_are_unchanged():
    X = normal()
    copy = X.copy()
    measure(X).apply(X)
    np.testing.assert_array_equal(X, copy)
