"""The fitted function as a sum of functions of one projection each, ready to be evaluated.

    f(x) = c + (1/m) sum_j g_j(w_j . x)

For the Brownian kernel every g_j is piecewise linear with a knot at every training projection, so a
prediction costs O(m (d + log n)) a row and no kernel is evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range
from kernlens.kernels.one_dimensional import OneDimensionalKernel, make_guide
from kernlens.methods.bkernn.objective import ReducedPoint

ROWS_PER_BLOCK = 32_768


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
    """

    kernel: OneDimensionalKernel
    particles: FloatArray
    knots: FloatArray
    tables: FloatArray
    intercept: FloatArray

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
        return cls(operator.kernel, point.W[alive], knots, tables, point.fit.intercept)

    def decision(self, X: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Evaluate the function on rows, (n_targets, n_rows), in blocks of rows."""

        def values(rows: slice) -> FloatArray:
            queries = np.ascontiguousarray(self.particles @ X[rows].T)
            out = np.repeat(self.intercept[:, None], queries.shape[1], axis=1)
            self.kernel.add_values(self.knots, self.tables, guide, queries, out)
            return out

        guide = make_guide(self.knots, len(X))
        blocks = split_range(len(X), ROWS_PER_BLOCK)
        work = 20.0 * len(X) * max(1, len(self.particles))
        return np.concatenate(map_blocks(values, blocks, n_jobs=n_jobs, work=work), axis=1)

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
