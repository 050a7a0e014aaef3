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

#: Relative difference of two maps that is no more than rounding of factors and their product.
ROUNDING = 1e-14


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
    latest, best = start, objective.kept(start)
    # The caller may have no other use for it, and a point can be large.
    del start

    def unpack(flat: FloatArray) -> tuple[FloatArray, FloatArray]:
        return flat[:split_at].reshape(shapes[0]), flat[split_at:].reshape(shapes[1])

    def at(A: FloatArray, B: FloatArray) -> SmoothPoint:
        """The point of the factors; that of the last evaluation, if it is there already."""
        nonlocal latest
        W = penalty.factorization.join(A, B)
        if not _same(W, latest.W):
            # Only the point whose gradient comes next is worked on.
            latest = objective.kept(latest)
            latest = objective.at(W, latest)
        return latest

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        nonlocal best, lowest
        A, B = unpack(flat)
        point = at(A, B)
        value = point.value + objective.strength * penalty.value(A, B)
        if value < lowest:
            best, lowest = objective.kept(point), value
        slope = objective.smooth.gradient(point) / objective.strength
        parts = penalty.gradients(A, B, slope)
        return value, objective.strength * np.concatenate([part.ravel() for part in parts])

    packed = np.concatenate([factor.ravel() for factor in factors])
    result = lbfgs(value_and_gradient, packed, first, max_iter=max_iter, tol=tol, progress=progress)
    end = at(*unpack(result.solution))
    # Where rows differ by more digits than numbers have, F is known to few digits, and may rise.
    history = np.minimum.accumulate(result.history)
    solution = best if objective.value(end) > history[-1] else end
    return replace(result, solution=solution, history=tuple(history.tolist()))


def _same(W: FloatArray, V: FloatArray) -> bool:
    """Whether two maps differ by rounding only."""
    return bool(np.abs(W - V).max(initial=0.0) <= ROUNDING * np.abs(V).max(initial=0.0))
