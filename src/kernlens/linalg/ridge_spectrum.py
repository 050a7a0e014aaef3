"""Leave-one-out predictions of ridge regression for many alphas, from one eigendecomposition.

With rows scaled by the roots of their weights, and centred if there is an intercept,
K = U diag(s) U^T, the fitted values are H y with H = U diag(s / (s + alpha Wt)) U^T, plus the
intercept, and the error at a row that was left out is its error divided by 1 - H_ii. That is exact
if the weights do not depend on the data, which is so for random features; alpha Wt is kept when a
row is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from kernlens._array import FloatArray

#: A smaller value of 1 - leverage is rounding.
SMALLEST_FREE = 1e-13


@dataclass(frozen=True)
class RidgeSpectrum:
    """Eigenvectors of a weighted kernel matrix, centred if there is an intercept.

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, q)
        U, without the constant.
    values : ndarray of shape (q,)
        s, non-negative.
    y : ndarray of shape (n_targets, n_samples)
        Targets.
    weights : ndarray of shape (n_samples,)
        Positive.
    intercept : bool
    """

    vectors: FloatArray
    values: FloatArray
    y: FloatArray
    weights: FloatArray
    intercept: bool = True

    @classmethod
    def of_kernel(
        cls, K: FloatArray, y: FloatArray, weights: FloatArray, intercept: bool = True
    ) -> RidgeSpectrum:
        """From a kernel matrix (n_samples, n_samples). O(n^3)."""
        root = np.sqrt(weights)
        if not intercept:
            values, vectors = eigh(K * root[:, None] * root, check_finite=False)
            return cls(vectors, _without_rounding(values, len(K)), y, weights, False)
        shares = weights / weights.sum()
        column = K @ shares
        centered = K - column[:, None] - column + shares @ column
        reflected = _Reflection.of(root)
        block = reflected.both_sides(centered * root[:, None] * root)[1:, 1:]
        values, inner = eigh(block, check_finite=False) if len(K) > 1 else (np.zeros(0), block)
        vectors = reflected.left(np.vstack([np.zeros(len(inner)), inner]))
        return cls(vectors, _without_rounding(values, len(K)), y, weights)

    @classmethod
    def of_features(
        cls, P: FloatArray, y: FloatArray, weights: FloatArray, intercept: bool = True
    ) -> RidgeSpectrum:
        """From features (n_samples, k). O(n k min(n, k) + min(n, k)^3)."""
        A = P - weights @ P / weights.sum() if intercept else P
        if len(P) <= P.shape[1]:
            return cls.of_kernel(A @ A.T, y, weights, intercept)
        A = A * np.sqrt(weights)[:, None]
        values, rotation = eigh(A.T @ A, check_finite=False)
        kept = _without_rounding(values, len(P)) > 0.0
        values = values[kept]
        return cls(A @ rotation[:, kept] / np.sqrt(values), values, y, weights, intercept)

    @property
    def unit(self) -> float:
        """Weighted mean of the diagonal of the kernel that is decomposed; 1 if that is zero."""
        mean = float(self.values.sum() / self.weights.sum())
        return mean if mean > 0.0 else 1.0

    def predictions(self, shift: float, unit: float | FloatArray = np.inf) -> FloatArray:
        """Prediction of every row by a fit without it, (n_targets, n_samples).

        Parameters
        ----------
        shift : float
            alpha, in the units of the kernel.
        unit : float or ndarray of shape (n_samples,)
            Weight that is left out, at most that of the row.
        """
        residuals, free = self.residuals(shift)
        share = np.minimum(unit / self.weights, 1.0)
        rest = 1.0 - share + share * free
        # A single row has no others to be predicted by; its error is left at zero.
        errors = np.divide(residuals, rest, out=np.zeros_like(residuals), where=rest > 0.0)
        return self.y - errors / np.sqrt(self.weights)

    @property
    def scaled_targets(self) -> FloatArray:
        """Targets without their mean, if there is an intercept, times the roots of the weights."""
        mean = 0.0
        if self.intercept:
            mean = (self.y @ self.weights / self.weights.sum())[:, None]
        scaled: FloatArray = (self.y - mean) * np.sqrt(self.weights)
        return scaled

    def residuals(self, shift: float) -> tuple[FloatArray, FloatArray]:
        """Errors (n_targets, n_samples) of the fit to all rows, and 1 - leverages (n_samples,).

        Errors are scaled by the roots of the weights.
        """
        total = self.weights.sum()
        scaled = self.scaled_targets
        vectors, values = self.vectors[:, self.values > 0.0], self.values[self.values > 0.0]
        # What is left of a direction; not as 1 minus what is fitted, which cancels where almost all
        # is fitted and both errors and 1 - leverage are small.
        left = shift * total / (values + shift * total)
        inside, squares = scaled @ vectors, np.square(vectors)
        residuals, free = (inside * left) @ vectors.T, squares @ left
        if vectors.shape[1] < len(self.weights) - self.intercept:
            # And all of what neither the functions nor the constant reach.
            residuals += scaled - inside @ vectors.T
            free += 1.0 - squares.sum(axis=1) - self.intercept * self.weights / total
            free = np.maximum(free, SMALLEST_FREE)
        return residuals, free

    def solution(self, shift: float, K: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (n_targets, n_samples) of the rows, and the intercept (n_targets,).

        The function is ``sum_i a_i k(x_i, .) + c``. With an intercept the coefficients sum to 0.

        Parameters
        ----------
        shift : float
            alpha, in the units of the kernel; positive.
        K : ndarray of shape (n_samples, n_samples)
            The kernel matrix that was decomposed, as it was given.
        """
        root, total = np.sqrt(self.weights), self.weights.sum()
        inside = self.scaled_targets @ self.vectors
        a: FloatArray = (inside / (self.values + shift * total)) @ self.vectors.T * root
        if not self.intercept:
            return a, np.zeros(len(a))
        return a, (self.y - a @ K) @ self.weights / total

    def loss(self, shift: float) -> float:
        """Weighted mean squared error of these predictions, summed over targets."""
        errors = np.square(self.predictions(shift) - self.y).sum(axis=0)
        return float(np.average(errors, weights=self.weights))

    def error_products(self, shifts: list[float]) -> FloatArray:
        """Mean products of the errors for every two of k shifts, summed over targets, (k, k)."""
        errors = np.array([self.predictions(shift) - self.y for shift in shifts])
        scaled = (errors * np.sqrt(self.weights / self.weights.sum())).reshape(len(shifts), -1)
        return scaled @ scaled.T


def _without_rounding(values: FloatArray, n_rows: int) -> FloatArray:
    """Eigenvalues, with those that are rounding set to zero."""
    rounding = max(values.max(initial=0.0), 0.0) * n_rows * np.finfo(np.float64).eps
    return np.where(values > rounding, values, 0.0)


@dataclass(frozen=True)
class _Reflection:
    """The reflection that maps a vector to the first axis, ``I - 2 v v^T``.

    With it the constant is left out of a decomposition: as one eigenvector among others, of value 0
    or what rounding makes of it, it would take part in leverages.
    """

    v: FloatArray

    @classmethod
    def of(cls, vector: FloatArray) -> _Reflection:
        v = vector / np.linalg.norm(vector)
        v[0] += np.copysign(1.0, v[0])
        return cls(v / np.linalg.norm(v))

    def left(self, M: FloatArray) -> FloatArray:
        reflected: FloatArray = M - 2.0 * np.outer(self.v, self.v @ M)
        return reflected

    def both_sides(self, M: FloatArray) -> FloatArray:
        return self.left(self.left(M).T).T
