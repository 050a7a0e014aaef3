"""The fitted function of more rows than memory: kernels at a few knots of every projection.

    f(x) = c + sum_j sum_k b_jk kappa(w_j . x - t_jk)

It has the knots t and the coefficients b where :class:`RidgeFunctions` has rows: nothing grows with
the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens.kernels.knots import KnotSpace
from kernlens.kernels.one_dimensional import OneDimensionalKernel
from kernlens.methods.bkernn.tabulated import TabulatedFunctions


@dataclass(frozen=True)
class KnotFunctions(TabulatedFunctions):
    """A fitted function in terms of its particles and their knots.

    Attributes
    ----------
    kernel : OneDimensionalKernel
    particles : ndarray of shape (m, n_inputs)
    positions : ndarray of shape (m, n_knots)
        The knots t, increasing.
    coefficients : ndarray of shape (n_targets, m, n_knots)
        The coefficients b.
    intercept : ndarray of shape (n_targets,)
    n_jobs : int or None
        Threads.
    """

    kind: ClassVar[str] = "knots"

    kernel: OneDimensionalKernel
    particles: FloatArray
    positions: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        arrays = (self.particles, self.positions, self.coefficients, self.intercept)
        known = [array.ndim for array in arrays] == [2, 2, 3, 1]
        known = known and all(array.dtype == np.float64 for array in arrays)
        shape = (len(self.intercept), len(self.particles), self.positions.shape[-1])
        if not (known and self.coefficients.shape == shape and self.positions.shape == shape[1:]):
            # The compiled loops would read outside their tables.
            raise ValueError(
                f"The model is damaged: it has particles of shape {self.particles.shape}, knots of "
                f"shape {self.positions.shape} and coefficients of shape "
                f"{self.coefficients.shape}; fit it again."
            )

    @classmethod
    def of(
        cls,
        space: KnotSpace,
        particles: FloatArray,
        u: FloatArray,
        constant: FloatArray,
        n_jobs: int | None,
    ) -> KnotFunctions:
        """The functions with coordinates `u` (n_targets, m, q), and constants."""
        coefficients = space.coefficients(u)
        functions = cls(space.kernel, particles, space.knots, coefficients, constant, n_jobs)
        if space.kernel.bounded:
            return functions
        # Constants have no norm, and both sides set their own aside.
        apart = space.tables(u)[:, :, 0] - functions.tables[0, :, :, 0]
        return replace(functions, intercept=constant + apart.sum(axis=1))

    @property
    def knots(self) -> FloatArray:
        """The knots as they are."""
        return self.positions

    @property
    def tables(self) -> FloatArray:
        """See :meth:`OneDimensionalKernel.tables`, (n_tables, n_targets, m, n_knots)."""
        return self._tabulated

    @lazy
    def _tabulated(self) -> FloatArray:
        one = [
            self.kernel.tables(self.kernel.prepare(self.positions[j : j + 1]), coefficients)
            for j, coefficients in enumerate(self.coefficients.transpose(1, 0, 2).copy())
        ]
        if not one:
            return np.empty((1, len(self.intercept), 0, self.positions.shape[1]))
        return np.ascontiguousarray(np.concatenate(one, axis=2))

    def arrays(self) -> dict[str, Any]:
        """Knots and coefficients; the particles are kept in the units of the user."""
        return {
            "knots_": self.positions,
            "knot_coef_": self.coefficients,
            "intercept_": self.intercept,
        }
