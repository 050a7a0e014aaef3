"""A weighted mean of ridge solutions of several alphas, in place of the best one.

One alpha shrinks every direction of the features by the same rule, which is too much for some and
too little for others. A mean of solutions is a function of the same features, and shrinks by
a mean of rules. Its weights are the non-negative ones of sum 1 of least squared error on rows that
were left out (Breiman, "Stacked regressions", Machine Learning 24, 1996), for which the products
of the errors of every two solutions are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from kernlens._array import FloatArray

#: Alphas that are mixed, over the best one: more, or others farther away, gain nothing.
STEPS = (0.01, 0.1, 1.0, 10.0, 100.0)
#: The penalty on the sum of squared weights, as a share of the mean loss. Solutions of neighbours
#: are so alike that rounding would otherwise share the weight out among them.
EVENNESS = 1e-3


@dataclass(frozen=True)
class AlphaMixture:
    """Alphas, ascending, and the weights of their solutions, which are positive and sum to 1."""

    alphas: tuple[float, ...]
    weights: tuple[float, ...]

    @classmethod
    def of_one(cls, alpha: float) -> AlphaMixture:
        """A single solution."""
        return cls((alpha,), (1.0,))

    @classmethod
    def of_errors(cls, alphas: tuple[float, ...], products: FloatArray) -> AlphaMixture:
        """The best mixture, from the products of errors that :func:`mixing_weights` takes."""
        weights = mixing_weights(products)
        used = np.flatnonzero(weights)
        return cls(tuple(alphas[place] for place in used), tuple(weights[used].tolist()))

    def mean(self, solutions: list[FloatArray]) -> FloatArray:
        """Weighted mean of what the solutions have, in the order of the alphas."""
        pairs = zip(self.weights, solutions, strict=True)
        total: FloatArray = np.sum([weight * solution for weight, solution in pairs], axis=0)
        return total


def around(best: float, alphas: tuple[float, ...]) -> tuple[float, ...]:
    """Those of the alphas that are nearest to one and two decades around the best, and it.

    Ascending; of two that are equally near, the smaller one.
    """
    ordered = sorted(set(alphas))
    apart = np.log10(ordered) - np.log10(best)
    # Rounded: the last digit of a logarithm does not decide.
    distances = np.abs(apart - np.log10(STEPS)[:, None]).round(6)
    return tuple(ordered[place] for place in np.unique(np.argmin(distances, axis=1)))


def mixing_weights(products: FloatArray, evenness: float = EVENNESS) -> FloatArray:
    """Minimise ``w^T (P + e I) w`` over non-negative w of sum 1.

    Parameters
    ----------
    products : ndarray of shape (k, k)
        P, mean products of the errors of every two solutions; the error of a mixture is the mixture
        of the errors.
    evenness : float
        e over the mean of the diagonal.

    Returns
    -------
    ndarray of shape (k,)
    """
    unit = float(np.trace(products)) / len(products)
    if not unit > 0.0:
        return np.full(len(products), 1.0 / len(products))
    values, vectors = np.linalg.eigh(products / unit)
    root = np.sqrt(np.maximum(values, 0.0) + evenness)[:, None] * vectors.T
    # With the sum free and (1 - sum)^2 added, the best direction is the same for every sum.
    free, _ = nnls(np.vstack([root, np.ones(len(root))]), np.append(np.zeros(len(root)), 1.0))
    weights: FloatArray = free / free.sum()
    return weights
