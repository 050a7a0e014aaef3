"""Kernels together with their derivatives: functions, their gradients, and energies of gradients.

A function is a sum of atoms at points z_j,

    f(x) = sum_j c_j k(x, z_j) + b_j . grad_z k(x, z_j),

of which the second kind is what makes the minimiser of a penalty on gradients exact (kernel
Laplacian, Theorem 3). All products are O(n m d) for n points and m atoms, although there are
m (d + 1) coefficients: the derivatives of a kernel of distances or of inner products are profiles
times outer products.

A frame of a point is a matrix T_i (r, d); gradients are measured as |T_i grad f(x_i)|^2. None
stands for identities, r = d.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths
from kernlens.kernels.dot_product import DOT_PRODUCT_KERNELS, DotProductKernel
from kernlens.kernels.radial import RADIAL_KERNELS, RadialKernel, check_radial_kernel

#: Kernel values and derivatives stay below this.
LARGEST_KERNEL = 1e60
#: Inner products at which a kernel of them is looked at, decreasing.
PRODUCTS = 10.0 ** np.arange(60.0, -10.0, -0.25)
#: A kernel of inner products must do up to here at least.
SMALLEST_PRODUCT = 1e-3
#: Kernels by name whose functions have gradients; the Laplace kernel has not.
DIFFERENTIABLE_KERNELS = (*(k for k in RADIAL_KERNELS if k != "laplace"), *DOT_PRODUCT_KERNELS)


class KernelDerivatives(ABC):
    """Values and derivatives of a kernel between points X (n, d) and Z (m, d)."""

    @property
    @abstractmethod
    def largest_product(self) -> float:
        """Largest |x| |z| for which the kernel is used: beyond, it is too large to compute with."""

    @abstractmethod
    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """``k(x_i, z_j)``, (n, m)."""

    @abstractmethod
    def diagonal(self, X: FloatArray) -> FloatArray:
        """``k(x_i, x_i)``, (n,)."""

    @abstractmethod
    def evaluate(
        self, X: FloatArray, Z: FloatArray, c: FloatArray | None, B: FloatArray | None
    ) -> FloatArray:
        """Values (t, n) of functions with coefficients c (t, m) and B (t, m, d); None is zero."""

    @abstractmethod
    def value_and_gradient(
        self, X: FloatArray, Z: FloatArray, c: FloatArray | None, B: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Values (t, n) and gradients (t, n, d) of the same functions."""

    @abstractmethod
    def slopes(self, X: FloatArray, frames: FloatArray, Z: FloatArray) -> FloatArray:
        """``T_i grad_x k(x_i, z_j)``, (n, r, m), for frames (n, r, d)."""

    @abstractmethod
    def mixed_slopes(
        self, X: FloatArray, frames: FloatArray, Z: FloatArray, others: FloatArray
    ) -> FloatArray:
        """``T_i (d^2 k / dx dz)(x_i, z_j) T_j^T``, (n, r, m, q), for frames of both."""

    @abstractmethod
    def energy(self, X: FloatArray, weights: FloatArray, Z: FloatArray) -> FloatArray:
        """``sum_i w_i <grad k(x_i, z_j), grad k(x_i, z_l)>``, (m, m), without a factor d."""


