"""The fitted function as a sum of functions of one projection each, ready to be evaluated.

    f(x) = c + (1/m) sum_j g_j(w_j . x)

For the Brownian kernel every g_j is piecewise linear with a knot at every training projection, so a
prediction costs O(m (d + log n)) a row and no kernel is evaluated. Knots and tables are many times
larger than the rows and coefficients that they are made of: only these belong to a saved model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernlens._array import BoolArray, FloatArray, IntArray
from kernlens._execution import map_blocks, split_range
from kernlens._lazy import lazy
from kernlens.kernels.one_dimensional import OneDimensionalKernel
from kernlens.linalg.projected_kernel_operator import ProjectedKernelOperator
from kernlens.methods.bkernn.objective import ReducedPoint
from kernlens.methods.bkernn.tabulated import TabulatedFunctions

#: Particles whose rows are sorted together. Fixed, so that sums round alike for every `n_jobs`.
PARTICLES_PER_BLOCK = 8


@dataclass(frozen=True)
class RidgeFunctions(TabulatedFunctions):
    """A fitted function in terms of its particles.

    Attributes
    ----------
    kernel : OneDimensionalKernel
        Gives the tables their meaning.
    particles : ndarray of shape (n_particles, n_inputs)
        Directions w_j with a non-zero length; the others contribute a constant and are dropped.
    support : ndarray of shape (n_samples, n_seen)
        Training rows in the inputs `seen`; if there are none of those, projections of the rows on
        the particles.
    seen : ndarray of int of shape (n_seen,)
        Inputs of the columns of `support`.
    dual : ndarray of shape (n_targets, n_samples)
        Coefficients of the kernel at the rows; the factor 1/m is inside.
    intercept : ndarray of shape (n_targets,)
        Constant c, with the constants of the dropped particles.
    n_jobs : int or None
        Threads.
    """

    kind: ClassVar[str] = "ridge"

    kernel: OneDimensionalKernel
    particles: FloatArray
    support: FloatArray
    seen: IntArray
    dual: FloatArray
    intercept: FloatArray
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        arrays = (self.particles, self.support, self.dual, self.intercept)
        known = [array.ndim for array in arrays] == [2, 2, 2, 1] and self.seen.ndim == 1
        known = known and all(array.dtype == np.float64 for array in arrays)
        if not (known and self.seen.dtype.kind == "i" and self._is_whole()):
            # The compiled loops would read outside their tables, or be compiled for arrays of
            # another kind: a damaged file.
            raise ValueError(
                f"The model is damaged: it has particles of shape {self.particles.shape}, rows of "
                f"shape {self.support.shape} and coefficients of shape {self.dual.shape}; fit it "
                "again."
            )

    def _is_whole(self) -> bool:
        (m, n_inputs), (n, n_seen) = self.particles.shape, self.support.shape
        inside = np.all((self.seen >= 0) & (self.seen < n_inputs))
        placed = n > 0 and n_seen == (len(self.seen) or m)
        return bool(inside and placed and self.dual.shape == (len(self.intercept), n))

    @classmethod
    def of(cls, point: ReducedPoint) -> RidgeFunctions:
        """The functions of an evaluated point, whose rows are sorted already."""
        operator, dual = point.operator, np.ascontiguousarray(point.fit.dual)
        # A particle at zero sees every row at the same place: kappa(0) times a sum that is zero.
        alive = np.any(point.W != 0.0, axis=1)
        particles = operator.particles(alive)
        seen = np.flatnonzero(particles.any(axis=0))
        if len(seen) <= len(particles):
            support = np.ascontiguousarray(operator.X[:, seen])
        else:
            seen, support = seen[:0], np.ascontiguousarray(operator.X @ particles.T)
        functions = cls(
            operator.kernel,
            particles,
            support,
            seen,
            dual / operator.n_particles,
            point.fit.intercept,
            operator.n_jobs,
        )
        vars(functions)["_tabulated"] = _tables_of(operator, dual, alive)
        return functions

    @property
    def knots(self) -> FloatArray:
        """Sorted training projections, (n_particles, n_samples)."""
        return self._tabulated[0]

    @property
    def tables(self) -> FloatArray:
        """See :meth:`OneDimensionalKernel.tables`, (n_tables, n_targets, m, n_samples)."""
        return self._tabulated[1]

    @lazy
    def _tabulated(self) -> tuple[FloatArray, FloatArray]:
        """Knots and tables, from rows and coefficients: O(m n (d + log n)), when first needed."""
        m = len(self.particles)
        knots, tables = _empty_tables(self.kernel, m, self.dual)

        def fill(part: slice) -> None:
            block = self.kernel.prepare(self._projections(part))
            knots[part] = block.points
            tables[:, :, part] = self.kernel.tables(block, self.dual)

        parts = split_range(m, PARTICLES_PER_BLOCK)
        map_blocks(fill, parts, n_jobs=self.n_jobs, work=30.0 * knots.size)
        return knots, tables

    def _projections(self, part: slice) -> FloatArray:
        """Projections of the training rows on some particles, (n_part, n_samples)."""
        if len(self.seen):
            return self.particles[part][:, self.seen] @ self.support.T
        return np.ascontiguousarray(self.support.T[part])

    def arrays(self) -> dict[str, Any]:
        """What the tables are made of; the particles are kept in the units of the user."""
        return {
            "support_": self.support,
            "support_inputs_": self.seen,
            "dual_coef_": self.dual,
            "intercept_": self.intercept,
        }


def _empty_tables(
    kernel: OneDimensionalKernel, n_particles: int, dual: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Knots and tables that are to be filled."""
    n_samples = dual.shape[1]
    nothing = kernel.tables(kernel.prepare(np.empty((0, n_samples))), dual)
    shape = (n_particles, n_samples)
    return np.empty(shape), np.empty((*nothing.shape[:2], *shape))


def _tables_of(
    operator: ProjectedKernelOperator, dual: FloatArray, alive: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Knots and tables of the particles marked in `alive`, from rows that an operator sorted."""
    knots, tables = _empty_tables(operator.kernel, int(alive.sum()), dual)
    at = 0
    for part, block in zip(operator.slices, operator.blocks, strict=True):
        kept = block.select(alive[part])
        rows = slice(at, at + len(kept.points))
        knots[rows] = kept.points
        tables[:, :, rows] = operator.kernel.tables(kept, dual) / operator.n_particles
        at = rows.stop
    return knots, tables
