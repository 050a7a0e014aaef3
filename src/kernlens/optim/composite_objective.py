"""The whole objective ``F(W) = G(W) + alpha * Omega(W)``, with a record of the best point seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernlens.optim.reduced_objective import ReducedObjective, ReducedPoint
from kernlens.penalties.contract import Penalty

FloatArray = NDArray[np.floating]
#: Called after every iteration with (iteration, objective).
Progress = Callable[[int, float], None]


@dataclass
class CompositeObjective:
    """Smooth part, penalty, and the lowest point evaluated so far.

    The record makes an interrupted run lose nothing: whatever raises in the middle of a step, the
    best point is here.

    Attributes
    ----------
    smooth : ReducedObjective
        G.
    penalty : Penalty
        Omega, with its strength.
    tol : float
        Relative residual of the linear solves inside G.
    best : ReducedPoint or None
        Point with the lowest F so far.
    """

    smooth: ReducedObjective
    penalty: Penalty
    tol: float = 1e-8
    best: ReducedPoint | None = field(default=None, init=False)
    best_value: float = field(default=np.inf, init=False)

    @property
    def alpha(self) -> float:
        """Regularisation in front of Omega."""
        return self.smooth.fitter.alpha

    def at(self, W: FloatArray, start: ReducedPoint | None = None) -> ReducedPoint:
        """Evaluate G at `W`, warm-started."""
        point = self.smooth.at(W, start=start, tol=self.tol)
        value = self.value(point)
        if value < self.best_value:
            self.best, self.best_value = point, value
        return point

    def refine(self, point: ReducedPoint) -> ReducedPoint:
        """Solve again for the coefficients of `point`, to this objective's tolerance."""
        return self.smooth.refit(point, tol=self.tol)

    def value(self, point: ReducedPoint) -> float:
        """Return F at an evaluated point."""
        return point.value + self.alpha * self.penalty.value(point.W)

    def prox(self, W: FloatArray, step: float) -> FloatArray:
        """Proximal operator of ``step * alpha * Omega``."""
        return self.penalty.prox(W, step * self.alpha)