@dataclass(frozen=True)
class RadialDerivatives(KernelDerivatives):
    """Derivatives of ``k(x, z) = phi(s)``, s = |x - z|^2.

    grad_x k = 2 phi' (x - z), d^2k/dxdz = -2 phi' I - 4 phi'' (x - z)(x - z)^T.
    """

    kernel: RadialKernel

    @property
    def largest_product(self) -> float:
        return np.inf

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return self.kernel.matrix(X, Z)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return np.ones(len(X))

    def evaluate(
        self, X: FloatArray, Z: FloatArray, c: FloatArray | None, B: FloatArray | None
    ) -> FloatArray:
        phi, slope = self.kernel.profile_and_derivative(self.kernel.distances(X, Z))
        values = np.zeros((_n_targets(c, B), len(X))) if c is None else c @ phi.T
        if B is None:
            return values
        for value, b in zip(values, B, strict=True):
            value -= 2.0 * np.einsum("ij,ij->i", slope, _offsets(X, Z, b))
        return values

    def value_and_gradient(
        self, X: FloatArray, Z: FloatArray, c: FloatArray | None, B: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        s = self.kernel.distances(X, Z, twice=B is not None)
        phi, slope = self.kernel.profile_and_derivative(s)
        bend = None if B is None else self.kernel.second_derivative(s)
        n_targets = _n_targets(c, B)
        values = np.zeros((n_targets, len(X))) if c is None else c @ phi.T
        gradients = np.empty((n_targets, *X.shape))
        for k in range(n_targets):
            A = np.zeros_like(slope) if c is None else 2.0 * slope * c[k]
            if B is not None and bend is not None:
                offsets = _offsets(X, Z, B[k])
                values[k] -= 2.0 * np.einsum("ij,ij->i", slope, offsets)
                offsets *= bend
                offsets *= 4.0
                A -= offsets
            gradients[k] = A.sum(axis=1)[:, None] * X - A @ Z
            if B is not None:
                gradients[k] -= 2.0 * slope @ B[k]
        return values, gradients

    def slopes(self, X: FloatArray, frames: FloatArray, Z: FloatArray) -> FloatArray:
        slope = 2.0 * self.kernel.derivative(self.kernel.distances(X, Z))
        values = _along(frames, X)[:, :, None] - frames @ Z.T
        values *= slope[:, None, :]
        return values

    def mixed_slopes(
        self, X: FloatArray, frames: FloatArray, Z: FloatArray, others: FloatArray
    ) -> FloatArray:
        s = self.kernel.distances(X, Z, twice=True)
        slope, bend = self.kernel.derivative(s), self.kernel.second_derivative(s)
        left = _along(frames, X)[:, :, None] - frames @ Z.T
        right = np.einsum("id,jqd->ijq", X, others) - _along(others, Z)
        mixed = np.einsum("ipd,jqd->ipjq", frames, others, optimize=True)
        mixed *= -2.0 * slope[:, None, :, None]
        left *= -4.0 * bend[:, None, :]
        mixed += left[..., None] * right[:, None]
        return mixed

    def energy(self, X: FloatArray, weights: FloatArray, Z: FloatArray) -> FloatArray:
        # 4 sum_i w_i F_ij F_il (x_i - z_j).(x_i - z_l), multiplied out.
        F = self.kernel.derivative(self.kernel.distances(X, Z))
        F *= np.sqrt(weights)[:, None]
        cross = (F * (X @ Z.T)).T @ F
        # Both factors alike: BLAS computes half of a symmetric product.
        lengths = F * np.sqrt(squared_lengths(X))[:, None]
        total = lengths.T @ lengths
        total -= cross
        total -= cross.T
        total += (F.T @ F) * (Z @ Z.T)
        total *= 4.0
        return total


@dataclass(frozen=True)
class DotProductDerivatives(KernelDerivatives):
    """Derivatives of ``k(x, z) = kappa(<x, z>)``.

    They are grad_x k = kappa' z and d^2k/dxdz = kappa' I + kappa'' z x^T."""

    kernel: DotProductKernel

    @property
    def largest_product(self) -> float:
        return largest_product(self.kernel)

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return self.kernel.matrix(X, Z)

    def diagonal(self, X: FloatArray) -> FloatArray:
        return self.kernel.profile(squared_lengths(X))

    def evaluate(
        self, X: FloatArray, Z: FloatArray, c: FloatArray | None, B: FloatArray | None
    ) -> FloatArray:
        t = X @ Z.T
        values = np.zeros((_n_targets(c, B), len(X))) if c is None else c @ self.kernel.profile(t).T
        if B is None:
            return values
        slope = self.kernel.derivative(t)
        for value, b in zip(values, B, strict=True):
            value += np.einsum("ij,ij->i", slope, X @ b.T)
        return values

    def value_and_gradient(
        self, X: FloatArray, Z: FloatArray, c: FloatArray | None, B: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        t = X @ Z.T
        slope = self.kernel.derivative(t)
        bend = None if B is None else self.kernel.second_derivative(t)
        n_targets = _n_targets(c, B)
        values = np.zeros((n_targets, len(X))) if c is None else c @ self.kernel.profile(t).T
        gradients = np.empty((n_targets, *X.shape))
        for k in range(n_targets):
            A = np.zeros_like(slope) if c is None else slope * c[k]
            if B is not None and bend is not None:
                along = X @ B[k].T
                values[k] += np.einsum("ij,ij->i", slope, along)
                A += bend * along
            gradients[k] = A @ Z
            if B is not None:
                gradients[k] += slope @ B[k]
        return values, gradients

    def slopes(self, X: FloatArray, frames: FloatArray, Z: FloatArray) -> FloatArray:
        values = frames @ Z.T
        values *= self.kernel.derivative(X @ Z.T)[:, None, :]
        return values

    def mixed_slopes(
        self, X: FloatArray, frames: FloatArray, Z: FloatArray, others: FloatArray
    ) -> FloatArray:
        t = X @ Z.T
        mixed = np.einsum("ipd,jqd->ipjq", frames, others, optimize=True)
        mixed *= self.kernel.derivative(t)[:, None, :, None]
        left = frames @ Z.T * self.kernel.second_derivative(t)[:, None, :]
        mixed += left[..., None] * np.einsum("id,jqd->ijq", X, others)[:, None]
        return mixed

    def energy(self, X: FloatArray, weights: FloatArray, Z: FloatArray) -> FloatArray:
        F = self.kernel.derivative(X @ Z.T)
        F *= np.sqrt(weights)[:, None]
        total: FloatArray = (F.T @ F) * (Z @ Z.T)
        return total


def largest_product(kernel: DotProductKernel) -> float:
    """Largest size of an inner product at which the kernel is not too large to compute with.

    0 if there is none.
    """
    products = np.stack([PRODUCTS, -PRODUCTS])
    # Where a profile overflows it is too large, and that is what is asked.
    with np.errstate(over="ignore", invalid="ignore"):
        values = [kernel.profile(products), kernel.derivative(products)]
        values.append(kernel.second_derivative(products))
        sizes = np.max(np.abs(values), axis=(0, 1))
    # Within a product all smaller ones must be fine, too; what is no number is not.
    fine = np.logical_and.accumulate((sizes <= LARGEST_KERNEL)[::-1])[::-1]
    return float(PRODUCTS[np.argmax(fine)]) if fine.any() else 0.0


def make_derivatives(kernel: str | RadialKernel | DotProductKernel) -> KernelDerivatives:
    """The derivatives of a kernel, by name or as an object."""
    if isinstance(kernel, str):
        radial = kernel in RADIAL_KERNELS
        kernel = RADIAL_KERNELS[kernel]() if radial else DOT_PRODUCT_KERNELS[kernel]()
    if isinstance(kernel, RadialKernel):
        return RadialDerivatives(kernel)
    return DotProductDerivatives(kernel)


def check_differentiable_kernel(kernel: RadialKernel | DotProductKernel) -> None:
    """Refuse, in one sentence, a kernel whose functions have no gradients or whose second
    derivative is missing or wrong."""
    name = type(kernel).__name__
    if isinstance(kernel, RadialKernel):
        if not kernel.smooth_at_zero:
            raise ValueError(
                f"{name} is not differentiable enough: its functions have no gradient at their "
                "centres; use 'matern32' or a smoother kernel."
            )
        check_radial_kernel(kernel)
    points = np.array([[0.25, 1.0, 4.0]])
    # Differences beside a large constant are rounding; kernels from here have other tests.
    ours = type(kernel) in DOT_PRODUCT_KERNELS.values()
    if (
        isinstance(kernel, DotProductKernel)
        and not ours
        and not _is_derivative(kernel.derivative, kernel.profile, points)
    ):
        raise ValueError(f"{name}: derivative is not that of profile.")
    try:
        # Whether that overflows is looked at below.
        with np.errstate(over="ignore", invalid="ignore"):
            at_zero = np.asarray(kernel.second_derivative(np.zeros((1, 1))), dtype=np.float64)
    except NotImplementedError:
        raise ValueError(
            f"{name} has no method second_derivative, which a penalty on gradients needs; add it."
        ) from None
    if not ours and not _is_derivative(kernel.second_derivative, kernel.derivative, points):
        raise ValueError(f"{name}: second_derivative is not the derivative of derivative.")
    if isinstance(kernel, DotProductKernel) and largest_product(kernel) < SMALLEST_PRODUCT:
        raise ValueError(
            f"{name} is beyond {LARGEST_KERNEL:.0e} at inner products of {SMALLEST_PRODUCT:.0e}; "
            "choose a smaller degree or constant, or divide the profile by a constant."
        )
    if not np.isfinite(at_zero).all():
        raise ValueError(
            f"{name}: second_derivative is not finite at zero; return 0 there and set "
            "twice_smooth_at_zero = False."
        )


def _is_derivative(
    derivative: Callable[[FloatArray], FloatArray],
    function: Callable[[FloatArray], FloatArray],
    points: FloatArray,
) -> bool:
    """Whether one is the derivative of the other, by differences."""
    step = 1e-6 * points
    # What overflows is not compared; how large a kernel may be is looked at elsewhere.
    with np.errstate(over="ignore", invalid="ignore"):
        measured = (function(points + step) - function(points - step)) / (2.0 * step)
        values = np.asarray(derivative(points.copy()), dtype=np.float64)
    if values.shape != points.shape:
        return False
    seen = np.isfinite(measured) & np.isfinite(values)
    return np.allclose(values[seen], measured[seen], rtol=1e-4, atol=1e-7)


def _n_targets(c: FloatArray | None, B: FloatArray | None) -> int:
    if c is not None:
        return len(c)
    return 0 if B is None else len(B)


def _offsets(X: FloatArray, Z: FloatArray, b: FloatArray) -> FloatArray:
    """``(x_i - z_j) . b_j``, (n, m)."""
    offsets: FloatArray = X @ b.T
    offsets -= np.einsum("jd,jd->j", Z, b)
    return offsets


def _along(frames: FloatArray, X: FloatArray) -> FloatArray:
    """``T_i x_i``, (n, r)."""
    return np.einsum("ird,id->ir", frames, X)
