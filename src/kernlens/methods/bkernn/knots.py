"""Where the functions of the particles have their knots when there are more rows than memory.

Two fifths of the knots are spread evenly and the others at quantiles, both by one measure: the mean
of the distribution of the projections and of a uniform one. Quantiles alone leave wide gaps where
rows are few, and functions are as curved there as elsewhere: at the same number of knots their
errors were half as large again.
"""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray

#: Share of the uniform distribution, which reaches over all rows but this share on either side.
EVEN, BEYOND = 0.4, 0.002
#: Knots of all particles together, and of each.
ALL_KNOTS, FEWEST_KNOTS, MOST_KNOTS = 4800, 16, 64


def number_of_knots(n_particles: int) -> int:
    """Knots of every particle: the more particles there are, the fewer each of them needs."""
    return int(np.clip(ALL_KNOTS // max(1, n_particles), FEWEST_KNOTS, MOST_KNOTS))


def place_knots(
    projections: FloatArray,
    weights: FloatArray,
    low: FloatArray,
    high: FloatArray,
    n_knots: int,
) -> FloatArray:
    """Knots of every particle, (m, n_knots), increasing.

    Parameters
    ----------
    projections : ndarray of shape (m, n_rows)
        Of a sample of the rows.
    weights : ndarray of shape (n_rows,)
        Positive.
    low, high : ndarray of shape (m,)
        The range of all rows, whose ends are knots; low < high.
    n_knots : int
        At least two.
    """
    levels = np.linspace(0.0, 1.0, n_knots)[1:-1]
    ranges = zip(projections, low, high, strict=True)
    return np.array([_of_one(*one, weights, levels) for one in ranges])


def _of_one(
    values: FloatArray, low: float, high: float, weights: FloatArray, levels: FloatArray
) -> FloatArray:
    order = np.argsort(values, kind="stable")
    points, shares = values[order], weights[order] / weights.sum()
    reached = np.cumsum(shares) - 0.5 * shares
    ends = np.interp([BEYOND, 1.0 - BEYOND], reached, points)
    start, end = map(float, ends) if ends[1] > ends[0] else (low, high)
    even = np.clip((points - start) / (end - start), 0.0, 1.0)
    inner = np.interp(levels, (1.0 - EVEN) * reached + EVEN * even, points)
    return _apart(np.concatenate([[low], np.clip(inner, low, high), [high]]))


def _apart(knots: FloatArray) -> FloatArray:
    """As many knots, none of them at the same place: the widest gaps are halved instead."""
    smallest = 1e-3 * (knots[-1] - knots[0]) / len(knots)
    kept = [knots[0]]
    for knot in knots[1:-1]:
        if knot - kept[-1] > smallest and knots[-1] - knot > smallest:
            kept.append(knot)
    found = np.array([*kept, knots[-1]])
    while len(found) < len(knots):
        widest = int(np.argmax(np.diff(found)))
        found = np.insert(found, widest + 1, 0.5 * (found[widest] + found[widest + 1]))
    return found
