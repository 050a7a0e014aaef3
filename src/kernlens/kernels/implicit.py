"""Implicit kernels of RKHS weightings: the limit of infinitely many features, in closed form.

K_X(x, x') = E_u E_w[K(u, w) phi(u, x) phi(w, x')] (paper, equation (63), there called a highly
difficult integral). K(u, w) p(u) p(w) is a constant times the density of two Gaussian vectors whose
coordinates have correlation r, so that the orthant formulas of Sheppard and of the arc-cosine
kernel apply. The kernels here leave the constant out, see :mod:`kernlens.features.weightings`; with
c the cosine of x and x', and rho = r c:

    sign    (2/pi) arcsin(rho)
    ramp    |x| |x'| [sqrt(1 - rho^2) + rho (pi - arccos rho)] / (2 pi)
    stumps  (1/n) sum_j S(x_j / s, x'_j / s; r),   s^2 = sigma^2 / (1 + r) for RWStumps

with S(h, k; r) = E[sign(h - A) sign(k - B)], (A, B) standard normal of correlation r. With r = 1
they are the kernels E_w[phi(w, x) phi(w, x')] of random kitchen sinks (stumps: with s = sigma).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, ndtr, owens_t

from kernlens._geometry import squared_lengths, unit_rows

FloatArray = NDArray[np.floating]

#: Terms of the tetrachoric series fall by r; beyond so many of them Owen's function is used.
MOST_TERMS = 1000
#: What the terms left out may add up to.
SERIES_ERROR = 1e-16
#: Larger arguments give the same function values and undefined differences.
LARGEST_ARGUMENT = 40.0


class ImplicitKernel(Protocol):
    """A kernel of rows with gradients."""

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Kernel of the rows of X with those of Z, (n_x, n_z)."""
        ...

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Kernel of every row with itself, (n_x,)."""
        ...

    def gradient(self, X: FloatArray, Z: FloatArray, dual: FloatArray) -> FloatArray:
        """Gradients at X of ``sum_j dual_kj k(z_j, x)``, (n_targets, n_x, n_inputs)."""
        ...


@dataclass(frozen=True)
class SignKernel:
    """``(2/pi) arcsin(r cos(x, x'))``, 0 where a row is 0."""

    correlation: float

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Kernel of the rows of X with those of Z, (n_x, n_z)."""
        rho = self._rho(unit_rows(X)[0], unit_rows(Z)[0])
        return np.arcsin(rho, out=rho) * (2.0 / np.pi)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Kernel of every row with itself, (n_x,)."""
        return np.where(np.any(X != 0.0, axis=1), 2.0 / np.pi * np.arcsin(self.correlation), 0.0)

    def gradient(self, X: FloatArray, Z: FloatArray, dual: FloatArray) -> FloatArray:
        """Gradients at X of ``sum_j dual_kj k(z_j, x)``, (n_targets, n_x, n_inputs)."""
        (unit, norms), (others, _) = unit_rows(X), unit_rows(Z)
        rho = self._rho(unit, others)
        # Two rows of one direction have an infinite slope for r = 1; it is left finite.
        slopes = (2.0 / np.pi) / np.sqrt(np.maximum(1.0 - rho * rho, 1e-12))
        scale = self.correlation / np.where(norms > 0.0, norms, np.inf)
        cosines = rho / self.correlation
        gradients = np.empty((len(dual), *X.shape))
        for k, row in enumerate(dual):
            weighted = slopes * row
            across = weighted @ others - np.sum(weighted * cosines, axis=1)[:, None] * unit
            gradients[k] = across * scale[:, None]
        return gradients

    def _rho(self, unit: FloatArray, others: FloatArray) -> FloatArray:
        return self.correlation * np.clip(unit @ others.T, -1.0, 1.0)


@dataclass(frozen=True)
class RampKernel:
    """``|x| |x'| [sqrt(1 - rho^2) + rho (pi - arccos rho)] / (2 pi)``, rho = r cos(x, x')."""

    correlation: float

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Kernel of the rows of X with those of Z, (n_x, n_z)."""
        (unit, norms), (others, other_norms) = unit_rows(X), unit_rows(Z)
        rho = self.correlation * np.clip(unit @ others.T, -1.0, 1.0)
        angular = np.sqrt(1.0 - rho * rho) + rho * (np.pi - np.arccos(rho))
        return angular * (norms[:, None] / (2.0 * np.pi)) * other_norms

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Kernel of every row with itself, (n_x,)."""
        r = self.correlation
        angular = np.sqrt(1.0 - r * r) + r * (np.pi - np.arccos(r))
        return squared_lengths(X) * angular / (2.0 * np.pi)

    def gradient(self, X: FloatArray, Z: FloatArray, dual: FloatArray) -> FloatArray:
        """Gradients at X of ``sum_j dual_kj k(z_j, x)``, (n_targets, n_x, n_inputs)."""
        unit, _ = unit_rows(X)
        others, norms = unit_rows(Z)
        rho = self.correlation * np.clip(unit @ others.T, -1.0, 1.0)
        radial = np.sqrt(1.0 - rho * rho)
        turning = self.correlation * (np.pi - np.arccos(rho))
        gradients = np.empty((len(dual), *X.shape))
        for k, row in enumerate(dual):
            scaled = row * norms / (2.0 * np.pi)
            gradients[k] = (radial @ scaled)[:, None] * unit + (turning * scaled) @ others
        return gradients


@dataclass(frozen=True)
class StumpKernel:
    """``(1/n) sum_j S(x_j / s, x'_j / s; r)``, s the `scale`.

    For r up to about 0.96 by the tetrachoric series

        S(h, k; r) = erf(h/sqrt 2) erf(k/sqrt 2) + 4 phi(h) phi(k) sum_m r^(m+1) He_m(h) He_m(k) / (m+1)!

    whose terms are products, so that the sum over pairs is a matrix product; beyond by Owen's T
    function, and for r = 1 by S = 1 - 2 |Phi(h) - Phi(k)|.
    """  # noqa: E501

    correlation: float
    scale: float = 1.0

    @property
    def _n_terms(self) -> int:
        if self.correlation >= 1.0:
            return MOST_TERMS + 1
        return int(np.ceil(np.log(SERIES_ERROR) / np.log(self.correlation))) + 1

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Kernel of the rows of X with those of Z, (n_x, n_z). O(n_x n_z n_inputs n_terms)."""
        total = np.zeros((len(X), len(Z)))
        for h, k in self._columns(X, Z):
            if self._n_terms <= MOST_TERMS:
                total += self._terms(h)[0] @ self._terms(k)[0].T
            else:
                total += self._pairs(h[:, None], k)
        return total / X.shape[1]

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Kernel of every row with itself, (n_x,)."""
        total = np.zeros(len(X))
        for h, _ in self._columns(X, X[:0]):
            total += self._pairs(h, h)
        return total / X.shape[1]

    def gradient(self, X: FloatArray, Z: FloatArray, dual: FloatArray) -> FloatArray:
        """Gradients at X of ``sum_j dual_kj k(z_j, x)``, (n_targets, n_x, n_inputs)."""
        gradients = np.empty((len(dual), *X.shape))
        for column, (h, k) in enumerate(self._columns(X, Z)):
            if self._n_terms <= MOST_TERMS:
                slopes = self._terms(h)[1] @ (self._terms(k)[0].T @ dual.T)
            else:
                slopes = self._pair_slopes(h[:, None], k) @ dual.T
            gradients[:, :, column] = slopes.T / (X.shape[1] * self.scale)
        return gradients

    def _columns(self, X: FloatArray, Z: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        for j in range(X.shape[1]):
            yield tuple(
                np.clip(rows[:, j] / self.scale, -LARGEST_ARGUMENT, LARGEST_ARGUMENT)
                for rows in (X, Z)
            )

    def _terms(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        """F (n, n_terms + 1) with S(h, k) = F(h) . F(k), and dF/dh.

        With u_m = 2 phi(h) He_m(h) / sqrt(m!), a bounded three-term recursion.
        """
        r, n_terms = self.correlation, self._n_terms
        values = np.empty((len(h), n_terms + 1))
        slopes = np.empty_like(values)
        values[:, 0] = erf(h / np.sqrt(2.0))
        before, now = np.zeros(len(h)), 2.0 * np.exp(-0.5 * h * h) / np.sqrt(2.0 * np.pi)
        slopes[:, 0] = now
        for m in range(n_terms):
            following = (h * now - np.sqrt(m) * before) / np.sqrt(m + 1.0)
            factor = np.sqrt(r ** (m + 1) / (m + 1.0))
            values[:, m + 1] = factor * now
            # (phi He_m)' = -phi He_{m+1}
            slopes[:, m + 1] = -factor * np.sqrt(m + 1.0) * following
            before, now = now, following
        return values, slopes

    def _pairs(self, h: FloatArray, k: FloatArray) -> FloatArray:
        """S(h, k; r) by Owen's T function; h and k are broadcast."""
        r = self.correlation
        if r >= 1.0:
            return 1.0 - 2.0 * np.abs(ndtr(h) - ndtr(k))
        h, k = np.broadcast_arrays(h, k)
        q = np.sqrt(1.0 - r * r)
        # Of the signs: a product of the arguments themselves may underflow.
        side = np.sign(h) * np.sign(k)
        apart = np.where((side > 0.0) | ((side == 0.0) & (h + k >= 0.0)), 0.0, 0.5)
        value = 1.0 - 4.0 * apart - 4.0 * _owen(h, k - r * h, q) - 4.0 * _owen(k, h - r * k, q)
        return np.where((h == 0.0) & (k == 0.0), 2.0 / np.pi * np.arcsin(r), value)

    def _pair_slopes(self, h: FloatArray, k: FloatArray) -> FloatArray:
        """dS/dh = 2 phi(h) erf((k - r h) / (q sqrt 2))."""
        r = self.correlation
        density = 2.0 * np.exp(-0.5 * h * h) / np.sqrt(2.0 * np.pi)
        if r >= 1.0:
            return density * np.sign(k - h)
        slopes: FloatArray = density * erf((k - r * h) / np.sqrt(2.0 * (1.0 - r * r)))
        return slopes


def _owen(h: FloatArray, numerator: FloatArray, q: float) -> FloatArray:
    """T(h, numerator / (h q)), with its limit sign(numerator)/4 at h = 0."""
    ratio = numerator / np.where(h == 0.0, 1.0, h * q)
    values: FloatArray = owens_t(h, ratio)
    return np.where(h == 0.0, 0.25 * np.sign(numerator), values)
