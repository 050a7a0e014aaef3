"""The kernel matrix ``K = (1/m) sum_j k(p_ij - p_i'j)``, as an operator on sorted projections."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._execution import SERIAL_WORK, map_blocks, split_range
from kernlens._lazy import lazy
from kernlens.kernels.one_dimensional import OneDimensionalKernel, SortedProjections

#: Up to this many rows a kernel without a recursion keeps its matrix (at most 32 MB) for products.
DENSE_PRODUCT_MAX_SAMPLES = 2000
#: Particles handed to a thread together. Fixed, so that sums round alike for every `n_jobs`.
PARTICLES_PER_BLOCK = 8


class ProjectedKernelOperator:
    """Mean over particles of one-dimensional kernels on projected rows.

    Projecting and sorting cost O(m n (d + log n)) once, when they are first needed; a product with
    the matrix O(m n). Memory is 12 m n bytes (sorted projections and their order), plus one vector
    per block of particles during a product; `X` and `W` are kept by reference.

    Parameters
    ----------
    W : ndarray of shape (n_particles, n_features)
        Particles.
    X : ndarray of shape (n_samples, n_features)
        Rows.
    kernel : OneDimensionalKernel
        The kernel of one variable.
    n_jobs : int or None
        Threads used for sorting and products.
    """

    def __init__(
        self,
        W: FloatArray,
        X: FloatArray,
        kernel: OneDimensionalKernel,
        n_jobs: int | None = None,
    ) -> None:
        self.W = W
        self.X = X
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.n_particles, self.n_samples = len(W), len(X)
        self.work = float(self.n_particles * self.n_samples)
        small = self.work < SERIAL_WORK
        self.slices = split_range(
            self.n_particles, self.n_particles if small else PARTICLES_PER_BLOCK
        )

    @lazy
    def blocks(self) -> list[SortedProjections]:
        """Sorted projections on some particles each, see `slices`."""
        return map_blocks(
            lambda part: self.kernel.prepare(self._projections(part)),
            self.slices,
            n_jobs=self.n_jobs,
            work=30 * self.work,
        )

    def unsorted(self) -> ProjectedKernelOperator:
        """The same operator without what was sorted: it is sorted again if it is asked for."""
        return type(self)(self.W, self.X, self.kernel, self.n_jobs)

    @property
    def cheap_products(self) -> bool:
        """Whether a product is linear in the rows, which takes a kernel with a recursion."""
        return self.kernel.linear_cost

    @property
    def row_cost(self) -> int:
        """One for every particle."""
        return self.n_particles

    @property
    def pair_cost(self) -> float:
        """What the kernel says of a pair of points, for every particle."""
        return self.n_particles * self.kernel.pair_cost

    def matvec(self, v: FloatArray) -> FloatArray:
        """Return ``K v`` for weights `v` of shape (n_targets, n_samples)."""
        v = np.ascontiguousarray(v, dtype=np.float64)
        if not self.kernel.linear_cost and self.n_samples <= DENSE_PRODUCT_MAX_SAMPLES:
            return v @ self.matrix

        def product(block: SortedProjections) -> FloatArray:
            out = np.zeros(v.shape)
            self.kernel.add_product(block, v, out)
            return out

        parts = map_blocks(product, self.blocks, n_jobs=self.n_jobs, work=self.work * len(v))
        total = parts[0]
        for part in parts[1:]:
            total += part
        total /= self.n_particles
        return total

    def weighted_slopes(self, z: FloatArray) -> FloatArray:
        """Return ``(1/m) sum_i X_i sum_t z_ti sum_i' k'(p_ij - p_i'j) z_ti'``, (n_particles, d).

        Half the derivative of ``z^T K z`` with respect to every particle.
        """
        z = np.ascontiguousarray(z, dtype=np.float64)

        def gradient(part: slice) -> FloatArray:
            block = self.blocks[self.slices.index(part)]
            out = np.zeros(block.points.shape)
            self.kernel.add_slopes(block, z, out)
            return self._pulled_back(out, part)

        parts = map_blocks(gradient, self.slices, n_jobs=self.n_jobs, work=4 * self.work * len(z))
        return np.concatenate(parts) / self.n_particles

    @lazy
    def matrix(self) -> FloatArray:
        """The matrix itself, (n_samples, n_samples), kept; only for callers that ask for it."""
        points = self._project(slice(None))
        return self.kernel.pairwise_mean(points, points)

    def submatrix(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> FloatArray:
        """Return ``K[rows][:, columns]``, (n_rows, n_columns)."""
        return self.kernel.pairwise_mean(self._project(rows), self._project(columns))

    def particles(self, kept: NDArray[np.bool_]) -> FloatArray:
        """The particles marked in `kept`, (n_kept, n_features)."""
        return self.W[kept]

    def _projections(self, part: slice) -> FloatArray:
        """Projections of all rows on some particles, (n_part, n_samples)."""
        return self.W[part] @ self.X.T

    def _pulled_back(self, slopes: FloatArray, part: slice) -> FloatArray:
        """Slopes along projections (n_part, n_samples) as those along the entries of particles."""
        return slopes @ self.X

    def _project(self, rows: NDArray[np.integer] | slice) -> FloatArray:
        """Projections of some rows, (n_rows, n_particles)."""
        return np.ascontiguousarray(self.X[rows] @ self.W.T, dtype=np.float64)


class AxisKernelOperator(ProjectedKernelOperator):
    """The same on one particle per column, each along the axis of its column.

    `W` (n_features, 1) has their lengths alone, so that a product with the rows is a scaling.
    """

    def particles(self, kept: NDArray[np.bool_]) -> FloatArray:
        axes = np.flatnonzero(kept)
        out = np.zeros((len(axes), len(self.W)))
        out[np.arange(len(axes)), axes] = self.W[axes, 0]
        return out

    def _projections(self, part: slice) -> FloatArray:
        return self.W[part] * self.X.T[part]

    def _pulled_back(self, slopes: FloatArray, part: slice) -> FloatArray:
        return np.einsum("ai,ia->a", slopes, self.X[:, part])[:, None]

    def _project(self, rows: NDArray[np.integer] | slice) -> FloatArray:
        return np.ascontiguousarray(self.X[rows] * self.W[:, 0], dtype=np.float64)
