"""Columns brought to mean zero and, if wanted, unit standard deviation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]


@dataclass(frozen=True)
class Standardisation:
    """Columns are used as ``(x - mean) / scale``; constant columns become zero.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Weighted means of the columns.
    scale : ndarray of shape (n_features,)
        Weighted standard deviations, 1 for constant columns; all 1 if only centred.
    """

    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray, wanted: bool) -> Standardisation:
        """Measure the columns.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        weights : ndarray of shape (n_samples,)
            Non-negative, not all zero.
        wanted : bool
            Whether to divide by the standard deviations; if not, columns are only centred.

        Returns
        -------
        Standardisation
        """
        mean = np.average(X, axis=0, weights=weights)
        # The average of equal numbers may round to another; a constant must become zero.
        mean = np.where(np.ptp(X, axis=0) == 0.0, X[0], mean)
        if not wanted:
            # The kernels see differences only, so centring changes nothing but the rounding.
            return cls(mean, np.ones(X.shape[1]))
        centred = X - mean
        largest = np.max(np.abs(centred), axis=0)
        # A column that varies by rounding only is a constant.
        constant = largest <= 10 * np.finfo(np.float64).eps * np.abs(mean)
        largest[constant | (largest == 0.0)] = 1.0
        # Squares of the ratios, so that columns of any size keep their digits.
        ratio = np.sqrt(np.average(np.square(centred / largest), axis=0, weights=weights))
        return cls(mean, np.where(constant, 1.0, largest * ratio))

    def apply(self, X: FloatArray) -> FloatArray:
        """Return ``(X - mean) / scale``, (n_samples, n_features).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows in the units of the user.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return (X - self.mean) / self.scale
