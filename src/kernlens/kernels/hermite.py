r"""The kernel of all Hermite polynomials at once, without a truncated sum.

For ``c_k = rho^k`` the kernel (3.6) of RegFeaL is an integral of Mehler kernels, since
``1 / (lam + mu alpha . 1/eta)`` is the integral over t > 0 of ``exp(-t (lam + mu alpha . 1/eta))``:

    k(z, z') = int_0^inf exp(-lam t) [exp(L_t(z, z')) - 1] dt,   r_a = rho exp(-mu t / eta_a),
    L_t = sum_a -log(1 - r_a^2) / 2 + (2 r_a z_a z'_a - r_a^2 (z_a^2 + z'_a^2)) / (2 (1 - r_a^2)).

The trapezoidal rule in log t converges exponentially. The matrix M_f (2.10) of
``f = sum_i dual_i k(z_i, .)`` and the gradients of f at its own rows come from the same integrand.
The paper samples the sum instead; this integral is not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range

Value = TypeVar("Value")

#: Rows and columns of a tile: its exponentials stay in a processor's cache.
TILE = 256
#: Elementary operations per entry and node, for the choice between one thread and several.
WORK_PER_ENTRY = 5
#: Exponentials computed in one call, over several nodes if tiles are small.
CHUNK_ENTRIES = TILE * TILE
#: Exponents that single precision can take, and the size at which their rounding shows.
LARGEST_SINGLE = 80.0
BLURRED_SINGLE = 1600.0
#: Logarithm of the largest entry of a kernel matrix that a fit may have. Its sums over rows and
#: nodes are then far from overflowing.
LARGEST_LOG = 600.0
#: Exponents of rows to predict are cut off here; training rows do not come so far.
CUT_LOG = 650.0


@dataclass(frozen=True)
class Precision:
    """How finely the integral is computed.

    Attributes
    ----------
    step : float
        Of log t. The relative error is about ``exp(-pi^2 / step)``.
    first : float
        Smallest t, as a multiple of ``1 / (lam + mu / eta)`` for the smallest or the largest eta.
    relative_to_largest : bool
        Which of the two. Directions whose eta is far below the largest one are then blurred.
    last : float
        Largest t, as a multiple of ``1 / (lam + mu / max(eta))``.
    dtype : dtype
        Of the exponentials.
    """

    step: float
    first: float
    relative_to_largest: bool
    last: float
    dtype: DTypeLike


#: Relative errors of 1e-12, 1e-7, and 1e-4, the last for a twentieth of the time.
FINE = Precision(0.3, 1e-15, False, 60.0, np.float64)
MEDIUM = Precision(0.5, 1e-7, True, 40.0, np.float64)
COARSE = Precision(0.8, 1e-4, True, 25.0, np.float32)


@dataclass(frozen=True)
class HermiteKernel:
    """The kernel for given weights of the directions, as a sum over nodes of the integral.

    Attributes
    ----------
    rho : float
    rates : ndarray of shape (n_directions,)
        mu / eta.
    times, weights : ndarray of shape (n_nodes,)
        Nodes t and what their integrands are multiplied by.
    dtype : dtype
        Of the exponentials.
    n_jobs : int or None
        Threads.
    """

    rho: float
    rates: FloatArray
    times: FloatArray
    weights: FloatArray
    dtype: DTypeLike = np.float64
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        eta: FloatArray,
        lam: float,
        mu: float,
        rho: float,
        precision: Precision = FINE,
        n_jobs: int | None = None,
    ) -> HermiteKernel:
        """Choose the nodes; with ``mu = 0`` the integral is ``(exp(L_0) - 1) / lam``."""
        if mu == 0.0:
            node = np.zeros(1)
            return cls(rho, np.zeros(len(eta)), node, node + 1.0 / lam, precision.dtype, n_jobs)
        rates = mu / eta
        # The integrand falls as exp(-t (lam + rate)) for the slowest rate, and faster for others.
        slowest = lam + rates.min()
        reference = slowest if precision.relative_to_largest else lam + rates.max()
        low, high = np.log(precision.first / reference), np.log(precision.last / slowest)
        times = np.exp(np.arange(low, high + precision.step, precision.step))
        weights = precision.step * times * np.exp(-lam * times)
        # Below the first node the integrand is constant: the rest of the rule is a geometric sum.
        weights[0] /= -np.expm1(-precision.step)
        return cls(rho, rates, times, weights, precision.dtype, n_jobs)

    @staticmethod
    def log_bound(X: FloatArray, rho: float) -> float:
        """Bound of ``L_t(z, z)`` for all t, rotations and weights of the directions.

        The logarithm of the largest entry of a kernel matrix is at most this and the logarithm of
        the sum of the weights.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        rho : float
        """
        furthest = float(np.max(np.sum(np.square(X), axis=1)))
        return rho / (1.0 + rho) * furthest - 0.5 * X.shape[1] * float(np.log1p(-rho * rho))

    def matrix(self, Z: FloatArray, others: FloatArray | None = None) -> FloatArray:
        """Kernel of the rows of Z with `others`, or among themselves, (n_rows, n_others).

        O(n_nodes n_rows n_others n_directions), half of it without `others`.
        """
        columns = Z if others is None else others
        exponents = _Exponents(self, Z, columns)
        result = np.empty((len(Z), len(columns)))

        def fill(tile: tuple[slice, slice]) -> None:
            rows, cols = tile
            total = np.zeros((rows.stop - rows.start, cols.stop - cols.start), exponents.dtype)
            for nodes in exponents.chunks(rows, cols):
                L = exponents.tile(nodes, rows, cols)
                np.exp(L, out=L)
                total += L[0] if len(L) == 1 else L.sum(axis=0)
            # The weights are in the exponents; what is subtracted is the same for all pairs.
            total = total - self.weights.sum()
            result[rows, cols] = total
            if others is None and rows != cols:
                result[cols, rows] = total.T

        self._map(fill, len(Z), None if others is None else len(columns))
        return result

    def derivatives(self, Z: FloatArray, dual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """M_f and the pull of the rows, for ``f_t = sum_i dual_ti k(z_i, .)``.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_directions)
        dual : ndarray of shape (n_targets, n_rows)

        Returns
        -------
        M : ndarray of shape (n_directions, n_directions)
            Summed over the targets.
        pull : ndarray of shape (n_rows, n_directions)
            ``sum_t dual_ti grad f_t(z_i)``, half the gradient of ``sum_t dual_t K dual_t`` in z_i.
        """
        exponents = _Exponents(self, Z, Z)
        n_nodes, k = len(self.times), Z.shape[1]
        extended = np.concatenate([Z, np.ones((len(Z), 1))], axis=1)
        # With E = exp(L) and D = sum_t dual_t dual_t^T, products (E * D)(Z, 1) need no E * D.
        factors = np.concatenate([column[:, None] * extended for column in dual], axis=1)
        narrow = factors.astype(exponents.dtype)
        scales = exponents.r * exponents.spread

        def part(tile: tuple[slice, slice]) -> list[_Side]:
            rows, cols = tile
            sides = [_Side.empty(rows, n_nodes, k)]
            if rows != cols:
                sides.append(_Side.empty(cols, n_nodes, k))
            for nodes in exponents.chunks(rows, cols):
                E = exponents.tile(nodes, rows, cols)
                np.exp(E, out=E)
                turned = (E, E.transpose(0, 2, 1))
                for side, across, oriented in zip(sides, (cols, rows), turned, strict=False):
                    wide = _products(oriented, narrow[across]).astype(np.float64)
                    side.add(
                        nodes,
                        _over_targets(wide, dual[:, side.rows]),
                        Z[side.rows],
                        exponents.r[nodes],
                        scales[nodes],
                    )
            return sides

        sums, across = np.zeros((n_nodes, len(Z))), np.zeros((n_nodes, k, k))
        pull = np.zeros(Z.shape)
        for sides in self._map(part, len(Z), None):
            for side in sides:
                sums[:, side.rows] += side.sums
                across += side.across
                pull[side.rows] += side.pull
        outer = np.sum(self._outer_products(Z, exponents, across, sums), axis=0)
        return 0.5 * (outer + outer.T), pull

    def gradients(self, Z: FloatArray, dual: FloatArray, others: FloatArray) -> FloatArray:
        """Gradients of ``f_t = sum_i dual_ti k(z_i, .)`` at other rows.

        They are the derivatives of what :meth:`matrix` computes, node by node:
        ``d L / d z'_a = (r_a z_a - r_a^2 z'_a) / (1 - r_a^2)``.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_directions)
        dual : ndarray of shape (n_targets, n_rows)
        others : ndarray of shape (n_others, n_directions)

        Returns
        -------
        ndarray of shape (n_targets, n_others, n_directions)
        """
        exponents = _Exponents(self, others, Z)
        scales = exponents.r * exponents.spread
        extended = np.concatenate([Z, np.ones((len(Z), 1))], axis=1)
        factors = np.concatenate([column[:, None] * extended for column in dual], axis=1)
        factors = factors.astype(exponents.dtype)

        def part(tile: tuple[slice, slice]) -> tuple[slice, FloatArray]:
            rows, cols = tile
            total = np.zeros((len(dual), rows.stop - rows.start, Z.shape[1]))
            for nodes in exponents.chunks(rows, cols):
                E = exponents.tile(nodes, rows, cols)
                np.exp(E, out=E)
                wide = _products(E, factors[cols]).astype(np.float64)
                blocks = wide.reshape(*wide.shape[:2], len(dual), -1)
                total += np.einsum("qa,qita->tia", scales[nodes], blocks[..., :-1])
                shrunk = scales[nodes] * exponents.r[nodes]
                total -= np.einsum("qa,qit->tia", shrunk, blocks[..., -1]) * others[rows]
            return rows, total

        result = np.zeros((len(dual), len(others), Z.shape[1]))
        for rows, total in self._map(part, len(others), len(Z)):
            result[:, rows] += total
        return result

    def _outer_products(
        self, Z: FloatArray, exponents: _Exponents, across: FloatArray, sums: FloatArray
    ) -> FloatArray:
        """What every node adds to M_f, (n_nodes, n_directions, n_directions).

        `across` is Z^T E Z and `sums` is E 1 of every node.
        """
        r, spread = exponents.r, exponents.spread
        along = (sums[:, None, :] * Z.T) @ Z
        difference = np.abs(self.rates[:, None] - self.rates[None, :])
        slower = np.minimum(self.rates[:, None], self.rates[None, :])
        t = self.times[:, None, None]
        # (e_b - e_a) / (rate_a - rate_b) with e = exp(-t rate), stable for equal rates.
        mixed = t * np.exp(-t * slower) * _relative_decay(t * difference)
        pairs = r[:, :, None] * r[:, None, :]
        inner = across * (1.0 + pairs) - (r[:, :, None] + r[:, None, :]) * along
        inner *= spread[:, :, None] * spread[:, None, :]
        diagonal = np.arange(Z.shape[1])
        inner[:, diagonal, diagonal] += r * spread * sums.sum(axis=1)[:, None]
        result: FloatArray = self.rho * mixed * inner
        return result

    def _map(
        self,
        function: Callable[[tuple[slice, slice]], Value],
        n_rows: int,
        n_columns: int | None,
    ) -> list[Value]:
        """Over the tiles of a matrix, or over one triangle of a symmetric one."""
        rows = split_range(n_rows, TILE)
        if n_columns is None:
            tiles = [(rows[i], rows[j]) for i in range(len(rows)) for j in range(i + 1)]
        else:
            tiles = [(i, j) for i in rows for j in split_range(n_columns, TILE)]
        work = self._work(n_rows * (n_rows if n_columns is None else n_columns))
        return map_blocks(function, tiles, n_jobs=self.n_jobs, work=work)

    def _work(self, n_entries: int) -> float:
        return float(WORK_PER_ENTRY * n_entries * len(self.times))


@dataclass(frozen=True)
class _Side:
    """Sums over j in one tile of E_ij = w sum_t dual_ti dual_tj exp(L_ij), w of the node.

    Attributes
    ----------
    rows : slice
    sums : ndarray of shape (n_nodes, n_rows)
        E 1.
    across : ndarray of shape (n_nodes, n_directions, n_directions)
        Z^T E Z.
    pull : ndarray of shape (n_rows, n_directions)
    """

    rows: slice
    sums: FloatArray
    across: FloatArray
    pull: FloatArray

    @classmethod
    def empty(cls, rows: slice, n_nodes: int, n_directions: int) -> _Side:
        n_rows = rows.stop - rows.start
        across = np.empty((n_nodes, n_directions, n_directions))
        return cls(rows, np.empty((n_nodes, n_rows)), across, np.zeros((n_rows, n_directions)))

    def add(
        self, nodes: slice, products: FloatArray, Z: FloatArray, r: FloatArray, scales: FloatArray
    ) -> None:
        """Take in E (Z, 1) of some nodes, (n_nodes, n_rows, n_directions + 1)."""
        sums, products = products[:, :, -1], products[:, :, :-1]
        self.sums[nodes] = sums
        self.across[nodes] = Z.T @ products
        self.pull[:] += np.einsum("qa,qia->ia", scales, products)
        self.pull[:] -= Z * (sums.T @ (scales * r))


class _Exponents:
    """L_t of rows and columns plus the log of the weight, as one matrix product a node.

    ``L = (r / (1 - r^2) z) . z' + offset(z) + offset(z')``: the offsets are two more columns.
    """

    def __init__(self, kernel: HermiteKernel, Z: FloatArray, others: FloatArray) -> None:
        self.r = kernel.rho * np.exp(-np.outer(kernel.times, kernel.rates))
        self.spread = 1.0 / (1.0 - self.r * self.r)
        pull = -0.5 * self.r * self.r * self.spread
        shift = -0.5 * np.log1p(-self.r * self.r).sum(axis=1)
        offset, other_offset = pull @ np.square(Z).T, pull @ np.square(others).T
        # L(z, z') of a node is at most the mean of these two and the shift.
        own = [
            (self.r / (1.0 + self.r) @ np.square(rows).T).max(axis=1, initial=0.0)
            for rows in (Z, others)
        ]
        largest, plain_shift = np.maximum(*own), shift
        shift = shift + np.log(kernel.weights)
        self.dtype = kernel.dtype
        # Rows far out have kernels beyond single precision, and so may the weights have; terms
        # that cancel are larger than L by the distance of rho from 1.
        if (
            largest.max() + plain_shift.max() > LARGEST_SINGLE
            or (largest + shift).max() > LARGEST_SINGLE
            or largest.max() > BLURRED_SINGLE * (1.0 - kernel.rho)
        ):
            self.dtype = np.float64
        self._cut = (0.5 * (own[0] + own[1]) + shift).max() > CUT_LOG
        self._left = self._stack(Z * (self.r * self.spread)[:, None, :], offset + shift[:, None], 0)
        repeated = np.broadcast_to(others, (len(self.r), *others.shape))
        self._right = self._stack(repeated, other_offset, 1)

    def _stack(self, rows: FloatArray, offsets: FloatArray, place: int) -> FloatArray:
        """The rows of every node with their offsets and ones as last columns."""
        n_nodes, n_rows, k = rows.shape
        stacked = np.ones((n_nodes, n_rows, k + 2), self.dtype)
        stacked[:, :, :k] = rows
        stacked[:, :, k + place] = offsets
        return stacked

    def chunks(self, rows: slice, columns: slice) -> list[slice]:
        """Nodes that are worth handling together."""
        entries = (rows.stop - rows.start) * (columns.stop - columns.start)
        return split_range(len(self.r), max(1, CHUNK_ENTRIES // max(1, entries)))

    def tile(self, nodes: slice, rows: slice, columns: slice) -> FloatArray:
        """A new array (n_nodes, n_rows, n_columns)."""
        left, right = self._left[nodes, rows], self._right[nodes, columns]
        if len(left) == 1:
            # Two-dimensional products are BLAS calls; stacked ones are not always.
            product: FloatArray = (left[0] @ right[0].T)[None]
        else:
            product = left @ right.transpose(0, 2, 1)
        return np.minimum(product, CUT_LOG, out=product) if self._cut else product


def _products(E: FloatArray, columns: FloatArray) -> FloatArray:
    """``E @ columns`` for every node; two-dimensional products are BLAS calls."""
    product: FloatArray = (E[0] @ columns)[None] if len(E) == 1 else E @ columns
    return product


def _over_targets(wide: FloatArray, dual: FloatArray) -> FloatArray:
    """``sum_t dual_t * wide_t`` for blocks of columns, one block a target."""
    blocks = wide.reshape(*wide.shape[:2], len(dual), -1)
    if len(dual) == 1:
        result: FloatArray = blocks[:, :, 0] * dual[0][:, None]
        return result
    total: FloatArray = np.einsum("qitk,ti->qik", blocks, dual)
    return total


def _relative_decay(x: FloatArray) -> FloatArray:
    """``(1 - exp(-x)) / x``, 1 at zero."""
    safe = np.where(x > 0.0, x, 1.0)
    return np.where(x > 0.0, -np.expm1(-safe) / safe, 1.0)
