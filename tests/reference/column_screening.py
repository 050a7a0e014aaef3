"""Which columns a target depends on, for rows of one weight: slow and obvious.

Shares of variance that polynomials of ranks explain, against quantiles of chi-square distributions,
and correlations with products of ranks, one pair at a time.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, rankdata

DEGREE = 4


def ranks(X):
    """Mean ranks of equal values, spread evenly over (-1, 1)."""
    return (2.0 * rankdata(X, axis=0) - 1.0) / len(X) - 1.0


def polynomials(u):
    """Legendre polynomials of degree 1 to 4, written out, without their means."""
    P = np.column_stack(
        [u, (3 * u**2 - 1) / 2, (5 * u**3 - 3 * u) / 2, (35 * u**4 - 30 * u**2 + 3) / 8]
    )
    return P - P.mean(axis=0)


def explained(A, y):
    """Fitted values by least squares."""
    return A @ np.linalg.pinv(A, rcond=1e-8) @ y


def relevant(X, y, level, rounds, largest_fit):
    """Mask of columns, by the three steps of the module, for targets (n_targets, n_samples)."""
    n, d = X.shape
    U = ranks(X)
    left = y - y.mean(axis=1, keepdims=True)
    found = np.zeros(d, dtype=bool)
    for _ in range(rounds):
        new = [j for j in range(d) if not found[j] and _alone(U[:, j], left, level, d)]
        if not new:
            break
        found[new] = True
        if DEGREE * found.sum() > largest_fit * n:
            return found
        A = np.hstack([polynomials(U[:, j]) for j in np.flatnonzero(found)])
        left = np.array([r - explained(A, r) for r in left])
    pairs = [(j, k) for j in range(d) for k in range(j)]
    for j, k in pairs:
        product = U[:, j] * U[:, k]
        for r in left:
            share = (product @ r) ** 2 / ((product @ product) * (r @ r))
            if n * share > chi2.isf(level / (len(pairs) * len(left)), 1):
                found[[j, k]] = True
    return found


def _alone(u, left, level, d):
    P = polynomials(u)
    rank = np.linalg.matrix_rank(P, tol=1e-8)
    bound = chi2.isf(level / (d * len(left)), rank)
    return any(len(u) * np.sum(explained(P, r) ** 2) / np.sum(r**2) > bound for r in left)
