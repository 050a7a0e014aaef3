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
from numpy.typing import DTypeLike, NDArray

from kernlens._blocks import map_blocks, split_range

FloatArray = NDArray[np.floating]
Value = TypeVar("Value")

#: Rows and columns of a tile: its exponentials stay in a processor's cache.
TILE = 256
#: Elementary operations per entry and node, for the choice between one thread and several.
WORK_PER_ENTRY = 5
#: Smaller r_a do not change L_t.
SMALLEST_RATE = 1e-18


@dataclass(frozen=True)
class Precision:
    """How finely the integral is computed.

    Attributes
    ----------
    step : float
        Of log t. The relative error is about ``exp(-pi^2 / step)``.
    first : float
        Smallest t, as a multiple of ``min(eta) / mu`` or of ``max(eta) / mu``.
    relative_to_largest : bool
        Which of the two. Directions whose eta is far below the largest one are then blurred.
    last : float
        Largest t, as a multiple of ``max(eta) / mu``.
    dtype : dtype
        Of the exponentials.
    """

    step: float
    first: float
    relative_to_largest: bool
    last: float
    dtype: DTypeLike


#: Relative errors of 1e-12, and of 1e-5 for a twentieth of the time.
FINE = Precision(0.3, 1e-15, False, 60.0, np.float64)
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
        reference = rates.min() if precision.relative_to_largest else rates.max()
        low, high = np.log(precision.first / reference), np.log(precision.last / rates.min())
        times = np.exp(np.arange(low, high + precision.step, precision.step))
        weights = precision.step * times * np.exp(-lam * times)
        # Below the first node the integrand is constant: the rest of the rule is a geometric sum.
        weights[0] /= -np.expm1(-precision.step)
        return cls(rho, rates, times, weights, precision.dtype, n_jobs)

    def matrix(self, Z: FloatArray, others: FloatArray | None = None) -> FloatArray:
        """Kernel of the rows of Z with `others`, or among themselves, (n_rows, n_others).

        O(n_nodes n_rows n_others n_directions), half of it without `others`.
        """
        columns = Z if others is None else others
        exponents = _Exponents(self, Z, columns)
        result = np.empty((len(Z), len(columns)))

        def fill(tile: tuple[slice, slice]) -> None:
            rows, cols = tile
            total = np.zeros((rows.stop - rows.start, cols.stop - cols.start), self.dtype)
            for node, weight in enumerate(self.weights):
                L = exponents.tile(node, rows, cols)
                if self._is_fine:
                    total += weight * np.expm1(L)
                else:
                    # The weight is in the exponent; what is subtracted is the same for all pairs.
                    total += np.exp(L, out=L)
            if not self._is_fine:
                total = total - self.weights.sum()
            result[rows, cols] = total
            if others is None and rows != cols:
                result[cols, rows] = total.T

        self._map(fill, len(Z), None if others is None else len(columns))
        return result

    def derivatives(self, Z: FloatArray, dual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """M_f, and how the squared norm changes with the rows, for ``f_t = sum_i dual_ti k(z_i, .)``.

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
        narrow = factors.astype(self.dtype)

        def part(tile: tuple[slice, slice]) -> list[_Side]:
            rows, cols = tile
            sides = [_Side.empty(rows, n_nodes, k)]
            if rows != cols:
                sides.append(_Side.empty(cols, n_nodes, k))
            for node, weight in enumerate(self.weights):
                E = exponents.tile(node, rows, cols)
                np.exp(E, out=E)
                if self._is_fine:
                    E *= weight
                r = exponents.r[node]
                scale = r * exponents.spread[node]
                for side, across, oriented in zip(sides, (cols, rows), (E, E.T), strict=False):
                    wide = (oriented @ narrow[across]).astype(np.float64)
                    products = _over_targets(wide, dual[:, side.rows])
                    sums = products[:, -1]
                    side.sums[node] = sums
                    side.across[node] = Z[side.rows].T @ products[:, :-1]
                    side.pull[:] += scale * (products[:, :-1] - r * sums[:, None] * Z[side.rows])
            return sides

        sums, across = np.zeros((n_nodes, len(Z))), np.zeros((n_nodes, k, k))
        pull = np.zeros(Z.shape)
        for sides in self._map(part, len(Z), None):
            for side in sides:
                sums[:, side.rows] += side.sums
                across += side.across
                pull[side.rows] += side.pull
        outer = np.zeros((k, k))
        for node, t in enumerate(self.times):
            r, spread = exponents.r[node], exponents.spread[node]
            along = (Z.T * sums[node]) @ Z
            total = float(sums[node].sum())
            outer += self._node_outer_product(t, r, spread, across[node], along, total)
        return 0.5 * (outer + outer.T), pull

    @property
    def _is_fine(self) -> bool:
        return np.dtype(self.dtype) == np.float64

    def _node_outer_product(
        self,
        t: float,
        r: FloatArray,
        spread: FloatArray,
        across: FloatArray,
        along: FloatArray,
        total: float,
    ) -> FloatArray:
        """What a node adds to M_f: `across` is Z^T E Z, `along` Z^T diag(E 1) Z, `total` 1^T E 1."""
        difference = np.abs(self.rates[:, None] - self.rates[None, :])
        slower = np.minimum(self.rates[:, None], self.rates[None, :])
        # (e_b - e_a) / (rate_a - rate_b) with e = exp(-t rate), stable for equal rates.
        mixed = t * np.exp(-t * slower) * _relative_decay(t * difference)
        inner = across * (1.0 + np.outer(r, r)) - (r[:, None] + r) * along
        inner = inner * np.outer(spread, spread) + np.diag(r * spread * total)
        return self.rho * mixed * inner

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
    """With E_ij = w sum_t dual_ti dual_tj exp(L_ij), w of the node: sums over j in one tile.

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


class _Exponents:
    """L_t of rows and columns as one matrix product a node, in single precision with log w added.

    ``L = (r / (1 - r^2) z) . z' + offset(z) + offset(z')``: the offsets are two more columns.
    """

    def __init__(self, kernel: HermiteKernel, Z: FloatArray, others: FloatArray) -> None:
        self.r = kernel.rho * np.exp(-np.outer(kernel.times, kernel.rates))
        self.spread = 1.0 / (1.0 - self.r * self.r)
        self._left: list[FloatArray] = []
        self._right: list[FloatArray] = []
        squares, other_squares = np.square(Z), np.square(others)
        for r, spread, weight in zip(self.r, self.spread, kernel.weights, strict=True):
            active = r > SMALLEST_RATE
            r, spread = r[active], spread[active]
            shift = -0.5 * np.log1p(-r * r).sum()
            if not kernel._is_fine:
                shift += np.log(weight)
            offset = shift - 0.5 * squares[:, active] @ (r * r * spread)
            other_offset = -0.5 * other_squares[:, active] @ (r * r * spread)
            ones, other_ones = np.ones(len(Z)), np.ones(len(others))
            left = np.column_stack([Z[:, active] * (r * spread), offset, ones])
            right = np.column_stack([others[:, active], other_ones, other_offset])
            self._left.append(left.astype(kernel.dtype))
            self._right.append(right.astype(kernel.dtype))

    def tile(self, node: int, rows: slice, columns: slice) -> FloatArray:
        """A new array (n_rows, n_columns)."""
        product: FloatArray = self._left[node][rows] @ self._right[node][columns].T
        return product


def _over_targets(wide: FloatArray, dual: FloatArray) -> FloatArray:
    """``sum_t dual_t * wide_t`` for blocks of columns, one block a target."""
    blocks = wide.reshape(len(wide), len(dual), -1)
    total: FloatArray = np.einsum("itk,ti->ik", blocks, dual)
    return total


def _relative_decay(x: FloatArray) -> FloatArray:
    """``(1 - exp(-x)) / x``, 1 at zero."""
    safe = np.where(x > 0.0, x, 1.0)
    return np.where(x > 0.0, -np.expm1(-safe) / safe, 1.0)
