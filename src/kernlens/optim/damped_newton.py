"""Newton's method with a line search, for a fit of coefficients under a convex loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

MAX_NEWTON_STEPS = 100
MAX_HALVINGS = 40


class _Fit(Protocol):
    @property
    def value(self) -> float:
        """The objective."""


Fit = TypeVar("Fit", bound=_Fit)


def damped_newton(
    start: Fit,
    *,
    step_from: Callable[[Fit, float], Fit],
    between: Callable[[Fit, Fit, float], Fit],
    violation: Callable[[Fit], float],
    tol: float,
) -> Fit:
    """Minimise a convex objective by full Newton steps, halved while they do not lower it.

    Parameters
    ----------
    start : fit
        Where to start; a fit has a `value`.
    step_from : callable
        ``(fit, tol) -> fit`` at the minimum of the quadratic model around `fit`, its linear system
        solved to a relative residual of `tol`.
    between : callable
        ``(a, b, t) -> fit`` on the way from a (t = 0) to b (t = 1).
    violation : callable
        Relative error of the optimality condition; first order in the error of the coefficients,
        where the objective is of second order only.
    tol : float
        Stop when the violation is at most ``100 * tol``, or the objective no longer decreases.
    """
    current = start
    for step in range(1, MAX_NEWTON_STEPS + 1):
        # The model is only as good as the point it is taken at: early steps are solved loosely.
        step_tol = max(tol, 10.0 ** (-3 * step))
        improved = _line_search(current, step_from(current, step_tol), between)
        decrease = current.value - improved.value
        current = improved
        if step_tol > tol:
            continue
        exhausted = decrease <= 4 * np.finfo(np.float64).eps * abs(current.value)
        if exhausted or violation(current) <= 100 * tol:
            break
    return current


def _line_search(current: Fit, target: Fit, between: Callable[[Fit, Fit, float], Fit]) -> Fit:
    """Go from `current` towards `target`, halving the step until the objective decreases."""
    # The last full step gains less than the rounding of the objective, and must not be halved.
    bound = current.value + 4 * np.finfo(np.float64).eps * abs(current.value)
    step = 1.0
    for _ in range(MAX_HALVINGS):
        trial = between(current, target, step)
        if trial.value <= bound:
            return trial
        step *= 0.5
    return current
