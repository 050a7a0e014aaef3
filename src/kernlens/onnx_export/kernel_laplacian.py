"""Kernel Laplacian: kernel atoms, derivatives of them, and random Fourier features."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens.kernels.derivatives import RadialDerivatives
from kernlens.methods.kernel_laplacian.function import FourierFunction, KernelFunction
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.radial import kernel_profile, squared_distances


def kernel_atoms(graph: Graph, function: KernelFunction, x: Tensor) -> Tensor:
    """``sum_j c_j k(x, z_j) + b_j . grad_z k(x, z_j)``, pulled in where the kernel grows."""
    points, radius = x / function.length, function._radius
    if radius < np.inf:
        lengths = points.square().sum().sqrt()
        points = points * (radius / lengths.at_least(radius))
    # The second kind of an atom has coefficients (n_targets, m, d), if there is any.
    slopes: FloatArray | None = getattr(function, "slopes", None)
    kernel, Z = function.kernel.kernel, function.centers  # type: ignore[attr-defined]
    radial = isinstance(function.kernel, RadialDerivatives)
    products = squared_distances(kernel, points, Z) if radial else points @ Z.T
    values, derivative = kernel_profile(kernel, products)
    total = values @ function.coefficients.T + function.intercept
    if slopes is None or derivative is None:
        return total
    parts = []
    for b in slopes:
        along = points @ b.T
        if radial:
            along = -2.0 * (along - np.einsum("jd,jd->j", Z, b))
        parts.append((derivative * along).sum())
    return total + graph.concatenated(parts)


def fourier_features(graph: Graph, function: FourierFunction, x: Tensor) -> Tensor:
    """Cosines of random frequencies."""
    angles = (x / function.length) @ function.map.frequencies.T + function.map.phases
    scaled = function.coefficients.T * float(np.sqrt(2.0 / function.map.n_features))
    return angles.cos() @ scaled + function.intercept
