"""Newton's method for any convex loss on explicit features.

min_{b, c}  (1/Wt) sum_i w_i loss(y_i, A_i b + c) + (alpha/2) sum_t |b_t|^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens._result import SolveResult, Status
from kernlens.linalg.conjugate_gradient import Operator, conjugate_gradient
from kernlens.linalg.raised_cholesky import raised_cholesky
from kernlens.losses import CurvatureRoot, Loss
from kernlens.optim.damped_newton import damped_newton

ROWS_PER_BLOCK = 4096
#: Time of an operation of an iteration, of thin products, over that of one of a factorisation.
THIN = 5.0
#: Unknowns of the largest system of coupled targets that is factored.
MOST_FACTORED = 2000
#: Iterations after which a step is as good as it gets.
MOST_ITERATIONS = 1000


@dataclass(frozen=True)
class _Point:
    """Coefficients with the intercept as last column, (n_targets, n_columns + 1)."""

    stacked: FloatArray
    decision: FloatArray
    value: float


class FeatureNewton:
    """Newton's method with preconditioned conjugate gradients; the features are held in memory.

    Parameters
    ----------
    loss : Loss
    y : ndarray of shape (n_targets, n_samples)
    weights : ndarray of shape (n_samples,)
    alpha : float
    features : ndarray of shape (n_samples, n_columns)
        A.
    intercept : bool

    Attributes
    ----------
    couples : bool
        Whether iterations turned out to take longer than factoring the system of all targets.
    """

    def __init__(
        self,
        loss: Loss,
        y: FloatArray,
        weights: FloatArray,
        alpha: float,
        features: FloatArray,
        intercept: bool = True,
    ) -> None:
        self.loss, self.y, self.weights, self.alpha = loss, y, weights, alpha
        self.intercept = intercept
        ones = np.full((len(features), 1), 1.0 if intercept else 0.0)
        self.A = np.concatenate([features, ones], axis=1)
        total = float(weights.sum())
        self.ridge = np.full(self.A.shape[1], alpha * total)
        self.ridge[-1] = 0.0
        row_norms = np.sqrt(np.einsum("ij,ij->i", self.A, self.A))
        self._negligible_gradient = loss.negligible_slope * float(
            np.linalg.norm(weights * row_norms)
        )
        self.couples = False

    def minimize(
        self, start: tuple[FloatArray, FloatArray] | None, tol: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return b (n_targets, n_columns), c (n_targets,) and the decision values.

        `start` is a pair (b, c) to start from.
        """
        end = damped_newton(
            self._first(start),
            step_from=self._newton_step,
            between=self._between,
            violation=self._violation,
            tol=tol,
        )
        return end.stacked[:, :-1], end.stacked[:, -1], end.decision

    def _first(self, start: tuple[FloatArray, FloatArray] | None) -> _Point:
        stacked = np.zeros((len(self.y), self.A.shape[1]))
        if start is not None:
            stacked[:, :-1], stacked[:, -1] = start
        elif self.intercept:
            stacked[:, -1] = self.loss.best_constant(self.y, self.weights)
        return self._point(stacked, stacked @ self.A.T)

    def _point(self, stacked: FloatArray, decision: FloatArray) -> _Point:
        coefficients = stacked[:, :-1]
        losses = float(self.weights @ self.loss.values(self.y, decision) / self.weights.sum())
        norm = float(np.vdot(coefficients, coefficients))
        return _Point(stacked, decision, losses + 0.5 * self.alpha * norm)

    def _between(self, a: _Point, b: _Point, t: float) -> _Point:
        stacked = a.stacked + t * (b.stacked - a.stacked)
        return self._point(stacked, a.decision + t * (b.decision - a.decision))

    def _newton_step(self, point: _Point, tol: float) -> _Point:
        root, rhs = self.loss.working_system(self.y, point.decision, self.weights)
        curvature = root.mean_diagonal(len(self.y))
        damping = self._damping(curvature)
        ridge = self.ridge + damping

        def solve(x: FloatArray, inverse: Operator, most: int) -> SolveResult:
            return conjugate_gradient(
                lambda v: root.apply(root.adjoint(v @ self.A.T)) @ self.A + ridge * v,
                root.apply(rhs) @ self.A + damping * point.stacked,
                start=x,
                precondition=inverse,
                tol=tol,
                max_iter=most,
            )

        if self.couples:
            result = solve(point.stacked, self.coupled_inverse(root, ridge), MOST_ITERATIONS)
        else:
            # Iterate for as long as factoring would take, and only then factor: the time is at
            # most twice that of the better way, which nobody knows in advance.
            result = solve(point.stacked, self._inverse_of(curvature, ridge), self._patience(root))
            if result.status is Status.MAX_ITER:
                self.couples = True
                result = solve(result.solution, self.coupled_inverse(root, ridge), MOST_ITERATIONS)
        return self._point(result.solution, result.solution @ self.A.T)

    def _damping(self, curvature: FloatArray) -> FloatArray:
        """A trace that keeps the system definite, (n_columns + 1,).

        The multinomial loss does not see a constant added to all classes. The damping holds the
        constant where it is; a pull to zero would shift the minimum. It is relative to the
        curvature, or it would stop every step of classes that are nearly separated.
        """
        damping = np.zeros(self.A.shape[1])
        damping[-1] = 1e-10 * curvature.sum() if self.intercept else self.weights.sum()
        return damping

    def _inverse_of(self, curvature: FloatArray, ridge: FloatArray) -> Operator:
        """Inverse of the system with every target's curvature replaced by their mean.

        Exact for one target; for several it keeps their sum, which the multinomial loss does not
        see, apart from the rest.
        """
        factor = factor_of(self._gram(curvature, positive=True), ridge)
        return lambda r: cho_solve((factor, False), r.T, check_finite=False).T

    def _patience(self, root: CurvatureRoot) -> int:
        """Iterations that take as long as factoring the system of all targets, if that helps."""
        n, p = self.A.shape
        n_unknowns = len(self.y) * p
        if root.diagonals is not None or n_unknowns > MOST_FACTORED:
            return MOST_ITERATIONS
        factoring = 0.5 * n * n_unknowns**2 + n_unknowns**3 / 3.0
        return min(MOST_ITERATIONS, 1 + int(factoring / (THIN * 4.0 * n * n_unknowns)))

    def coupled_inverse(self, root: CurvatureRoot, ridge: FloatArray) -> Operator:
        """Inverse of the system up to rounding; iterations then only correct that."""
        n_targets, p = len(self.y), self.A.shape[1]
        matrix = np.empty((n_targets, p, n_targets, p))
        for t in range(n_targets):
            for s in range(t + 1):
                matrix[t, :, s] = matrix[s, :, t] = self._gram(root.entries(t, s))
        return coupled_solver(matrix, ridge, self._inverse_of(root.mean_diagonal(n_targets), ridge))

    def _gram(self, curvature: FloatArray, *, positive: bool = False) -> FloatArray:
        """``A^T diag(curvature) A``, in blocks: all weighted rows would be a second copy of A."""
        matrix = np.zeros((self.A.shape[1], self.A.shape[1]))
        for rows in split_range(len(self.A), ROWS_PER_BLOCK):
            if positive:
                # The same array on both sides: BLAS then computes half of a symmetric product.
                scaled = self.A[rows] * np.sqrt(curvature[rows, None])
                matrix += scaled.T @ scaled
            else:
                matrix += self.A[rows].T @ (self.A[rows] * curvature[rows, None])
        return matrix

    def _violation(self, point: _Point) -> float:
        """Norm of the gradient, relative to that of the penalty's part of it."""
        slopes = self.weights * self.loss.gradient(self.y, point.decision)
        gradient = slopes @ self.A + self.ridge * point.stacked
        size = float(np.linalg.norm(self.ridge * point.stacked) or np.linalg.norm(slopes))
        size = max(size, self._negligible_gradient) or 1.0
        return float(np.linalg.norm(gradient)) / size


