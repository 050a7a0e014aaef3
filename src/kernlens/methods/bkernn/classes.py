"""The loss of classes on particles that were learned by squares.

Particles of classes are learned by the squares of one-hot targets: one linear solve for all
classes, where the loss of classes needs Newton's method. Both losses have the same slopes at the
constant, so that alpha has one unit for both. What squares cannot know is how long the particles
are to be, because log-odds are larger than differences of probabilities. For the Brownian kernel
and a penalty that grows in proportion, f stays the same when particles are c times as long and
coefficients c times as small, and the objective along c is

    (alpha/2) a^T K_W a / c + alpha c Omega(W) + what does not depend on c,

with the minimum at ``c^2 = a^T K_W a / (2 Omega(W))``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.methods.bkernn.objective import ParticleProblem, ReducedPoint

#: Times that particles are made longer or shorter, and the change below which none is needed.
ROUNDS = 5
NO_CHANGE = 0.05
#: Logarithm of the largest factor at once.
LONGEST = 3.0
#: And of any factor.
LARGEST = 100.0


def stretched(
    problem: ParticleProblem,
    rows: CanonicalRows,
    W: FloatArray,
    alpha: float,
    *,
    tol: float,
    start: ReducedPoint | None = None,
) -> ReducedPoint:
    """Coefficients by the loss of `problem`, with the particles `W` as long as suits it.

    Parameters
    ----------
    problem : ParticleProblem
    rows : CanonicalRows
    W : ndarray of shape (n_particles, n_inputs)
        Particles that another loss has learned, or the lengths of those along axes.
    alpha : float
    tol : float
        Relative residual of the linear solves.
    start : ReducedPoint or None
        A nearby point.

    Returns
    -------
    ReducedPoint
        The lowest objective that was seen.
    """
    objective = problem.objective(rows, alpha, tol=tol)
    point = best = objective.at(W, start)
    move = before = 0.0
    for _ in range(0 if problem.kernel.bounded else ROUNDS):
        wanted = float(np.log(best_factor(problem, point)))
        if abs(wanted) < NO_CHANGE:
            break
        # The function changes with the length of the particles: a secant of what it wants.
        slope = (wanted - before) / move if move else -1.0
        move = float(np.clip(-wanted / min(slope, -0.1), -LONGEST, LONGEST))
        before = wanted
        factor = np.exp(move)
        fit = replace(point.fit, dual=point.fit.dual / factor, unknown=point.fit.unknown / factor)
        point = objective.at(factor * point.W, replace(point, fit=fit))
        if objective.value(point) < objective.value(best):
            best = point
    return best


def best_factor(problem: ParticleProblem, point: ReducedPoint) -> float:
    """The factor of the particles that suits the function best; 1 where there is nothing."""
    omega = problem.penalty.value(point.W)
    square = max(0.5 * float(np.vdot(point.fit.dual, point.fit.kernel_dual)), 0.0)
    if omega <= 0.0 or square <= 0.0:
        return 1.0
    # Logarithms, because a quotient of the two may overflow.
    return float(np.exp(np.clip(0.5 * (np.log(square) - np.log(omega)), -LARGEST, LARGEST)))
