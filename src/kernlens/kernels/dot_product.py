"""Kernels of the inner product ``k(u, v) = kappa(<u, v>)``, by their profile and its derivatives.

The linear map in front of the kernel carries the scale, as for the radial kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from kernlens._array import FloatArray

#: Powers of higher degree are 0, 1 or overflow.
LARGEST_DEGREE = 1000


class DotProductKernel(ABC):
    """A kernel given by its profile kappa; subclass it to bring your own.

    All methods take inner products (n, m) that they must not change, and return new arrays of that
    shape. Taylor coefficients of kappa at zero must not be negative, or k is no kernel.
    """

    @abstractmethod
    def profile(self, t: FloatArray) -> FloatArray:
        """Return kappa(t)."""

    @abstractmethod
    def derivative(self, t: FloatArray) -> FloatArray:
        """Return kappa'(t)."""

    @abstractmethod
    def second_derivative(self, t: FloatArray) -> FloatArray:
        """Return kappa''(t)."""

    def matrix(self, U: FloatArray, V: FloatArray) -> FloatArray:
        """Return the kernel matrix (n, m) of rows of U (n, d) and V (m, d)."""
        return self.profile(U @ V.T)


class LinearKernel(DotProductKernel):
    """``t``: linear functions, for which the gradient penalty is a ridge penalty."""

    def profile(self, t: FloatArray) -> FloatArray:
        return t.copy()

    def derivative(self, t: FloatArray) -> FloatArray:
        return np.ones_like(t)

    def second_derivative(self, t: FloatArray) -> FloatArray:
        return np.zeros_like(t)


@dataclass(frozen=True)
class PolynomialKernel(DotProductKernel):
    """``(t + constant)^degree``.

    Parameters
    ----------
    degree : int
        From 1 to 1000.
    constant : float
        Not negative; 0 leaves terms of the full degree only.
    """

    degree: Any = 3
    constant: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.degree, Integral) or not 1 <= int(self.degree) <= LARGEST_DEGREE:
            raise ValueError(
                f"degree must be an integer of at least 1 and at most {LARGEST_DEGREE}, got "
                f"{self.degree!r}."
            )
        if not 0.0 <= self.constant < np.inf:
            raise ValueError(
                f"constant must be a finite number of at least 0, got {self.constant!r}."
            )

    def profile(self, t: FloatArray) -> FloatArray:
        return (t + self.constant) ** self.degree

    def derivative(self, t: FloatArray) -> FloatArray:
        return self.degree * (t + self.constant) ** (self.degree - 1)

    def second_derivative(self, t: FloatArray) -> FloatArray:
        if self.degree == 1:
            return np.zeros_like(t)
        return self.degree * (self.degree - 1) * (t + self.constant) ** (self.degree - 2)


class ExponentialDotKernel(DotProductKernel):
    """``exp(t)``, all degrees at once; the Gaussian kernel without its decay."""

    def profile(self, t: FloatArray) -> FloatArray:
        # Points far from the others must not overflow.
        return np.exp(np.minimum(t, 600.0))

    def derivative(self, t: FloatArray) -> FloatArray:
        return self.profile(t)

    def second_derivative(self, t: FloatArray) -> FloatArray:
        return self.profile(t)


DOT_PRODUCT_KERNELS: dict[str, Callable[[], DotProductKernel]] = {
    "linear": LinearKernel,
    "polynomial": PolynomialKernel,
    "exponential_dot": ExponentialDotKernel,
}
