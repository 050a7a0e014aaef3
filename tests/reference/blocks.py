"""What a survey of a table must find, from all its rows at once, one by one."""

from __future__ import annotations

import struct

import numpy as np

DIGITS = 2**64


def mix(code):
    """The finaliser of splitmix64 (Steele, Lea and Flood, 2014), in whole numbers of Python."""
    code = (code + 0x9E3779B97F4A7C15) % DIGITS
    code = ((code ^ (code >> 30)) * 0xBF58476D1CE4E5B9) % DIGITS
    code = ((code ^ (code >> 27)) * 0x94D049BB133111EB) % DIGITS
    return code ^ (code >> 31)


def content(values):
    """Hash of a row: its numbers, bit by bit, one after the other."""
    code = 0
    for value in values:
        (bits,) = struct.unpack("<Q", struct.pack("<d", float(value) + 0.0))
        code = mix(code ^ bits)
    return code


def lowest_rows(X, y, weights, n_rows):
    """The distinct rows (x, y) of the lowest hashes, with all of their weight."""
    totals = {}
    for row, target, weight in zip(X, y.T, weights, strict=True):
        if weight > 0.0:
            key = tuple(row + 0.0), tuple(target + 0.0)
            totals[key] = totals.get(key, 0.0) + weight
    order = sorted(totals, key=lambda key: (content(key[0]), content(key[1])))
    return [(*key, totals[key]) for key in order[:n_rows]]


def moments(values, weights):
    """Weighted means and variances of columns, by their definition."""
    mean = np.array([np.sum(column * weights) for column in values.T]) / np.sum(weights)
    squares = [np.sum((c - m) ** 2 * weights) for c, m in zip(values.T, mean, strict=True)]
    return mean, np.array(squares) / np.sum(weights)


def folded(values, merge, group=8):
    """Results joined in groups, from the first to the last, until there is one."""
    while len(values) > 1:
        joined = []
        for start in range(0, len(values), group):
            part = values[start : start + group]
            total = part[0]
            for value in part[1:]:
                total = merge(total, value)
            joined.append(total)
        values = joined
    return values[0]
