"""Penalties of one non-negative magnitude, of slope 1 at zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernlens.penalties.contract import FloatArray
from kernlens.penalties.log_threshold import log_penalty, log_threshold


class ScalarPenalty(Protocol):
    """phi(rho) for rho >= 0, elementwise, with the proximal operator of tau * phi."""

    def value(self, magnitude: FloatArray) -> FloatArray:
        """Return phi(rho)."""
        ...

    def slope(self, magnitude: FloatArray) -> FloatArray:
        """Return phi'(rho)."""
        ...

    def prox(self, magnitude: FloatArray, threshold: float) -> FloatArray:
        """Return argmin_{u >= 0} (rho - u)^2 / 2 + tau phi(u)."""
        ...


@dataclass(frozen=True)
class AbsoluteValue:
    """phi(rho) = rho; its prox is the soft threshold."""

    def value(self, magnitude: FloatArray) -> FloatArray:
        return magnitude

    def slope(self, magnitude: FloatArray) -> FloatArray:
        return np.ones_like(magnitude)

    def prox(self, magnitude: FloatArray, threshold: float) -> FloatArray:
        return np.maximum(magnitude - threshold, 0.0)


@dataclass(frozen=True)
class Logarithm:
    """phi(rho) = log(1 + c rho) / c with c = ``concavity``; the absolute value at c = 0."""

    concavity: float

    def value(self, magnitude: FloatArray) -> FloatArray:
        return log_penalty(magnitude, self.concavity)

    def slope(self, magnitude: FloatArray) -> FloatArray:
        return 1.0 / (1.0 + self.concavity * magnitude)

    def prox(self, magnitude: FloatArray, threshold: float) -> FloatArray:
        return log_threshold(magnitude, threshold, self.concavity)
