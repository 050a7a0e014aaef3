"""Kernels of one real variable, applied to projections ``p = X w`` (BKerNN, Sections 2.1 and 5.2).

A kernel here answers four questions about a block of particles: products with its matrix, products
with the matrix of its derivative, its values on dense pairs, and what to keep for prediction. The
sums never form a matrix when the kernel allows it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens.kernels._sorted_sums import (
    brownian_product,
    brownian_slopes,
    brownian_tables,
    brownian_value_slopes,
    brownian_values,
    cityblock,
    cityblock_within,
    exponential_product,
    exponential_slopes,
    exponential_tables,
    exponential_value_slopes,
    exponential_values,
    guide_table,
)
from kernlens.kernels._sorting import sorted_with_order


@dataclass(frozen=True)
class SortedProjections:
    """Projections of the rows on a block of particles, sorted along each particle.

    Attributes
    ----------
    points : ndarray of shape (n_particles, n_samples)
        Projections in increasing order.
    order : ndarray of shape (n_particles, n_samples)
        Row that each sorted point comes from.
    decays : ndarray of shape (n_particles, n_samples) or None
        What the exponential kernel loses from each point to the next.
    """

    points: FloatArray
    order: NDArray[np.integer]
    decays: FloatArray | None = None

    @classmethod
    def of(cls, projections: FloatArray) -> SortedProjections:
        """Sort `projections` (n_particles, n_samples) along the samples."""
        return cls(*sorted_with_order(projections))

    def select(self, kept: NDArray[np.bool_]) -> SortedProjections:
        """Return the particles marked in `kept`."""
        if kept.all():
            return self
        decays = None if self.decays is None else self.decays[kept]
        return SortedProjections(self.points[kept], self.order[kept], decays)


def make_guide(points: FloatArray, n_queries: int) -> NDArray[np.int32]:
    """Table that shortens the search for a query among sorted points (n_particles, n_samples).

    One cell per point if there are enough queries to pay for filling it, no cell otherwise.
    """
    n_cells = points.shape[1] if n_queries > points.shape[1] // 4 else 0
    guide = np.empty((len(points), n_cells), dtype=np.int32)
    if guide.size:
        guide_table(points, guide)
    return guide


class OneDimensionalKernel(ABC):
    """A kernel ``k(p, p') = kappa(p - p')`` of one variable.

    Attributes
    ----------
    name : str
        Name in the public interface.
    linear_cost : bool
        True if products cost O(n_samples) per particle once the projections are sorted.
    pair_cost : float
        Seconds of one value of the kernel in a matrix, in those of one term of a product; infinite
        if a matrix is not worth forming for the sake of products.
    bounded : bool
        True if no value exceeds 1, whatever the projections; else values are in their unit.
    """

    name: str
    linear_cost: bool = True
    pair_cost: float = float("inf")
    bounded: bool = True

    def prepare(self, projections: FloatArray) -> SortedProjections:
        """Sort projections (n_particles, n_samples) and add what products need."""
        return SortedProjections.of(projections)

    @abstractmethod
    def profile(self, difference: FloatArray) -> FloatArray:
        """Return ``kappa(difference)``, elementwise."""

    @abstractmethod
    def add_product(self, block: SortedProjections, v: FloatArray, out: FloatArray) -> None:
        """Add ``sum_j sum_i' kappa(p_ij - p_i'j) v_i'`` to `out` (n_targets, n_samples)."""

    @abstractmethod
    def add_slopes(self, block: SortedProjections, z: FloatArray, out: FloatArray) -> None:
        """Add ``sum_t z_ti sum_i' kappa'(p_ij - p_i'j) z_ti'`` to `out` (n_particles, n_samples).

        The derivative at 0 is taken as 0, the middle of the subdifferential of -|u|.
        """

    @abstractmethod
    def tables(self, block: SortedProjections, v: FloatArray) -> FloatArray:
        """What :meth:`add_values` needs of the weights, (n_tables, n_targets, b, n_samples)."""

    @abstractmethod
    def add_values(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        """Add ``sum_j sum_i' kappa(queries_ji - p_i'j) v_i'`` to `out` (n_targets, n_queries).

        `guide` comes from :func:`make_guide`.
        """

    @abstractmethod
    def write_slopes(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        """Write ``sum_i' kappa'(queries_ji - p_i'j) v_i'`` to `out` (n_targets, b, n_queries)."""

    def pairwise_mean(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return ``(1/m) sum_j kappa(left_ij - right_i'j)`` for projections (rows, particles)."""
        total = np.zeros((len(left), len(right)))
        for j in range(left.shape[1]):
            total += self.profile(left[:, j, None] - right[None, :, j])
        return total / left.shape[1]


class BrownianKernel(OneDimensionalKernel):
    """The Brownian kernel ``(|p| + |p'| - |p - p'|) / 2``, in the form ``-|p - p'| / 2``.

    The two forms differ by terms that vanish, or are absorbed by the intercept, as soon as the
    coefficients sum to zero, which the unpenalised intercept always gives.
    """

    name = "brownian"
    # Measured at 300 to 2000 rows: a loop over distances is vectorised, sweeps are not.
    pair_cost = 1.0 / 14.0
    bounded = False

    def profile(self, difference: FloatArray) -> FloatArray:
        return -0.5 * np.abs(difference)

    def add_product(self, block: SortedProjections, v: FloatArray, out: FloatArray) -> None:
        brownian_product(block.points, block.order, v, out)

    def add_slopes(self, block: SortedProjections, z: FloatArray, out: FloatArray) -> None:
        brownian_slopes(block.points, block.order, z, out)

    def tables(self, block: SortedProjections, v: FloatArray) -> FloatArray:
        """Values of the piecewise-linear functions at their knots."""
        out = np.empty((1, len(v), *block.points.shape))
        brownian_tables(block.points, block.order, v, out[0])
        return out

    def add_values(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        brownian_values(points, tables[0], guide, queries, out)

    def write_slopes(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        brownian_value_slopes(points, tables[0], guide, queries, out)

    def pairwise_mean(self, left: FloatArray, right: FloatArray) -> FloatArray:
        out = np.zeros((len(left), len(right)))
        if left is right:
            cityblock_within(np.ascontiguousarray(left.T), out)
        else:
            cityblock(left, np.ascontiguousarray(right.T), out)
        out *= -0.5 / left.shape[1]
        return out


class ExponentialKernel(OneDimensionalKernel):
    """The exponential kernel ``exp(-|p - p'| / 2)`` of Experiment 1."""

    name = "exponential"

    def profile(self, difference: FloatArray) -> FloatArray:
        return np.exp(-0.5 * np.abs(difference))

    def prepare(self, projections: FloatArray) -> SortedProjections:
        block = SortedProjections.of(projections)
        decays = np.ones_like(block.points)
        np.exp(-0.5 * np.diff(block.points, axis=1), out=decays[:, :-1])
        return replace(block, decays=decays)

    def add_product(self, block: SortedProjections, v: FloatArray, out: FloatArray) -> None:
        exponential_product(block.decays, block.order, v, out)

    def add_slopes(self, block: SortedProjections, z: FloatArray, out: FloatArray) -> None:
        exponential_slopes(block.points, block.order, z, out)

    def tables(self, block: SortedProjections, v: FloatArray) -> FloatArray:
        """Decayed sums from the left and from the right at every point."""
        out = np.empty((2, len(v), *block.points.shape))
        exponential_tables(block.points, block.order, v, out[0], out[1])
        return out

    def add_values(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        exponential_values(points, tables[0], tables[1], guide, queries, out)

    def write_slopes(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        exponential_value_slopes(points, tables[0], tables[1], guide, queries, out)


class GaussianKernel(OneDimensionalKernel):
    """The Gaussian kernel ``exp(-(p - p')^2 / 2)`` of Experiment 1, in blocks of rows.

    No recursion carries its sums along a line, so a product costs O(n_samples^2) per particle; the
    memory stays at a block of rows.
    """

    name = "gaussian"
    linear_cost = False
    rows_per_block = 512

    def profile(self, difference: FloatArray) -> FloatArray:
        # Beyond 39 the kernel is zero in double precision, and far beyond the square overflows.
        near = np.clip(difference, -40.0, 40.0)
        np.square(near, out=near)
        near *= -0.5
        return np.exp(near, out=near)

    def add_product(self, block: SortedProjections, v: FloatArray, out: FloatArray) -> None:
        for points, order in zip(block.points, block.order, strict=True):
            weights = v[:, order]
            for lo in range(0, points.size, self.rows_per_block):
                rows = slice(lo, lo + self.rows_per_block)
                values = self.profile(points[rows, None] - points[None, :])
                out[:, order[rows]] += weights @ values.T

    def add_slopes(self, block: SortedProjections, z: FloatArray, out: FloatArray) -> None:
        for j, (points, order) in enumerate(zip(block.points, block.order, strict=True)):
            weights = z[:, order]
            for lo in range(0, points.size, self.rows_per_block):
                rows = slice(lo, lo + self.rows_per_block)
                difference = points[rows, None] - points[None, :]
                slopes = weights @ (-difference * self.profile(difference)).T
                out[j, order[rows]] += np.sum(weights[:, rows] * slopes, axis=0)

    def tables(self, block: SortedProjections, v: FloatArray) -> FloatArray:
        """The weights in the order of the sorted points."""
        return v[:, block.order][None]

    def add_values(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        for j in range(len(points)):
            for lo in range(0, queries.shape[1], self.rows_per_block):
                rows = slice(lo, lo + self.rows_per_block)
                values = self.profile(queries[j, rows, None] - points[j, None, :])
                out[:, rows] += tables[0, :, j] @ values.T

    def write_slopes(
        self,
        points: FloatArray,
        tables: FloatArray,
        guide: NDArray[np.integer],
        queries: FloatArray,
        out: FloatArray,
    ) -> None:
        for j in range(len(points)):
            for lo in range(0, queries.shape[1], self.rows_per_block):
                rows = slice(lo, lo + self.rows_per_block)
                difference = queries[j, rows, None] - points[j, None, :]
                out[:, j, rows] = tables[0, :, j] @ (-difference * self.profile(difference)).T


KERNELS: dict[str, type[OneDimensionalKernel]] = {
    kernel.name: kernel for kernel in (BrownianKernel, ExponentialKernel, GaussianKernel)
}


def make_kernel(name: str) -> OneDimensionalKernel:
    """Return the one-dimensional kernel called `name`."""
    if name not in KERNELS:
        raise ValueError(f"Unknown kernel {name!r}; choose one of {', '.join(map(repr, KERNELS))}.")
    return KERNELS[name]()
