"""Newton's method for any convex loss on features of the rows of a table, by sums over its blocks.

The objective is that of :mod:`kernlens.fits.feature_newton`, which holds the features. Here they
are computed again in every pass, where the rows are, and only what has the size of the
coefficients, or of a matrix of the features, is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens.blocks.block import Block
from kernlens.blocks.table import BlockTable
from kernlens.fits.feature_newton import (
    MOST_FACTORED,
    MOST_ITERATIONS,
    ROWS_PER_BLOCK,
    coupled_solver,
    factor_of,
)
from kernlens.linalg.conjugate_gradient import Operator, conjugate_gradient
from kernlens.losses import Loss
from kernlens.optim.damped_newton import damped_newton

#: Features (n_rows, n_columns) of rows; it is sent to where the rows are.
Features = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class BlockModel:
    """What the rows of a block say of coefficients; every method is a sum over rows.

    Attributes
    ----------
    features : callable
        A, a plain function or object, which can be sent to another process.
    loss : Loss
    intercept : bool
    """

    features: Features
    loss: Loss
    intercept: bool

    def look(self, block: Block, stacked: FloatArray) -> tuple[FloatArray, ...]:
        """Loss, squares of the slopes and of the weighted rows, and the gradient."""
        loss, slope_squares, row_squares = 0.0, 0.0, 0.0
        gradient = np.zeros_like(stacked)
        for A, y, weights in self._parts(block):
            decision = stacked @ A.T
            slopes = weights * self.loss.gradient(y, decision)
            loss += float(weights @ self.loss.values(y, decision))
            slope_squares += float(np.vdot(slopes, slopes))
            row_squares += float(np.square(weights) @ np.einsum("ij,ij->i", A, A))
            gradient += slopes @ A
        return np.array([loss, slope_squares, row_squares]), gradient

    def system(self, block: Block, stacked: FloatArray) -> tuple[FloatArray, ...]:
        """Right-hand side, mean curvature as a matrix of the features, and its sum."""
        rhs, n_columns = np.zeros_like(stacked), stacked.shape[1]
        gram, total = np.zeros((n_columns, n_columns)), np.zeros(1)
        for A, y, weights in self._parts(block):
            root, working = self.loss.working_system(y, stacked @ A.T, weights)
            curvature = root.mean_diagonal(len(y))
            rhs += root.apply(working) @ A
            scaled = A * np.sqrt(curvature[:, None])
            gram += scaled.T @ scaled
            total += curvature.sum()
        return rhs, gram, total

    def coupled(self, block: Block, stacked: FloatArray) -> tuple[FloatArray]:
        """The curvature of all targets together, (n_targets, p, n_targets, p)."""
        n_targets, n_columns = stacked.shape
        matrix = np.zeros((n_targets, n_columns, n_targets, n_columns))
        for A, y, weights in self._parts(block):
            root, _ = self.loss.working_system(y, stacked @ A.T, weights)
            for t in range(n_targets):
                for s in range(t + 1):
                    matrix[t, :, s] += A.T @ (A * root.entries(t, s)[:, None])
        for t in range(n_targets):
            for s in range(t):
                matrix[s, :, t] = matrix[t, :, s]
        return (matrix,)

    def curved(self, block: Block, stacked: FloatArray, v: FloatArray) -> tuple[FloatArray]:
        """The curvature at `stacked`, applied to other coefficients."""
        product = np.zeros_like(v)
        for A, y, weights in self._parts(block):
            root, _ = self.loss.working_system(y, stacked @ A.T, weights)
            product += root.apply(root.adjoint(v @ A.T)) @ A
        return (product,)

    def _parts(self, block: Block) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Features beside a constant, targets and weights, of some rows at a time."""
        for rows in split_range(len(block), ROWS_PER_BLOCK):
            features = self.features(block.X[rows])
            ones = np.full((len(features), 1), 1.0 if self.intercept else 0.0)
            yield np.hstack([features, ones]), block.y[:, rows], block.weights[rows]


@dataclass(frozen=True)
class _Point:
    """Coefficients with the intercept as last column, and what the rows say of them."""

    stacked: FloatArray
    value: float
    violation: float


@dataclass(frozen=True)
class TableNewton:
    """Newton's method from coefficients that are near, such as those of a sample.

    A step costs a pass for its system, and one for the objective. Several targets have conjugate
    gradients, with a pass for every iteration; the coupling of all targets, if it is not too large
    a matrix, costs one pass, and leaves them little to do.

    Attributes
    ----------
    table : BlockTable
        With targets (n_targets, n_rows).
    total : float
        Sum of the weights.
    model : BlockModel
    alpha : float
    """

    table: BlockTable
    total: float
    model: BlockModel
    alpha: float

    def minimize(
        self, start: tuple[FloatArray, FloatArray], tol: float = 1e-10
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return b (n_targets, n_columns), c (n_targets,) and the objective.

        `start` is a pair (b, c) to start from.
        """
        b, c = start
        end = damped_newton(
            self._at(np.column_stack([b, c])),
            step_from=self._newton_step,
            between=self._between,
            violation=lambda point: point.violation,
            tol=tol,
        )
        return end.stacked[:, :-1], end.stacked[:, -1], end.value

    def _between(self, one: _Point, other: _Point, t: float) -> _Point:
        return other if t == 1.0 else self._at(one.stacked + t * (other.stacked - one.stacked))

    def _at(self, stacked: FloatArray) -> _Point:
        sums, gradient = self.table.sum(self.model.look, stacked)
        losses, slopes, rows = (float(one) for one in sums)
        penalty = self._ridge(stacked.shape[1]) * stacked
        b = stacked[:, :-1]
        size = float(np.linalg.norm(penalty)) or slopes**0.5
        size = max(size, self.model.loss.negligible_slope * rows**0.5) or 1.0
        value = losses / self.total + 0.5 * self.alpha * float(np.vdot(b, b))
        return _Point(stacked, value, float(np.linalg.norm(gradient + penalty)) / size)

    def _ridge(self, n_columns: int) -> FloatArray:
        ridge = np.full(n_columns, self.alpha * self.total)
        ridge[-1] = 0.0
        return ridge

    def _newton_step(self, point: _Point, tol: float) -> _Point:
        stacked = point.stacked
        rhs, gram, curvature = self.table.sum(self.model.system, stacked)
        damping = np.zeros(stacked.shape[1])
        # As with held features: a trace for the constant of classes, of which only differences
        # matter.
        damping[-1] = 1e-10 * float(curvature[0]) if self.model.intercept else self.total
        ridge = self._ridge(stacked.shape[1]) + damping
        factor, rhs = factor_of(gram, ridge), rhs + damping * stacked

        def inverse(r: FloatArray) -> FloatArray:
            solved: FloatArray = cho_solve((factor, False), r.T, check_finite=False).T
            return solved

        if len(stacked) == 1:
            return self._at(inverse(rhs))
        precondition: Operator = inverse
        if stacked.size <= MOST_FACTORED:
            (matrix,) = self.table.sum(self.model.coupled, stacked)
            precondition = coupled_solver(matrix, ridge, inverse)

        def curved(v: FloatArray) -> FloatArray:
            (product,) = self.table.sum(self.model.curved, stacked, v)
            applied: FloatArray = product + ridge * v
            return applied

        result = conjugate_gradient(
            curved, rhs, start=stacked, precondition=precondition, tol=tol, max_iter=MOST_ITERATIONS
        )
        return self._at(result.solution)
