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
from scipy.special import erf, ndtr, owens_t

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths, unit_rows
from kernlens._lazy import lazy

#: Points of the common factor of two thresholds; beyond so many of them Owen's function is used.
MOST_POINTS = 800
#: The density of the factor is below rounding beyond this many standard deviations.
FACTOR_RANGE = 8.8
#: Factors of several columns are multiplied together once they have so many columns.
WIDE = 512
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
        cosines = unit @ others.T
        # The arcsine has a cusp where rows are parallel, and shows the root of what rounding leaves
        # of their angle.
        parallel = 1.0 - (4 + unit.shape[1]) * np.finfo(np.float64).eps
        cosines[cosines >= parallel] = 1.0
        cosines[cosines <= -parallel] = -1.0
        return self.correlation * cosines


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

    Two normal variables of correlation r have a common factor: A = sqrt(r) Z + sqrt(1 - r) E, so
    that S(h, k; r) = E_Z[g(h, Z) g(k, Z)] with g(h, z) = erf((h - sqrt(r) z) / sqrt(2 (1 - r))).
    The trapezoidal rule in z, with about two points to the width of g, is exact to rounding, and
    its sum over pairs of rows is a matrix product. For r above 0.998 by Owen's T function, and for
    r = 1 by S = 1 - 2 |Phi(h) - Phi(k)|. A column of few different
    values has as many factors only.
    """

    correlation: float
    scale: float = 1.0

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Kernel of the rows of X with those of Z, (n_x, n_z). O(n_x n_z n_inputs n_points)."""
        total = np.zeros((len(X), len(Z)))
        waiting: list[tuple[FloatArray, FloatArray]] = []
        for h, k in self._columns(X, Z):
            parts = self._parts(h, k)
            if parts is None:
                total += self._pairs(h[:, None], k)
                continue
            waiting.append(parts)
            if sum(part.shape[1] for part, _ in waiting) >= WIDE:
                total += _products(waiting)
                waiting = []
        if waiting:
            total += _products(waiting)
        return total / X.shape[1]

    def _parts(self, h: FloatArray, k: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """F and G with S(h, k) = F G^T for all pairs, the narrowest known; None if there are none.

        A column of few different values needs no more columns than it has values.
        """
        values, places = np.unique(np.concatenate([h, k]), return_inverse=True)
        if len(values) < min(len(self._points), len(h) + len(k)):
            eigenvalues, vectors = np.linalg.eigh(self._pairs(values[:, None], values))
            root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
            return root[places[: len(h)]], root[places[len(h) :]]
        if len(self._points) > MOST_POINTS:
            return None
        return self._factors(h), self._factors(k)

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
            if len(self._points) <= MOST_POINTS:
                slopes = self._factor_slopes(h) @ (self._factors(k).T @ dual.T)
            else:
                slopes = self._pair_slopes(h[:, None], k) @ dual.T
            gradients[:, :, column] = slopes.T / (X.shape[1] * self.scale)
        return gradients

    def column_functions(self, X: FloatArray, Z: FloatArray, dual: FloatArray) -> FloatArray:
        """The functions of single columns that ``sum_j dual_kj k(z_j, x)`` is the sum of.

        Returns
        -------
        ndarray of shape (n_targets, n_x, n_inputs)
        """
        values = np.empty((len(dual), *X.shape))
        for column, (h, k) in enumerate(self._columns(X, Z)):
            parts = self._parts(h, k)
            if parts is None:
                values[:, :, column] = dual @ self._pairs(k[:, None], h)
            else:
                values[:, :, column] = (dual @ parts[1]) @ parts[0].T
        return values / X.shape[1]

    def _columns(self, X: FloatArray, Z: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        for j in range(X.shape[1]):
            h, k = (
                np.clip(rows[:, j] / self.scale, -LARGEST_ARGUMENT, LARGEST_ARGUMENT)
                for rows in (X, Z)
            )
            yield h, k

    @lazy
    def _points(self) -> FloatArray:
        """Points of the trapezoidal rule; too many ones if r is near 1."""
        # The density times both g has a Fourier transform that falls like exp(-w^2 / (2 variance)),
        # and the error of the rule is what is left of it at w = 2 pi / spacing, here exp(-40).
        gap = max(1.0 - self.correlation, np.finfo(np.float64).eps)
        variance = 1.0 + 2.0 * self.correlation / gap
        spacing = float(np.pi / np.sqrt(20.0 * variance))
        if not spacing * MOST_POINTS > 2.0 * FACTOR_RANGE:
            return np.empty(MOST_POINTS + 1)
        count = int(np.ceil(FACTOR_RANGE / spacing))
        return np.linspace(-count * spacing, count * spacing, 2 * count + 1)

    def _factors(self, h: FloatArray) -> FloatArray:
        """F (n, n_points) with S(h, k) = F(h) . F(k)."""
        shares, shifted = self._shares_and_arguments(h)
        factors: FloatArray = np.sqrt(shares) * erf(shifted / np.sqrt(2.0))
        return factors

    def _factor_slopes(self, h: FloatArray) -> FloatArray:
        """dF/dh."""
        shares, shifted = self._shares_and_arguments(h)
        slopes = np.sqrt(shares * (2.0 / np.pi)) * np.exp(-0.5 * shifted * shifted)
        return slopes / np.sqrt(1.0 - self.correlation)

    def _shares_and_arguments(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        points, r = self._points, self.correlation
        shares = np.exp(-0.5 * points**2) / np.sqrt(2.0 * np.pi) * (points[1] - points[0])
        return shares, (h[:, None] - np.sqrt(r) * points) / np.sqrt(1.0 - r)

    def _pairs(self, h: FloatArray, k: FloatArray) -> FloatArray:
        """S(h, k; r) by Owen's T function; h and k are broadcast."""
        r = self.correlation
        if r >= 1.0:
            return 1.0 - 2.0 * np.abs(ndtr(h) - ndtr(k))
        h, k = np.broadcast_arrays(h, k)
        q = np.sqrt(1.0 - r * r)
        # A product of the signs: that of the arguments themselves may underflow.
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


def _products(factors: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Sum of ``F G^T`` over pairs of factors, as one product."""
    left, right = zip(*factors, strict=True)
    return np.hstack(left) @ np.hstack(right).T


def _owen(h: FloatArray, numerator: FloatArray, q: float) -> FloatArray:
    """T(h, numerator / (h q)), with its limit sign(numerator)/4 at h = 0."""
    ratio = numerator / np.where(h == 0.0, 1.0, h * q)
    values: FloatArray = owens_t(h, ratio)
    return np.where(h == 0.0, 0.25 * np.sign(numerator), values)
