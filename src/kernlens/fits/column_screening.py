"""Columns that a target depends on, alone or in pairs, by statistics that cost next to nothing.

Where a target depends on two of three hundred columns, a map of all of them has more entries than
there are rows, and no descent finds the two. Seen one at a time they stand out. Every column is
used through its ranks, so that neither units nor outliers matter:

1. a target is regressed on the Legendre polynomials of degree 1 to 4 of one column;
2. the same for what an additive fit on the columns found so far leaves, until no more are found;
3. what is left is correlated with the products of two columns.

A column is relevant if chance alone would hardly have found any among all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import betainc, betaln, chdtri

from kernlens._array import BoolArray, FloatArray, IntArray
from kernlens._execution import split_range
from kernlens._invariance import invariant_order
from kernlens._rows import CanonicalRows

#: Probability of a column that is found by chance, in one of the three steps.
LEVEL = 0.05
#: Degree of the polynomials.
DEGREE = 4
#: Rows that are looked at; rows are in the order of a hash, the first of them are a sample.
MOST_ROWS = 3000
#: Additive fits, and unknowns of the largest, as a share of the rows.
MOST_ROUNDS = 3
LARGEST_FIT = 0.3
#: Beyond so many columns pairs are not looked at.
MOST_IN_PAIRS = 1000
#: Columns whose polynomials are held at a time.
COLUMNS_PER_BLOCK = 64
#: Directions of a basis with a smaller share of its norm are rounding.
ROUNDING = 1e-6
#: Smaller probabilities are those of a series.
TINIEST = 1e-300


def relevant_columns(rows: CanonicalRows) -> BoolArray:
    """Which columns the targets depend on, (n_features,).

    Parameters
    ----------
    rows : CanonicalRows
        Rows in the order of a hash.
    """
    rows = rows.take(slice(0, MOST_ROWS))
    U = weighted_ranks(rows.X, rows.weights)
    root = np.sqrt(rows.weights / rows.weights.sum())
    residuals = without_mean(rows.y, root)
    n_effective = float(np.square(rows.weights.sum()) / np.square(rows.weights).sum())
    found = np.zeros(U.shape[1], dtype=bool)
    for _ in range(MOST_ROUNDS):
        new = single_columns(U, root, residuals, n_effective) & ~found
        if not new.any():
            break
        found |= new
        if DEGREE * found.sum() > LARGEST_FIT * n_effective:
            return found
        residuals = residuals - additive_fit(U[:, found], root, residuals)
    return found | paired_columns(U, root, residuals, n_effective)


def with_columns(rows: CanonicalRows, kept: BoolArray) -> CanonicalRows:
    """The same rows with zeros in the columns that are not kept."""
    return replace(rows, X=rows.X * kept)


def weighted_ranks(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Ranks of the values of every column, from -1 to 1; equal values share theirs, (n, d)."""
    ranks = np.empty(X.shape)
    shares = weights / weights.sum()
    for j, column in enumerate(X.T):
        _, place = np.unique(column, return_inverse=True)
        mass = np.bincount(place, weights=shares)
        ranks[:, j] = (2.0 * (np.cumsum(mass) - 0.5 * mass) - 1.0)[place]
    return ranks


def without_mean(y: FloatArray, root: FloatArray) -> FloatArray:
    """Targets times the roots of the weights, centred, (n_targets, n_samples)."""
    centered = (y - (y @ np.square(root))[:, None]) * root
    return np.asarray(centered)


def single_columns(
    U: FloatArray, root: FloatArray, residuals: FloatArray, n_effective: float
) -> BoolArray:
    """Columns whose polynomials explain more of a target than chance, (n_features,).

    n times the share that q orthonormal functions explain is a chi-square of q degrees of freedom
    where a target does not depend on them.
    """
    shares, degrees = explained_shares(U, root, residuals)
    tests = U.shape[1] * len(residuals)
    bounds = chdtri(np.maximum(degrees, 1), LEVEL / tests) / n_effective
    return np.asarray((degrees > 0) & (shares > bounds).any(axis=0))


