"""The whole objective ``F(W) = G(W) + strength * Omega(W)``, and the best point seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from kernlens._array import FloatArray
from kernlens.penalties.contract import Penalty


class SmoothPoint(Protocol):
    """A matrix W with the value of a smooth objective there."""

    @property
    def W(self) -> FloatArray:
        """The matrix."""

    @property
    def value(self) -> float:
        """The objective at the matrix."""


Point = TypeVar("Point", bound=SmoothPoint)


class SmoothObjective(Protocol[Point]):
    """A smooth function G of a matrix, by evaluated points."""

    @property
    def penalty_strength(self) -> float:
        """What stands in front of the penalty."""

    def at(self, W: FloatArray, *, start: Point | None = None, tol: float = 1e-8) -> Point:
        """Evaluate, warm-started from a nearby point."""

    def gradient(self, point: Point) -> FloatArray:
        """Gradient at an evaluated point."""


@dataclass
class CompositeObjective(Generic[Point]):
    """Smooth part, penalty, and the lowest point evaluated so far.

    The record makes an interrupted run lose nothing: whatever raises in the middle of a step, the
    best point is here.

    Attributes
    ----------
    smooth : SmoothObjective
        G.
    penalty : Penalty
        Omega.
    tol : float
        Relative residual of the linear solves inside G.
    best : SmoothPoint or None
        Point with the lowest F so far.
    """

    smooth: SmoothObjective[Point]
    penalty: Penalty
    tol: float = 1e-8
    best: Point | None = field(default=None, init=False)
    best_value: float = field(default=np.inf, init=False)

    @property
    def strength(self) -> float:
        """Factor in front of Omega."""
        return self.smooth.penalty_strength

    def at(self, W: FloatArray, start: Point | None = None) -> Point:
        """Evaluate G at `W`, warm-started."""
        point = self.smooth.at(W, start=start, tol=self.tol)
        value = self.value(point)
        if value < self.best_value:
            self.best, self.best_value = self.kept(point), value
        return point

    def kept(self, point: Point) -> Point:
        """What is kept of a point that is not worked on: less than all, if that saves memory."""
        return point

    def value(self, point: Point) -> float:
        """Return F at an evaluated point."""
        return point.value + self.strength * self.penalty.value(point.W)

    def prox(self, W: FloatArray, step: float) -> FloatArray:
        """Proximal operator of ``step * strength * Omega``."""
        return self.penalty.prox(W, step * self.strength)
