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
        objective, which bounds F from above and equals it at the start and at balanced factors. It
        never increases: where rounding makes F rise, what counts is the best point so far.
    """
    W = start.W
    penalty = objective.penalty.factored(len(W))
    factors = penalty.factorization.split(W)
    shapes = tuple(factor.shape for factor in factors)
    split_at = int(np.prod(shapes[0]))
    first = lowest = objective.value(start)
    # The caller may have no other use for it, and a point can be large.
    start = latest = best = objective.kept(start)

    def unpack(flat: FloatArray) -> tuple[FloatArray, FloatArray]:
        return flat[:split_at].reshape(shapes[0]), flat[split_at:].reshape(shapes[1])

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        nonlocal latest, best, lowest
        A, B = unpack(flat)
        point = objective.at(penalty.factorization.join(A, B), latest)
        latest = objective.kept(point)
        value = point.value + objective.strength * penalty.value(A, B)
        if value < lowest:
            best, lowest = latest, value
        slope = objective.smooth.gradient(point) / objective.strength
        parts = penalty.gradients(A, B, slope)
        return value, objective.strength * np.concatenate([part.ravel() for part in parts])

    packed = np.concatenate([factor.ravel() for factor in factors])
    result = lbfgs(value_and_gradient, packed, first, max_iter=max_iter, tol=tol, progress=progress)
    end = objective.at(penalty.factorization.join(*unpack(result.solution)), latest)
    # Where rows differ by more digits than numbers have, F is known to few digits, and may rise.
    history = np.minimum.accumulate(result.history)
    solution = best if objective.value(end) > history[-1] else end
    return replace(result, solution=solution, history=tuple(history.tolist()))
