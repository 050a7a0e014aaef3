"""Kernels of distances and of inner products, with the derivative that some expansions need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths
from kernlens.kernels.dot_product import (
    DotProductKernel,
    ExponentialDotKernel,
    LinearKernel,
    PolynomialKernel,
)
from kernlens.kernels.radial import (
    FAR,
    GaussianKernel,
    GeneralizedLaplaceKernel,
    LaplaceKernel,
    Matern32Kernel,
    Matern52Kernel,
    RadialKernel,
    RationalQuadraticKernel,
)
from kernlens.onnx_export.graph import Graph, Tensor

#: A profile and its derivative.
Pair = tuple[Tensor, Tensor | None]
#: Entries are cut off where sums of their squares overflow.
FINITE_SQUARES = 1e-3 * float(np.sqrt(np.finfo(np.float64).max))


def finite_squares(x: Tensor) -> Tensor:
    """The entries, cut off where sums of their squares overflow."""
    return x.clip(-FINITE_SQUARES, FINITE_SQUARES)


def kernel_profile(kernel: RadialKernel | DotProductKernel, s: Tensor) -> Pair:
    """Values and derivatives of a kernel of squared distances, or of inner products."""
    write = _PROFILES.get(type(kernel))
    if write is None:
        raise ValueError(
            f"{type(kernel).__name__} is a kernel of your own, which to_onnx cannot write down; "
            "fit the model with a kernel of kernlens."
        )
    return write(kernel, s)


def squared_distances(kernel: RadialKernel, U: Tensor, V: FloatArray) -> Tensor:
    """Squared distances (n, m) of rows (n, p) and points (m, p), as the kernel needs them."""
    U, V = finite_squares(U), V.clip(-FINITE_SQUARES, FINITE_SQUARES)
    if kernel.smooth_at_zero:
        squares = U @ (-2.0 * V.T) + U.square().sum() + squared_lengths(V)
        return squares.clip(0.0, FAR)
    # One column at a time: the rounding of a matrix product shows where there is a kink.
    return added_up(U, V, Tensor.square).at_most(FAR)


def added_up(U: Tensor, V: FloatArray, of: Callable[[Tensor], Tensor]) -> Tensor:
    """Sums (n, m) over the columns of a function of the differences of rows and points."""
    parts = [of(U.column(j) - V[:, j]) for j in range(V.shape[1])]
    return U.graph.total(parts)


def radial_matrix(kernel: RadialKernel, U: Tensor, V: FloatArray) -> Tensor:
    """The kernel of rows and points, (n, m)."""
    return kernel_profile(kernel, squared_distances(kernel, U, V))[0]


def projected_kernel(graph: Graph, function: Any, x: Tensor) -> Tensor:
    """HKRR, and RegFeaL's refit: an expansion in a radial kernel behind a linear map."""
    values = radial_matrix(function.kernel, x @ function.B.T, function.Z @ function.B.T)
    return values @ function.coefficients.T + function.intercept


def _gaussian(kernel: Any, s: Tensor) -> Pair:
    values = (-0.5 * s).exp()
    return values, -0.5 * values


def _matern32(kernel: Any, s: Tensor) -> Pair:
    scaled = (3.0 * s).sqrt()
    decay = (-scaled).exp()
    return (1.0 + scaled) * decay, -1.5 * decay


def _matern52(kernel: Any, s: Tensor) -> Pair:
    scaled = (5.0 * s).sqrt()
    decay = (-scaled).exp()
    linear = (1.0 + scaled) * decay
    return linear + (5.0 / 3.0) * s * decay, (-5.0 / 6.0) * linear


def _rational_quadratic(kernel: Any, s: Tensor) -> Pair:
    grown = 1.0 + s / (2.0 * kernel.a)
    values = (-kernel.a * grown.log()).exp()
    return values, -0.5 * values / grown


def _laplace(kernel: Any, s: Tensor) -> Pair:
    return (-(s.sqrt())).exp(), None


def _generalized_laplace(kernel: Any, s: Tensor) -> Pair:
    return (-(s ** (0.5 * kernel.q))).exp(), None


def _linear(kernel: Any, t: Tensor) -> Pair:
    return t, 1.0 + 0.0 * t


def _polynomial(kernel: Any, t: Tensor) -> Pair:
    base, degree = t + kernel.constant, int(kernel.degree)
    slope = 1.0 + 0.0 * t if degree == 1 else degree * base ** (degree - 1)
    return base**degree, slope


def _exponential_dot(kernel: Any, t: Tensor) -> Pair:
    values = t.at_most(600.0).exp()
    return values, values


_PROFILES: dict[type, Callable[[Any, Tensor], Pair]] = {
    GaussianKernel: _gaussian,
    Matern32Kernel: _matern32,
    Matern52Kernel: _matern52,
    RationalQuadraticKernel: _rational_quadratic,
    LaplaceKernel: _laplace,
    GeneralizedLaplaceKernel: _generalized_laplace,
    LinearKernel: _linear,
    PolynomialKernel: _polynomial,
    ExponentialDotKernel: _exponential_dot,
}
