"""Proximal gradient steps with a backtracking line search (Algorithm 1 of BKerNN)."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status
from kernlens.optim.composite_objective import CompositeObjective, Point
from kernlens.optim.lbfgs import Progress

MAX_HALVINGS = 60


def proximal_gradient(
    objective: CompositeObjective[Point],
    start: Point,
    *,
    max_iter: int = 20,
    tol: float = 0.0,
    step: float = 500.0,
    progress: Progress | None = None,
) -> SolveResult:
    """Minimise F from an evaluated point.

    An iteration multiplies the step by 1.5, then halves it until the paper's condition holds,

        G(W+) <= G(W) + <grad G(W), W+ - W> + |W+ - W|^2 / (2 step),

    which with the exact proximal operator implies ``F(W+) <= F(W)``, also for the concave
    penalties. The paper keeps "c and alpha fixed" here; the condition needs the reduced objective,
    with both minimised anew at every trial.

    Parameters
    ----------
    objective : CompositeObjective
        F.
    start : SmoothPoint
        Where to start.
    max_iter : int
        Iterations.
    tol : float
        Stop when an iteration lowers F by less than ``tol * |F|``; 0 runs all iterations.
    step : float
        First step size (the paper's gamma).
    progress : callable or None
        Called after every iteration.

    Returns
    -------
    SolveResult
        `solution` is an evaluated point; `history` never increases.
    """
    point = start
    history = [objective.value(point)]
    for iteration in range(1, max_iter + 1):
        moved = _backtrack(objective, point, step * 1.5)
        if moved is None:
            return SolveResult(point, Status.NO_PROGRESS, iteration - 1, tuple(history))
        candidate, step = moved
        value = objective.value(candidate)
        if value > history[-1]:
            # Only rounding can do this: the condition above rules it out.
            return SolveResult(point, Status.CONVERGED, iteration - 1, tuple(history))
        point = candidate
        history.append(value)
        if progress is not None:
            progress(iteration, value)
        if history[-2] - value <= tol * abs(value) and tol > 0:
            return SolveResult(point, Status.CONVERGED, iteration, tuple(history))
    return SolveResult(point, Status.MAX_ITER, max_iter, tuple(history))


def _backtrack(
    objective: CompositeObjective[Point], point: Point, step: float
) -> tuple[Point, float] | None:
    gradient = objective.smooth.gradient(point)
    # G is known to about the rounding of its terms; a condition missed by less is met.
    slack = 4 * np.finfo(np.float64).eps * abs(point.value)
    for _ in range(MAX_HALVINGS):
        W = objective.prox(point.W - step * gradient, step)
        trial = objective.at(W, point)
        if trial.value <= point.value + _model(gradient, W - point.W, step) + slack:
            return trial, step
        step *= 0.5
    return None


def _model(gradient: FloatArray, move: FloatArray, step: float) -> float:
    """Return ``<gradient, move> + |move|^2 / (2 step)``; infinite if it overflows."""
    # In units of a power of two, which costs no digit: squares of a long first step overflow.
    unit = 2.0 ** float(np.frexp(np.abs(move).max())[1] - 1)
    short = move / unit
    square = unit * float(np.vdot(short, short)) / (2 * step)
    return unit * (float(np.vdot(gradient, short)) + square)
