"""Sorting by keys: the points and the order of an indirect sort, whatever the numbers are."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels import _sorting
from kernlens.kernels._sorting import sorted_with_order


def rows_of(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((3, n))
    return {
        "normal": normal,
        "tied": np.round(normal),
        "huge and tiny": normal * 10.0 ** rng.integers(-300, 300, (3, n)),
        "nearly equal": 1.0 + 1e-15 * np.round(4 * normal),
        "negative": -1.0 - 1e-14 * np.abs(normal),
        "zeros of both signs": np.where(normal > 0, 0.0, -0.0),
        "equal": np.full((3, n), 2.5),
        "infinite": np.where(normal > 1, np.inf, np.where(normal < -1, -np.inf, normal)),
    }[kind]


@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 1000])
@pytest.mark.parametrize(
    "kind",
    ["normal", "tied", "huge and tiny", "nearly equal", "negative", "zeros of both signs", "equal",
     "infinite"],
)  # fmt: skip
def test_points_and_order_are_those_of_a_sort(kind, n):
    values = rows_of(kind, n)
    before = values.copy()
    points, order = sorted_with_order(values)
    np.testing.assert_array_equal(points, np.sort(values, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(values, order, axis=1), points)
    np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(n), (3, 1)))
    np.testing.assert_array_equal(values, before)


def test_ties_keep_the_order_of_their_columns():
    points, order = sorted_with_order(np.array([[1.0, 0.0, 1.0, 0.0, 1.0]]))
    np.testing.assert_array_equal(points, [[0.0, 0.0, 1.0, 1.0, 1.0]])
    np.testing.assert_array_equal(order, [[1, 3, 0, 2, 4]])


def test_numbers_that_keys_cannot_tell_apart_are_sorted_all_the_same(monkeypatch):
    # The last bits of 2^10 numbers are their places: falling numbers would all be inserted.
    falling = (1.0 + np.arange(1024)[::-1] * np.finfo(float).eps)[None]
    for most_moves in (0, _sorting.MOST_MOVES, 10**6):
        monkeypatch.setattr(_sorting, "MOST_MOVES", most_moves)
        points, order = sorted_with_order(falling)
        np.testing.assert_array_equal(points, falling[:, ::-1])
        np.testing.assert_array_equal(order, np.arange(1024)[None, ::-1])


def test_more_places_than_keys_have_room_for(monkeypatch):
    monkeypatch.setattr(_sorting, "MOST_PLACES", 10)
    values = rows_of("normal", 11)
    points, order = sorted_with_order(values)
    np.testing.assert_array_equal(points, np.sort(values, axis=1))
    np.testing.assert_array_equal(order, np.argsort(values, axis=1))


def test_no_rows():
    points, order = sorted_with_order(np.empty((0, 5)))
    assert points.shape == order.shape == (0, 5)


def test_single_precision_is_sorted_as_well(monkeypatch):
    # Keys alone: an indirect sort, which takes over where they are useless, would hide a fault.
    monkeypatch.setattr(_sorting, "MOST_MOVES", 10**6)
    values = np.random.default_rng(0).standard_normal((6, 200)).astype(np.float32)
    points, order = sorted_with_order(values)
    assert points.dtype == np.float32
    np.testing.assert_array_equal(points, np.sort(values, axis=1))
    np.testing.assert_array_equal(np.take_along_axis(values, order, axis=1), points)


def test_blocks_of_rows_are_sorted_as_all_rows_are(monkeypatch):
    values = np.random.default_rng(0).standard_normal((7, 30)).T.copy().T
    expected = sorted_with_order(values)
    monkeypatch.setattr(_sorting, "BLOCK_ENTRIES", 70)
    for found, whole in zip(sorted_with_order(values), expected, strict=True):
        np.testing.assert_array_equal(found, whole)
