"""Variable projection (VarPro): minimise HKRR's objective over B, coefficients always optimal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status
from kernlens._validation import check_flag
from kernlens.methods.hkrr.limits import MapLimits, trace_penalty
from kernlens.methods.hkrr.objective import HyperKernelObjective, HyperKernelPoint
from kernlens.optim.backtracking import Step, StepRule, backtrack
from kernlens.optim.composite_objective import CompositeObjective
from kernlens.optim.factored_lbfgs import factored_lbfgs
from kernlens.optim.lbfgs import Progress, lbfgs
from kernlens.penalties.operator_ball import into_ball, out_of_ball, pull_gradient_back

#: ``(B, step) -> B``: the proximal operator of step times a penalty, a projection, or both.
Prox = Callable[[FloatArray, float], FloatArray]
Watch = Callable[[HyperKernelPoint], None]

#: Accuracy of the coefficients while B moves, for losses that need several Newton steps: errors
#: enter the gradient in first order, and L-BFGS works with far less accurate ones.
SOLVE_TOL = 1e-6
#: Share by which values of the objective at one map may differ.
SAME = 1e-9
#: Iterations of a gradient method over which progress is judged.
WINDOW = 10


@dataclass(frozen=True)
class VarPro:
    """Variable projection: the coefficients are optimal for every map (Algorithms 1 and 3).

    Parameters
    ----------
    steps : {"lbfgs", "gradient"}, default="lbfgs"
        L-BFGS, or the paper's projected gradient steps.
    reduced : bool, default=True
        Whether gradient steps are tested with the coefficients solved anew, or kept as printed.
    rule : StepRule
        Constants of the line search of gradient steps.

    Examples
    --------
    >>> from kernlens import HKRRRegressor, StepRule, VarPro
    >>> steps = VarPro("gradient", rule=StepRule(contraction=0.3))
    >>> model = HKRRRegressor(optimizer=steps, max_iter=500)
    """

    steps: str = "lbfgs"
    reduced: bool = True
    rule: StepRule = field(default_factory=StepRule)

    def __post_init__(self) -> None:
        if self.steps not in ("lbfgs", "gradient"):
            raise ValueError(f"steps must be 'lbfgs' or 'gradient', got {self.steps!r}.")
        check_flag("reduced", self.reduced)
        check_rule(self.rule)

    @property
    def search_iter(self) -> int:
        """Iterations that are worth spending at one setting of a search."""
        return 25 if self.steps == "lbfgs" else 100

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
        """Minimise over the map from an evaluated point within the limits.

        L-BFGS knows the penalty or the bound; with both, gradient steps take its place.
        """
        options: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "progress": progress}
        smooth = self.steps == "lbfgs"
        if smooth and limits.strength == 0.0:
            return varpro_lbfgs(objective, start, radius=limits.radius, watch=watch, **options)
        if smooth and limits.radius is None:
            return factored_lbfgs(_Penalized(objective, start.W, watch), start, **options)
        return varpro_gradient(
            objective,
            start,
            prox=limits.prox,
            penalty=limits.value,
            reduced=self.reduced,
            rule=self.rule,
            watch=watch,
            **options,
        )


class _Penalized(CompositeObjective[HyperKernelPoint]):
    """The objective with the trace norm, telling a watcher about every point."""

    def __init__(self, objective: HyperKernelObjective, W: FloatArray, watch: Watch | None) -> None:
        super().__init__(objective, trace_penalty(W))
        self._watch = watch

    def at(self, W: FloatArray, start: HyperKernelPoint | None = None) -> HyperKernelPoint:
        point = super().at(W, start)
        if self._watch is not None:
            self._watch(point)
        return point


def varpro_lbfgs(
    objective: HyperKernelObjective,
    start: HyperKernelPoint,
    *,
    radius: float | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> SolveResult:
    """Minimise H by L-BFGS, over all maps or smoothly over the inside of the operator-norm ball.

    Parameters
    ----------
    objective : HyperKernelObjective
    start : HyperKernelPoint
        Where to start.
    radius : float or None
        Bound of the operator norm of B, None for no constraint.
    max_iter, tol : int, float
        See :func:`kernlens.optim.lbfgs.lbfgs`.
    progress, watch : callable or None
        Called after every iteration, and with every evaluated point.

    Returns
    -------
    SolveResult
        `solution` is a HyperKernelPoint, never higher than `start` (if that is in the ball);
        `history` never increases; it begins a little inside the ball if `start` is on its edge.
    """
    latest = best = start
    first = np.nan
    shape = start.W.shape

    def to_map(flat: FloatArray) -> FloatArray:
        free = flat.reshape(shape)
        return free if radius is None else into_ball(free, radius)

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        nonlocal latest, best, first
        # Only the point whose gradient comes next needs its kernel.
        latest.blocks.release()
        latest = objective.at(to_map(flat), start=latest, tol=SOLVE_TOL)
        first = latest.value if np.isnan(first) else first
        best = latest if latest.value < best.value else best
        if watch is not None:
            watch(latest)
        gradient = objective.gradient(latest)
        if radius is not None:
            gradient = pull_gradient_back(flat.reshape(shape), gradient, radius)
        return latest.value, gradient.ravel()

    packed = start.W if radius is None else out_of_ball(start.W, radius)
    result = lbfgs(
        value_and_gradient,
        packed.ravel(),
        start.value,
        max_iter=max_iter,
        tol=tol,
        progress=progress,
    )
    latest.blocks.release()
    end = objective.at(to_map(result.solution), start=latest)
    # A start on the sphere was moved inside, where the objective may be higher. The coefficients of
    # a Newton method that was cut short may be far from the best ones: what rises then is no more
    # than an upper bound of H, and what counts is the lowest.
    begin = first if first > (1.0 + SAME) * start.value else start.value
    history = tuple(np.minimum.accumulate((begin, *result.history[1:])).tolist())
    if end.value <= min(start.value, (1.0 + SAME) * history[-1]):
        return replace(result, solution=end, history=history)
    kept = best if best.value < (1.0 - SAME) * start.value else start
    return replace(result, solution=kept, history=(*history, min(history[-1], kept.value)))


# Trials far out overflow, and are refused.
@np.errstate(over="ignore", invalid="ignore")
def varpro_gradient(
    objective: HyperKernelObjective,
    start: HyperKernelPoint,
    *,
    prox: Prox,
    penalty: Callable[[FloatArray], float],
    max_iter: int = 100,
    tol: float = 1e-6,
    reduced: bool = True,
    rule: StepRule | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> SolveResult:
    """Algorithm 3 of HKRR: projected gradient steps in B, then the best coefficients for it.

    The paper tests a step at the old coefficients. Where the centres' kernel matrix is nearly
    singular these are large and cancel, any move of B upsets them, and only tiny steps pass. The
    test on H, coefficients solved anew for every trial, passes every step that the other does,
    because H <= L, and far longer ones.

    Parameters
    ----------
    objective : HyperKernelObjective
    start : HyperKernelPoint
        With optimal coefficients.
    prox : callable
        What follows a gradient step: the paper's projection, or the proximal operator of a penalty.
    penalty : callable
        The penalty's value, zero if there is none.
    max_iter : int
        Iterations.
    tol : float
        Stop when ten iterations lower the objective by less than ``tol`` times its value.
    reduced : bool
        Whether a step is tested on H, or at the old coefficients as printed.
    rule : StepRule or None
        Constants of the line search.
    progress, watch : callable or None
        Called after every iteration, and with every point with optimal coefficients.

    Returns
    -------
    SolveResult
        `solution` is a HyperKernelPoint; `history` never increases.
    """
    rule = rule or StepRule()
    point = start
    history = [point.value + penalty(point.W)]
    size = first_size(objective.gradient(point), point.W)
    for iteration in range(1, max_iter + 1):
        step = map_step(objective, point, size, prox, penalty, rule, reduced=reduced)
        if step is None:
            return SolveResult(point, Status.NO_PROGRESS, iteration - 1, tuple(history))
        size, point = step.size, step.trial
        if not reduced:
            point = objective.at(point.W, start=point, tol=SOLVE_TOL)
        if watch is not None:
            watch(point)
        history.append(min(history[-1], point.value + penalty(point.W)))
        if progress is not None:
            progress(iteration, history[-1])
        if step.square_move == 0.0 or stalled(history, tol):
            return SolveResult(point, Status.CONVERGED, iteration, tuple(history))
    return SolveResult(point, Status.MAX_ITER, max_iter, tuple(history))


def map_step(
    objective: HyperKernelObjective,
    point: HyperKernelPoint,
    size: float,
    prox: Prox,
    penalty: Callable[[FloatArray], float],
    rule: StepRule,
    *,
    reduced: bool,
) -> Step[HyperKernelPoint] | None:
    """One step in B, tested on H or at fixed coefficients; shared by Algorithms 3 and 4."""
    gradient = objective.gradient(point)
    point.blocks.release()
    if not np.isfinite(gradient).all():
        return None
    fit = point.fit

    def move(size: float) -> tuple[HyperKernelPoint, float, float]:
        W = prox(point.W - size * gradient, size)
        if reduced:
            trial = objective.at(W, start=point, tol=SOLVE_TOL)
        else:
            trial = objective.with_coefficients(W, fit.coefficients, fit.intercept)
        difference = W - point.W
        return trial, trial.value + penalty(W), float(np.vdot(difference, difference))

    return backtrack(move, point.value + penalty(point.W), size, rule)


def check_rule(rule: Any) -> None:
    """Refuse what is not a rule, before a fit would stumble over it."""
    if not isinstance(rule, StepRule):
        raise ValueError(f"rule must be a StepRule, got {rule!r}.")


def first_size(gradient: FloatArray, variable: FloatArray) -> float:
    """A first step that moves the variable by a tenth of its own size."""
    slope = float(np.linalg.norm(gradient))
    return 0.1 * (float(np.linalg.norm(variable)) or 1.0) / slope if slope > 0.0 else 1.0


def stalled(history: Sequence[float], tol: float) -> bool:
    """Whether the last iterations of a gradient method gained little; single ones always may."""
    return len(history) > WINDOW and history[-1 - WINDOW] - history[-1] <= tol * abs(history[-1])
