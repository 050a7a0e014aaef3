"""From the user's columns to what random features are functions of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens.estimators._standardisation import Standardisation

FloatArray = NDArray[np.floating]

#: Larger inputs count as this.
LARGEST_INPUT = {np.float64: 1e100, np.float32: 1e15}


@dataclass(frozen=True)
class InputColumns:
    """Standardised columns that vary, and a constant one.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,)
    varying : ndarray of shape (n_features,), bool
        Columns in use.
    bias : float
        The constant column; 0 for none.
    """

    mean: FloatArray
    scale: FloatArray
    varying: NDArray[np.bool_]
    bias: float

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray, standardize: bool, bias: float) -> InputColumns:
        """Measure the columns; without standardisation they are only centred."""
        units = Standardisation.of(X, weights, standardize)
        varying = np.ptp(X, axis=0) > 10 * np.finfo(np.float64).eps * np.abs(units.mean)
        return cls(units.mean, units.scale, varying, bias)

    @property
    def n_inputs(self) -> int:
        """Columns of the inputs, at least 1."""
        return max(1, int(self.varying.sum()) + (self.bias != 0.0))

    def apply(self, X: FloatArray) -> FloatArray:
        """Inputs (n_samples, n_inputs), in the precision of X."""
        columns = [(X[:, self.varying] - self.mean[self.varying]) / self.scale[self.varying]]
        if self.bias != 0.0 or not self.varying.any():
            columns.append(np.full((len(X), 1), self.bias))
        inputs = np.hstack(columns)
        # Rows may be anything at prediction; their squares must not overflow.
        limit = LARGEST_INPUT[X.dtype.type]
        return np.clip(inputs, -limit, limit, out=inputs).astype(X.dtype, copy=False)

    def embed(self, directions: FloatArray) -> FloatArray:
        """Directions among the inputs as directions among all columns, without the bias."""
        n_varying = int(self.varying.sum())
        full = np.zeros((len(directions), len(self.varying)))
        full[:, self.varying] = directions[:, :n_varying]
        return full
