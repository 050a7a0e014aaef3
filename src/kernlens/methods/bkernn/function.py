"""The fitted function as a sum of functions of one projection each, ready to be evaluated.

    f(x) = c + (1/m) sum_j g_j(w_j . x)

For the Brownian kernel every g_j is piecewise linear with a knot at every training projection, so a
prediction costs O(m (d + log n)) a row and no kernel is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range
from kernlens.kernels.one_dimensional import OneDimensionalKernel, make_guide
from kernlens.methods.bkernn.objective import ReducedPoint

ROWS_PER_BLOCK = 32_768
#: Slopes of single functions that exist at once.
SLOPE_ENTRIES = 4_000_000


@dataclass(frozen=True)
class RidgeFunctions:
    """A fitted function in terms of its particles.

    Attributes
    ----------
    kernel : OneDimensionalKernel
        Gives the tables their meaning.
    particles : ndarray of shape (n_particles, n_features)
        Directions w_j with a non-zero length; the others contribute a constant and are dropped.
    knots : ndarray of shape (n_particles, n_samples)
        Sorted training projections.
    tables : ndarray of shape (n_tables, n_targets, n_particles, n_samples)
        See :meth:`OneDimensionalKernel.tables`; the factor 1/m is inside.
    intercept : ndarray of shape (n_targets,)
        Constant c, with the constants of the dropped particles.
    n_jobs : int or None
        Threads.
    """

    kind: ClassVar[str] = "ridge"

    kernel: OneDimensionalKernel
    particles: FloatArray
    knots: FloatArray
    tables: FloatArray
    intercept: FloatArray
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        m, n = len(self.particles), self.knots.shape[-1]
        tables = (len(self.tables), len(self.intercept), m, n)
        whole = self.knots.shape == (m, n) and n > 0 and self.tables.shape == tables
        arrays = (self.particles, self.knots, self.tables, self.intercept)
        known = self.intercept.ndim == 1 and all(array.dtype == np.float64 for array in arrays)
        if not (whole and known):
            # The compiled loops would read outside their tables, or be compiled for arrays of
            # another kind: a damaged file.
            raise ValueError(
                f"The model is damaged: it has {m} particles, knots of shape {self.knots.shape} "
                f"and tables of shape {self.tables.shape}; fit it again."
            )

    @classmethod
    def of(cls, point: ReducedPoint) -> RidgeFunctions:
        """Tabulate the functions of an evaluated point."""
        operator, dual = point.operator, np.ascontiguousarray(point.fit.dual)
        alive = np.any(point.W != 0.0, axis=1)
        # A particle at zero sees every row at the same place: kappa(0) times a sum that is zero.
        n_alive = int(alive.sum())
        n_targets, n_samples = dual.shape
        knots = np.empty((n_alive, n_samples), dtype=operator.blocks[0].points.dtype)
        tables: FloatArray | None = None
        at = 0
        for part, block in zip(operator.slices, operator.blocks, strict=True):
            kept = alive[part]
            if not kept.any():
                continue
            alive_block = block.select(kept)
            rows = slice(at, at + int(kept.sum()))
            knots[rows] = alive_block.points
            piece = operator.kernel.tables(alive_block, dual) / operator.n_particles
            if tables is None:
                tables = np.empty((len(piece), n_targets, n_alive, n_samples))
            tables[:, :, rows] = piece
            at = rows.stop
        if tables is None:
            tables = operator.kernel.tables(
                operator.blocks[0].select(alive[operator.slices[0]]), dual
            )
        return cls(
            operator.kernel,
            operator.particles(alive),
            knots,
            tables,
            point.fit.intercept,
            operator.n_jobs,
        )

    def decision(self, X: FloatArray) -> FloatArray:
        """Evaluate the function on rows, (n_targets, n_rows), in blocks of rows."""

        def values(queries: FloatArray) -> FloatArray:
            out = np.repeat(self.intercept[:, None], queries.shape[1], axis=1)
            self.kernel.add_values(self.knots, self.tables, guide, queries, out)
            return out

        guide = make_guide(self.knots, len(X))
        return np.concatenate(self._map_projections(values, X, ROWS_PER_BLOCK), axis=1)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients ``(1/m) sum_j g_j'(w_j . x) w_j``, (n_targets, n_rows, n_inputs).

        At a knot of a piecewise linear function it is the mean of the slopes on both sides.
        """

        def slopes(queries: FloatArray) -> FloatArray:
            out = np.zeros((len(self.intercept), *queries.shape))
            self.kernel.write_slopes(self.knots, self.tables, guide, queries, out)
            return np.einsum("tji,jd->tid", out, self.particles, optimize=True)

        guide = make_guide(self.knots, len(X))
        size = max(1, SLOPE_ENTRIES // max(1, len(self.particles) * len(self.intercept)))
        return np.concatenate(self._map_projections(slopes, X, size), axis=1)

    def _map_projections(
        self, function: Callable[[FloatArray], FloatArray], X: FloatArray, size: int
    ) -> list[FloatArray]:
        """Apply a function to the projections (n_particles, n_block) of blocks of rows."""

        def project(rows: slice) -> FloatArray:
            return function(np.ascontiguousarray(self.particles @ X[rows].T))

        work = 20.0 * len(X) * max(1, len(self.particles))
        return map_blocks(project, split_range(len(X), size), n_jobs=self.n_jobs, work=work)

    def arrays(self) -> dict[str, Any]:
        """Knots, tables and the constant; the particles are kept in the units of the user."""
        return {"knots_": self.knots, "tables_": self.tables, "intercept_": self.intercept}

    def contributions(self, grid: FloatArray) -> FloatArray:
        """Evaluate every function on its row of `grid` (m, n_points), (n_targets, m, n_points)."""
        out = np.zeros((len(self.intercept), *grid.shape))
        for j in range(len(grid)):
            one = slice(j, j + 1)
            self.kernel.add_values(
                self.knots[one],
                np.ascontiguousarray(self.tables[:, :, one]),
                make_guide(self.knots[one], 0),
                np.ascontiguousarray(grid[one]),
                out[:, j],
            )
        return out
