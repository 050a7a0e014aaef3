"""Columns brought to mean zero and, if wanted, unit standard deviation, and those that vary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens.subspace import leading_directions

#: Larger inputs count as this.
LARGEST_INPUT = {np.float64: 1e100, np.float32: 1e15}


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

    def directions(self, product: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Leading directions among all columns, and their sizes, largest first.

        Parameters
        ----------
        product : ndarray of shape (n_inputs, n_inputs)
            Semi-definite, an average outer product of gradients; the bias is left out.
        """
        n_varying = int(self.varying.sum())
        if not n_varying:
            # Without a column that varies any direction does.
            return np.eye(1, len(self.varying)), np.zeros(1)
        vectors, values = leading_directions(product[:n_varying, :n_varying])
        return self.embed(vectors), values
