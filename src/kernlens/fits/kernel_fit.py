"""Fit of the dual coefficients and the intercept for a fixed kernel matrix, for any convex loss.

    min_{a, c}  (1/Wt) sum_i w_i loss(y_i, (K a)_i + c)  +  (alpha/2) sum_t a_t^T K a_t

One linear solve for the squared loss (BKerNN, Lemma 7, with weights), Newton's method with a line
search for the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens.linalg.centered_system import CenteredSystem, Solver
from kernlens.linalg.kernel_operator import KernelOperator
from kernlens.losses import Loss
from kernlens.optim.damped_newton import damped_newton


@dataclass(frozen=True)
class KernelFit:
    """Dual coefficients, intercept and what they give.

    Attributes
    ----------
    dual : ndarray of shape (n_targets, n_samples)
        Coefficients a; with an intercept every row sums to zero.
    intercept : ndarray of shape (n_targets,)
        Constant c.
    kernel_dual : ndarray of shape (n_targets, n_samples)
        ``K a``.
    unknown : ndarray of shape (n_targets, n_samples)
        Solution of the last linear system, a start for the next one.
    value : float
        The objective.
    status : Status
        How the last solve ended.
    """

    dual: FloatArray
    intercept: FloatArray
    kernel_dual: FloatArray
    unknown: FloatArray
    value: float
    status: Status

    @property
    def decision(self) -> FloatArray:
        """Fitted values ``K a + c``, (n_targets, n_samples)."""
        return self.kernel_dual + self.intercept[:, None]


@dataclass(frozen=True)
class KernelFitter:
    """The fit for fixed data; call it with one kernel matrix after another.

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
    solver : {"auto", "direct", "cg"}
        See :meth:`CenteredSystem.solve`.
    intercept : bool
        Whether there is one; else c = 0.
    """

    loss: Loss
    y: FloatArray
    weights: FloatArray
    alpha: float
    solver: Solver = "auto"
    intercept: bool = True

    def __call__(
        self,
        operator: KernelOperator,
        *,
        start: KernelFit | None = None,
        tol: float = 1e-10,
    ) -> KernelFit:
        """Minimise over the coefficients; `start` is the fit of a nearby kernel matrix."""
        if self.loss.quadratic:
            # The working system of a quadratic loss does not depend on where it is taken.
            return self._newton_step(operator, np.zeros((1, 1)), start, tol)
        return damped_newton(
            self._restart(operator, start),
            step_from=lambda fit, step_tol: self._newton_step(
                operator, fit.decision, fit, step_tol
            ),
            between=self._between,
            violation=self._violation,
            tol=tol,
        )

    def _violation(self, fit: KernelFit) -> float:
        """Relative error of the optimality condition ``dual = -w loss'(f) / (alpha Wt)``.

        First order in the error of the coefficients, where the objective is of second order only.
        """
        slopes = self.weights * self.loss.gradient(self.y, fit.decision)
        # Both sides times alpha Wt, because slopes over a small alpha overflow.
        error = self.alpha * self.weights.sum() * fit.dual + slopes
        least = self.loss.negligible_slope * np.linalg.norm(self.weights)
        size = max(np.linalg.norm(slopes), least) or 1.0
        return float(np.linalg.norm(error) / size)

    def objective(self, dual: FloatArray, intercept: FloatArray, kernel_dual: FloatArray) -> float:
        """Value of the objective at given coefficients."""
        losses = self.loss.values(self.y, kernel_dual + intercept[:, None])
        fit = float(self.weights @ losses / self.weights.sum())
        # A norm; where the kernel is large beside alpha its rounding may be negative, and larger
        # than all else.
        return fit + 0.5 * self.alpha * max(float(np.vdot(dual, kernel_dual)), 0.0)

    def _newton_step(
        self,
        operator: KernelOperator,
        decision: FloatArray,
        start: KernelFit | None,
        tol: float,
    ) -> KernelFit:
        root, rhs = self.loss.working_system(self.y, decision, self.weights)
        shift = self.alpha * self.weights.sum()
        system = CenteredSystem(operator, root, shift, len(self.y), self.intercept)
        guess = None if start is None else start.unknown
        result = system.solve(rhs, start=guess, solver=self.solver, tol=tol)
        dual = root.apply(result.solution)
        kernel_dual = operator.matvec(dual)
        intercept = system.intercept(rhs, kernel_dual)
        value = self.objective(dual, intercept, kernel_dual)
        return KernelFit(dual, intercept, kernel_dual, result.solution, value, result.status)

    def _restart(self, operator: KernelOperator, start: KernelFit | None) -> KernelFit:
        """Carry the coefficients of a nearby fit over to this kernel matrix, or start at zero."""
        if start is None:
            dual = np.zeros_like(self.y)
            intercept = self._first_constant
            kernel_dual, unknown = dual, dual
        else:
            dual, intercept, unknown = start.dual, start.intercept, start.unknown
            kernel_dual = operator.matvec(dual)
        value = self.objective(dual, intercept, kernel_dual)
        return KernelFit(dual, intercept, kernel_dual, unknown, value, Status.CONVERGED)

    @property
    def _first_constant(self) -> FloatArray:
        if not self.intercept:
            return np.zeros(len(self.y))
        return self.loss.best_constant(self.y, self.weights)

    def _between(self, current: KernelFit, target: KernelFit, step: float) -> KernelFit:
        dual = current.dual + step * (target.dual - current.dual)
        intercept = current.intercept + step * (target.intercept - current.intercept)
        kernel_dual = current.kernel_dual + step * (target.kernel_dual - current.kernel_dual)
        return KernelFit(
            dual,
            intercept,
            kernel_dual,
            target.unknown,
            self.objective(dual, intercept, kernel_dual),
            target.status,
        )
