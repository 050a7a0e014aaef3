"""Ways to read a matrix of particles as a list of magnitudes, and to write new ones back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernlens.penalties.contract import FloatArray
from kernlens.penalties.svd import singular_values, thin_svd

MagnitudeMap = Callable[[FloatArray], FloatArray]


class Grouping(Protocol):
    """Magnitudes rho_g(W) such that a prox of sum_g phi(rho_g) acts on the magnitudes alone.

    That holds for norms of disjoint blocks, whose closest point of given norm is a rescaling,
    and for singular values, by von Neumann's trace inequality.
    """

    def magnitudes(self, W: FloatArray) -> FloatArray:
        """Return the non-negative magnitudes of W."""
        ...

    def transform(self, W: FloatArray, new_magnitudes: MagnitudeMap) -> FloatArray:
        """Return W with its magnitudes rho replaced by ``new_magnitudes(rho)``."""
        ...


def safe_norms(W: FloatArray, axis: int) -> FloatArray:
    """Return Euclidean norms along ``axis`` without overflow or underflow of the squares."""
    scale = np.max(np.abs(W), axis=axis, keepdims=True, initial=0.0)
    scale[scale == 0] = 1.0
    return np.squeeze(scale, axis) * np.linalg.norm(W / scale, axis=axis)


@dataclass(frozen=True)
class Entries:
    """|W_ja|, one magnitude per entry."""

    def magnitudes(self, W: FloatArray) -> FloatArray:
        return np.abs(W)

    def transform(self, W: FloatArray, new_magnitudes: MagnitudeMap) -> FloatArray:
        return np.copysign(new_magnitudes(np.abs(W)), W)


@dataclass(frozen=True)
class Blocks:
    """Euclidean norms along ``axis``: 1 for the particles (rows), 0 for the variables (columns)."""

    axis: int

    def magnitudes(self, W: FloatArray) -> FloatArray:
        return safe_norms(W, self.axis)

    def transform(self, W: FloatArray, new_magnitudes: MagnitudeMap) -> FloatArray:
        old = self.magnitudes(W)
        ratio = np.divide(new_magnitudes(old), old, out=np.zeros_like(old), where=old > 0)
        return W * np.expand_dims(ratio, self.axis)


@dataclass(frozen=True)
class SingularValues:
    """Singular values S of W = U S V^T."""

    def magnitudes(self, W: FloatArray) -> FloatArray:
        return singular_values(W)

    def transform(self, W: FloatArray, new_magnitudes: MagnitudeMap) -> FloatArray:
        U, S, Vt = thin_svd(W)
        new = new_magnitudes(S)
        # Only the survivors are multiplied: cheaper, and the rank of the result is exact.
        kept = new > 0
        return (U[:, kept] * new[kept]) @ Vt[kept]


ENTRIES = Entries()
PARTICLES = Blocks(axis=1)
VARIABLES = Blocks(axis=0)
SINGULAR_VALUES = SingularValues()