def coupled_solver(matrix: FloatArray, ridge: FloatArray, of_means: Operator) -> Operator:
    """Inverse of the system of all targets, (n_targets, p, n_targets, p) and a ridge (p,).

    What is the same for all targets meets no curvature of the multinomial loss, and a matrix that
    is nearly singular there would blow rounding up: it gets the inverse of the means.
    """
    n_targets, p = matrix.shape[:2]
    n_unknowns = n_targets * p
    factor = factor_of(matrix.reshape(n_unknowns, n_unknowns), np.tile(ridge, n_targets))

    def solve(r: FloatArray) -> FloatArray:
        shared = r.mean(axis=0, keepdims=True)
        x = cho_solve((factor, False), (r - shared).ravel(), check_finite=False)
        x = x.reshape(r.shape)
        solved: FloatArray = x - x.mean(axis=0) + of_means(shared)
        return solved

    return solve


def factor_of(matrix: FloatArray, ridge: FloatArray) -> FloatArray:
    """Upper Cholesky factor of ``matrix + diag(ridge)``, raised by rounding if it must be."""
    matrix.flat[:: len(matrix) + 1] += ridge
    rounding = 1e-15 * float(np.abs(matrix.diagonal()).max())
    factor, _ = raised_cholesky(matrix, 0.0, rounding)
    return factor
