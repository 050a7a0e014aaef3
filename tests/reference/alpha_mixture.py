"""Slow, obvious mixtures of solutions, against which the fast ones are compared."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def simplex_minimum(Q):
    """Minimise ``w^T Q w`` over non-negative w of sum 1, Q positive definite: try every support."""
    best, lowest = None, np.inf
    for size in range(1, len(Q) + 1):
        for support in combinations(range(len(Q)), size):
            # On a support the minimum with sum 1 is proportional to the inverse times ones.
            inside = np.linalg.solve(Q[np.ix_(support, support)], np.ones(size))
            inside /= inside.sum()
            w = np.zeros(len(Q))
            w[list(support)] = inside
            if np.all(inside >= 0.0) and w @ Q @ w < lowest:
                best, lowest = w, w @ Q @ w
    return best


def mean_products(errors, weights):
    """Weighted mean of the product of every two solutions' errors, summed over targets.

    errors is (k, n_targets, n_samples).
    """
    k = len(errors)
    return np.array(
        [
            [np.average((errors[i] * errors[j]).sum(axis=0), weights=weights) for j in range(k)]
            for i in range(k)
        ]
    )
