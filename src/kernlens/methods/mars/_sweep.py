"""The search for a knot: one sweep down the sorted rows for every parent and column.

For a parent b and a column x, the hinge ``u_t = b (x - t)_+`` is wanted with its products with an
orthonormal basis, with the residuals and with itself, for all knots t. From one knot to the next
lower one, at a distance delta, ``sum_i g_i b_i (x_i - t)_+`` grows by ``delta sum_i g_i b_i`` over
the rows above, which is carried along (Friedman 1991, Section 3.9). A step takes O(terms)
operations, and sums of differences lose no digits.
"""

from __future__ import annotations

import numpy as np

from kernlens._compiled import compiled

#: Share of its squared length that a new term must have outside the span of those before it.
COLLINEAR = 1e-10


@compiled()
def best_knot(x, order, parent, roots, basis, n_terms, residuals, span, end, sweep, out):  # type: ignore[no-untyped-def]
    """Write into `out` (5,) what a column gives below one parent.

    These are: how much a line lowers the squared error, whether the line is new (1.0 or 0.0), how
    much a knot lowers it beyond the line, that knot, and whether there is one.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
    order : ndarray of int of shape (n_rows,)
        Of x, highest first.
    parent : ndarray of shape (n_rows,)
        Values of the parent, non-negative.
    roots : ndarray of shape (n_rows,)
        Square roots of the weights.
    basis : ndarray of shape (n_rows, at least n_terms)
        Orthonormal, times `roots`; the parent is in its span.
    n_terms : int
    residuals : ndarray of shape (n_rows, n_targets)
        Orthogonal to the basis, times `roots`.
    span, end : int
        Rows from a knot to the next, and rows left out at both ends, of those where the parent is
        positive.
    sweep : bool
        Whether knots are wanted.
    """
    n, n_targets = len(x), residuals.shape[1]
    out[:] = 0.0
    center, mass, n_active = 0.0, 0.0, 0
    for i in range(n):
        if parent[i] > 0.0:
            squared = (roots[i] * parent[i]) ** 2
            mass += squared
            center += squared * x[i]
            n_active += 1
    if not mass > 0.0:
        return
    center /= mass
    # The line, without what the basis has of it, twice for the sake of rounding.
    line = np.zeros(n)
    length = 0.0
    for i in range(n):
        if parent[i] > 0.0:
            line[i] = roots[i] * parent[i] * (x[i] - center)
            length += line[i] * line[i]
    shares = np.empty(n_terms)
    for _ in range(2):
        shares[:] = 0.0
        for i in range(n):
            for k in range(n_terms):
                shares[k] += line[i] * basis[i, k]
        for i in range(n):
            inside = 0.0
            for k in range(n_terms):
                inside += shares[k] * basis[i, k]
            line[i] -= inside
    rest = 0.0
    for i in range(n):
        rest += line[i] * line[i]
    slopes = np.zeros(n_targets)
    if rest > COLLINEAR * length:
        size = np.sqrt(rest)
        for i in range(n):
            line[i] /= size
            for t in range(n_targets):
                slopes[t] += line[i] * residuals[i, t]
        for t in range(n_targets):
            out[0] += slopes[t] * slopes[t]
        out[1] = 1.0
    else:
        line[:] = 0.0
    places = n_active - 2 * end
    if not sweep or places <= 0:
        return
    first = end + ((places - 1) % span) // 2
    last = n_active - 1 - end
    # Sums over the rows above the knot: of the basis, the line, the residuals, and the hinge.
    mass_above, moment, squares = 0.0, 0.0, 0.0
    basis_above, basis_sum = np.zeros(n_terms), np.zeros(n_terms)
    line_above, line_sum = 0.0, 0.0
    rest_above, rest_sum = np.zeros(n_targets), np.zeros(n_targets)
    place, knot, tried = -1, 0.0, np.nan
    for step in range(n):
        i = min(max(order[step], 0), n - 1)
        b = roots[i] * parent[i]
        if not b > 0.0:
            continue
        place += 1
        delta = knot - x[i] if place > 0 else 0.0
        knot = x[i]
        if delta > 0.0:
            squares += delta * (2.0 * moment + delta * mass_above)
            moment += delta * mass_above
            line_sum += delta * line_above
            for k in range(n_terms):
                basis_sum[k] += delta * basis_above[k]
            for t in range(n_targets):
                rest_sum[t] += delta * rest_above[t]
        if first <= place <= last and (place - first) % span == 0 and knot != tried:
            tried = knot
            outside = squares - line_sum * line_sum
            for k in range(n_terms):
                outside -= basis_sum[k] * basis_sum[k]
            if outside > COLLINEAR * squares:
                gain = 0.0
                for t in range(n_targets):
                    gain += (rest_sum[t] - slopes[t] * line_sum) ** 2
                gain /= outside
                if gain > out[2]:
                    out[2], out[3], out[4] = gain, knot, 1.0
        mass_above += b * b
        line_above += line[i] * b
        for k in range(n_terms):
            basis_above[k] += basis[i, k] * b
        for t in range(n_targets):
            rest_above[t] += residuals[i, t] * b
