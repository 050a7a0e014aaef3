"""What keeps a map small: the trace norm in the objective, and a bound of the operator norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.penalties.operator_ball import project_on_ball
from kernlens.penalties.particles import FeaturePenalty


@dataclass(frozen=True)
class MapLimits:
    """``strength * |B|_*`` is added to the objective, and ``|B| <= radius``.

    Attributes
    ----------
    strength : float
        Zero for no penalty.
    radius : float or None
        None for no bound.
    """

    strength: float = 0.0
    radius: float | None = None

    def value(self, B: FloatArray) -> float:
        """Value of the penalty."""
        if self.strength == 0.0:
            return 0.0
        return self.strength * trace_penalty(B).value(B)

    def prox(self, B: FloatArray, step: float) -> FloatArray:
        """Proximal operator of ``step`` times the penalty and of the bound together.

        Both act on singular values alone, one after the other: shrunk, then clipped.
        """
        if self.strength > 0.0:
            B = trace_penalty(B).prox(B, step * self.strength)
        return self.inside(B)

    def inside(self, B: FloatArray) -> FloatArray:
        """The nearest map within the bound; the same object if it is."""
        return B if self.radius is None else project_on_ball(B, self.radius)


def trace_penalty(W: FloatArray) -> FeaturePenalty:
    """``|W|_*``: the penalty of BKerNN without its factor 1 / (2 sqrt m)."""
    return FeaturePenalty(strength=2.0 * float(np.sqrt(len(W))))
