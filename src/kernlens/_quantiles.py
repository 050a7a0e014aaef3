"""Quantiles of rows with weights, as of the rows repeated."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray

#: Share of the wanted weight that may be missing: weights and their sums are rounded, and must give
#: the quantile of the same weights in a unit that makes them integers.
SLACK = 1e-9


def weighted_quantile(values: FloatArray, weights: FloatArray, level: float) -> FloatArray:
    """Return the smallest value with at least `level` of the weight up to it.

    NumPy has the same from 2.0 on, as ``quantile(..., weights=..., method="inverted_cdf")``, but to
    the last digit: seven times 0.1 is less there than half of fourteen times 0.1.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, k)
        Every column by itself.
    weights : ndarray of shape (n,)
        Non-negative, not all zero.
    level : float
        Above 0 and at most 1.

    Returns
    -------
    ndarray of shape () or (k,)
    """
    order = np.argsort(values, axis=0, kind="stable")
    cumulated = np.cumsum(weights[order], axis=0)
    enough = cumulated >= level * (1.0 - SLACK) * cumulated[-1]
    first = np.expand_dims(np.argmax(enough, axis=0), 0)
    row = np.take_along_axis(order, first, axis=0)
    found: FloatArray = np.take_along_axis(values, row, axis=0)[0]
    return found
