"""Fitted functions with gradients, made of kernel atoms or of random features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, single_threaded_blas, split_range
from kernlens.features.fourier import FourierMap
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis, KernelMap

Value = TypeVar("Value")

#: Entries of a block between rows and atoms.
BLOCK_ENTRIES = 1_000_000


@dataclass(frozen=True)
class LaplacianFunction(ABC):
    """Functions of points (n, d), one per target.

    Attributes
    ----------
    coefficients : ndarray of shape (n_targets, m)
    intercept : ndarray of shape (n_targets,)
    """

    coefficients: FloatArray
    intercept: FloatArray

    @abstractmethod
    def _values(self, X: FloatArray) -> FloatArray:
        """Values without the intercept, (n_targets, n)."""

    @abstractmethod
    def _gradients(self, X: FloatArray) -> FloatArray:
        """Gradients, (n_targets, n, d)."""

    def values(self, X: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Values, (n_targets, n), computed in blocks."""
        return self._in_blocks(self._values, X, n_jobs) + self.intercept[:, None]

    def gradients(self, X: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Gradients, (n_targets, n, d), computed in blocks."""
        return self._in_blocks(self._gradients, X, n_jobs)

    def _in_blocks(
        self, function: Callable[[FloatArray], FloatArray], X: FloatArray, n_jobs: int | None
    ) -> FloatArray:
        n_atoms = self.coefficients.shape[1]
        blocks = split_range(len(X), max(1, BLOCK_ENTRIES // n_atoms))
        with single_threaded_blas():
            work = float(len(X)) * n_atoms * X.shape[1]
            parts = map_blocks(lambda rows: function(X[rows]), blocks, n_jobs=n_jobs, work=work)
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class KernelFunction(LaplacianFunction):
    """``sum_j c_j k(x, z_j) + b_j . grad_z k(x, z_j) + intercept``.

    Attributes
    ----------
    kernel : KernelDerivatives
    centers : ndarray of shape (m, d)
    slopes : ndarray of shape (n_targets, m, d), or None
        b; c are the coefficients.
    """

    kernel: KernelDerivatives
    centers: FloatArray
    slopes: FloatArray | None

    def _values(self, X: FloatArray) -> FloatArray:
        return self.kernel.evaluate(X, self.centers, self.coefficients, self.slopes)

    def _gradients(self, X: FloatArray) -> FloatArray:
        return self.kernel.value_and_gradient(X, self.centers, self.coefficients, self.slopes)[1]


@dataclass(frozen=True)
class FourierFunction(LaplacianFunction):
    """``sum_j c_j phi_j(x) + intercept`` of random Fourier features."""

    map: FourierMap

    def _values(self, X: FloatArray) -> FloatArray:
        values: FloatArray = self.coefficients @ self.map.features(X).T
        return values

    def _gradients(self, X: FloatArray) -> FloatArray:
        return self.map.gradient(X, self.coefficients)


def function_in_basis(
    basis: EnergyBasis, coefficients: FloatArray, intercept: FloatArray
) -> LaplacianFunction:
    """The functions with coefficients (n_targets, q) in a basis."""
    of_features = coefficients @ basis.rotation.T
    if isinstance(basis.map, KernelMap):
        return KernelFunction(of_features, intercept, basis.map.kernel, basis.map.centers, None)
    assert isinstance(basis.map, FourierMap)
    return FourierFunction(of_features, intercept, basis.map)
