"""What HKRR minimises, independent of the rows, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult
from kernlens._rows import CanonicalRows
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.kernels.radial import RadialKernel
from kernlens.losses import Loss
from kernlens.methods.hkrr.alternating_gradient import alternating_gradient
from kernlens.methods.hkrr.objective import HyperKernelObjective, HyperKernelPoint
from kernlens.methods.hkrr.varpro import Watch, varpro_gradient, varpro_lbfgs
from kernlens.optim.backtracking import StepRule
from kernlens.optim.composite_objective import CompositeObjective
from kernlens.optim.factored_lbfgs import factored_lbfgs
from kernlens.optim.lbfgs import Progress
from kernlens.penalties.operator_ball import project_on_ball
from kernlens.penalties.particles import FeaturePenalty


@dataclass(frozen=True)
class VarPro:
    """Variable projection: the coefficients are optimal for every map (Algorithms 1 and 3).

    Attributes
    ----------
    steps : {"lbfgs", "gradient"}
        L-BFGS, or the paper's projected gradient steps.
    reduced : bool
        Whether gradient steps are tested with the coefficients solved anew, or kept as printed.
    rule : StepRule
        Constants of the line search of gradient steps.
    """

    steps: str = "lbfgs"
    reduced: bool = True
    rule: StepRule = field(default_factory=StepRule)

    def __post_init__(self) -> None:
        if self.steps not in ("lbfgs", "gradient"):
            raise ValueError(f"steps must be 'lbfgs' or 'gradient', got {self.steps!r}.")

    @property
    def search_iter(self) -> int:
        """Iterations that are worth spending at one setting of a search."""
        return 25 if self.steps == "lbfgs" else 100


@dataclass(frozen=True)
class AlternatingGradient:
    """Alternating gradient descent (Algorithms 2 and 4).

    Attributes
    ----------
    n_coefficient_steps : int
        Steps in the coefficients after every step in the map, the paper's n_alpha.
    rule : StepRule
        Constants of both line searches.
    """

    n_coefficient_steps: int = 10
    rule: StepRule = field(default_factory=StepRule)

    def __post_init__(self) -> None:
        if self.n_coefficient_steps < 1:
            raise ValueError(
                f"n_coefficient_steps must be at least 1, got {self.n_coefficient_steps!r}."
            )

    @property
    def search_iter(self) -> int:
        """Iterations that are worth spending at one setting of a search."""
        return 200


MapOptimizer = VarPro | AlternatingGradient
OPTIMIZERS: dict[str, MapOptimizer] = {
    "auto": VarPro(),
    "varpro": VarPro(),
    "varpro_gradient": VarPro("gradient"),
    "agd": AlternatingGradient(),
}


@dataclass(frozen=True)
class HyperKernelProblem:
    """Kernel, loss and constraint of HKRR, and the optimiser.

    Attributes
    ----------
    kernel : RadialKernel
        Mother kernel, of length scale 1: maps B here are divided by the length scale.
    loss : Loss
    intercept : bool
        Whether a constant is fitted.
    radius : float or None
        Bound of the operator norm of B.
    trace_norm : float
        Strength tau of the penalty ``tau * L0 * |B|_*`` with L0 the loss of the best constant. With
        a constraint, too, L-BFGS gives way to gradient steps, which can do both.
    optimizer : VarPro or AlternatingGradient
    n_jobs : int or None
        Threads.
    """

    kernel: RadialKernel
    loss: Loss
    intercept: bool = True
    radius: float | None = None
    trace_norm: float = 0.0
    optimizer: MapOptimizer = field(default_factory=VarPro)
    n_jobs: int | None = None

    @property
    def ridge(self) -> ProjectedRidge:
        """The problem that is left when the map is fixed."""
        return ProjectedRidge(self.kernel, self.loss, self.n_jobs)

    def objective(self, rows: CanonicalRows, Z: FloatArray, alpha: float) -> HyperKernelObjective:
        """Return the objective on `rows` with centres `Z`."""
        objective = HyperKernelObjective.of(
            rows, Z, self.kernel, self.loss, alpha, intercept=self.intercept, n_jobs=self.n_jobs
        )
        if self.trace_norm == 0.0:
            return objective
        return replace(objective, penalty_strength=self.trace_norm * constant_loss(self.loss, rows))

    def minimise(
        self,
        objective: HyperKernelObjective,
        start: HyperKernelPoint,
        *,
        max_iter: int,
        tol: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> SolveResult:
        """Minimise over the map from an evaluated point, first moved into the ball if need be."""
        start = self._inside(objective, start)
        options: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "progress": progress}
        how = self.optimizer
        if isinstance(how, VarPro) and how.steps == "lbfgs":
            if self.trace_norm == 0.0:
                return varpro_lbfgs(objective, start, radius=self.radius, watch=watch, **options)
            if self.radius is None:
                return factored_lbfgs(_Penalised(objective, start.W, watch), start, **options)
        prox, penalty = self._proximal_pair(objective, start.W)
        options |= {"prox": prox, "penalty": penalty, "rule": how.rule, "watch": watch}
        if isinstance(how, VarPro):
            return varpro_gradient(objective, start, reduced=how.reduced, **options)
        return self._alternate(objective, start, how.n_coefficient_steps, options)

    def _alternate(
        self,
        objective: HyperKernelObjective,
        start: HyperKernelPoint,
        n_coefficient_steps: int,
        options: dict[str, Any],
    ) -> SolveResult:
        """Algorithm 4 from no coefficients at all, ending with the best ones for its map."""
        fitter = objective.fitter
        constant = self.loss.best_constant(fitter.y, fitter.weights)
        nothing = np.zeros_like(start.fit.coefficients)
        result = alternating_gradient(
            objective,
            objective.with_coefficients(start.W, nothing, constant * self.intercept),
            n_coefficient_steps=n_coefficient_steps,
            **options,
        )
        end = objective.at(result.solution.W, start=result.solution)
        last = self.value(objective, end)
        return replace(result, solution=end, history=(*result.history, min(last, *result.history)))

    def value(self, objective: HyperKernelObjective, point: HyperKernelPoint) -> float:
        """Objective with the penalty on the map."""
        return point.value + self.penalty_value(objective, point.W)

    def _inside(self, objective: HyperKernelObjective, start: HyperKernelPoint) -> HyperKernelPoint:
        """A lower point outside would be kept: no step from it to the ball need be a descent."""
        if self.radius is None:
            return start
        W = project_on_ball(start.W, self.radius)
        return start if W is start.W else objective.at(W, start=start)

    def penalty_value(self, objective: HyperKernelObjective, W: FloatArray) -> float:
        """Value of the penalty on the map."""
        return objective.penalty_strength * trace_penalty(W).value(W)

    def _proximal_pair(
        self, objective: HyperKernelObjective, W: FloatArray
    ) -> tuple[Callable[[FloatArray, float], FloatArray], Callable[[FloatArray], float]]:
        """Proximal operator of penalty and constraint together, and the penalty's value.

        Both act on singular values alone, one after the other: shrunk, then clipped.
        """
        penalty = trace_penalty(W)

        def prox(B: FloatArray, step: float) -> FloatArray:
            if objective.penalty_strength > 0.0:
                B = penalty.prox(B, step * objective.penalty_strength)
            return B if self.radius is None else project_on_ball(B, self.radius)

        return prox, lambda B: self.penalty_value(objective, B)


class _Penalised(CompositeObjective[HyperKernelPoint]):
    """The objective with the trace norm, telling a watcher about every point."""

    def __init__(self, objective: HyperKernelObjective, W: FloatArray, watch: Watch | None) -> None:
        super().__init__(objective, trace_penalty(W))
        self._watch = watch

    def at(self, W: FloatArray, start: HyperKernelPoint | None = None) -> HyperKernelPoint:
        point = super().at(W, start)
        if self._watch is not None:
            self._watch(point)
        return point


def trace_penalty(W: FloatArray) -> FeaturePenalty:
    """``|W|_*``: the penalty of BKerNN without its factor 1 / (2 sqrt m)."""
    return FeaturePenalty(strength=2.0 * float(np.sqrt(len(W))))


def constant_loss(loss: Loss, rows: CanonicalRows) -> float:
    """Weighted mean loss of the best constant; 1 if that is zero."""
    constant = loss.best_constant(rows.y, rows.weights)
    decision = np.broadcast_to(constant[:, None], rows.y.shape)
    return float(np.average(loss.values(rows.y, decision), weights=rows.weights)) or 1.0
