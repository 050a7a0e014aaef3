"""Sums over a one-dimensional kernel in one sweep along sorted points.

For points p_1 <= ... <= p_n and weights v, the sums ``sum_i' k(p_i - p_i') v_i'`` cost O(n) when
the kernel lets the part on the left and the part on the right be carried along. All functions take
a block of particles: `points` (b, n) sorted along the rows, `order` (b, n) with
``points[j, k] = projection_j[order[j, k]]``, and weights `v` (n_targets, n) in the original order.
"""

from __future__ import annotations

import numpy as np

from kernlens._compiled import compiled

#: Queries this near to a knot, relative to the size of the knots, are at it.
SAME_KNOT = 1e-12


@compiled()
def brownian_product(points, order, v, out):  # type: ignore[no-untyped-def]
    """Add ``-1/2 sum_j sum_i' |p_i - p_i'| v_i'`` to `out` (n_targets, n)."""
    n_particles, n = points.shape
    for t in range(v.shape[0]):
        vt, ot = v[t], out[t]
        half = 0.5 * vt.sum()
        shift = 0.0
        # Four particles at once: a sum that is carried along waits for itself.
        together = n_particles - n_particles % 4
        for j in range(0, together, 4):
            below, below1, below2, below3 = -half, -half, -half, -half
            moment, moment1, moment2, moment3 = 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                i, p = np.uint64(order[j, k]), points[j, k]
                below += vt[i]
                moment += vt[i] * p
                ot[i] += moment - p * below
                i, p = np.uint64(order[j + 1, k]), points[j + 1, k]
                below1 += vt[i]
                moment1 += vt[i] * p
                ot[i] += moment1 - p * below1
                i, p = np.uint64(order[j + 2, k]), points[j + 2, k]
                below2 += vt[i]
                moment2 += vt[i] * p
                ot[i] += moment2 - p * below2
                i, p = np.uint64(order[j + 3, k]), points[j + 3, k]
                below3 += vt[i]
                moment3 += vt[i] * p
                ot[i] += moment3 - p * below3
            shift += moment + moment1 + moment2 + moment3
        for j in range(together, n_particles):
            below, moment = -half, 0.0
            for k in range(n):
                i, p = np.uint64(order[j, k]), points[j, k]
                below += vt[i]
                moment += vt[i] * p
                ot[i] += moment - p * below
            shift += moment
        # The total moment is known only at the end of the sweep, and is the same for all rows.
        for k in range(n):
            ot[k] -= 0.5 * shift


@compiled()
def brownian_slopes(points, order, z, out):  # type: ignore[no-untyped-def]
    """Add ``sum_t z_ti sum_i' k'(p_i - p_i') z_ti'`` to `out` (b, n), k' = -sign/2, k'(0) = 0."""
    n_particles, n = points.shape
    for t in range(z.shape[0]):
        zt = z[t]
        total = zt.sum()
        for j in range(n_particles):
            knots, rows, oj = points[j], order[j], out[j]
            before = 0.0
            k = 0
            while k < n:
                if k + 1 == n or knots[k + 1] != knots[k]:
                    i = np.uint64(rows[k])
                    weight = zt[i]
                    oj[i] -= weight * (before + 0.5 * (weight - total))
                    before += weight
                    k += 1
                    continue
                upto = before
                stop = k
                while stop < n and knots[stop] == knots[k]:
                    upto += zt[np.uint64(rows[stop])]
                    stop += 1
                slope = -0.5 * (before + upto - total)
                for tied in range(k, stop):
                    i = np.uint64(rows[tied])
                    oj[i] += slope * zt[i]
                before = upto
                k = stop


@compiled()
def exponential_product(decays, order, v, out):  # type: ignore[no-untyped-def]
    """Add ``sum_j sum_i' exp(-|p_i - p_i'| / 2) v_i'`` to `out` (n_targets, n).

    `decays` (b, n) has ``exp((p_k - p_{k+1}) / 2)``: the exponentials are most of the cost of a
    product, and a solve takes many products on the same points.
    """
    n_particles, n = decays.shape
    for t in range(v.shape[0]):
        vt = v[t]
        for j in range(n_particles):
            left = 0.0
            for k in range(n):
                i = order[j, k]
                if k > 0:
                    left *= decays[j, k - 1]
                left += vt[i]
                out[t, i] += left
            right = 0.0
            for k in range(n - 2, -1, -1):
                right = decays[j, k] * (vt[order[j, k + 1]] + right)
                out[t, order[j, k]] += right


