"""Alternating gradient descent (AGD): Algorithm 4 of HKRR, corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status
from kernlens._validation import check_count
from kernlens.methods.hkrr.limits import MapLimits
from kernlens.methods.hkrr.objective import HyperKernelObjective, HyperKernelPoint
from kernlens.methods.hkrr.varpro import Prox, Watch, check_rule, first_size, map_step, stalled
from kernlens.optim.backtracking import Step, StepRule, backtrack
from kernlens.optim.lbfgs import Progress


@dataclass(frozen=True)
class AlternatingGradient:
    """Alternating gradient descent (Algorithms 2 and 4).

    Parameters
    ----------
    n_coefficient_steps : int, default=10
        Steps in the coefficients after every step in the map, the paper's n_alpha.
    rule : StepRule
        Constants of both line searches.

    Examples
    --------
    >>> from kernlens import AlternatingGradient, HKRRRegressor
    >>> model = HKRRRegressor(optimizer=AlternatingGradient(5), max_iter=500)
    """

    n_coefficient_steps: int = 10
    rule: StepRule = field(default_factory=StepRule)

    def __post_init__(self) -> None:
        check_count("n_coefficient_steps", self.n_coefficient_steps)
        check_rule(self.rule)

    @property
    def search_iter(self) -> int:
        """Iterations that are worth spending at one setting of a search."""
        return 200

    def minimize(
        self,
        objective: HyperKernelObjective,
        start: HyperKernelPoint,
        limits: MapLimits,
        *,
        max_iter: int,
        tol: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> SolveResult:
        """Algorithm 4 from no coefficients at all, ending with the best ones for its map."""
        fitter = objective.fitter
        constant = fitter.loss.best_constant(fitter.y, fitter.weights)
        nothing = np.zeros_like(start.fit.coefficients)
        result = alternating_gradient(
            objective,
            objective.with_coefficients(start.W, nothing, constant),
            prox=limits.prox,
            penalty=limits.value,
            n_coefficient_steps=self.n_coefficient_steps,
            max_iter=max_iter,
            tol=tol,
            rule=self.rule,
            progress=progress,
            watch=watch,
        )
        end = objective.at(result.solution.W, start=result.solution)
        last = end.value + limits.value(end.W)
        return replace(result, solution=end, history=(*result.history, min(last, *result.history)))


# Trials far out overflow, and are refused.
@np.errstate(over="ignore", invalid="ignore")
def alternating_gradient(
    objective: HyperKernelObjective,
    start: HyperKernelPoint,
    *,
    prox: Prox,
    penalty: Callable[[FloatArray], float],
    n_coefficient_steps: int = 10,
    max_iter: int = 100,
    tol: float = 1e-6,
    rule: StepRule | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> SolveResult:
    """Minimise L(B, a, c) by a step in B and a few steps in the coefficients, in turn.

    Corrections to the printed algorithm: the test of a step in the coefficients is made at the new
    B; the last of the inner steps is kept (the printed index drops it, so that one inner step would
    never move); both tests are those of :func:`kernlens.optim.backtracking.backtrack`.

    Parameters
    ----------
    objective : HyperKernelObjective
    start : HyperKernelPoint
        Map and coefficients. They need not be optimal, and small ones are better: coefficients that
        solve a nearly singular system are large and cancel, and B can hardly move under them.
    prox, penalty : callable
        See :func:`kernlens.methods.hkrr.varpro.varpro_gradient`.
    n_coefficient_steps : int
        The paper's n_alpha.
    max_iter : int
        Iterations.
    tol : float
        Stop when ten iterations lower the objective by less than ``tol`` times its value.
    rule : StepRule or None
        Constants of both line searches.
    progress, watch : callable or None
        Called after every iteration, with the objective and with the point.

    Returns
    -------
    SolveResult
        `solution` is a HyperKernelPoint; `history` never increases.
    """
    rule = rule or StepRule()
    point = start
    history = [point.value + penalty(point.W)]
    map_size: float | None = None
    coefficient_size = 1.0
    for iteration in range(1, max_iter + 1):
        before = point
        if map_size is None:
            # Nothing pulls at B before there are coefficients: its first step, measured in the
            # gradient, waits for them, or else it would depend on the unit of y.
            gradient = objective.gradient(point)
            map_size = first_size(gradient, point.W) if gradient.any() else None
        if map_size is not None:
            step = map_step(objective, point, map_size, prox, penalty, rule, reduced=False)
            if step is not None:
                point, map_size = step.trial, step.size
        for _ in range(n_coefficient_steps):
            inner = _coefficient_step(objective, point, coefficient_size, rule)
            if inner is None:
                break
            point, coefficient_size = inner.trial, inner.size
        if point is before:
            return SolveResult(point, Status.NO_PROGRESS, iteration - 1, tuple(history))
        if watch is not None:
            watch(point)
        history.append(min(history[-1], point.value + penalty(point.W)))
        if progress is not None:
            progress(iteration, history[-1])
        if stalled(history, tol):
            return SolveResult(point, Status.CONVERGED, iteration, tuple(history))
    return SolveResult(point, Status.MAX_ITER, max_iter, tuple(history))


def _coefficient_step(
    objective: HyperKernelObjective, point: HyperKernelPoint, size: float, rule: StepRule
) -> Step[HyperKernelPoint] | None:
    along_a, along_c = objective.coefficient_gradients(point)
    slope = float(np.vdot(along_a, along_a) + np.vdot(along_c, along_c))
    if slope == 0.0 or not np.isfinite(slope):
        return None
    fit = point.fit

    def move(size: float) -> tuple[HyperKernelPoint, float, float]:
        trial = objective.move_coefficients(
            point, fit.coefficients - size * along_a, fit.intercept - size * along_c
        )
        return trial, trial.value, size**2 * slope

    return backtrack(move, point.value, size, rule)
