"""Functions of one projection each, evaluated from knots and tables, however they were fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range
from kernlens.kernels.one_dimensional import OneDimensionalKernel, make_guide

ROWS_PER_BLOCK = 32_768
#: Slopes of single functions that exist at once.
SLOPE_ENTRIES = 4_000_000


class TabulatedFunctions(ABC):
    """A sum of functions of one projection each, with what it is evaluated from.

    Attributes
    ----------
    kernel : OneDimensionalKernel
        Gives the tables their meaning.
    particles : ndarray of shape (n_particles, n_inputs)
        Directions w_j.
    intercept : ndarray of shape (n_targets,)
    n_jobs : int or None
        Threads.
    """

    kind: ClassVar[str]

    kernel: OneDimensionalKernel
    particles: FloatArray
    intercept: FloatArray
    n_jobs: int | None

    @property
    @abstractmethod
    def knots(self) -> FloatArray:
        """Sorted points of every particle, (n_particles, n_knots)."""

    @property
    @abstractmethod
    def tables(self) -> FloatArray:
        """See :meth:`OneDimensionalKernel.tables`, (n_tables, n_targets, m, n_knots)."""

    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """What the tables are made of."""

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
