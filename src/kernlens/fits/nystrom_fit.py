"""Fit of the coefficients on Nyström centres for a fixed kernel, for any convex loss.

    min_{a, c}  (1/Wt) sum_i w_i loss(y_i, (K a)_i + c) + (alpha/2) sum_t a_t^T (K_zz + jitter) a_t

With the squared loss ``1/2 (y - f)^2`` this is half of HKRR's (5), whose printed penalty has the
wrong kernel matrix. Solved in whitened features: one linear solve for the squared loss (HKRR, (6)),
Newton's method with preconditioned conjugate gradients for the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.fits.feature_newton import FeatureNewton
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.linalg.whitened_features import JITTER, WhitenedFeatures
from kernlens.losses import Loss


@dataclass(frozen=True)
class NystromFit:
    """Coefficients, intercept and what they give.

    Attributes
    ----------
    coefficients : ndarray of shape (n_targets, n_centers)
        a.
    intercept : ndarray of shape (n_targets,)
        Constant c.
    decision : ndarray of shape (n_targets, n_samples)
        Fitted values ``K a + c``.
    square_norm : float
        ``sum_t a_t^T (K_zz + jitter) a_t``, the squared norm of the function.
    value : float
        The objective.
    """

    coefficients: FloatArray
    intercept: FloatArray
    decision: FloatArray
    square_norm: float
    value: float


@dataclass(frozen=True)
class NystromFitter:
    """The fit for fixed targets; call it with one kernel after another.

    Attributes
    ----------
    loss : Loss
        Loss of a row.
    y : ndarray of shape (n_targets, n_samples)
        Encoded targets.
    weights : ndarray of shape (n_samples,)
        Non-negative, positive sum.
    alpha : float
        Regularisation (the paper's lambda).
    intercept : bool
        Whether a constant is fitted; the paper has none.
    jitter : float
        Added to the diagonal of the centre kernel.
    """

    loss: Loss
    y: FloatArray
    weights: FloatArray
    alpha: float
    intercept: bool = True
    jitter: float = JITTER

    def __call__(
        self, blocks: KernelBlocks, *, start: NystromFit | None = None, tol: float = 1e-10
    ) -> NystromFit:
        """Minimise over the coefficients; `start` is the fit of a nearby kernel, same centres."""
        features = WhitenedFeatures(blocks, self.jitter)
        if not self.loss.quadratic:
            return self._newton(features, start, tol)
        whitened, intercept = self._solve(features)
        coefficients = features.coefficients(whitened)
        decision = evaluate(blocks, coefficients, intercept)
        return self.fit_with(coefficients, intercept, decision, float(np.vdot(whitened, whitened)))

    def function(self, blocks: KernelBlocks) -> tuple[FloatArray, FloatArray]:
        """Return the optimal coefficients and intercept alone, in one pass if the loss allows."""
        if not self.loss.quadratic:
            fit = self(blocks)
            return fit.coefficients, fit.intercept
        features = WhitenedFeatures(blocks, self.jitter)
        whitened, intercept = self._solve(features)
        return features.coefficients(whitened), intercept

    def _solve(self, features: WhitenedFeatures) -> tuple[FloatArray, FloatArray]:
        system = features.ridge_system(self.y, self.weights, self.intercept)
        return system.solve(self.alpha)

    def _newton(
        self, features: WhitenedFeatures, start: NystromFit | None, tol: float
    ) -> NystromFit:
        method = FeatureNewton(
            self.loss, self.y, self.weights, self.alpha, features.matrix(), self.intercept
        )
        first = None
        if start is not None:
            first = features.whitened(start.coefficients), start.intercept
        whitened, intercept, decision = method.minimize(first, tol)
        norm = float(np.vdot(whitened, whitened))
        return self.fit_with(features.coefficients(whitened), intercept, decision, norm)

    def at(
        self, blocks: KernelBlocks, coefficients: FloatArray, intercept: FloatArray
    ) -> NystromFit:
        """Evaluate the objective at given coefficients."""
        norm = np.vdot(coefficients, coefficients @ blocks.center_kernel[0])
        norm += self.jitter * np.vdot(coefficients, coefficients)
        decision = evaluate(blocks, coefficients, intercept)
        return self.fit_with(coefficients, intercept, decision, float(norm))

    def fit_with(
        self,
        coefficients: FloatArray,
        intercept: FloatArray,
        decision: FloatArray,
        square_norm: float,
    ) -> NystromFit:
        """Put the parts together, with the objective they give."""
        losses = float(self.weights @ self.loss.values(self.y, decision) / self.weights.sum())
        value = losses + 0.5 * self.alpha * square_norm
        return NystromFit(coefficients, intercept, decision, square_norm, value)

    def loss_slopes(self, fit: NystromFit) -> FloatArray:
        """Derivative of the data fit in the decision values, (n_targets, n_samples)."""
        return self.weights * self.loss.gradient(self.y, fit.decision) / self.weights.sum()

    def coefficient_gradients(
        self, blocks: KernelBlocks, fit: NystromFit
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the objective in the coefficients and in the intercept."""
        slopes = self.loss_slopes(fit)
        (pulled,) = blocks.sum(lambda block: (slopes[:, block.rows] @ block.values,))
        smoothed = fit.coefficients @ blocks.center_kernel[0] + self.jitter * fit.coefficients
        constant = slopes.sum(axis=1) if self.intercept else np.zeros(len(slopes))
        return pulled + self.alpha * smoothed, constant


def evaluate(blocks: KernelBlocks, coefficients: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return the decision values ``K a + c`` of all rows, (n_targets, n_samples)."""
    parts = blocks.map(lambda block: coefficients @ block.values.T)
    return np.concatenate(parts, axis=1) + intercept[:, None]