@compiled()
def exponential_slopes(points, order, z, out):  # type: ignore[no-untyped-def]
    """Add ``sum_t z_ti sum_i' k'(p_i - p_i') z_ti'`` to `out`, k'(u) = -sign(u) e^{-|u|/2} / 2."""
    n_particles, n = points.shape
    for t in range(z.shape[0]):
        zt = z[t]
        for j in range(n_particles):
            # Tied points are stepped over together: the slope of the kernel at 0 is taken as 0.
            left = 0.0
            k = 0
            while k < n:
                tied = 0.0
                stop = k
                while stop < n and points[j, stop] == points[j, k]:
                    i = order[j, stop]
                    out[j, i] -= 0.5 * left * zt[i]
                    tied += zt[i]
                    stop += 1
                if stop < n:
                    left = (left + tied) * np.exp(0.5 * (points[j, k] - points[j, stop]))
                k = stop
            right = 0.0
            k = n - 1
            while k >= 0:
                tied = 0.0
                stop = k
                while stop >= 0 and points[j, stop] == points[j, k]:
                    i = order[j, stop]
                    out[j, i] += 0.5 * right * zt[i]
                    tied += zt[i]
                    stop -= 1
                if stop >= 0:
                    right = (right + tied) * np.exp(0.5 * (points[j, stop] - points[j, k]))
                k = stop


@compiled()
def brownian_tables(points, order, v, out):  # type: ignore[no-untyped-def]
    """Write ``g_j(p_k) = -1/2 sum_i' |p_k - p_i'| v_i'`` at every sorted point, (t, b, n)."""
    n_particles, n = points.shape
    for t in range(v.shape[0]):
        vt = v[t]
        total = vt.sum()
        for j in range(n_particles):
            below = 0.0
            moment = 0.0
            for k in range(n):
                p = points[j, k]
                weight = vt[order[j, k]]
                below += weight
                moment += weight * p
                out[t, j, k] = moment - p * (below - 0.5 * total)
            for k in range(n):
                out[t, j, k] -= 0.5 * moment


@compiled()
def exponential_tables(points, order, v, left, right):  # type: ignore[no-untyped-def]
    """Write the sums over the points up to p_k and from p_k on, each decayed to p_k, (t, b, n)."""
    n_particles, n = points.shape
    for t in range(v.shape[0]):
        for j in range(n_particles):
            carried = 0.0
            for k in range(n):
                if k > 0:
                    carried *= np.exp(0.5 * (points[j, k - 1] - points[j, k]))
                carried += v[t, order[j, k]]
                left[t, j, k] = carried
            carried = 0.0
            for k in range(n - 1, -1, -1):
                if k < n - 1:
                    carried *= np.exp(0.5 * (points[j, k] - points[j, k + 1]))
                carried += v[t, order[j, k]]
                right[t, j, k] = carried


@compiled()
def bisect(points, query, a):  # type: ignore[no-untyped-def]
    """Index of the last sorted point that is at most `query`, searched from index `a` on."""
    b = points.size
    while b - a > 1:
        middle = (a + b) >> 1
        if points[middle] <= query:
            a = middle
        else:
            b = middle
    return a


@compiled()
def guide_table(points, out):  # type: ignore[no-untyped-def]
    """Write where a search for evenly spaced values ends, (b, n_cells), for :func:`locate`."""
    n_cells = out.shape[1]
    for j in range(points.shape[0]):
        low = points[j, 0]
        width = (points[j, -1] - low) / n_cells
        for cell in range(n_cells):
            out[j, cell] = max(bisect(points[j], low + cell * width, -1), 0)


@compiled()
def cells_per_unit(points, guide):  # type: ignore[no-untyped-def]
    """Cells of a guide per unit of the points' range; 0 if there are none."""
    width = points[-1] - points[0]
    return guide.size / width if width > 0.0 else 0.0


@compiled()
def locate(points, query, guide, per_unit):  # type: ignore[no-untyped-def]
    """Index of the last sorted point that is at most `query`, -1 if there is none, or for NaN.

    With a guide the search starts in the cell of the query and ends after a few steps; where many
    points share a cell, and without a guide, it is a bisection.
    """
    last = points.size - 1
    if not query >= points[0]:
        return -1
    if query >= points[last]:
        return last
    if per_unit == 0.0:
        return bisect(points, query, 0)
    cell = (query - points[0]) * per_unit
    # Where the range of the points is so small that `per_unit` overflows, this is infinite or NaN,
    # and the walk begins at the last point.
    a = guide[int(cell)] if cell < guide.size else last
    # Rounding may put a query one cell off, so the walk goes both ways.
    while points[a] > query:
        a -= 1
    for _ in range(16):
        if points[a + 1] > query:
            return a
        a += 1
    return bisect(points, query, a)


@compiled()
def brownian_values(points, tables, guide, queries, out):  # type: ignore[no-untyped-def]
    """Add ``sum_j g_j(queries[j, i])`` to `out` (t, n_queries) by linear interpolation.

    Exact: the functions are linear between the points, and constant outside because their
    coefficients sum to zero.
    """
    last = points.shape[1] - 1
    for j in range(queries.shape[0]):
        knots, cells = points[j], guide[j]
        per_unit = cells_per_unit(knots, cells)
        for i in range(queries.shape[1]):
            query = queries[j, i]
            a = locate(knots, query, cells, per_unit)
            if a < 0 or a == last:
                for t in range(out.shape[0]):
                    out[t, i] += tables[t, j, max(a, 0)]
                continue
            share = (query - knots[a]) / (knots[a + 1] - knots[a])
            for t in range(out.shape[0]):
                base = tables[t, j, a]
                out[t, i] += base + share * (tables[t, j, a + 1] - base)


