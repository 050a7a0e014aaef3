"""Quasi-Newton minimisation of F over factors of the particles.

The kinks of the penalty disappear when W is written as a product (`kernlens.penalties.factored`),
so that L-BFGS applies; it reaches in some 30 evaluations what proximal steps, accelerated ones
included, do not reach in 200.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult
from kernlens.optim.composite_objective import CompositeObjective, SmoothPoint
from kernlens.optim.lbfgs import Progress, lbfgs


def factored_lbfgs(
    objective: CompositeObjective,
    start: SmoothPoint,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    progress: Progress | None = None,
) -> SolveResult:
    """Minimise F from an evaluated point.

    Parameters
    ----------
    objective : CompositeObjective
        F.
    start : ReducedPoint
        Where to start.
    max_iter : int
        Iterations; each costs about one evaluation of G.
    tol : float
        Stop when an iteration lowers the factored objective by less than ``tol`` times its value.
    progress : callable or None
        Called after every iteration.

    Returns
    -------
    SolveResult
        `solution` is a point with F at most that of `start`; `history` has the factored
        objective, which bounds F from above and equals it at the start and at balanced factors.
    """
    W = start.W
    penalty = objective.penalty.factored(len(W))
    factors = penalty.factorization.split(W)
    shapes = tuple(factor.shape for factor in factors)
    split_at = int(np.prod(shapes[0]))
    first, latest = objective.value(start), objective.kept(start)
    # The caller may have no other use for it, and a point can be large.
    start = latest

    def unpack(flat: FloatArray) -> tuple[FloatArray, FloatArray]:
        return flat[:split_at].reshape(shapes[0]), flat[split_at:].reshape(shapes[1])

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        nonlocal latest
        A, B = unpack(flat)
        point = objective.at(penalty.factorization.join(A, B), latest)
        latest = objective.kept(point)
        value = point.value + objective.strength * penalty.value(A, B)
        slope = objective.smooth.gradient(point) / objective.strength
        parts = penalty.gradients(A, B, slope)
        return value, objective.strength * np.concatenate([part.ravel() for part in parts])

    packed = np.concatenate([factor.ravel() for factor in factors])
    result = lbfgs(value_and_gradient, packed, first, max_iter=max_iter, tol=tol, progress=progress)
    end = objective.at(penalty.factorization.join(*unpack(result.solution)), latest)
    return replace(result, solution=start if objective.value(end) > first else end)
