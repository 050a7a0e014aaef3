"""Functions of one variable each that are sums of kernels at a few knots, for any number of rows.

    f(x) = sum_j h_j(p_j(x)) / sqrt(m),    |f|^2 = sum_j |h_j|^2

for m particles with projections p_j. This is the space of the mean of the m kernels, restricted to
functions h_j spanned by kernels at the knots of particle j. What a product with all rows costs then
grows with the rows alone, and all that is kept of them is as large as the knots.

Coordinates u of a function have its norm: ``|f|^2 = |u|^2``. Brownian and exponential kernels are
those of Markov processes: a function is known between two knots by its values at them, so that a
row needs two values of every particle. The Brownian norm is that of slopes, which are constant
between knots, and coordinates are slopes times the roots of the gaps. A Gaussian sees all knots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from kernlens._array import FloatArray, IntArray
from kernlens._execution import map_blocks
from kernlens._lazy import lazy
from kernlens.kernels._knot_sums import (
    add_interpolated,
    add_products,
    add_to_knots,
    brownian_places,
    exponential_places,
)
from kernlens.kernels.one_dimensional import (
    BrownianKernel,
    ExponentialKernel,
    GaussianKernel,
    OneDimensionalKernel,
    make_guide,
)

#: Share of the largest eigenvalue of the kernel at the knots below which functions are left out.
SMALLEST_NORM = 1e-12


class Seen(ABC):
    """What some rows see of the functions: values there, and sums of values at rows."""

    @abstractmethod
    def values(self, tables: FloatArray) -> FloatArray:
        """From tables (t, m, n_knots) to the sums of all particles at the rows, (t, n_rows)."""

    @abstractmethod
    def sums(self, values: FloatArray) -> FloatArray:
        """The adjoint: from values (t, n_rows) to sums over the rows, (t, m, n_knots)."""

    @abstractmethod
    def gram(self, weights: FloatArray, n_jobs: int | None) -> FloatArray:
        """``sum_i w_i z_i z_i^T`` of what rows multiply tables with, (m n_knots, m n_knots)."""


@dataclass(frozen=True)
class SeenNeighbors(Seen):
    """Rows between two knots of every particle.

    Attributes
    ----------
    n_knots : int
    cells : ndarray of shape (m, n_rows)
        The knot on the left.
    left, right : ndarray of shape (m, n_rows)
        Weights of this knot and of the next.
    """

    n_knots: int
    cells: IntArray
    left: FloatArray
    right: FloatArray

    def values(self, tables: FloatArray) -> FloatArray:
        out = np.zeros((len(tables), self.cells.shape[1]))
        add_interpolated(self.cells, self.left, self.right, np.ascontiguousarray(tables), out)
        return out

    def sums(self, values: FloatArray) -> FloatArray:
        out = np.zeros((len(values), len(self.cells), self.n_knots))
        add_to_knots(self.cells, self.left, self.right, np.ascontiguousarray(values), out)
        return out

    def gram(self, weights: FloatArray, n_jobs: int | None) -> FloatArray:
        m, n = self.cells.shape
        out = np.zeros((m, self.n_knots, m, self.n_knots))

        def of(j: int) -> None:
            # Every two particles by themselves: the products of their knots fit into the cache.
            products = np.zeros((j + 1, self.n_knots, self.n_knots))
            add_products(self.cells, self.left, self.right, weights, j, products)
            out[j, :, : j + 1] = products.transpose(1, 0, 2)

        map_blocks(of, list(range(m)), n_jobs=n_jobs, work=2.0 * n * m**2)
        whole = out.reshape(m * self.n_knots, -1)
        return np.tril(whole) + np.tril(whole, -1).T


@dataclass(frozen=True)
class SeenEverywhere(Seen):
    """Rows that see all knots of every particle.

    Attributes
    ----------
    kernel : OneDimensionalKernel
    knots : ndarray of shape (m, n_knots)
    projections : ndarray of shape (m, n_rows)
    """

    kernel: OneDimensionalKernel
    knots: FloatArray
    projections: FloatArray

    def _at(self, j: int) -> FloatArray:
        return self.kernel.profile(self.projections[j, :, None] - self.knots[j])

    def values(self, tables: FloatArray) -> FloatArray:
        out = np.zeros((len(tables), self.projections.shape[1]))
        for j in range(len(self.knots)):
            out += tables[:, j] @ self._at(j).T
        return out

    def sums(self, values: FloatArray) -> FloatArray:
        return np.stack([values @ self._at(j) for j in range(len(self.knots))], axis=1)

    def gram(self, weights: FloatArray, n_jobs: int | None) -> FloatArray:
        all_knots = np.concatenate([self._at(j) for j in range(len(self.knots))], axis=1)
        product: FloatArray = (all_knots * weights[:, None]).T @ all_knots
        return product


@dataclass(frozen=True)
class KnotSpace(ABC):
    """Functions with knots.

    Tables are what rows see: values at the knots, or coefficients of kernels there.

    Attributes
    ----------
    kernel : OneDimensionalKernel
    knots : ndarray of shape (m, n_knots)
        Strictly increasing, at least two.
    n_particles : int
        The number m of the mean, which may count particles that are left out because they see all
        rows at one place.
    """

    kernel: OneDimensionalKernel
    knots: FloatArray
    n_particles: int

    @property
    @abstractmethod
    def n_coordinates(self) -> int:
        """Number of coordinates of every function h_j."""

    @abstractmethod
    def tables(self, u: FloatArray) -> FloatArray:
        """From coordinates (t, m, n_coordinates) to tables (t, m, n_knots)."""

    @abstractmethod
    def coordinates(self, sums: FloatArray) -> FloatArray:
        """The adjoint of :meth:`tables`."""

    @abstractmethod
    def interpolating(self, values: FloatArray) -> FloatArray:
        """Coordinates of functions h_j / sqrt(m) with values (t, m, n_knots) at the knots.

        Where constants have no norm, up to a constant; where some functions are left out, nearly.
        """

    @abstractmethod
    def coefficients(self, u: FloatArray) -> FloatArray:
        """Coefficients of kernels at the knots, (t, m, n_knots), with the factor 1/m inside."""

    @abstractmethod
    def seen_by(self, projections: FloatArray) -> Seen:
        """What rows with projections (m, n_rows) see."""

    def gram(
        self, projections: FloatArray, weights: FloatArray, n_jobs: int | None = 1
    ) -> FloatArray:
        """``sum_i w_i phi_i phi_i^T`` for what rows multiply coordinates with.

        A square matrix of m times n_coordinates rows, in O(n m^2) for neighbours.
        """
        m, n_knots = self.knots.shape
        of_knots = self.seen_by(projections).gram(weights, n_jobs).reshape(m, n_knots, -1)
        every = np.repeat(np.eye(self.n_coordinates)[:, None], m, axis=1)
        # From knots to coordinates, (m, n_coordinates, n_knots): products of small matrices.
        to_coordinates = np.ascontiguousarray(self.tables(every).transpose(1, 0, 2))
        half = (to_coordinates @ of_knots).reshape(-1, m * n_knots)
        turned = np.ascontiguousarray(half.T).reshape(m, n_knots, -1)
        whole: FloatArray = (to_coordinates @ turned).reshape(m * self.n_coordinates, -1)
        return whole

    @property
    def _root(self) -> float:
        return float(np.sqrt(self.n_particles))


class MarkovSpace(KnotSpace):
    """Functions whose values at two knots say all in between."""

    def seen_by(self, projections: FloatArray) -> SeenNeighbors:
        m, n = projections.shape
        cells = np.empty((m, n), dtype=np.int32)
        left, right = np.empty((m, n)), np.empty((m, n))
        queries = np.ascontiguousarray(projections)
        self._place(make_guide(self.knots, n), queries, cells, left, right)
        return SeenNeighbors(self.knots.shape[1], cells, left, right)

    @abstractmethod
    def _place(
        self,
        guide: IntArray,
        queries: FloatArray,
        cells: IntArray,
        left: FloatArray,
        right: FloatArray,
    ) -> None: ...


class BrownianSpace(MarkovSpace):
    """Linear between the knots and constant beyond, with ``|h|^2`` the integral of h'^2.

    Constants have no norm; here the mean of the values at the knots is zero.
    """

    @property
    def n_coordinates(self) -> int:
        return self.knots.shape[1] - 1

    @lazy
    def _root_gaps(self) -> FloatArray:
        return np.sqrt(np.diff(self.knots, axis=1))

    def tables(self, u: FloatArray) -> FloatArray:
        values = np.zeros((*u.shape[:2], self.knots.shape[1]))
        np.cumsum(self._root_gaps * u, axis=2, out=values[:, :, 1:])
        values -= values.mean(axis=2, keepdims=True)
        values /= self._root
        return values

    def coordinates(self, sums: FloatArray) -> FloatArray:
        centered = sums - sums.mean(axis=2, keepdims=True)
        from_right = np.cumsum(centered[:, :, :0:-1], axis=2)[:, :, ::-1]
        coordinates: FloatArray = from_right * (self._root_gaps / self._root)
        return coordinates

    def interpolating(self, values: FloatArray) -> FloatArray:
        found: FloatArray = np.diff(values, axis=2) * (self._root / self._root_gaps)
        return found

    def coefficients(self, u: FloatArray) -> FloatArray:
        # A kernel at a knot takes its coefficient off the slope.
        slopes = np.zeros((*u.shape[:2], self.knots.shape[1] + 1))
        slopes[:, :, 1:-1] = u / self._root_gaps / self._root
        return -np.diff(slopes, axis=2)

    def _place(
        self,
        guide: IntArray,
        queries: FloatArray,
        cells: IntArray,
        left: FloatArray,
        right: FloatArray,
    ) -> None:
        brownian_places(self.knots, guide, queries, cells, left, right)


class ExponentialSpace(MarkovSpace):
    """Sums of ``exp(p / 2)`` and ``exp(-p / 2)`` between the knots, decaying beyond.

    Coordinates are those of an autoregression along the knots:
    h(t_1) = u_1, h(t_{k+1}) = r_k h(t_k) + (1 - r_k^2)^{1/2} u_{k+1}, r_k = exp(-(gap of k) / 2).
    """

    @property
    def n_coordinates(self) -> int:
        return self.knots.shape[1]

    @lazy
    def _decays(self) -> tuple[FloatArray, FloatArray]:
        """What is left of a value at the next knot, and what is new there, (n_knots - 1, m)."""
        gaps = np.diff(self.knots, axis=1).T
        return np.exp(-0.5 * gaps), np.sqrt(-np.expm1(-gaps))

    def tables(self, u: FloatArray) -> FloatArray:
        left, new = self._decays
        values = u / self._root
        for k in range(len(left)):
            values[:, :, k + 1] *= new[k]
            values[:, :, k + 1] += left[k] * values[:, :, k]
        return values

    def coordinates(self, sums: FloatArray) -> FloatArray:
        left, new = self._decays
        out = sums / self._root
        for k in range(len(left) - 1, -1, -1):
            out[:, :, k] += left[k] * out[:, :, k + 1]
            out[:, :, k + 1] *= new[k]
        return out

    def interpolating(self, values: FloatArray) -> FloatArray:
        left, new = self._decays
        out = values * self._root
        out[:, :, 1:] -= left.T * out[:, :, :-1]
        out[:, :, 1:] /= new.T
        return out

    def coefficients(self, u: FloatArray) -> FloatArray:
        left, new = self._decays
        out = u / self._root
        # Both read u, which is not changed.
        out[:, :, 1:] /= new.T
        out[:, :, :-1] -= out[:, :, 1:] * left.T
        return out

    def _place(
        self,
        guide: IntArray,
        queries: FloatArray,
        cells: IntArray,
        left: FloatArray,
        right: FloatArray,
    ) -> None:
        exponential_places(self.knots, guide, queries, cells, left, right)


class SpectralSpace(KnotSpace):
    """Sums of any kernel at the knots, in the eigenvectors of its matrix there.

    Eigenvectors of small eigenvalues are rounding, and their coordinates mean nothing.
    """

    @lazy
    def _roots(self) -> FloatArray:
        """From coordinates to coefficients, (m, n_knots, n_knots); what is left out is zero."""
        out = np.zeros((*self.knots.shape, self.knots.shape[1]))
        for root, knots in zip(out, self.knots, strict=True):
            norms, vectors = eigh(self.kernel.profile(knots[:, None] - knots), check_finite=False)
            kept = norms > SMALLEST_NORM * norms[-1]
            root[:, kept] = vectors[:, kept] / np.sqrt(norms[kept])
        return out

    @property
    def n_coordinates(self) -> int:
        return self.knots.shape[1]

    def tables(self, u: FloatArray) -> FloatArray:
        out: FloatArray = np.einsum("mkq,tmq->tmk", self._roots, u, optimize=True) / self._root
        return out

    def coordinates(self, sums: FloatArray) -> FloatArray:
        out: FloatArray = np.einsum("mkq,tmk->tmq", self._roots, sums, optimize=True) / self._root
        return out

    def interpolating(self, values: FloatArray) -> FloatArray:
        return self.coordinates(values) * self._root**2

    def coefficients(self, u: FloatArray) -> FloatArray:
        return self.tables(u)

    def seen_by(self, projections: FloatArray) -> SeenEverywhere:
        return SeenEverywhere(self.kernel, self.knots, projections)


SPACES: dict[type[OneDimensionalKernel], type[KnotSpace]] = {
    BrownianKernel: BrownianSpace,
    ExponentialKernel: ExponentialSpace,
    GaussianKernel: SpectralSpace,
}


def make_knot_space(kernel: OneDimensionalKernel, knots: FloatArray, n_particles: int) -> KnotSpace:
    """The functions of a kernel with given knots (m, n_knots), in a mean over `n_particles`."""
    return SPACES[type(kernel)](kernel, np.ascontiguousarray(knots, dtype=np.float64), n_particles)
