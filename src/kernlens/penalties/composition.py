"""A penalty as a weight times a scalar penalty summed over a grouping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from kernlens._validation import check_non_negative
from kernlens.penalties.contract import FloatArray
from kernlens.penalties.factored import FactoredPenalty, factorization_of
from kernlens.penalties.groupings import Grouping
from kernlens.penalties.scalar import ScalarPenalty


@dataclass(frozen=True)
class Composition:
    """Omega(W) = weight * sum_g phi(rho_g(W)), rho_g from ``grouping``, phi from ``scalar``."""

    weight: float
    grouping: Grouping
    scalar: ScalarPenalty


@dataclass(frozen=True)
class ComposedPenalty(ABC):
    """Value and prox of ``strength * Omega``, for Omega given by a :class:`Composition`."""

    strength: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        check_non_negative("strength", self.strength)

    @abstractmethod
    def composition(self, n_particles: int) -> Composition:
        """Return Omega for ``n_particles`` = m, on which its weight depends."""

    @abstractmethod
    def directions(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return components (r, n_features) and importances (r,); see ``Penalty``."""

    def value(self, W: FloatArray) -> float:
        """Return ``strength * Omega(W)`` for W of shape (n_particles, n_features)."""
        omega = self.composition(W.shape[0])
        magnitudes = omega.grouping.magnitudes(np.asarray(W, dtype=np.float64))
        return self.strength * omega.weight * float(np.sum(omega.scalar.value(magnitudes)))

    def factored(self, n_particles: int) -> FactoredPenalty:
        """Return ``strength * Omega`` as a smooth function of factors of W."""
        omega = self.composition(n_particles)
        return FactoredPenalty(
            self.strength * omega.weight, factorization_of(omega.grouping), omega.scalar
        )

    def prox(self, W: FloatArray, step: float) -> FloatArray:
        """Return argmin_U ``1/2 |W - U|_F^2 + step * strength * Omega(U)``, a new array.

        W has shape (n_particles, n_features); float32 in gives float32 out.
        """
        check_non_negative("step", step)
        omega = self.composition(W.shape[0])
        threshold = step * self.strength * omega.weight
        dtype = W.dtype if W.dtype == np.float32 else np.dtype(np.float64)
        if threshold == 0:
            return W.astype(dtype)
        shrunk = omega.grouping.transform(
            np.asarray(W, dtype=np.float64), lambda rho: omega.scalar.prox(rho, threshold)
        )
        return shrunk.astype(dtype, copy=False)
