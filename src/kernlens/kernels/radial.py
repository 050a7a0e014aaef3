"""Radial kernels ``k(u, v) = phi(|u - v|^2)``, by their profile and its derivatives.

Every kernel here has length scale 1: the linear map in front of it carries the scale. Writing s for
the squared distance and r for its root, with the usual length scale l each is k(u / l, v / l).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kernlens._array import FloatArray
from kernlens._geometry import squared_distances, squared_lengths, with_finite_squares

#: Points closer than this share of their size are one point to a kernel that is not smooth at zero.
SAME_POINT = 1e-10
#: Largest squared distance: profiles like (1 + r) exp(-r) are not a number at infinity.
FAR = 1e300
#: Powers below this are 1 almost everywhere, and distances over them overflow.
SMALLEST_POWER = 1e-6


class RadialKernel(ABC):
    """A kernel given by its profile phi; subclass it to bring your own.

    All methods take squared distances (n, m) that they must not change, and return new arrays of
    that shape. The second derivative is only needed where gradients of functions are penalised.

    Attributes
    ----------
    smooth_at_zero : bool
        False if phi is a function of r rather than of s, like the Laplace kernel. Its derivative
        must then be given as 0 at s = 0, and distances are computed one by one: a point is its own
        neighbour at a distance of exactly 0.
    twice_smooth_at_zero : bool
        The same for the second derivative, which the Matern-3/2 kernel does not have at 0: there it
        only stands beside products of differences that vanish faster.
    """

    smooth_at_zero: bool = True
    twice_smooth_at_zero: bool = True

    @abstractmethod
    def profile(self, s: FloatArray) -> FloatArray:
        """Return phi(s), with phi(0) = 1."""

    @abstractmethod
    def derivative(self, s: FloatArray) -> FloatArray:
        """Return phi'(s), the derivative with respect to the squared distance."""

    def profile_and_derivative(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both; worth overriding where they share their expensive part."""
        return self.profile(s), self.derivative(s)

    def second_derivative(self, s: FloatArray) -> FloatArray:
        """Return phi''(s); bounded by a multiple of s^(-1/2), and 0 at 0 if unbounded."""
        raise NotImplementedError

    def distances(self, U: FloatArray, V: FloatArray, twice: bool = False) -> FloatArray:
        """Return the squared distances of rows of U (n, d) and V (m, d), (n, m).

        `twice` says that they are meant for the second derivative, too.
        """
        U, V = with_finite_squares(U), with_finite_squares(V)
        if not self.smooth_at_zero or (twice and not self.twice_smooth_at_zero):
            pairs: FloatArray = cdist(U, V, "sqeuclidean")
            # A centre that is a copy of a row was mapped by a matrix product of another shape,
            # which may round otherwise; a derivative like 1 / r makes noise of what remains.
            size = squared_lengths(V).max(initial=0.0)
            pairs[pairs <= SAME_POINT**2 * size] = 0.0
            return np.minimum(pairs, FAR, out=pairs)
        # The rounding of the matrix product is harmless to a profile that is smooth in s.
        return squared_distances(U, V, FAR)

    def matrix(self, U: FloatArray, V: FloatArray) -> FloatArray:
        """Return the kernel matrix (n, m) of rows of U (n, d) and V (m, d)."""
        return self.profile(self.distances(U, V))


class GaussianKernel(RadialKernel):
    """``exp(-s / 2)``; with length scale l, gamma = 1 / (2 l^2) in ``exp(-gamma s)``."""

    def profile(self, s: FloatArray) -> FloatArray:
        values = -0.5 * s
        return np.exp(values, out=values)

    def derivative(self, s: FloatArray) -> FloatArray:
        return -0.5 * self.profile(s)

    def profile_and_derivative(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = self.profile(s)
        return values, -0.5 * values

    def second_derivative(self, s: FloatArray) -> FloatArray:
        return 0.25 * self.profile(s)


class Matern32Kernel(RadialKernel):
    """``(1 + sqrt(3) r) exp(-sqrt(3) r)``."""

    twice_smooth_at_zero = False

    def profile(self, s: FloatArray) -> FloatArray:
        return self.profile_and_derivative(s)[0]

    def derivative(self, s: FloatArray) -> FloatArray:
        return -1.5 * np.exp(-np.sqrt(3.0 * s))

    def profile_and_derivative(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        scaled = np.sqrt(3.0 * s)
        decay = np.exp(-scaled)
        return (1.0 + scaled) * decay, -1.5 * decay

    def second_derivative(self, s: FloatArray) -> FloatArray:
        scaled = np.sqrt(3.0 * s)
        values = np.exp(-scaled)
        # 3 sqrt(3) / (4 r) exp(-sqrt(3) r)
        return np.divide(2.25 * values, scaled, out=np.zeros_like(values), where=scaled > 0.0)


class Matern52Kernel(RadialKernel):
    """``(1 + sqrt(5) r + 5 s / 3) exp(-sqrt(5) r)``."""

    def profile(self, s: FloatArray) -> FloatArray:
        return self.profile_and_derivative(s)[0]

    def derivative(self, s: FloatArray) -> FloatArray:
        return self.profile_and_derivative(s)[1]

    def profile_and_derivative(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        scaled = np.sqrt(5.0 * s)
        decay = np.exp(-scaled)
        linear = (1.0 + scaled) * decay
        return linear + (5.0 / 3.0) * s * decay, (-5.0 / 6.0) * linear

    def second_derivative(self, s: FloatArray) -> FloatArray:
        return (25.0 / 12.0) * np.exp(-np.sqrt(5.0 * s))


@dataclass(frozen=True)
class RationalQuadraticKernel(RadialKernel):
    """``(1 + s / (2 a))^(-a)``, a mixture of Gaussians of many scales; Gaussian as a grows.

    Parameters
    ----------
    a : float
        At least 1e-6; small values have heavy tails.
    """

    a: float = 1.0

    def __post_init__(self) -> None:
        if not SMALLEST_POWER <= self.a < np.inf:
            raise ValueError(
                f"a must be a positive finite number of at least {SMALLEST_POWER:.0e}, got "
                f"{self.a!r}."
            )

    def profile(self, s: FloatArray) -> FloatArray:
        return np.exp(-self.a * np.log1p(s / (2.0 * self.a)))

    def derivative(self, s: FloatArray) -> FloatArray:
        return self.profile_and_derivative(s)[1]

    def profile_and_derivative(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = self.profile(s)
        return values, -0.5 * values / (1.0 + s / (2.0 * self.a))

    def second_derivative(self, s: FloatArray) -> FloatArray:
        factor = (self.a + 1.0) / (4.0 * self.a)
        return factor * np.exp((-self.a - 2.0) * np.log1p(s / (2.0 * self.a)))


class LaplaceKernel(RadialKernel):
    """``exp(-r)``; its derivative in s is unbounded near 0 and counted as 0 at 0."""

    smooth_at_zero = False

    def profile(self, s: FloatArray) -> FloatArray:
        return np.exp(-np.sqrt(s))

    def derivative(self, s: FloatArray) -> FloatArray:
        return self.profile_and_derivative(s)[1]

    def profile_and_derivative(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        r = np.sqrt(s)
        values = np.exp(-r)
        slopes = np.divide(-0.5 * values, r, out=np.zeros_like(values), where=r > 0.0)
        return values, slopes


@dataclass(frozen=True)
class GeneralizedLaplaceKernel(RadialKernel):
    """``exp(-r^q)``: Laplace for q = 1, rougher below, and Gaussian, in other units, for q = 2.

    With a width w it is ``exp(-(r / w)^q)``. Its derivative in s is unbounded near 0 for q < 2, and
    counted as 0 at 0.

    Parameters
    ----------
    q : float
        At least 1e-6 and at most 2: no larger power gives a positive definite kernel (Schoenberg,
        "Metric spaces and positive definite functions", 1938).
    """

    q: float = 0.7
    smooth_at_zero = False

    def __post_init__(self) -> None:
        if not SMALLEST_POWER <= self.q <= 2.0:
            raise ValueError(
                f"q must be a number from {SMALLEST_POWER:.0e} to 2, got {self.q!r}; larger powers "
                "are no kernels."
            )

    def profile(self, s: FloatArray) -> FloatArray:
        return np.exp(-(s ** (0.5 * self.q)))

    def derivative(self, s: FloatArray) -> FloatArray:
        return self.profile_and_derivative(s)[1]

    def profile_and_derivative(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        power = s ** (0.5 * self.q)
        values = np.exp(-power)
        slopes = -0.5 * self.q * power * values
        return values, np.divide(slopes, s, out=np.zeros_like(values), where=s > 0.0)


RADIAL_KERNELS: dict[str, Callable[[], RadialKernel]] = {
    "gaussian": GaussianKernel,
    "matern32": Matern32Kernel,
    "matern52": Matern52Kernel,
    "rational_quadratic": RationalQuadraticKernel,
    "laplace": LaplaceKernel,
}


def make_radial_kernel(kernel: str | RadialKernel) -> RadialKernel:
    """Return the kernel of that name, or the kernel itself."""
    return RADIAL_KERNELS[kernel]() if isinstance(kernel, str) else kernel


def check_radial_kernel(kernel: RadialKernel) -> None:
    """Refuse a kernel whose profile or derivative cannot be used, in one sentence."""
    name = type(kernel).__name__
    s = np.array([[0.0, 0.25, 1.0, 4.0]])
    values = np.asarray(kernel.profile(s.copy()), dtype=np.float64)
    slopes = np.asarray(kernel.derivative(s.copy()), dtype=np.float64)
    if values.shape != s.shape or slopes.shape != s.shape:
        raise ValueError(
            f"{name}: profile and derivative must return arrays of the shape of their argument "
            f"{s.shape}, got {values.shape} and {slopes.shape}."
        )
    if not np.isfinite(slopes[0, 0]):
        raise ValueError(
            f"{name} has no finite derivative at zero; return 0 there and set "
            "smooth_at_zero = False, or use a kernel that is smooth in the squared distance."
        )
    if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
        raise ValueError(f"{name}: profile and derivative must be finite for every s >= 0.")
    if abs(values[0, 0] - 1.0) > 1e-12:
        raise ValueError(
            f"{name}: the profile must be 1 at zero, got {values[0, 0]:.6g}; divide it by that."
        )
    _check_derivative(name, kernel, slopes, s)


def _check_derivative(name: str, kernel: RadialKernel, slopes: FloatArray, s: FloatArray) -> None:
    away = s[:, 1:]
    step = 1e-6 * away
    measured = (kernel.profile(away + step) - kernel.profile(away - step)) / (2.0 * step)
    if not np.allclose(slopes[:, 1:], measured, rtol=1e-4, atol=1e-7):
        raise ValueError(
            f"{name}: derivative is not that of profile with respect to the squared distance s: at "
            f"s = 1 it gives {slopes[0, 2]:.6g}, differences give {measured[0, 1]:.6g}."
        )
