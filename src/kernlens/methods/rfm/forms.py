"""Kernels of images: a function of their distance, or a product over their coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kernlens._array import FloatArray
from kernlens._compiled import compiled
from kernlens._geometry import squared_lengths
from kernlens.kernels.radial import RadialKernel

#: Larger sums of differences than this have a kernel of zero.
FAR = 1e300
#: Images nearer than this share of their size are one point to a kernel with a kink. The rows of a
#: fit have lost the digits beyond, and are still met at their own place.
SAME_POINT = 1e-7
#: Smaller images count as this share of the size of all.
SMALL = 1e-3


class Form(ABC):
    """A kernel k(u, v) of images, of width 1, with k(u, u) = 1."""

    @abstractmethod
    def unit(self, spreads: FloatArray) -> float:
        """How far apart rows are whose columns have these standard deviations (d,)."""

    @abstractmethod
    def matrix(self, U: FloatArray, V: FloatArray) -> FloatArray:
        """Kernel of rows of U (n, p) and V (m, p), (n, m)."""

    @abstractmethod
    def gradient(self, U: FloatArray, V: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients at U of ``sum_j a_tj k(u, v_j)``, (n_targets, n, p).

        At a centre where the kernel has a kink, that centre adds nothing.
        """


@dataclass(frozen=True)
class RadialForm(Form):
    """``phi(|u - v|^2)``."""

    kernel: RadialKernel

    def unit(self, spreads: FloatArray) -> float:
        return float(np.linalg.norm(spreads))

    def matrix(self, U: FloatArray, V: FloatArray) -> FloatArray:
        return self.kernel.matrix(U, V)

    def gradient(self, U: FloatArray, V: FloatArray, coefficients: FloatArray) -> FloatArray:
        squares = self.kernel.distances(U, V)
        if not self.kernel.smooth_at_zero:
            sizes = np.maximum(squared_lengths(U), SMALL**2 * np.mean(squared_lengths(V)))
            squares[squares <= SAME_POINT**2 * sizes[:, None]] = 0.0
        slopes = self.kernel.derivative(squares)
        gradients = np.empty((len(coefficients), *U.shape))
        for a, gradient in zip(coefficients, gradients, strict=True):
            C = slopes * a
            np.subtract(C.sum(axis=1)[:, None] * U, C @ V, out=gradient)
        gradients *= 2.0
        return gradients


@dataclass(frozen=True)
class ProductForm(Form):
    """``prod_j exp(-|u_j - v_j|)``: the product of Laplace kernels along the axes."""

    def unit(self, spreads: FloatArray) -> float:
        return float(spreads.sum())

    def matrix(self, U: FloatArray, V: FloatArray) -> FloatArray:
        distances = np.minimum(cdist(U, V, "cityblock"), FAR)
        values: FloatArray = np.exp(np.negative(distances, out=distances), out=distances)
        return values

    def gradient(self, U: FloatArray, V: FloatArray, coefficients: FloatArray) -> FloatArray:
        values = self.matrix(U, V)
        sizes = SMALL * np.sqrt(np.mean(np.square(V), axis=0))
        gaps = SAME_POINT * np.maximum(np.abs(U), sizes)
        gradients = np.zeros((len(coefficients), *U.shape))
        for a, gradient in zip(coefficients, gradients, strict=True):
            _add_sides(U, V, gaps, values * a, gradient)
        return gradients


@compiled()
def _add_sides(U, V, gaps, values, out):  # type: ignore[no-untyped-def]
    """Add ``sum_j c_ij sign(v_jk - u_ik)`` to `out` (n, p); differences up to `gaps` are none."""
    for i in range(len(U)):
        for j in range(len(V)):
            value = values[i, j]
            for k in range(U.shape[1]):
                step = V[j, k] - U[i, k]
                if step > gaps[i, k]:
                    out[i, k] += value
                elif step < -gaps[i, k]:
                    out[i, k] -= value
