"""Fitted functions with gradients, made of kernel atoms or of random features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, single_threaded_blas, split_range
from kernlens._geometry import squared_lengths
from kernlens.features.fourier import FourierMap
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.methods.kernel_laplacian.derivative_system import BLOCK_ENTRIES
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis, KernelMap


@dataclass(frozen=True, kw_only=True)
class LaplacianFunction(ABC):
    """Functions of inputs (n, d), one per target.

    Attributes
    ----------
    coefficients : ndarray of shape (n_targets, m)
    intercept : ndarray of shape (n_targets,)
    length : float or ndarray of shape (d,)
        What inputs are divided by before anything else.
    n_jobs : int or None
        Threads.
    """

    kind: ClassVar[str]

    coefficients: FloatArray
    intercept: FloatArray
    length: float | FloatArray = 1.0
    n_jobs: int | None = None

    @abstractmethod
    def _values(self, points: FloatArray) -> FloatArray:
        """Values without the intercept, (n_targets, n), at points in units of the length."""

    @abstractmethod
    def _slopes(self, points: FloatArray) -> FloatArray:
        """Gradients in such points, (n_targets, n, d)."""

    @property
    def _radius(self) -> float:
        """Farther points have the value of the point at this distance in their direction."""
        return np.inf

    def decision(self, X: FloatArray) -> FloatArray:
        """Values, (n_targets, n), computed in blocks."""
        points, _ = self._pulled_in(X)
        return self._in_blocks(self._values, points) + self.intercept[:, None]

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients, (n_targets, n, d), computed in blocks."""
        points, factors = self._pulled_in(X)
        slopes = self._in_blocks(self._slopes, points)
        far = factors < 1.0
        if far.any():
            # Nothing changes outwards, and what does across is as much slower as the point is
            # farther.
            outwards = points[far] / self._radius
            outer = np.einsum("tnd,nd->tn", slopes[:, far], outwards)
            slopes[:, far] -= outer[..., None] * outwards
            slopes[:, far] *= factors[far][:, None]
        return slopes / self.length

    def _pulled_in(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points in units of the length, none beyond the radius, and what far ones are times."""
        points, radius = X / self.length, self._radius
        if radius == np.inf:
            return points, np.ones(len(X))
        factors = np.minimum(1.0, radius / np.maximum(np.linalg.norm(points, axis=1), radius))
        return points * factors[:, None], factors

    def arrays(self) -> dict[str, Any]:
        """What all kinds of functions have; each adds its own."""
        return {
            "coef_": self.coefficients,
            "intercept_": self.intercept,
            "length_scale_": self.length,
        }

    def _in_blocks(
        self, function: Callable[[FloatArray], FloatArray], points: FloatArray
    ) -> FloatArray:
        n_atoms = self.coefficients.shape[1]
        blocks = split_range(len(points), max(1, BLOCK_ENTRIES // n_atoms))
        with single_threaded_blas():
            work = float(len(points)) * n_atoms * points.shape[1]
            parts = map_blocks(
                lambda rows: function(points[rows]), blocks, n_jobs=self.n_jobs, work=work
            )
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True, kw_only=True)
class KernelFunction(LaplacianFunction):
    """``sum_j c_j k(x, z_j) + intercept``.

    Attributes
    ----------
    kernel : KernelDerivatives
    centers : ndarray of shape (m, d)
        The z_j, in units of the length.
    """

    kind: ClassVar[str] = "kernel"

    kernel: KernelDerivatives
    centers: FloatArray

    @property
    def _radius(self) -> float:
        largest = self.kernel.largest_product
        farthest = float(np.sqrt(np.max(squared_lengths(self.centers))))
        return largest / farthest if largest < np.inf and farthest > 0.0 else np.inf

    @property
    def _derivatives(self) -> FloatArray | None:
        """Coefficients of the derivatives of the kernel, (n_targets, m, d), if there are any."""
        return None

    def _values(self, points: FloatArray) -> FloatArray:
        return self.kernel.evaluate(points, self.centers, self.coefficients, self._derivatives)

    def _slopes(self, points: FloatArray) -> FloatArray:
        _, slopes = self.kernel.value_and_gradient(
            points, self.centers, self.coefficients, self._derivatives
        )
        return slopes

    def arrays(self) -> dict[str, Any]:
        """Coefficients and centres."""
        return {**super().arrays(), "centers_": self.centers}


@dataclass(frozen=True, kw_only=True)
class AtomFunction(KernelFunction):
    """``sum_j c_j k(x, z_j) + b_j . grad_z k(x, z_j) + intercept``.

    Attributes
    ----------
    slopes : ndarray of shape (n_targets, m, d)
        The b_j.
    """

    kind: ClassVar[str] = "atoms"

    slopes: FloatArray

    @property
    def _derivatives(self) -> FloatArray | None:
        return self.slopes

    def arrays(self) -> dict[str, Any]:
        """Coefficients of values and of derivatives, and centres."""
        return {**super().arrays(), "slopes_": self.slopes}


@dataclass(frozen=True, kw_only=True)
class FourierFunction(LaplacianFunction):
    """``sum_j c_j phi_j(x) + intercept`` of random Fourier features."""

    kind: ClassVar[str] = "fourier"

    map: FourierMap

    def _values(self, points: FloatArray) -> FloatArray:
        values: FloatArray = self.coefficients @ self.map.features(points).T
        return values

    def _slopes(self, points: FloatArray) -> FloatArray:
        return self.map.gradient(points, self.coefficients)

    def arrays(self) -> dict[str, Any]:
        """Coefficients, frequencies and phases."""
        return {
            **super().arrays(),
            "frequencies_": self.map.frequencies,
            "phases_": self.map.phases,
        }


def function_in_basis(
    basis: EnergyBasis, coefficients: FloatArray, intercept: FloatArray
) -> LaplacianFunction:
    """The functions with coefficients (n_targets, q) in a basis."""
    of_features = coefficients @ basis.rotation.T
    if isinstance(basis.map, KernelMap):
        return KernelFunction(
            coefficients=of_features,
            intercept=intercept,
            kernel=basis.map.kernel,
            centers=basis.map.centers,
        )
    assert isinstance(basis.map, FourierMap)
    return FourierFunction(coefficients=of_features, intercept=intercept, map=basis.map)
