"""Terms taken away one at a time, and the subset of least generalised cross-validation error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from kernlens._array import FloatArray, IntArray


def effective_parameters(n_terms: int, penalty: float) -> float:
    """``C(M) = M + penalty (M - 1) / 2``: a pair of terms has one knot."""
    return n_terms + penalty * (n_terms - 1) / 2.0


def gcv(rss: float, n_terms: int, n_rows: float, penalty: float) -> float:
    """``(RSS / n) / (1 - C(M) / n)^2`` (Friedman 1991, equation 30); infinite where C(M) >= n."""
    left = 1.0 - effective_parameters(n_terms, penalty) / n_rows
    return rss / n_rows / left**2 if left > 0.0 else np.inf


@dataclass(frozen=True)
class Pruned:
    """Subsets along the backward pass.

    Attributes
    ----------
    subsets : tuple of ndarray
        Terms of the subset of 1, 2, ... terms, in their order; the first is the constant.
    rss : ndarray of shape (n_terms,)
        Their squared errors.
    gcv : ndarray of shape (n_terms,)
    coefs : tuple of ndarray of shape (size, n_targets)
        Coefficients of every subset.
    """

    subsets: tuple[IntArray, ...]
    rss: FloatArray
    gcv: FloatArray
    coefs: tuple[FloatArray, ...]

    def best(self, most: int | None = None) -> int:
        """Position of the subset of least error, the smallest of those, of `most` terms."""
        return int(np.argmin(self.gcv[:most]))


def prune(B: FloatArray, Y: FloatArray, n_rows: float, penalty: float) -> Pruned:
    """Drop the term whose loss costs least, until the constant is left.

    With G the inverse of ``B^T B`` and a the coefficients, dropping term j costs
    ``a_j^2 / G_jj``, and both follow by a step of elimination: a pass takes O(n M^2 + M^3).

    Parameters
    ----------
    B : ndarray of shape (n_samples, n_terms)
        Terms times square roots of weights, linearly independent; the constant is the first.
    Y : ndarray of shape (n_samples, n_targets)
        Targets times the same.
    n_rows : float
        Sum of the weights.
    penalty : float
    """
    lengths = np.sqrt(np.sum(np.square(B), axis=0))
    G, coef, rest = inverse_and_coef(B / lengths, Y)
    kept = np.arange(len(G))
    subsets, rss, coefs = [kept], [rest], [coef / lengths[:, None]]
    while len(kept) > 1:
        costs = np.sum(np.square(coef[1:]), axis=1) / np.diagonal(G)[1:]
        worst = 1 + int(np.argmin(costs))
        rest += float(costs[worst - 1])
        column = G[:, worst] / G[worst, worst]
        coef = np.delete(coef - np.outer(column, coef[worst]), worst, axis=0)
        G = G - np.outer(column, G[worst])
        G = np.delete(np.delete(G, worst, axis=0), worst, axis=1)
        kept = np.delete(kept, worst)
        subsets.append(kept)
        rss.append(rest)
        coefs.append(coef / lengths[kept, None])
    sizes = range(1, len(subsets) + 1)
    errors = np.array([gcv(e, m, n_rows, penalty) for m, e in zip(sizes, rss[::-1], strict=True)])
    finite = np.isfinite(errors)
    n_finite = max(1, int(finite.sum()))
    if not finite[0]:
        errors[0] = rss[-1] / n_rows
    return Pruned(
        tuple(subsets[::-1][:n_finite]),
        np.array(rss[::-1][:n_finite]),
        errors[:n_finite],
        tuple(coefs[::-1][:n_finite]),
    )


def inverse_and_coef(B: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """The inverse of ``B^T B``, least squares coefficients, and the squared error they leave."""
    Q, R = np.linalg.qr(B)
    inverse = solve_triangular(R, np.eye(len(R)))
    products = Q.T @ Y
    # Not total minus explained, which has no digits where little is left.
    rest = float(np.sum(np.square(Y - Q @ products)))
    return inverse @ inverse.T, inverse @ products, rest
