"""Moments and a sample from blocks: what all rows say, however they are cut."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import RowBlocks
from kernlens.base.block_targets import numeric_targets
from kernlens.blocks import as_blocks
from kernlens.blocks.survey import fold_of, survey
from reference import blocks as reference


def repeated_rows(n=400, seed=0):
    """Rows of which many repeat, with weights of which some are zero, far from the origin."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)) / 3.0 + [0.0, 1e6, -5.0]
    X[:, 2] = np.where(rng.random(n) < 0.5, 0.0, -0.0)
    y = rng.integers(0, 2, (n, 2)) / 7.0
    return X, y, rng.integers(0, 3, n).astype(float)


def surveyed(X, y, weights, block_rows, n_sample, n_jobs=1):
    blocks = RowBlocks.from_arrays(X, y, weights, block_rows=block_rows, n_jobs=n_jobs)
    return survey(as_blocks(blocks).through(numeric_targets), n_sample)


@pytest.mark.parametrize("block_rows", [1, 7, 64, 400])
def test_moments_are_those_of_all_rows(block_rows):
    X, y, weights = repeated_rows()
    found = surveyed(X, y, weights, block_rows, 5)
    for moments, values in ((found.columns, X), (found.targets, y)):
        mean, variance = reference.moments(values, weights)
        np.testing.assert_allclose(moments.mean, mean, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(moments.variance, variance, rtol=1e-9)
        np.testing.assert_array_equal(moments.low, values[weights > 0].min(axis=0))
        np.testing.assert_array_equal(moments.high, values[weights > 0].max(axis=0))
    assert list(found.columns.varies) == [True, True, False]
    assert found.n_rows == np.count_nonzero(weights)
    assert found.n_effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize("n_sample", [1, 10, 50, 10_000])
@pytest.mark.parametrize("block_rows", [1, 13, 400])
def test_the_sample_has_the_distinct_rows_of_lowest_hashes(block_rows, n_sample):
    X, y, weights = repeated_rows()
    found = surveyed(X, y, weights, block_rows, n_sample)
    expected = reference.lowest_rows(X, y.T, weights, n_sample)
    rows = found.sample
    assert len(rows.X) == len(expected)
    for row, target, weight, (x, t, w) in zip(
        rows.X, rows.y.T, rows.weights, expected, strict=True
    ):
        assert tuple(row) == x and tuple(target) == t and weight == w
    assert found.complete == (n_sample == 10_000)


def test_order_and_threads_change_nothing_of_the_sample():
    X, y, weights = repeated_rows()
    order = np.random.default_rng(1).permutation(len(X))
    one = surveyed(X, y, weights, 100, 20)
    other = surveyed(X[order], y[order], weights[order], 17, 20, n_jobs=2)
    for name in ("X", "y", "weights"):
        np.testing.assert_array_equal(getattr(one.sample, name), getattr(other.sample, name))


def test_weights_are_repetitions_in_the_sample():
    X, y, weights = repeated_rows()
    times = weights.astype(int)
    one = surveyed(X, y, weights, 100, 20)
    other = surveyed(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0), None, 33, 20)
    np.testing.assert_array_equal(one.sample.X, other.sample.X)
    np.testing.assert_array_equal(one.sample.weights, other.sample.weights)


def test_every_row_has_the_same_chance():
    X = np.arange(20_000.0)[:, None]
    rows = surveyed(X, X[:, 0], None, 1000, 4000).sample.X[:, 0]
    # Eight standard deviations of a mean of 4000 uniform numbers.
    assert abs(rows.mean() / 19_999 - 0.5) < 8 * 0.29 / np.sqrt(4000)


def test_folds_are_even_and_copies_stay_together():
    X = np.random.default_rng(0).standard_normal((5000, 3))
    folds = fold_of(np.vstack([X, X[:100]]), 5)
    np.testing.assert_array_equal(folds[:100], folds[5000:])
    counts = np.bincount(folds[:5000])
    # Six standard deviations of a binomial number.
    assert len(counts) == 5 and abs(counts - 1000).max() < 6 * np.sqrt(5000 * 0.2 * 0.8)
