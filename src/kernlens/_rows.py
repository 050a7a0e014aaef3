"""Distinct rows in one order: a fit depends on the data, not on how they are listed.

Repeated rows are merged into one row with the sum of their weights, and rows come out in the order
of a hash of their content. Folds and subsamples are taken along that order. A fit is then the same
for rows in any order and for weights instead of repetitions, and no copy of a training row is ever
in a validation part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._array import BoolArray, FloatArray
from kernlens._hash import mix
from kernlens._sized import Sized

#: Binary digits that are kept of a weight.
WEIGHT_BITS = 33


@dataclass(frozen=True)
class CanonicalRows(Sized):
    """Distinct rows in hash order.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_targets, n_rows)
    weights : ndarray of shape (n_rows,)
        Positive.
    group : ndarray of shape (n_rows,)
        Number of the distinct X of every row, increasing; rows with the same X share it.
    """

    X: FloatArray
    y: FloatArray
    weights: FloatArray
    group: NDArray[np.integer]

    def with_relative_weights(self) -> tuple[CanonicalRows, float]:
        """The same rows with weights that sum to the effective number of rows, and their unit.

        That number is ``(sum w)^2 / sum w^2`` (Kish, 1965): n for n rows of one weight.

        Returns
        -------
        rows : CanonicalRows
        unit : float
            What the weights were divided by.
        """
        relative, largest = relative_weights(self.weights)
        unit = float(relative @ relative / relative.sum())
        return replace(self, weights=relative / unit), largest * unit

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer] | slice) -> CanonicalRows:
        """Return some of the rows."""
        return CanonicalRows(self.X[rows], self.y[:, rows], self.weights[rows], self.group[rows])

    def in_order(self, order: NDArray[np.integer]) -> CanonicalRows:
        """Return the rows in another order, in which those with the same X are neighbours."""
        rows = self.take(order)
        new = np.diff(rows.group, prepend=rows.group[:1] - 1) != 0
        return replace(rows, group=np.cumsum(new) - 1)

    def folds(
        self, n_folds: int, strata: NDArray[np.integer] | None = None
    ) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Return (train, test) masks of folds.

        Rows with the same X stay together, unless `strata` (n_rows,) are given: then every stratum
        is spread evenly. Folds without a row to train or to test on are left out, and so are those
        whose training part misses a stratum: a class without a row has no finite fit.
        """
        # Folds beyond the rows are all empty, and a number of them may be too large for an array.
        n_folds = min(n_folds, len(self.group))
        fold = self.group % n_folds
        if strata is not None:
            fold = np.empty(len(self.group), dtype=np.intp)
            for stratum in np.unique(strata):
                members = strata == stratum
                fold[members] = np.arange(members.sum()) % n_folds
        masks = [(fold != k, fold == k) for k in range(n_folds)]
        masks = [(train, test) for train, test in masks if train.any() and test.any()]
        if strata is None:
            return masks
        n_strata = len(np.unique(strata))
        return [fold for fold in masks if len(np.unique(strata[fold[0]])) == n_strata]


def has_target(y: FloatArray) -> BoolArray:
    """Say which rows have targets (n_targets, n_rows), that is, none of them is NaN."""
    present: BoolArray = np.logical_not(np.isnan(y).any(axis=0))
    return present


def relative_weights(weights: FloatArray) -> tuple[FloatArray, float]:
    """Weights over the largest one, rounded to ten digits, and the largest one.

    The last digits of a ratio depend on the size of both numbers, and a descent that is ended early
    magnifies them; without them a factor of all weights changes no bit of a fit.
    """
    largest = float(weights.max())
    # Ratios first: squares of the weights themselves may overflow or vanish.
    digits, exponents = np.frexp(weights / largest)
    rounded = np.round(digits * 2.0**WEIGHT_BITS) / 2.0**WEIGHT_BITS
    return np.ldexp(rounded, exponents), largest


def row_hash(rows: FloatArray) -> NDArray[np.uint64]:
    """A 64-bit hash of every row; equal for equal values, whatever their place in the array.

    Two different rows among a million collide with probability 3e-8. Constant columns say nothing
    about a row and are left out, so that the order does not depend on them.
    """
    return _hash_of((column for column in rows.T if np.any(column != column[:1])), len(rows))


def content_hash(rows: FloatArray) -> NDArray[np.uint64]:
    """The same by all columns: the hash of a row does not depend on what other rows there are."""
    return _hash_of(rows.T, len(rows))


def _hash_of(columns: Iterable[FloatArray], n_rows: int) -> NDArray[np.uint64]:
    code = np.zeros(n_rows, dtype=np.uint64)
    for column in columns:
        # Adding 0.0 turns -0.0 into 0.0, which is the same value with other bits.
        bits = np.ascontiguousarray(column, dtype=np.float64) + 0.0
        code = mix(code ^ bits.view(np.uint64))
    return code


def canonical_rows(
    X: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    *,
    hash_rows: Callable[[FloatArray], NDArray[np.uint64]] = row_hash,
) -> CanonicalRows:
    """Drop rows of weight zero, merge repeated rows, and sort by a hash of X, then of y.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_targets, n_samples)
    weights : ndarray of shape (n_samples,)
        Non-negative.
    hash_rows : callable
        From rows to their hashes.
    """
    present = weights > 0
    if not present.all():
        X, y, weights = X[present], y[:, present], weights[present]
    code_x, code_y = hash_rows(X), hash_rows(y.T)
    # By their weights too: a sum of weights must not depend on the order of the rows.
    order = np.lexsort((weights, code_y, code_x))
    X, y, weights = X[order], y[:, order], weights[order]
    code_x, code_y = code_x[order], code_y[order]
    new_x = np.ones(len(X), dtype=bool)
    new_x[1:] = code_x[1:] != code_x[:-1]
    new_row = new_x.copy()
    new_row[1:] |= code_y[1:] != code_y[:-1]
    group = np.cumsum(new_x) - 1
    if new_row.all():
        return CanonicalRows(X, y, weights, group)
    starts = np.flatnonzero(new_row)
    return CanonicalRows(X[starts], y[:, starts], np.add.reduceat(weights, starts), group[starts])
