"""Tables in blocks: every way to give one has the same rows, and bad ones are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kernlens import SIR, BrownianKernelRidge, RowBlocks
from kernlens.blocks import as_blocks


def data(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, X[:, 0] + rng.standard_normal(n), rng.integers(1, 4, n).astype(float)


def as_memory_map(X, y, weights, folder):
    np.save(folder / "X.npy", X)
    return RowBlocks.from_arrays(
        np.load(folder / "X.npy", mmap_mode="r"), y, weights, block_rows=90
    )


def as_parquet(X, y, weights, folder):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(target=y, weight=weights)
    frame[:300].to_parquet(folder / "1.parquet", row_group_size=70)
    frame[300:].to_parquet(folder / "2.parquet", row_group_size=70)
    return RowBlocks.from_parquet(folder, target="target", sample_weight="weight")


def as_iterable(X, y, weights, _folder):
    def parts():
        for rows in np.array_split(np.arange(len(X)), 7):
            yield X[rows], y[rows], weights[rows]

    return RowBlocks.from_iterable(parts, n_jobs=3)


WAYS = [as_memory_map, as_parquet, as_iterable]


@pytest.mark.parametrize("way", WAYS)
def test_blocks_have_all_rows_in_their_order_each_time(way, tmp_path):
    X, y, weights = data()
    table = as_blocks(way(X, y, weights, tmp_path))
    for _ in range(2):
        blocks = table.map(lambda block: (block.number, block.X, block.y, block.weights))
        numbers, *parts = zip(*blocks, strict=True)
        assert list(numbers) == list(range(len(blocks))) and len(blocks) > 4
        for found, expected in zip(parts, (X, y, weights), strict=True):
            np.testing.assert_array_equal(np.concatenate(found), expected)
    assert (table.n_features, table.target_ndim) == (3, 1)


def test_parquet_gives_its_names(tmp_path):
    model = SIR().fit(as_parquet(*data(), tmp_path))
    assert list(model.feature_names_in_) == ["a", "b", "c"]


def test_steps_come_before_a_function_and_arguments_after_the_block():
    X, y, _ = data()
    table = as_blocks(RowBlocks.from_arrays(X, y, block_rows=100)).through(doubled)
    (total,) = table.sum(times, 3.0)
    np.testing.assert_allclose(total, 6.0 * X.sum(axis=0))


def doubled(block):
    return type(block)(2.0 * block.X, block.y, block.weights, block.number)


def times(block, factor):
    return (factor * block.X.sum(axis=0),)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: RowBlocks.from_arrays(X, y[:-1]), "each with its target"),
        (lambda X, y: RowBlocks.from_iterable(iter([(X, y)])), "ends after one pass"),
        (lambda X, y: RowBlocks.from_iterable([]), "has no blocks"),
        (lambda X, y: RowBlocks.from_iterable([X]), "give tuples"),
        (lambda X, y: RowBlocks.from_parquet("nowhere/*.parquet", target="y"), "no file"),
    ],
)
def test_what_is_no_table_is_refused_at_once(make, message):
    with pytest.raises(ValueError, match=message):
        make(*data()[:2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, w: X.__setitem__((250, 1), np.nan), "infinity in block 2, row 50, column 1"),
        (lambda X, y, w: X.__setitem__((250, 1), 1e120), "1e\\+120 in block 2"),
        (lambda X, y, w: y.__setitem__(399, np.inf), "y has NaN or infinity in block 3|block 3"),
        (lambda X, y, w: w.__setitem__(0, -1.0), "sample_weight is negative .* block 0"),
    ],
)
def test_bad_values_are_refused_with_their_block(change, message):
    X, y, weights = data()
    change(X, y, weights)
    with pytest.raises(ValueError, match=message):
        SIR().fit(RowBlocks.from_arrays(X, y, weights, block_rows=100))


def test_blocks_of_other_columns_are_refused_with_their_number():
    X, y, _ = data()
    blocks = RowBlocks.from_iterable([(X, y), (X[:, :2], y)])
    with pytest.raises(ValueError, match="block 1 has shape"):
        SIR().fit(blocks)


def test_targets_are_not_given_twice():
    X, y, _ = data()
    with pytest.raises(ValueError, match="without y"):
        SIR().fit(RowBlocks.from_arrays(X, y), y)


def test_who_learns_from_no_blocks_says_so():
    X, y, _ = data()
    with pytest.raises(ValueError, match="BrownianKernelRidge does not learn from blocks"):
        BrownianKernelRidge().fit(RowBlocks.from_arrays(X, y), None)
