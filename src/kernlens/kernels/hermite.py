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
from kernlens.kernels._hermite_exponents import CUT_LOG, Exponents

Value = TypeVar("Value")

#: Rows and columns of a tile: its exponentials stay in a processor's cache.
TILE = 256
#: Elementary operations per entry and node, for the choice between one thread and several.
WORK_PER_ENTRY = 5
#: Logarithm of the largest entry of a kernel matrix that a fit may have. Its sums over rows and
#: nodes are then far from overflowing.
LARGEST_LOG = 600.0
#: So few rows are predicted one by one.
FEW_ROWS = 4


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
    linear : float
        The first t may be this multiple of ``(1 - rho) / (lam + mu / min(eta))``: below it the
        integrand is taken for linear. Steps must be at least 0.5, for positive weights.
    """

    step: float
    first: float
    relative_to_largest: bool
    last: float
    dtype: DTypeLike
    linear: float = 0.0

    def first_weights(self) -> FloatArray:
        """Weights of the first nodes, over the first t, which stand for the rule below them too.

        The rule that goes on to zero sums constants and, with two nodes, t exactly as these do.
        """
        h = self.step
        constant = h / -np.expm1(-h)
        if self.linear == 0.0:
            return np.array([constant])
        constant += h * np.exp(h)
        second = (h / -np.expm1(-2.0 * h) + h * np.exp(2.0 * h) - constant) / np.expm1(h)
        return np.array([constant - second, second])


#: Relative errors of 1e-12, 1e-7, 1e-4 and 2e-3, the last two for a twentieth and less of the time.
FINE = Precision(0.3, 1e-15, False, 60.0, np.float64)
MEDIUM = Precision(0.5, 1e-7, True, 20.0, np.float64, 1e-3)
COARSE = Precision(0.8, 1e-4, True, 12.0, np.float32, 1e-2)
ROUGH = Precision(1.0, 1e-3, True, 8.0, np.float32, 3e-2)


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
        first = precision.first / reference
        # Rates beyond the first node are blurred in any case.
        fastest = lam + rates.max(where=rates * first <= 1.0, initial=0.0)
        first = max(first, precision.linear * (1.0 - rho) / fastest)
        low, high = np.log(first), np.log(precision.last / slowest)
        times = np.exp(np.arange(low, high + precision.step, precision.step))
        weights = precision.step * times
        ends = precision.first_weights()
        weights[: len(ends)] = first * ends
        weights *= np.exp(-lam * times)
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
        if others is not None and len(others) <= FEW_ROWS:
            return np.array([self._column(Z, row) for row in others]).reshape(-1, len(Z)).T
        columns = Z if others is None else others
        exponents = Exponents(self, Z, columns)
        result = np.empty((len(Z), len(columns)))

        def fill(tile: tuple[slice, slice]) -> None:
            rows, cols = tile
            total = np.zeros((rows.stop - rows.start, cols.stop - cols.start), exponents.dtype)
            for _, L in exponents.over_nodes(rows, cols):
                np.exp(L, out=L)
                total += L[0] if len(L) == 1 else L.sum(axis=0)
            # The weights are in the exponents; what is subtracted is the same for all pairs.
            total = total - self.weights.sum()
            result[rows, cols] = total
            if others is None and rows != cols:
                result[cols, rows] = total.T

        self._map(fill, len(Z), None if others is None else len(columns))
        return result

    def _column(self, Z: FloatArray, other: FloatArray) -> FloatArray:
        """Kernel of the rows of Z with one row, without tiles: copies of Z would take longer."""
        r = self.rho * np.exp(-np.outer(self.times, self.rates))
        spread = 1.0 / (1.0 - r * r)
        pull = -0.5 * r * r * spread
        L = (r * spread * other) @ Z.T + pull @ np.square(Z).T
        L += (pull @ np.square(other) - 0.5 * np.log1p(-r * r).sum(axis=1))[:, None]
        L += np.log(self.weights)[:, None]
        column: FloatArray = np.exp(np.minimum(L, CUT_LOG, out=L), out=L).sum(axis=0)
        return column - self.weights.sum()

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
        exponents = Exponents(self, Z, Z)
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
            for nodes, E in exponents.over_nodes(rows, cols):
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
        exponents = Exponents(self, others, Z)
        scales = exponents.r * exponents.spread
        extended = np.concatenate([Z, np.ones((len(Z), 1))], axis=1)
        factors = np.concatenate([column[:, None] * extended for column in dual], axis=1)
        factors = factors.astype(exponents.dtype)

        def part(tile: tuple[slice, slice]) -> tuple[slice, FloatArray]:
            rows, cols = tile
            total = np.zeros((len(dual), rows.stop - rows.start, Z.shape[1]))
            for nodes, E in exponents.over_nodes(rows, cols):
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
        self, Z: FloatArray, exponents: Exponents, across: FloatArray, sums: FloatArray
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