def explained_shares(
    U: FloatArray, root: FloatArray, residuals: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Shares (n_targets, n_features) of targets that polynomials of single columns explain.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_features)
        Ranks of columns, from -1 to 1.
    root : ndarray of shape (n_samples,)
        Roots of weights of sum 1.
    residuals : ndarray of shape (n_targets, n_samples)
        Targets times these roots, centred.

    Returns
    -------
    shares : ndarray of shape (n_targets, n_features)
    degrees : ndarray of int of shape (n_features,)
        How many independent polynomials a column has, 0 if it is constant.
    """
    shares = np.zeros((len(residuals), U.shape[1]))
    degrees = np.zeros(U.shape[1], dtype=np.intp)
    squares = np.square(residuals).sum(axis=1)
    squares[squares == 0.0] = 1.0
    for columns in split_range(U.shape[1], COLUMNS_PER_BLOCK):
        for j, Q in enumerate(_bases(U[:, columns], root), start=columns.start):
            degrees[j] = Q.shape[1]
            shares[:, j] = np.square(residuals @ Q).sum(axis=1) / squares
    return shares, degrees


def strongest_columns(X: FloatArray, y: FloatArray, number: int) -> IntArray:
    """Places of the columns that say most of a target, each for itself, in rising order.

    Columns are compared by the probability that chance alone explains as much of a target (the
    F-test of a regression on the polynomials), which is fair to columns of few and of many values;
    of several targets the one that a column says most of counts.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Neither units nor the order of rows and columns matter; at most 3000 rows are looked at.
    y : ndarray of shape (n_samples, n_targets)
    number : int
        Columns to keep.
    """
    U = weighted_ranks(X, np.ones(len(X)))
    if len(X) > MOST_ROWS:
        rows = invariant_order(U, y.T - y.mean(axis=0)[:, None], np.ones(len(X))).rows[:MOST_ROWS]
        U, y = U[rows], y[rows]
    root = np.full(len(U), np.sqrt(1.0 / len(U)))
    shares, degrees = explained_shares(U, root, without_mean(y.T, root))
    chance = log_chance(shares.max(axis=0, initial=0.0), degrees, len(U))
    return np.asarray(np.sort(np.argsort(chance, kind="stable")[:number]))


def log_chance(shares: FloatArray, degrees: IntArray, n_samples: int) -> FloatArray:
    """Logarithms of the probabilities that chance explains such shares, (n_features,).

    The share that q functions explain of noise has a beta distribution of q / 2 and
    (n - 1 - q) / 2. Beyond what floating point can hold the first term of the tail's series stands
    for it, ``x^a (1 - x)^(b - 1) / (a B(a, b))`` with x the share that is left.
    """
    a = np.maximum(n_samples - 1 - degrees, 1) / 2.0
    b = np.maximum(degrees, 1) / 2.0
    left = (1.0 - shares).clip(np.finfo(float).tiny, 1.0)
    tail = betainc(a, b, left)
    series = a * np.log(left) + (b - 1.0) * np.log1p(-left.clip(None, 0.5)) - np.log(a)
    series -= betaln(a, b)
    known = tail > TINIEST
    found = np.where(known, np.log(np.where(known, tail, 1.0)), series)
    return np.where(degrees > 0, found, 0.0)


def additive_fit(U: FloatArray, root: FloatArray, residuals: FloatArray) -> FloatArray:
    """What all these columns explain together, by least squares, (n_targets, n_samples)."""
    A = np.hstack(list(_bases(U, root)))
    coefficients, *_ = np.linalg.lstsq(A, residuals.T, rcond=ROUNDING)
    return np.asarray((A @ coefficients).T)


def paired_columns(
    U: FloatArray, root: FloatArray, residuals: FloatArray, n_effective: float
) -> BoolArray:
    """Columns whose products with another are correlated with a target, (n_features,).

    All products at once: ``sum_i r_i u_ij u_ik`` is one matrix product.
    """
    n_columns = U.shape[1]
    found = np.zeros(n_columns, dtype=bool)
    if n_columns < 2 or n_columns > MOST_IN_PAIRS:
        return found
    scaled = np.square(U) * root[:, None]
    sizes = scaled.T @ scaled
    n_pairs = 0.5 * n_columns * (n_columns - 1)
    bound = chdtri(1, LEVEL / (n_pairs * len(residuals))) / n_effective
    for r in residuals:
        products = (U * (r * root)[:, None]).T @ U
        strong = np.square(products) > bound * sizes * (r @ r)
        np.fill_diagonal(strong, False)
        found |= strong.any(axis=0)
    return found


def _bases(U: FloatArray, root: FloatArray) -> Iterator[FloatArray]:
    """For every column, orthonormal combinations of its centred polynomials, (n_samples, q)."""
    for u in U.T:
        P = np.polynomial.legendre.legvander(u, DEGREE)[:, 1:]
        P = (P - np.square(root) @ P) * root[:, None]
        left, values, _ = np.linalg.svd(P, full_matrices=False)
        yield left[:, values > ROUNDING * max(float(values[0]), 1.0)]
