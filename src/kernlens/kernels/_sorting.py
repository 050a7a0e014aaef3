"""Sorting projections: integers that hold a number and its place are sorted, not an index to it.

An indirect sort reads its keys all over the memory. Here the leading bits of every number, which
have the same order as integers, and the place of the number in the bits that are left make one
integer; these are sorted where they lie. Numbers that agree in all the bits which a key has room
for, 44 of them for a million places and more for fewer, are put in order by insertion afterwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._compiled import compiled

#: With more places, their bits would leave too few for the numbers.
MOST_PLACES = 2**20
#: Moves by insertion, as a multiple of the entries, after which an indirect sort takes over.
MOST_MOVES = 4
#: Entries whose keys are made at a time.
BLOCK_ENTRIES = 2**17


def sorted_with_order(values: FloatArray) -> tuple[FloatArray, NDArray[np.integer]]:
    """Sort every row, and say from which column each entry comes.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n)

    Returns
    -------
    points : ndarray of shape (n_rows, n)
        Every row in increasing order.
    order : ndarray of int of shape (n_rows, n)
        ``points[j, k] = values[j, order[j, k]]``.
    """
    n_rows, n = values.shape
    index = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    points, order = np.empty(values.shape, values.dtype), np.empty(values.shape, index)
    # A few rows at a time: keys of all of them would be as large as the numbers.
    step = max(1, BLOCK_ENTRIES // max(1, n))
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        _sort_block(np.ascontiguousarray(values[part]), points[part], order[part])
    return points, order


def _sort_block(values: FloatArray, points: FloatArray, order: NDArray[np.integer]) -> None:
    """Write sorted rows and their order, by keys or else by an indirect sort."""
    n = values.shape[1]
    if n <= MOST_PLACES:
        last_bits = np.int64((1 << (n - 1).bit_length()) - 1)
        keys = np.empty(values.shape, dtype=np.int64)
        # Keys are made of the bits of double precision, which holds every single one exactly.
        pack_keys(values.astype(np.float64, copy=False).view(np.int64), last_bits, keys)
        keys.sort(axis=1)
        if settle_order(keys, last_bits, values, points, order, MOST_MOVES * values.size):
            return
    order[:] = np.argsort(values, axis=1)
    points[:] = np.take_along_axis(values, order, axis=1)


@compiled()
def pack_keys(bits, last_bits, keys):  # type: ignore[no-untyped-def]
    """Write keys (n_rows, n): leading bits of the numbers, and columns in the last bits."""
    n_rows, n = bits.shape
    for j in range(n_rows):
        for k in range(n):
            b = bits[j, k]
            # Negative numbers are stored by their size: turned round, all are ordered as integers.
            b ^= (b >> 63) & 0x7FFFFFFFFFFFFFFF
            keys[j, k] = (b & ~last_bits) | k


@compiled()
def settle_order(keys, last_bits, values, points, order, most_moves):  # type: ignore[no-untyped-def]
    """Write what sorted keys stand for; False if they leave too much of the order open."""
    n_rows, n = values.shape
    moves = 0
    for j in range(n_rows):
        for k in range(n):
            i = keys[j, k] & last_bits
            p = values[j, i]
            at = k
            while at > 0 and points[j, at - 1] > p:
                points[j, at] = points[j, at - 1]
                order[j, at] = order[j, at - 1]
                at -= 1
                moves += 1
            points[j, at] = p
            order[j, at] = i
            if moves > most_moves:
                return False
    return True
