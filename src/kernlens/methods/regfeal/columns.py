"""Columns as Hermite polynomials want them: unit variance, no far outliers, no constants.

Polynomials grow fast: one value ten standard deviations out would rule a fit, and a prediction far
from all training rows would be absurd. Values are kept within `limit` standard deviations, at the
training and at the prediction. The mean and the standard deviation are those of the column with its
tails drawn in, so that a few wild values do not squeeze the others together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile
from kernlens.base.standardisation import Standardisation

#: Tails begin here, and are drawn in to half the distance between these quantiles beyond them.
TAIL = 0.01


@dataclass(frozen=True)
class HermiteColumns:
    """Columns are used as ``(x - mean) / scale``, clipped; constant ones are left out.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,)
    limit : ndarray of shape (n_features,)
        Largest size of what is used of every column.
    varying : ndarray of bool of shape (n_features,)
        Columns in use; the first one if all are constant.
    """

    mean: FloatArray
    scale: FloatArray
    limit: FloatArray
    varying: NDArray[np.bool_]

    @classmethod
    def of(
        cls, X: FloatArray, weights: FloatArray, limit: float | None, standardize: bool
    ) -> HermiteColumns:
        """Measure the columns of X (n_samples, n_features)."""
        drawn = X if limit is None else _with_short_tails(X, weights)
        units = Standardisation.of(drawn, weights, standardize)
        used = units.apply(X)
        varying = np.ptp(used, axis=0) > 0.0
        if not varying.any():
            varying[0] = True
        # Without a limit the rows are used as they are, and others no further out than these.
        bound = np.max(np.abs(used), axis=0) if limit is None else np.full(X.shape[1], limit)
        return cls(units.mean, units.scale, bound, varying)

    def apply(self, X: FloatArray) -> FloatArray:
        """Return what is used of X, (n_samples, n_varying)."""
        kept = (X[:, self.varying] - self.mean[self.varying]) / self.scale[self.varying]
        return np.clip(kept, -self.limit[self.varying], self.limit[self.varying])

    def embed(self, directions: FloatArray) -> FloatArray:
        """Rows (n_rows, n_varying) with zeros for the columns left out, (n_rows, n_features)."""
        full = np.zeros((len(directions), len(self.varying)))
        full[:, self.varying] = directions
        return full


def _with_short_tails(X: FloatArray, weights: FloatArray) -> FloatArray:
    levels = (TAIL, 1.0 - TAIL)
    low, high = (weighted_quantile(X, weights, level, slack=1e-12) for level in levels)
    reach = 0.5 * (high - low)
    # Columns that hardly vary but for a few rows have no bulk to measure.
    reach[reach == 0.0] = np.inf
    return np.clip(X, low - reach, high + reach)
