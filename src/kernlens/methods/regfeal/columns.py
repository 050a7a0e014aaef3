"""Columns as Hermite polynomials want them: unit variance, no far outliers, no constants.

Polynomials grow fast: one value ten standard deviations out would rule a fit, and a prediction far
from all training rows would be absurd. Values are kept within a limit of standard deviations, at
the training and at the prediction. The mean and the standard deviation are those of the column with
its tails drawn in, so that a few wild values do not squeeze the others together.
"""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile
from kernlens.base.columns import Columns, center_and_scale, varying_columns

#: Tails begin at this quantile, and are drawn in to half the distance between it and its opposite.
TAIL = 0.01


def measure_columns(
    X: FloatArray, weights: FloatArray, limit: float | None, standardize: bool
) -> Columns:
    """Measure the columns of X.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,)
        Positive.
    limit : float or None
        Largest size of an input. None uses the rows as they are, and keeps other rows within what
        was seen.
    standardize : bool
        Whether columns are divided by their standard deviations.
    """
    drawn = X if limit is None else _with_short_tails(X, weights)
    mean, scale = center_and_scale(drawn, weights, standardize)
    if limit is None:
        limits = np.max(np.abs((X - mean) / scale), axis=0)
    else:
        limits = np.full(X.shape[1], float(limit))
    return Columns(mean, scale, varying_columns(X, mean), limits)


def _with_short_tails(X: FloatArray, weights: FloatArray) -> FloatArray:
    levels = (TAIL, 1.0 - TAIL)
    low, high = (weighted_quantile(X, weights, level) for level in levels)
    reach = 0.5 * (high - low)
    # Columns that hardly vary but for a few rows have no bulk to measure.
    reach[reach == 0.0] = np.inf
    return np.clip(X, low - reach, high + reach)
