"""Quasi-Newton minimisation of F over factors of the particles.

The kinks of the penalty disappear when W is written as a product (`kernlens.penalties.factored`),
so that L-BFGS applies; it reaches in some 30 evaluations what proximal steps, accelerated ones
included, do not reach in 200.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from kernlens._result import SolveResult, Status
from kernlens.optim.composite_objective import CompositeObjective, Progress
from kernlens.optim.reduced_objective import ReducedPoint

FloatArray = NDArray[np.floating]

MEMORY = 20
#: What SciPy's L-BFGS-B says about its end; anything else is a line search that found no decrease.
_STATUS = {0: Status.CONVERGED, 1: Status.MAX_ITER}


def factored_lbfgs(
    objective: CompositeObjective,
    start: ReducedPoint,
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
        `solution` is a ReducedPoint with F at most that of `start`; `history` has the factored
        objective, which bounds F from above and equals it at the start and at balanced factors.
    """
    W = start.W
    penalty = objective.penalty.factored(len(W))
    shapes = tuple(factor.shape for factor in penalty.factorisation.split(W))
    split_at = int(np.prod(shapes[0]))
    latest = start
    history = [objective.value(start)]

    packed = np.concatenate([factor.ravel() for factor in penalty.factorisation.split(W)])
    # L-BFGS-B has no scale of its own: it sees factors of unit size and an objective that starts
    # at 1, so that its steps are the same for y in any unit.
    unit = float(np.linalg.norm(packed)) / np.sqrt(packed.size) or 1.0
    scale = history[0] or 1.0

    def unpack(flat: FloatArray) -> tuple[FloatArray, FloatArray]:
        flat = unit * flat
        return flat[:split_at].reshape(shapes[0]), flat[split_at:].reshape(shapes[1])

    def value_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        nonlocal latest
        A, B = unpack(flat)
        latest = objective.at(penalty.factorisation.join(A, B), latest)
        value = latest.value + objective.alpha * penalty.value(A, B)
        parts = penalty.gradients(A, B, objective.smooth.gradient(latest) / objective.alpha)
        slopes = np.concatenate([part.ravel() for part in parts])
        return value / scale, (objective.alpha * unit / scale) * slopes

    def record(intermediate_result: OptimizeResult) -> None:
        history.append(scale * float(intermediate_result.fun))
        if progress is not None:
            progress(len(history) - 1, history[-1])

    outcome = minimize(
        value_and_gradient,
        packed / unit,
        jac=True,
        method="L-BFGS-B",
        callback=record,
        options={
            "maxiter": max_iter,
            "maxfun": 4 * max_iter,
            "maxcor": MEMORY,
            "ftol": tol,
            "gtol": 0.0,
        },
    )
    end = objective.at(penalty.factorisation.join(*unpack(outcome.x)), latest)
    if objective.value(end) > history[0]:
        end = start
    status = _STATUS.get(outcome.status, Status.NO_PROGRESS)
    return SolveResult(end, status, len(history) - 1, tuple(history))
