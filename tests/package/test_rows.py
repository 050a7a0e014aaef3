"""The canonical order of rows: what it keeps, what it merges, and how folds are cut along it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from kernlens._rows import canonical_rows


def sample(n=40, d=3, n_targets=2, seed=0):
    """Rows from few values, so that rows repeat, with the same and with other targets."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float) / 3
    y = rng.integers(0, 2, (n_targets, n)).astype(float)
    return X, y, rng.integers(1, 5, n).astype(float)


def as_multiset(X, y, weights):
    """Total weight of every distinct (x, y)."""
    totals: dict[tuple[float, ...], float] = {}
    for row, target, weight in zip(X, y.T, weights, strict=True):
        key = (*row, *target)
        totals[key] = totals.get(key, 0.0) + weight
    return totals


def assert_identical(one, other):
    for name in ("X", "y", "weights", "group"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("seed", range(5))
def test_no_weight_is_lost_and_no_row_is_left_twice(seed):
    X, y, weights = sample(seed=seed)
    rows = canonical_rows(X, y, weights)
    expected = as_multiset(X, y, weights)
    assert as_multiset(rows.X, rows.y, rows.weights) == expected
    assert len(rows.X) == len(expected) < len(X)


@pytest.mark.parametrize("seed", range(5))
def test_order_of_the_input_does_not_matter(seed):
    X, y, weights = sample(seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    assert_identical(
        canonical_rows(X, y, weights), canonical_rows(X[order], y[:, order], weights[order])
    )


def test_a_sum_of_weights_does_not_depend_on_the_order_of_repeated_rows():
    # (0.1 + 0.2) + 0.3 is not 0.1 + (0.2 + 0.3).
    X, y, weights = np.zeros((3, 1)), np.zeros((1, 3)), np.array([0.1, 0.2, 0.3])
    sums = {
        float(canonical_rows(X, y, weights[list(order)]).weights[0])
        for order in permutations(range(3))
    }
    assert len(sums) == 1


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_repetitions_and_zero_removes(seed):
    X, y, _ = sample(seed=seed)
    counts = np.random.default_rng(seed).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    assert_identical(
        canonical_rows(X, y, counts.astype(float)),
        canonical_rows(X[rows], y[:, rows], np.ones(len(rows))),
    )


def test_group_numbers_the_distinct_x():
    rows = canonical_rows(*sample())
    distinct = np.unique(rows.X, axis=0)
    np.testing.assert_array_equal(np.unique(rows.group), np.arange(len(distinct)))
    assert np.all(np.diff(rows.group) >= 0)
    for number in np.unique(rows.group):
        members = rows.X[rows.group == number]
        assert np.all(members == members[0])


def test_negative_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    rows = canonical_rows(X, np.array([[0.0, -0.0]]), np.ones(2))
    assert len(rows.X) == 1
    assert rows.weights[0] == 2.0


def test_rows_that_differ_in_the_last_bit_stay_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert len(canonical_rows(X, np.zeros((1, 2)), np.ones(2)).X) == 2


def test_permuted_entries_of_a_row_are_another_row():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0], [3.0, 3.0]])
    assert len(canonical_rows(X, np.zeros((1, 4)), np.ones(4)).X) == 4


def test_no_collision_among_many_rows():
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(canonical_rows(grid, np.zeros((1, len(grid))), np.ones(len(grid))).X) == 40**3


def test_the_order_looks_random():
    # Subsamples are the first rows: they must not be the small or the early ones.
    X = np.sort(np.random.default_rng(0).standard_normal((4000, 1)), axis=0)
    rows = canonical_rows(X, np.zeros((1, 4000)), np.ones(4000))
    # Five standard errors of the mean of 1000 out of 4000 standard normal values.
    assert abs(rows.X[:1000].mean() - X.mean()) < 5 * np.sqrt(0.75 / 1000)


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_folds_are_disjoint_cover_everything_and_never_split_a_row(n_folds):
    rows = canonical_rows(*sample(seed=3))
    folds = rows.folds(n_folds)
    tested = np.sum([test for _, test in folds], axis=0)
    np.testing.assert_array_equal(tested, 1)
    for train, test in folds:
        np.testing.assert_array_equal(train, ~test)
        assert not set(rows.group[train]) & set(rows.group[test])


@pytest.mark.parametrize("n_distinct", [1, 2])
def test_folds_with_fewer_rows_than_folds(n_distinct):
    X = np.arange(float(n_distinct))[:, None]
    folds = canonical_rows(X, np.zeros((1, n_distinct)), np.ones(n_distinct)).folds(3)
    assert len(folds) == (0 if n_distinct == 1 else 2)
    assert all(train.any() and test.any() for train, test in folds)


def test_folds_beyond_all_integers_of_the_machine_are_one_a_row():
    X = np.arange(5.0)[:, None]
    rows = canonical_rows(X, np.zeros((1, 5)), np.ones(5))
    strata = np.zeros(5, dtype=int)
    assert len(rows.folds(10**30)) == len(rows.folds(10**30, strata)) == 5


def test_strata_are_spread_evenly():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    rows = canonical_rows(X, np.zeros((1, 60)), np.ones(60))
    strata = np.repeat([0, 1, 2], [48, 9, 3])[rng.permutation(60)]
    for train, test in rows.folds(3, strata):
        np.testing.assert_array_equal(np.bincount(strata[test]), [16, 3, 1])
        np.testing.assert_array_equal(train, ~test)


def test_take_keeps_rows_together():
    rows = canonical_rows(*sample())
    for chosen in (slice(0, 4), np.array([3, 1]), rows.weights > 2):
        part = rows.take(chosen)
        np.testing.assert_array_equal(part.X, rows.X[chosen])
        np.testing.assert_array_equal(part.y, rows.y[:, chosen])
        np.testing.assert_array_equal(part.weights, rows.weights[chosen])
        np.testing.assert_array_equal(part.group, rows.group[chosen])


def test_inputs_are_left_alone():
    arrays = sample()
    copies = [array.copy() for array in arrays]
    rows = canonical_rows(*arrays)
    rows.X[:] = 7.0
    rows.weights[:] = 7.0
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_inputs_already_in_order_are_copied():
    X, y, weights = np.array([[1.0], [2.0]]), np.zeros((1, 2)), np.ones(2)
    rows = canonical_rows(X, y, weights)
    rows.X[:] = 7.0
    assert X.max() == 2.0


def test_constant_columns_do_not_change_the_order():
    rng = np.random.default_rng(0)
    X, y, weights = rng.standard_normal((30, 3)), rng.standard_normal((1, 30)), np.ones(30)
    plain = canonical_rows(X, y, weights)
    more = canonical_rows(np.insert(X, [0, 2], [[7.0, -0.0]], axis=1), y, weights)
    np.testing.assert_array_equal(more.X[:, [1, 2, 4]], plain.X)
    np.testing.assert_array_equal(more.y, plain.y)
    np.testing.assert_array_equal(more.group, plain.group)


def test_folds_whose_training_part_misses_a_stratum_are_left_out():
    X = np.random.default_rng(0).standard_normal((9, 2))
    rows = canonical_rows(X, np.zeros((1, 9)), np.ones(9))
    strata = np.array([0, 0, 0, 0, 1, 0, 0, 0, 0])
    folds = rows.folds(3, strata)
    # The only row of its kind is tested in the first fold, which has none left to learn from.
    assert len(folds) == 2
    for train, test in folds:
        assert train[4] and not test[4]
        np.testing.assert_array_equal(train, ~test)
    assert len(rows.folds(3, np.arange(9) % 2)) == 3
