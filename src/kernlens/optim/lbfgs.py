"""SciPy's L-BFGS in units of its own, with the history of the objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status

#: Called after every iteration with (iteration, objective).
Progress = Callable[[int, float], None]

MEMORY = 20
#: A gradient below this, for variables and an objective of unit size, is zero: products of smaller
#: ones vanish, and the next step would be no number.
ZERO_GRADIENT = 1e-60
#: A steeper slope, in the same units, counts as this: products of larger ones overflow, and no step
#: that follows one is as small as it would have to be.
LARGEST_GRADIENT = 1e100
#: With a smaller ratio of units no finite slope is as large as that.
SMALLEST_RATIO = 1e-200
#: A larger tolerance stops after one iteration just as this one; SciPy divides it by the rounding.
LARGEST_TOL = 1e3
#: What SciPy's L-BFGS-B says about its end; anything else is a line search that found no decrease.
_STATUS = {0: Status.CONVERGED, 1: Status.MAX_ITER}


def lbfgs(
    value_and_gradient: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    value: float,
    *,
    max_iter: int,
    tol: float,
    progress: Progress | None = None,
) -> SolveResult:
    """Minimise a smooth function of a flat vector.

    L-BFGS-B has no scale of its own: it sees variables of unit size and an objective that starts
    at 1, so that its steps are the same for data in any unit.

    Parameters
    ----------
    value_and_gradient : callable
        Objective and gradient at a vector.
    start : ndarray of shape (n,)
        Where to start.
    value : float
        The objective there, or close to it; a scale only, and the first entry of the history.
    max_iter : int
        Iterations; each costs about one evaluation.
    tol : float
        Stop when an iteration lowers the objective by less than ``tol * |value|``.
    progress : callable or None
        Called after every iteration.

    Returns
    -------
    SolveResult
        `solution` is the last vector; `history` has the objective, its first entry `value`.
    """
    unit = float(np.linalg.norm(start)) / np.sqrt(start.size) or 1.0
    scale = abs(value) or 1.0
    ratio = unit / scale
    steepest = LARGEST_GRADIENT / max(ratio, SMALLEST_RATIO)
    history = [value]

    def scaled(x: FloatArray) -> tuple[float, FloatArray]:
        objective, gradient = value_and_gradient(unit * x)
        return objective / scale, ratio * gradient.clip(-steepest, steepest)

    def record(intermediate_result: OptimizeResult) -> None:
        history.append(scale * float(intermediate_result.fun))
        if progress is not None:
            progress(len(history) - 1, history[-1])

    options: dict[str, Any] = {
        "maxiter": max_iter,
        "maxfun": 4 * max_iter,
        "maxcor": MEMORY,
        "ftol": min(tol, LARGEST_TOL),
        "gtol": ZERO_GRADIENT,
    }
    outcome = minimize(
        scaled, start / unit, jac=True, method="L-BFGS-B", callback=record, options=options
    )
    status = _STATUS.get(outcome.status, Status.NO_PROGRESS)
    return SolveResult(unit * outcome.x, status, len(history) - 1, tuple(history))
