"""Preconditioned conjugate gradients for a symmetric positive operator given by its products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status

Operator = Callable[[FloatArray], FloatArray]


def conjugate_gradient(
    apply: Operator,
    rhs: FloatArray,
    *,
    start: FloatArray | None = None,
    precondition: Operator | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    report: Callable[[int, float], None] | None = None,
    keep_when_interrupted: bool = False,
) -> SolveResult:
    """Solve ``A x = rhs`` until the residual norm is at most ``tol * ||rhs||``.

    Arrays may have any shape; the inner product runs over all entries, so several right-hand sides
    stacked in one array are solved together (the system is then block diagonal).

    Parameters
    ----------
    apply : callable
        ``x -> A x``, A symmetric positive definite.
    rhs : ndarray
        Right-hand side.
    start : ndarray or None
        First guess; None is zero.
    precondition : callable or None
        ``r -> M^{-1} r``, M symmetric positive definite and close to A.
    tol, max_iter : float, int
        Stopping rule.
    report : callable or None
        Called with the number and the relative residual of every iteration.
    keep_when_interrupted : bool
        Whether a KeyboardInterrupt ends the iterations with what there is, instead of being raised.

    Returns
    -------
    SolveResult
        `solution` is x; `history` has the relative residual norms.
    """
    scale = float(np.linalg.norm(rhs))
    x = np.zeros_like(rhs) if start is None else start.copy()
    if scale == 0.0:
        return SolveResult(np.zeros_like(rhs), Status.CONVERGED, 0, (0.0,))
    residual = rhs.copy() if start is None else rhs - apply(x)
    square = float(np.vdot(residual, residual))
    history = [square**0.5 / scale]
    direction = np.zeros_like(rhs)
    energy = 1.0
    for iteration in range(max_iter):
        if history[-1] <= tol:
            return SolveResult(x, Status.CONVERGED, iteration, tuple(history))
        try:
            z = residual if precondition is None else precondition(residual)
            previous = energy
            energy = square if precondition is None else float(np.vdot(residual, z))
            direction *= energy / previous if iteration else 0.0
            direction += z
            image = apply(direction)
        except KeyboardInterrupt:
            if not keep_when_interrupted:
                raise
            return SolveResult(x, Status.INTERRUPTED, iteration, tuple(history))
        curvature = float(np.vdot(direction, image))
        if not curvature > 0.0 or not np.isfinite(energy):
            # Rounding has used up the positive part of the spectrum: x is as good as it gets.
            return SolveResult(x, Status.NO_PROGRESS, iteration, tuple(history))
        x += (energy / curvature) * direction
        residual -= (energy / curvature) * image
        square = float(np.vdot(residual, residual))
        history.append(square**0.5 / scale)
        try:
            if report is not None:
                report(iteration, history[-1])
        except KeyboardInterrupt:
            # Who is told of an iteration may ask to stop.
            if not keep_when_interrupted:
                raise
            return SolveResult(x, Status.INTERRUPTED, iteration + 1, tuple(history))
    status = Status.CONVERGED if history[-1] <= tol else Status.MAX_ITER
    return SolveResult(x, status, max_iter, tuple(history))
