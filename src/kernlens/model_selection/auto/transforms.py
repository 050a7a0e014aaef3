"""Transforms of columns and of the target that are candidates."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray

#: Where columns are bent, in units of their interquartile range.
BEND = 3.0
#: What is farther away in these units is as far as it can be; infinity would have no quotients.
FAR = 1e100


class ClippedColumns(TransformerMixin, BaseEstimator):
    """Columns over their interquartile range, with far values pulled in smoothly.

    With z the distance from the median over that range, ``z / sqrt(1 + (z / 3)^2)``: near the
    median nothing changes, and nothing is farther away than 3. Every column goes up where it went
    up before, so that directions can be read as those of the columns.
    """

    def fit(self, X: FloatArray, y: Any = None) -> Self:
        """Learn the medians and ranges; half the whole range where most values are equal."""
        low, self.middle_, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
        whole = 0.5 * np.ptp(X, axis=0)
        spread = np.where(high > low, high - low, whole)
        self.spread_ = np.where(spread > 0.0, spread, 1.0)
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Pull far values in."""
        check_is_fitted(self)
        with np.errstate(over="ignore"):
            z = ((X - self.middle_) / self.spread_).clip(-FAR, FAR)
        bent: FloatArray = z / np.hypot(1.0, z / BEND)
        return bent


class LogTarget(TransformerMixin, BaseEstimator):
    """Logarithms of positive targets."""

    def fit(self, y: FloatArray, _: Any = None) -> Self:
        """Learn nothing."""
        self.is_fitted_ = True
        return self

    def transform(self, y: FloatArray) -> FloatArray:
        """Logarithms."""
        logarithms: FloatArray = np.log(y)
        return logarithms

    def inverse_transform(self, y: FloatArray) -> FloatArray:
        """Exponentials; what would overflow is the largest number."""
        values: FloatArray = np.exp(np.minimum(y, np.log(np.finfo(np.float64).max)))
        return values
