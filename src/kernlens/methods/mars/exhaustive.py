"""The best subset of terms of every size, among all subsets."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens._compiled import compiled
from kernlens.methods.mars.pruning import Pruned, gcv, inverse_and_coef, prune

#: Subsets of more terms are too many.
MOST_TERMS = 25


def best_subsets(B: FloatArray, Y: FloatArray, n_rows: float, penalty: float) -> Pruned:
    """Find the subset with the least squared error of every size, the constant always in it.

    Subsets are a tree: a branch drops one more term, after those that it has dropped. Errors only
    grow along it, so that a branch ends where no size below it can gain (Furnival and Wilson,
    1974). The backward pass gives what there is to gain from the beginning.

    Parameters
    ----------
    B : ndarray of shape (n_samples, n_terms)
        Terms times square roots of weights, linearly independent; the constant is the first.
    Y : ndarray of shape (n_samples, n_targets)
        Targets times the same.
    n_rows : float
        Sum of the weights.
    penalty : float

    Notes
    -----
    A subset costs O(M^2) with M terms; there are 2^(M - 1) of them, most of which are never seen.
    """
    backward = prune(B, Y, n_rows, penalty)
    lengths = np.sqrt(np.sum(np.square(B), axis=0))
    inverse, coef, rest = inverse_and_coef(B / lengths, Y)
    costs = np.sum(np.square(coef), axis=1) / np.diagonal(inverse)
    # What matters most comes first: its branches are the longest, and end at once.
    order = np.concatenate([[0], 1 + np.argsort(-costs[1:], kind="stable")])
    n_terms = B.shape[1]
    errors, kept = np.full(n_terms + 1, np.inf), np.zeros((n_terms + 1, n_terms), dtype=np.bool_)
    for subset, error in zip(backward.subsets, backward.rss, strict=True):
        errors[len(subset)] = error
        kept[len(subset)] = np.isin(order, subset)
    inverse = np.ascontiguousarray(inverse[np.ix_(order, order)])
    _search(inverse, np.ascontiguousarray(coef[order]), rest, errors, kept)
    sizes = range(1, len(backward.subsets) + 1)
    subsets = tuple(np.sort(order[kept[size]]) for size in sizes)
    return Pruned(
        subsets,
        errors[1 : len(subsets) + 1],
        np.array([gcv(errors[size], size, n_rows, penalty) for size in sizes]),
        tuple(np.linalg.lstsq(B[:, subset], Y, rcond=None)[0] for subset in subsets),
    )


@compiled()
def _search(inverse, coef, rest, errors, kept):  # type: ignore[no-untyped-def]
    """Lower `errors` (M + 1,) of every size where a subset is better, and write it into `kept`.

    Dropping term j of coefficients a, with G the inverse of the matrix of products, costs
    ``a_j^2 / G_jj``, and both follow by a step of elimination.
    """
    n_terms, n_targets = coef.shape
    inverses = np.empty((n_terms + 1, n_terms, n_terms))
    coefs = np.empty((n_terms + 1, n_terms, n_targets))
    left = np.full(n_terms + 1, rest)
    inside = np.ones((n_terms + 1, n_terms), dtype=np.bool_)
    following = np.ones(n_terms + 1, dtype=np.int64)
    inverses[0], coefs[0] = inverse, coef
    depth = 0
    while depth >= 0:
        j = following[depth]
        if j >= n_terms:
            depth -= 1
            continue
        following[depth] = j + 1
        G, a = inverses[depth], coefs[depth]
        error = left[depth] + np.sum(a[j] ** 2) / G[j, j]
        size = n_terms - depth - 1
        if error < errors[size]:
            errors[size] = error
            kept[size] = inside[depth]
            kept[size, j] = False
        # All terms after j can still go.
        worth_it = False
        for smaller in range(max(1, size - (n_terms - 1 - j)), size):
            worth_it = worth_it or error < errors[smaller]
        if not worth_it:
            continue
        depth += 1
        left[depth], following[depth] = error, j + 1
        inside[depth] = inside[depth - 1]
        inside[depth, j] = False
        for row in range(n_terms):
            share = G[row, j] / G[j, j]
            for column in range(n_terms):
                inverses[depth, row, column] = G[row, column] - share * G[j, column]
            for target in range(n_targets):
                coefs[depth, row, target] = a[row, target] - share * a[j, target]
