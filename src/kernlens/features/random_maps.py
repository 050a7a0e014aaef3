"""Explicit maps from rows to random features: functions of <u, x>, and of one column each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._geometry import unit_rows
from kernlens.features.profiles import Profile

#: Single precision does not hold such thresholds, nor quotients of such widths or their inverses.
EXTREME = 1e15


class FeatureMap(Protocol):
    """T functions of a row."""

    def evaluate(self, X: FloatArray) -> FloatArray:
        """Features of rows, (n_samples, T), in the precision of X."""
        ...

    def gradient(self, X: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients in x of ``sum_t c_t feature_t(x)``, (n_targets, n_samples, n_inputs)."""
        ...

    def take(self, kept: NDArray[np.integer]) -> FeatureMap:
        """Some of the features."""
        ...


@dataclass(frozen=True)
class RidgeMap:
    """Features ``|x|^degree g(<u_t, x / |x|>)``, 0 at x = 0.

    Attributes
    ----------
    directions : ndarray of shape (T, n_inputs)
        u_t.
    profile : Profile
        g.
    degree : int
        0 or 1.
    """

    directions: FloatArray
    profile: Profile
    degree: int

    def take(self, kept: NDArray[np.integer]) -> RidgeMap:
        """Some of the features."""
        return RidgeMap(self.directions[kept], self.profile, self.degree)

    def evaluate(self, X: FloatArray) -> FloatArray:
        """Features of rows, (n_samples, T), in the precision of X. O(n_samples T n_inputs)."""
        unit, norms = unit_rows(X)
        Z: FloatArray = unit @ self.directions.astype(X.dtype, copy=False).T
        self.profile.apply(Z)
        if self.degree:
            Z *= norms[:, None]
        return Z

    def gradient(self, X: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients in x of ``sum_t c_t feature_t(x)``, (n_targets, n_samples, n_inputs).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_inputs)
        coefficients : ndarray of shape (n_targets, T)
        """
        unit, norms = unit_rows(X)
        Z: FloatArray = unit @ self.directions.T
        slopes = self.profile.slope(Z)
        turned = slopes * Z
        along = np.zeros((len(coefficients), len(X)))
        scale = 1.0 / np.where(norms > 0.0, norms, np.inf)
        if self.degree:
            values = Z.copy()
            self.profile.apply(values)
            along = coefficients @ values.T
            scale = np.where(norms > 0.0, 1.0, 0.0)
        gradients = np.empty((len(coefficients), *X.shape))
        for k, row in enumerate(coefficients):
            across = (slopes * row) @ self.directions - (turned @ row)[:, None] * unit
            gradients[k] = across * scale[:, None] + along[k][:, None] * unit
        return gradients


@dataclass(frozen=True)
class StumpMap:
    """Features ``g((x_j - b) / width)`` of single columns.

    Attributes
    ----------
    columns : ndarray of shape (T,)
        j of every feature.
    thresholds : ndarray of shape (T,)
        b.
    width : float
    profile : Profile
        g.
    n_inputs : int
    """

    columns: NDArray[np.integer]
    thresholds: FloatArray
    width: float
    profile: Profile
    n_inputs: int

    def take(self, kept: NDArray[np.integer]) -> StumpMap:
        """Some of the features."""
        columns, thresholds = self.columns[kept], self.thresholds[kept]
        return StumpMap(columns, thresholds, self.width, self.profile, self.n_inputs)

    def evaluate(self, X: FloatArray) -> FloatArray:
        """Features of rows, (n_samples, T), in the precision of X. O(n_samples T)."""
        Z = self._shifted(X)
        self.profile.apply(Z)
        return Z

    def gradient(self, X: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients in x of ``sum_t c_t feature_t(x)``, (n_targets, n_samples, n_inputs)."""
        return self._by_column(self.profile.slope(self._shifted(X)) / self.width, coefficients)

    def column_functions(self, X: FloatArray, coefficients: FloatArray) -> FloatArray:
        """The functions of single columns that ``sum_t c_t feature_t(x)`` is the sum of.

        Returns
        -------
        ndarray of shape (n_targets, n_samples, n_inputs)
        """
        return self._by_column(self.evaluate(X), coefficients)

    def _by_column(self, values: FloatArray, coefficients: FloatArray) -> FloatArray:
        members = np.zeros((len(self.columns), self.n_inputs))
        members[np.arange(len(self.columns)), self.columns] = 1.0
        return np.stack([(values * row) @ members for row in coefficients])

    def _shifted(self, X: FloatArray) -> FloatArray:
        Z = np.take(X, self.columns, axis=1)
        largest = max(self.width, float(np.abs(self.thresholds).max(initial=0.0)))
        if not (largest < EXTREME and self.width > 1.0 / EXTREME):
            Z = Z.astype(np.float64, copy=False)
        Z -= self.thresholds.astype(Z.dtype, copy=False)
        if self.width != 1.0:
            Z *= Z.dtype.type(1.0 / self.width)
        return np.ascontiguousarray(Z)
