"""Columns as every learner sees them: centred, scaled, within limits, without constant ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kernlens._array import FloatArray, IntArray

#: Larger inputs count as this, so that their squares do not overflow.
LARGEST_INPUT = {np.float64: 1e100, np.float32: 1e15}


def center_and_scale(
    X: FloatArray, weights: FloatArray, standardize: bool
) -> tuple[FloatArray, FloatArray]:
    """Weighted means and standard deviations of columns; constant ones have a deviation of 1.

    :class:`sklearn.preprocessing.StandardScaler` loses the digits of columns of extreme size, and
    leaves rounding where a column is constant.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    weights : ndarray of shape (n_samples,)
        Non-negative, not all zero.
    standardize : bool
        Whether deviations are wanted; if not, they are all 1.

    Returns
    -------
    mean, scale : ndarray of shape (n_features,)
    """
    mean = np.average(X, axis=0, weights=weights)
    # The average of equal numbers may round to another; a constant must become zero.
    mean = np.where(np.ptp(X, axis=0) == 0.0, X[0], mean)
    if not standardize:
        return mean, np.ones(X.shape[1])
    centered = X - mean
    largest = np.maximum(centered.max(axis=0), -centered.min(axis=0))
    # A column that varies by rounding only is a constant.
    constant = largest <= 10 * np.finfo(np.float64).eps * np.abs(mean)
    largest[constant | (largest == 0.0)] = 1.0
    # Squares of the ratios, so that columns of any size keep their digits; in place, because X is
    # often the largest array there is.
    centered /= largest
    ratio = np.sqrt(np.average(np.square(centered, out=centered), axis=0, weights=weights))
    return mean, np.where(constant, 1.0, largest * ratio)


@dataclass(frozen=True)
class Columns:
    """From rows in the units of the user to the inputs of a learner, and back.

    The inputs are ``(x - mean) / scale`` of the columns that vary, kept within `limit`, in an order
    of their own, and one more constant input if there is a bias. Without a column that varies there
    is one input of zeros, so that every learner has something to look at.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Weighted means of the columns.
    scale : ndarray of shape (n_features,)
        Weighted standard deviations, 1 for constant columns; all 1 if columns are only centred.
    used : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs.
    limit : ndarray of shape (n_features,) or None
        Largest size of an input from every column; None for what the precision allows.
    bias : float
        The constant input; 0 for none.
    order : {"C", "F"}
        Whether inputs are laid out by rows or by columns. Products round otherwise in the other
        layout, which kernels with a cusp magnify, so that a family keeps to one.
    """

    mean: FloatArray
    scale: FloatArray
    used: IntArray
    limit: FloatArray | None = None
    bias: float = 0.0
    order: Literal["C", "F"] = "C"

    @classmethod
    def of(
        cls,
        X: FloatArray,
        weights: FloatArray,
        standardize: bool,
        *,
        bias: float = 0.0,
        order: Literal["C", "F"] = "C",
    ) -> Columns:
        """Measure the columns of X (n_samples, n_features); without `standardize` only centre."""
        mean, scale = center_and_scale(X, weights, standardize)
        return cls(mean, scale, varying_columns(X, mean), None, bias, order)

    @property
    def n_varying(self) -> int:
        """Number of columns in use."""
        return len(self.used)

    @property
    def n_inputs(self) -> int:
        """Number of inputs, at least 1."""
        return max(1, self.n_varying + (self.bias != 0.0))

    def in_order(self, order: IntArray) -> Columns:
        """The same with the inputs in another order, given by their numbers (n_varying,)."""
        return replace(self, used=self.used[order])

    def apply(self, X: FloatArray) -> FloatArray:
        """Return the inputs (n_samples, n_inputs), in the precision of X."""
        scaled = self._scaled(X)
        limit = self._limit(X)
        columns = [np.clip(scaled, -limit, limit, out=scaled)]
        if self.bias != 0.0 or not self.n_varying:
            columns.append(np.full((len(X), 1), min(self.bias, LARGEST_INPUT[X.dtype.type])))
        inputs = columns[0] if len(columns) == 1 else np.hstack(columns)
        return inputs.astype(X.dtype, order=self.order, copy=False)

    def select(self, directions: FloatArray) -> FloatArray:
        """Rows (r, n_features) of standardised columns as rows (r, n_inputs); no bias is looked at.

        It undoes :meth:`embed`.
        """
        inputs = np.zeros((len(directions), self.n_inputs))
        if self.n_varying:
            inputs[:, : self.n_varying] = directions[:, self.used]
        else:
            inputs[:, 0] = directions[:, 0]
        return inputs

    def embed(self, directions: FloatArray) -> FloatArray:
        """Rows (r, n_inputs) as rows (r, n_features) of standardised columns, without the bias.

        Without a column that varies the one input stands for the first column: any would do.
        """
        columns = np.zeros((len(directions), len(self.mean)))
        if self.n_varying:
            columns[:, self.used] = directions[:, : self.n_varying]
        else:
            columns[:, 0] = directions[:, 0]
        return columns

    def gradient(self, X: FloatArray, slopes: FloatArray) -> FloatArray:
        """Derivatives in the columns, in the units of the user.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Where.
        slopes : ndarray of shape (n_targets, n_samples, n_inputs)
            Derivatives in the inputs there.

        Returns
        -------
        ndarray of shape (n_targets, n_samples, n_features)
            Zero for constant columns, and where a column is beyond its limit.
        """
        full = np.zeros((*slopes.shape[:2], len(self.mean)))
        if self.n_varying:
            inside = np.abs(self._scaled(X)) <= self._limit(X)
            moved = slopes[..., : self.n_varying] * inside
            full[..., self.used] = moved / self.scale[self.used]
        return full

    def _scaled(self, X: FloatArray) -> FloatArray:
        """Columns in use without a limit, a new array."""
        # Not X[:, used], which NumPy lays out by columns.
        scaled: FloatArray = X.take(self.used, axis=1) - self.mean[self.used]
        with np.errstate(over="ignore"):
            # A limit follows wherever this may overflow.
            scaled /= self.scale[self.used]
        return scaled

    def _limit(self, X: FloatArray) -> FloatArray | float:
        return LARGEST_INPUT[X.dtype.type] if self.limit is None else self.limit[self.used]


def varying_columns(X: FloatArray, mean: FloatArray) -> IntArray:
    """Numbers of the columns of X (n_samples, n_features) that vary by more than rounding."""
    return np.flatnonzero(np.ptp(X, axis=0) > 10 * np.finfo(np.float64).eps * np.abs(mean))
