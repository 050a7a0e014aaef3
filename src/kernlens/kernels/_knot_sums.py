"""Functions given by their values at a few knots, seen from many points: two neighbours of each.

All functions take a block of particles: `knots` (b, n_knots), strictly increasing, and for every
query the index of the knot on its left with the weights of this knot and the next. Values and what
is summed at knots are (t, b, n_knots), values at queries (t, n_queries).
"""

from __future__ import annotations

import numpy as np

from kernlens._compiled import compiled
from kernlens.kernels._sorted_sums import cells_per_unit, locate


@compiled()
def brownian_places(knots, guide, queries, cells, left, right):  # type: ignore[no-untyped-def]
    """Write the weights of linear interpolation, constant beyond the knots."""
    last = knots.shape[1] - 1
    for j in range(queries.shape[0]):
        points = knots[j]
        per_unit = cells_per_unit(points, guide[j])
        for i in range(queries.shape[1]):
            query = queries[j, i]
            a = locate(points, query, guide[j], per_unit)
            share = 0.0
            if a == last:
                a, share = last - 1, 1.0
            elif a < 0:
                a = 0
            else:
                share = (query - points[a]) / (points[a + 1] - points[a])
            cells[j, i] = a
            left[j, i] = 1.0 - share
            right[j, i] = share


@compiled()
def exponential_places(knots, guide, queries, cells, left, right):  # type: ignore[no-untyped-def]
    """Write the weights of interpolation by sums of ``exp(p / 2)`` and ``exp(-p / 2)``.

    They are ``sinh((t' - p) / 2) / sinh((t' - t) / 2)`` for the knot t on the left of p and t' on
    its right, and beyond the knots ``exp(-|p - t| / 2)`` for the nearest one.
    """
    last = knots.shape[1] - 1
    for j in range(queries.shape[0]):
        points = knots[j]
        per_unit = cells_per_unit(points, guide[j])
        for i in range(queries.shape[1]):
            query = queries[j, i]
            a = locate(points, query, guide[j], per_unit)
            one, other = 0.0, 0.0
            if a == last:
                a = last - 1
                other = np.exp(0.5 * (points[last] - query))
            elif a < 0:
                a = 0
                one = np.exp(0.5 * (query - points[0]))
            else:
                before, after = query - points[a], points[a + 1] - query
                # Quotients of sinh without powers that overflow.
                whole = np.expm1(points[a] - points[a + 1])
                one = np.exp(-0.5 * before) * np.expm1(-after) / whole
                other = np.exp(-0.5 * after) * np.expm1(-before) / whole
            cells[j, i] = a
            left[j, i] = one
            right[j, i] = other


@compiled()
def add_interpolated(cells, left, right, values, out):  # type: ignore[no-untyped-def]
    """Add the values (t, b, n_knots) of all particles at the queries to `out` (t, n_queries)."""
    for t in range(values.shape[0]):
        for j in range(cells.shape[0]):
            of_knots = values[t, j]
            for i in range(cells.shape[1]):
                a = cells[j, i]
                out[t, i] += left[j, i] * of_knots[a] + right[j, i] * of_knots[a + 1]


@compiled()
def add_to_knots(cells, left, right, values, out):  # type: ignore[no-untyped-def]
    """Add values (t, n_queries) at the queries to both knots beside them, `out` (t, b, n_knots)."""
    for t in range(values.shape[0]):
        for j in range(cells.shape[0]):
            of_knots = out[t, j]
            for i in range(cells.shape[1]):
                a = cells[j, i]
                of_knots[a] += left[j, i] * values[t, i]
                of_knots[a + 1] += right[j, i] * values[t, i]


@compiled()
def add_products(cells, left, right, weights, j, out):  # type: ignore[no-untyped-def]
    """Add the products of what particle `j` and those before it see of the knots.

    `out` (j + 1, n_knots, n_knots) gets ``sum_i w_i z_ij z_il^T`` for z_ij (n_knots,) with the
    weights of query i at the knots of particle j.
    """
    for other in range(j + 1):
        product = out[other]
        for i in range(cells.shape[1]):
            a, b = cells[j, i], cells[other, i]
            one, two = weights[i] * left[j, i], weights[i] * right[j, i]
            product[a, b] += one * left[other, i]
            product[a, b + 1] += one * right[other, i]
            product[a + 1, b] += two * left[other, i]
            product[a + 1, b + 1] += two * right[other, i]
