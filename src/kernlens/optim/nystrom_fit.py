"""Fit of the coefficients on Nyström centres for a fixed kernel, for any convex loss.

    min_{a, c}  (1/Wt) sum_i w_i loss(y_i, (K a)_i + c) + (alpha/2) sum_t a_t^T (K_zz + jitter) a_t

With the squared loss ``1/2 (y - f)^2`` this is half of HKRR's (5), whose printed penalty has the
wrong kernel matrix. Solved in whitened features: one linear solve for the squared loss (HKRR, (6)),
Newton's method with preconditioned conjugate gradients for the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from kernlens.linalg.conjugate_gradient import Operator, conjugate_gradient
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.linalg.whitened_features import JITTER, WhitenedFeatures
from kernlens.losses import CurvatureRoot, Loss
from kernlens.optim.damped_newton import damped_newton

FloatArray = NDArray[np.floating]


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
            return _FeatureNewton(self, features).minimise(start, tol)
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

    def at(
        self, blocks: KernelBlocks, coefficients: FloatArray, intercept: FloatArray
    ) -> NystromFit:
        """Evaluate the objective at given coefficients."""
        norm = np.vdot(coefficients, coefficients @ blocks.centre_kernel[0])
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
        smoothed = fit.coefficients @ blocks.centre_kernel[0] + self.jitter * fit.coefficients
        constant = slopes.sum(axis=1) if self.intercept else np.zeros(len(slopes))
        return pulled + self.alpha * smoothed, constant


def evaluate(blocks: KernelBlocks, coefficients: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return the decision values ``K a + c`` of all rows, (n_targets, n_samples)."""
    parts = blocks.map(lambda block: coefficients @ block.values.T)
    return np.concatenate(parts, axis=1) + intercept[:, None]


@dataclass(frozen=True)
class _WhitenedPoint:
    """Whitened coefficients with the intercept as last column, (n_targets, n_centers + 1)."""

    stacked: FloatArray
    decision: FloatArray
    value: float


class _FeatureNewton:
    """Newton's method on the whitened features, held in memory, with a column of ones."""

    def __init__(self, fitter: NystromFitter, features: WhitenedFeatures) -> None:
        self.fitter = fitter
        self.features = features
        A = features.matrix()
        ones = np.full((len(A), 1), 1.0 if fitter.intercept else 0.0)
        self.A = np.concatenate([A, ones], axis=1)
        total = float(fitter.weights.sum())
        self.ridge = np.full(self.A.shape[1], fitter.alpha * total)
        self.ridge[-1] = 0.0
        # A trace that keeps the system definite: the multinomial loss does not see a constant added
        # to all classes. It holds the constant where it is; a pull to zero would shift the minimum.
        self.damping = np.zeros(self.A.shape[1])
        self.damping[-1] = 1e-10 * total if fitter.intercept else total

    def minimise(self, start: NystromFit | None, tol: float) -> NystromFit:
        end = damped_newton(
            self._first(start),
            step_from=self._newton_step,
            between=self._between,
            violation=self._violation,
            tol=tol,
        )
        whitened, intercept = end.stacked[:, :-1], end.stacked[:, -1]
        coefficients = self.features.coefficients(whitened)
        norm = float(np.vdot(whitened, whitened))
        return self.fitter.fit_with(coefficients, intercept, end.decision, norm)

    def _first(self, start: NystromFit | None) -> _WhitenedPoint:
        stacked = np.zeros((len(self.fitter.y), self.A.shape[1]))
        if start is not None:
            stacked[:, :-1] = self.features.whitened(start.coefficients)
            stacked[:, -1] = start.intercept
        elif self.fitter.intercept:
            stacked[:, -1] = self.fitter.loss.best_constant(self.fitter.y, self.fitter.weights)
        return self._point(stacked, stacked @ self.A.T)

    def _point(self, stacked: FloatArray, decision: FloatArray) -> _WhitenedPoint:
        whitened = stacked[:, :-1]
        norm = float(np.vdot(whitened, whitened))
        fit = self.fitter.fit_with(whitened, stacked[:, -1], decision, norm)
        return _WhitenedPoint(stacked, decision, fit.value)

    def _between(self, a: _WhitenedPoint, b: _WhitenedPoint, t: float) -> _WhitenedPoint:
        stacked = a.stacked + t * (b.stacked - a.stacked)
        return self._point(stacked, a.decision + t * (b.decision - a.decision))

    def _newton_step(self, point: _WhitenedPoint, tol: float) -> _WhitenedPoint:
        fitter = self.fitter
        root, rhs = fitter.loss.working_system(fitter.y, point.decision, fitter.weights)
        ridge = self.ridge + self.damping
        result = conjugate_gradient(
            lambda x: root.apply(root.adjoint(x @ self.A.T)) @ self.A + ridge * x,
            root.apply(rhs) @ self.A + self.damping * point.stacked,
            start=point.stacked,
            precondition=self._preconditioner(root),
            tol=tol,
        )
        return self._point(result.solution, result.solution @ self.A.T)

    def _preconditioner(self, root: CurvatureRoot) -> Operator:
        """Inverse of the system with every target's curvature replaced by their mean.

        Exact for one target; for several it keeps their sum, which the multinomial loss does not
        see, apart from the rest.
        """
        weighted = self.A * root.mean_diagonal(len(self.fitter.y))[:, None]
        matrix = self.A.T @ weighted
        matrix.flat[:: len(matrix) + 1] += self.ridge + self.damping
        factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
        return lambda r: cho_solve(factor, r.T, check_finite=False).T

    def _violation(self, point: _WhitenedPoint) -> float:
        """Norm of the gradient, relative to that of the penalty's part of it."""
        fitter = self.fitter
        slopes = fitter.weights * fitter.loss.gradient(fitter.y, point.decision)
        gradient = slopes @ self.A + self.ridge * point.stacked
        size = np.linalg.norm(self.ridge * point.stacked) or np.linalg.norm(slopes)
        return float(np.linalg.norm(gradient) / (size or 1.0))
