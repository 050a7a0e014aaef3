"""Penalties in factored form, smooth in the factors, for quasi-Newton methods.

Write W as a product of factors A and B, one pair (a_g, b_g) per magnitude rho_g of a grouping. By
the inequality of the means ``rho_g <= (|a_g|^2 + |b_g|^2) / 2`` with equality for balanced factors,
so for an increasing concave phi with phi(0) = 0

    sum_g phi(rho_g(W)) = min { sum_g phi((|a_g|^2 + |b_g|^2) / 2) : W = product of A and B }.

For singular values the bound is the variational form of the nuclear norm when phi is the identity,
and Rotfel'd's inequality (sum_g phi(rho_g) is subadditive) when phi is concave. Minimising over the
factors is therefore the same problem as minimising over W, without the kinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernlens.penalties.contract import FloatArray
from kernlens.penalties.groupings import Blocks, Entries, Grouping, SingularValues, safe_norms
from kernlens.penalties.scalar import ScalarPenalty
from kernlens.penalties.svd import thin_svd

Factors = tuple[FloatArray, FloatArray]


class Factorization(Protocol):
    """How a matrix is cut into factors, one pair per magnitude of a grouping."""

    def split(self, W: FloatArray) -> Factors:
        """Return balanced factors of W."""
        ...

    def join(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return W."""
        ...

    def energies(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return ``(|a_g|^2 + |b_g|^2) / 2`` for every g, in a shape that scales A."""
        ...

    def pull_back(
        self, A: FloatArray, B: FloatArray, gradient: FloatArray, slopes: FloatArray
    ) -> Factors:
        """Chain rule from the gradient with respect to W, plus ``slopes_g`` times the factors."""
        ...


@dataclass(frozen=True)
class ScaledBlocks:
    """W = A * B, A with one entry per block along `axis`; ``axis=None`` has one per entry of W."""

    axis: int | None

    def _sum(self, values: FloatArray) -> FloatArray:
        return values if self.axis is None else np.sum(values, axis=self.axis, keepdims=True)

    def split(self, W: FloatArray) -> Factors:
        norms = np.abs(W) if self.axis is None else safe_norms(W, self.axis)
        if self.axis is not None:
            norms = np.expand_dims(norms, self.axis)
        A = np.sqrt(norms)
        return A, np.divide(W, A, out=np.zeros_like(W), where=A > 0)

    def join(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return A * B

    def energies(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return 0.5 * (A**2 + self._sum(B**2))

    def pull_back(
        self, A: FloatArray, B: FloatArray, gradient: FloatArray, slopes: FloatArray
    ) -> Factors:
        return self._sum(gradient * B) + slopes * A, gradient * A + slopes * B


@dataclass(frozen=True)
class RankOneTerms:
    """W = A @ B, one column of A and one row of B per singular value."""

    def split(self, W: FloatArray) -> Factors:
        U, S, Vt = thin_svd(W)
        root = np.sqrt(S)
        return U * root, root[:, None] * Vt

    def join(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return A @ B

    def energies(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return 0.5 * (np.sum(A**2, axis=0) + np.sum(B**2, axis=1))

    def pull_back(
        self, A: FloatArray, B: FloatArray, gradient: FloatArray, slopes: FloatArray
    ) -> Factors:
        return gradient @ B.T + slopes * A, A.T @ gradient + slopes[:, None] * B


def factorization_of(grouping: Grouping) -> Factorization:
    """Return the factorisation that belongs to a grouping."""
    match grouping:
        case Entries():
            return ScaledBlocks(axis=None)
        case Blocks(axis=axis):
            return ScaledBlocks(axis=axis)
        case SingularValues():
            return RankOneTerms()
    raise TypeError(f"No factorisation is known for {grouping!r}.")


@dataclass(frozen=True)
class FactoredPenalty:
    """``weight * sum_g phi(energy_g)`` as a function of the factors."""

    weight: float
    factorization: Factorization
    scalar: ScalarPenalty

    def value(self, A: FloatArray, B: FloatArray) -> float:
        """Return the penalty, at least that of ``join(A, B)``, equal to it for balanced factors."""
        return self.weight * float(np.sum(self.scalar.value(self.factorization.energies(A, B))))

    def gradients(self, A: FloatArray, B: FloatArray, gradient: FloatArray) -> Factors:
        """Gradients with respect to A and B of this penalty plus a function of W.

        `gradient` (n_particles, n_features) is that of the other function with respect to W.
        """
        slopes = self.weight * self.scalar.slope(self.factorization.energies(A, B))
        return self.factorization.pull_back(A, B, gradient, slopes)
