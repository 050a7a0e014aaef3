"""Ridge regression on explicit features: normal equations summed over blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh, solve_triangular
from scipy.linalg.lapack import dsygst

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens._sized import Sized
from kernlens.linalg.triangular import divide_by_upper, mirror_upper

#: A function of some rows and their features, which it may overwrite, that returns what is summed.
BlockPart = Callable[[slice, FloatArray], tuple[FloatArray, ...]]

#: Values of 1 - leverage are kept above this: a row that alone decides its fitted value has no
#: prediction without it.
SMALLEST_REST = 1e-8


def accumulate_ridge(
    sum_over_blocks: Callable[[BlockPart], list[FloatArray]],
    y: FloatArray,
    weights: FloatArray,
    intercept: bool,
    shift: FloatArray,
) -> RidgeSystem:
    """Accumulate the weighted normal equations.

    Parameters
    ----------
    sum_over_blocks : callable
        Calls a function with every block of rows and its features, and sums what it returns.
    y : ndarray of shape (n_targets, n_samples)
    weights : ndarray of shape (n_samples,)
        Non-negative, positive sum.
    intercept : bool
        Whether a constant is fitted, too: features and targets are then centred.
    shift : ndarray of shape (n_columns,)
        Taken off the features first; the nearer to their mean, the less the centring cancels.
    """
    target_shift = y @ weights / weights.sum() if intercept else np.zeros(len(y))
    # A power of 4 changes no digit, and single precision holds weights of any size over it.
    unit = 4.0 ** np.round(0.5 * np.log2(weights.max()))
    root_weights = np.sqrt(weights / unit)
    uniform = bool(np.all(weights == 1.0))

    def part(rows: slice, A: FloatArray) -> tuple[FloatArray, ...]:
        A -= shift.astype(A.dtype, copy=False)
        root = root_weights[rows].astype(A.dtype, copy=False)
        if not uniform:
            A *= root[:, None]
        shifted = ((y[:, rows] - target_shift[:, None]) * root).astype(A.dtype, copy=False)
        # The same array on both sides: BLAS then computes half of a symmetric product. Blocks of
        # single precision are summed in double.
        parts = A.T @ A, shifted @ A, root @ A
        return tuple(np.asarray(part, dtype=np.float64) for part in parts)

    gram, moments, sums = (unit * part for part in sum_over_blocks(part))
    total = float(weights.sum())
    if intercept:
        gram = gram - np.outer(sums, sums / total)
        # The shifted targets have mean zero: nothing to take away from the moments.
    squares = np.square(y - target_shift[:, None]) @ weights
    mean = shift + sums / total
    return RidgeSystem(gram, moments, total, mean, target_shift, intercept, squares)


@dataclass(frozen=True)
class RidgeSystem(Sized):
    """Normal equations ``(A^T W A + alpha Wt) b = A^T W y``, factored for any number of alphas.

    Attributes
    ----------
    gram : ndarray of shape (n_centers, n_centers)
    moments : ndarray of shape (n_targets, n_centers)
    total : float
        Wt, the sum of the weights.
    feature_mean : ndarray of shape (n_centers,)
    target_mean : ndarray of shape (n_targets,)
    intercept : bool
    target_squares : ndarray of shape (n_targets,)
        Weighted sums of squares of the targets, about their mean if there is an intercept.
    """

    gram: FloatArray
    moments: FloatArray
    total: float
    feature_mean: FloatArray
    target_mean: FloatArray
    intercept: bool
    target_squares: FloatArray

    def arrays(self) -> dict[str, Any]:
        """The attributes, from which the system can be made again."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def solve(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Return b (n_targets, n_centers) and the intercept (n_targets,)."""
        return self._solution(alpha, self._factor(alpha))

    def _solution(self, alpha: float, factor: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        if factor is None:
            return self.solve_along([alpha])[0]
        b: FloatArray = cho_solve((factor, False), self.moments.T, check_finite=False).T
        return b, self.constant(b)

    def _factor(self, alpha: float) -> FloatArray | None:
        """Upper Cholesky factor of ``gram + alpha Wt``, if it exists in double precision."""
        shifted = self.gram.copy()
        shifted.flat[:: len(shifted) + 1] += alpha * self.total
        try:
            factor: FloatArray = cholesky(shifted, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        return factor

    def solve_along(self, alphas: list[float]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the solutions for several alphas from one eigendecomposition."""
        values, vectors = self._eigen
        rotated = self.moments @ vectors
        solutions: list[tuple[FloatArray, FloatArray]] = []
        for alpha in alphas:
            b = (rotated / (np.maximum(values, 0.0) + alpha * self.total)) @ vectors.T
            solutions.append((b, self.constant(b)))
        return solutions

    def constant(self, b: FloatArray) -> FloatArray:
        """The best intercept (n_targets,) for any b; zeros if there is none."""
        if not self.intercept:
            return np.zeros(len(b))
        return self.target_mean - b @ self.feature_mean

    def mean_losses(self, b: FloatArray, constant: FloatArray) -> FloatArray:
        """Weighted mean squared error (n_targets,) of any b and intercept on these rows."""
        products = self.error_products(b[None], constant[None])
        losses: FloatArray = np.maximum(products[:, 0, 0], 0.0)
        return losses

    def error_products(self, b: FloatArray, constant: FloatArray) -> FloatArray:
        """Weighted mean products of the errors of every two of k solutions on these rows.

        Parameters
        ----------
        b : ndarray of shape (k, n_targets, n_centers)
        constant : ndarray of shape (k, n_targets)

        Returns
        -------
        ndarray of shape (n_targets, k, k)
        """
        # Errors of huge coefficients on other rows may overflow: they are infinite then.
        with np.errstate(over="ignore", invalid="ignore"):
            of_target = b.swapaxes(0, 1)
            crossed = np.einsum("tkc,tc->tk", of_target, self.moments)
            products = (of_target @ self.gram) @ of_target.swapaxes(1, 2)
            products -= crossed[:, :, None] + crossed[:, None, :]
            products += self.target_squares[:, None, None]
            if self.intercept:
                apart = (self.target_mean - b @ self.feature_mean - constant).T
                products += self.total * apart[:, :, None] * apart[:, None, :]
        mean: FloatArray = np.where(np.isfinite(products), products, np.inf) / self.total
        return mean

    def left_out(
        self, A: FloatArray, y: FloatArray, weights: FloatArray, alpha: float
    ) -> FloatArray:
        """Prediction of some of the rows of the system, each by a fit without it.

        Parameters
        ----------
        A : ndarray of shape (n_some, n_columns)
            Features of the rows.
        y : ndarray of shape (n_targets, n_some)
        weights : ndarray of shape (n_some,)
            What is left out of each, positive and at most its weight.
        alpha : float
            Kept, with the sum of the weights, when a row is left out.

        Returns
        -------
        ndarray of shape (n_targets, n_some)
        """
        factor = self._factor(alpha)
        b, constant = self._solution(alpha, factor)
        centered = A - self.feature_mean if self.intercept else A
        if factor is None:
            values, vectors = self._eigen
            scaled = (centered @ vectors) / np.sqrt(np.maximum(values, 0.0) + alpha * self.total)
        else:
            scaled = solve_triangular(factor, centered.T, trans=1, check_finite=False).T
        leverage = np.square(scaled).sum(axis=1) + self.intercept / self.total
        rest = np.maximum(1.0 - weights * leverage, SMALLEST_REST)
        predictions: FloatArray = y - (y - b @ A.T - constant[:, None]) / rest
        return predictions

    def merged(self, other: RidgeSystem) -> RidgeSystem:
        """The system of both sets of rows together."""
        total = self.total + other.total
        gram, moments = self.gram + other.gram, self.moments + other.moments
        squares = self.target_squares + other.target_squares
        apart = other.feature_mean - self.feature_mean
        targets_apart = other.target_mean - self.target_mean
        share = other.total / total
        if self.intercept:
            # About the common mean, the distance of the two means adds to every sum.
            gram = gram + np.outer(apart, apart) * (self.total * share)
            moments = moments + np.outer(targets_apart, apart) * (self.total * share)
            squares = squares + targets_apart**2 * (self.total * share)
        feature_mean = self.feature_mean + share * apart
        target_mean = self.target_mean + share * targets_apart
        return RidgeSystem(gram, moments, total, feature_mean, target_mean, self.intercept, squares)

    def scaled(self, scales: FloatArray) -> RidgeSystem:
        """The system of the features ``A * scales``, scales (n_columns,)."""
        return replace(
            self,
            gram=_scaled_both_ways(self.gram, scales),
            moments=self.moments * scales,
            feature_mean=self.feature_mean * scales,
        )

    def divided_by_triangle(self, root: FloatArray) -> RidgeSystem:
        """The system of the features ``A @ root^{-1}``, root upper triangular."""
        # LAPACK's reduction of a generalised eigenproblem: half the work of two triangular solves.
        gram, _ = dsygst(self.gram.T, root, itype=1, lower=0)
        mirror_upper(gram)
        return replace(
            self,
            gram=gram.T,
            moments=divide_by_upper(self.moments, root),
            feature_mean=divide_by_upper(self.feature_mean[None], root)[0],
        )

    @lazy
    def _eigen(self) -> tuple[FloatArray, FloatArray]:
        values, vectors = eigh(self.gram, check_finite=False)
        return values, vectors


def _scaled_both_ways(matrix: FloatArray, scales: FloatArray) -> FloatArray:
    """``diag(scales) @ matrix @ diag(scales)``."""
    scaled = matrix * scales
    scaled *= scales[:, None]
    return scaled