@compiled()
def exponential_values(points, left, right, guide, queries, out):  # type: ignore[no-untyped-def]
    """Add ``sum_j sum_i' exp(-|queries[j, i] - p_i'| / 2) v_i'`` to `out` (t, n_queries)."""
    n = points.shape[1]
    for j in range(queries.shape[0]):
        per_unit = cells_per_unit(points[j], guide[j])
        for i in range(queries.shape[1]):
            query = queries[j, i]
            a = locate(points[j], query, guide[j], per_unit)
            if a >= 0:
                decay = np.exp(0.5 * (points[j, a] - query))
                for t in range(out.shape[0]):
                    out[t, i] += decay * left[t, j, a]
            if a + 1 < n:
                decay = np.exp(0.5 * (query - points[j, a + 1]))
                for t in range(out.shape[0]):
                    out[t, i] += decay * right[t, j, a + 1]


@compiled()
def brownian_slope(knots, values, a):  # type: ignore[no-untyped-def]
    """Slope right of the knot with index `a`; zero before the first and after the last one."""
    if a < 0 or a >= knots.size - 1:
        return 0.0
    return (values[a + 1] - values[a]) / (knots[a + 1] - knots[a])


@compiled()
def brownian_value_slopes(points, tables, guide, queries, out):  # type: ignore[no-untyped-def]
    """Write ``g_j'(queries[j, i])`` to `out` (t, b, n_queries); at a knot, the mean of both."""
    for j in range(queries.shape[0]):
        knots, cells = points[j], guide[j]
        per_unit = cells_per_unit(knots, cells)
        near = SAME_KNOT * (abs(knots[0]) + abs(knots[-1]))
        for i in range(queries.shape[1]):
            # Rounding puts the projection of a training row on either side of its own knot.
            left = locate(knots, queries[j, i] - near, cells, per_unit)
            right = locate(knots, queries[j, i] + near, cells, per_unit)
            for t in range(out.shape[0]):
                values = tables[t, j]
                slope = brownian_slope(knots, values, left)
                if right != left:
                    slope = 0.5 * (slope + brownian_slope(knots, values, right))
                out[t, j, i] = slope


@compiled()
def exponential_slope(points, left, right, query, a):  # type: ignore[no-untyped-def]
    """Derivative at `query` if the points up to the index `a` are left of it, the others right.

    A point on the other side by rounding counts as the query itself.
    """
    slope = 0.0
    if a >= 0:
        slope -= 0.5 * np.exp(0.5 * min(points[a] - query, 0.0)) * left[a]
    if a + 1 < points.size:
        slope += 0.5 * np.exp(0.5 * min(query - points[a + 1], 0.0)) * right[a + 1]
    return slope


@compiled()
def exponential_value_slopes(points, left, right, guide, queries, out):  # type: ignore[no-untyped-def]
    """Write the derivatives of :func:`exponential_values` to `out`, the mean of both at a point."""
    for j in range(queries.shape[0]):
        knots, cells = points[j], guide[j]
        per_unit = cells_per_unit(knots, cells)
        near = SAME_KNOT * (abs(knots[0]) + abs(knots[-1]))
        for i in range(queries.shape[1]):
            query = queries[j, i]
            before = locate(knots, query - near, cells, per_unit)
            after = locate(knots, query + near, cells, per_unit)
            for t in range(out.shape[0]):
                slope = exponential_slope(knots, left[t, j], right[t, j], query, before)
                if after != before:
                    other = exponential_slope(knots, left[t, j], right[t, j], query, after)
                    slope = 0.5 * (slope + other)
                out[t, j, i] = slope


@compiled(fastmath=True)
def cityblock(left, right, out):  # type: ignore[no-untyped-def]
    """Add ``sum_j |left_ij - right_ji'|`` to `out` (n, r); `right` is (m, r) so that it vectorises.

    Several times faster than the generic distance of SciPy, whose inner loop runs over particles.
    """
    for i in range(left.shape[0]):
        for j in range(left.shape[1]):
            p = left[i, j]
            for r in range(right.shape[1]):
                out[i, r] += abs(p - right[j, r])


@compiled(fastmath=True)
def cityblock_within(points, out):  # type: ignore[no-untyped-def]
    """Add ``sum_j |p_ji - p_ji'|`` to `out` (n, n) for points (m, n), in half of the operations."""
    n = points.shape[1]
    for i in range(n):
        row = out[i]
        for j in range(points.shape[0]):
            p, pj = points[j, i], points[j]
            for r in range(i):
                row[r] += abs(p - pj[r])
    # Whole tiles are mirrored, because columns of a large matrix are far apart.
    for low in range(0, n, 32):
        for start in range(0, low + 1, 32):
            for i in range(low, min(low + 32, n)):
                for r in range(start, min(start + 32, i)):
                    out[r, i] += out[i, r]
