"""Weighted moments of columns that can be merged: those of a table from those of its blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import BoolArray, FloatArray
from kernlens._sized import Sized

#: A column that varies by less than this share of its mean varies by rounding.
ROUNDING = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Moments(Sized):
    """Weighted means and variances of columns, and their ranges.

    Attributes
    ----------
    total : float
        Sum of the weights.
    mean, variance : ndarray of shape (n_columns,)
    low, high : ndarray of shape (n_columns,)
        Over rows of positive weight; infinite without any.
    """

    total: float
    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> Moments:
        """Of values (n_rows, n_columns) with weights (n_rows,), which may all be zero."""
        present = weights > 0.0
        if not present.any():
            nothing = np.zeros(values.shape[1])
            return cls(0.0, nothing, nothing, nothing + np.inf, nothing - np.inf)
        values, weights = values[present], weights[present]
        total = float(weights.sum())
        shares = weights / total
        mean = shares @ values
        variance = shares @ np.square(values - mean)
        return cls(total, mean, variance, values.min(axis=0), values.max(axis=0))

    def merged(self, other: Moments) -> Moments:
        """Of both sets of rows (Chan, Golub and LeVeque, 1979)."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        total = self.total + other.total
        share = other.total / total if total > 0.0 else 0.0
        apart = other.mean - self.mean
        within = (1.0 - share) * self.variance + share * other.variance
        between = share * (1.0 - share) * np.square(apart)
        return Moments(total, self.mean + share * apart, within + between, low, high)

    @property
    def varies(self) -> BoolArray:
        """Columns that vary by more than rounding."""
        found: BoolArray = self.high - self.low > ROUNDING * np.abs(self.mean)
        return found

    @property
    def center(self) -> FloatArray:
        """Means; the value of a column that has one only."""
        return np.where(self.high == self.low, self.low, self.mean)

    @property
    def scale(self) -> FloatArray:
        """Standard deviations; 1 where nothing varies."""
        return np.where(self.varies, np.sqrt(self.variance), 1.0)
