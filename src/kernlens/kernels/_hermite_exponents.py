"""Exponents of the Mehler kernels whose integral is the kernel of all Hermite polynomials.

    L = (r / (1 - r^2) z) . z' + offset(z) + offset(z')

for every node of the integral, with the logarithm of its weight added. They are computed tile by
tile, because their exponentials are what a kernel matrix costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import split_range

if TYPE_CHECKING:
    from kernlens.kernels.hermite import HermiteKernel

#: Exponentials computed in one call, over several nodes if tiles are small.
CHUNK_ENTRIES = 2**16
#: Exponents that single precision can take, and the size at which their rounding shows.
LARGEST_SINGLE = 80.0
BLURRED_SINGLE = 1600.0
#: Exponents of rows to predict are cut off here; training rows do not come so far.
CUT_LOG = 650.0
#: r below this adds less than rounding to every exponent.
INVISIBLE = 1e-25
#: From so many directions on, products of rows are worth sharing among nodes.
SHARE_DIRECTIONS = 16


class Exponents:
    """L of rows and columns plus the log of the weight, for every node.

    Parameters
    ----------
    kernel : HermiteKernel
    Z : ndarray of shape (n_rows, n_directions)
    others : ndarray of shape (n_columns, n_directions)

    Attributes
    ----------
    r, spread : ndarray of shape (n_nodes, n_directions)
        ``r_a`` and ``1 / (1 - r_a^2)``.
    dtype : dtype
        That of the kernel, or double precision where single precision would not do.
    """

    def __init__(self, kernel: HermiteKernel, Z: FloatArray, others: FloatArray) -> None:
        self.r = kernel.rho * np.exp(-np.outer(kernel.times, kernel.rates))
        self.spread = 1.0 / (1.0 - self.r * self.r)
        pull = -0.5 * self.r * self.r * self.spread
        shift = -0.5 * np.log1p(-self.r * self.r).sum(axis=1)
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
        offset = (pull @ np.square(Z).T + shift[:, None]).astype(self.dtype)
        other_offset = (pull @ np.square(others).T).astype(self.dtype)
        # Directions that no node sees, because their eta is far below the others, cost nothing.
        seen = (self.r > INVISIBLE).any(axis=0)
        factors = (self.r * self.spread)[:, seen]
        Z, others = Z[:, seen], others[:, seen]
        self._shared: _SharedProducts | None = None
        if factors.shape[1] >= SHARE_DIRECTIONS and np.all(factors == factors[:, :1]):
            self._shared = _SharedProducts(
                Z.astype(self.dtype),
                others.astype(self.dtype),
                factors[:, 0].astype(self.dtype),
                offset,
                other_offset,
            )
            return
        self._left = self._stack(Z * factors[:, None, :], offset, 0)
        repeated = np.broadcast_to(others, (len(self.r), *others.shape))
        self._right = self._stack(repeated, other_offset, 1)

    def over_nodes(self, rows: slice, columns: slice) -> Iterator[tuple[slice, FloatArray]]:
        """Some nodes after the other, each time with a new array (n_nodes, n_rows, n_columns)."""
        entries = (rows.stop - rows.start) * (columns.stop - columns.start)
        products = None if self._shared is None else self._shared.products(rows, columns)
        for nodes in split_range(len(self.r), max(1, CHUNK_ENTRIES // max(1, entries))):
            if self._shared is None or products is None:
                L = self._tile(nodes, rows, columns)
            else:
                L = self._shared.tile(products, nodes, rows, columns)
            yield nodes, np.minimum(L, CUT_LOG, out=L) if self._cut else L

    def _stack(self, rows: FloatArray, offsets: FloatArray, place: int) -> FloatArray:
        """The rows of every node with their offsets and ones as last columns."""
        n_nodes, n_rows, k = rows.shape
        stacked = np.ones((n_nodes, n_rows, k + 2), self.dtype)
        stacked[:, :, :k] = rows
        stacked[:, :, k + place] = offsets
        return stacked

    def _tile(self, nodes: slice, rows: slice, columns: slice) -> FloatArray:
        """One matrix product a node: offsets are two more columns."""
        left, right = self._left[nodes, rows], self._right[nodes, columns]
        if len(left) == 1:
            # Two-dimensional products are BLAS calls; stacked ones are not always.
            product: FloatArray = (left[0] @ right[0].T)[None]
        else:
            product = left @ right.transpose(0, 2, 1)
        return product


class _SharedProducts:
    """Where all directions are alike, nodes differ in a factor of the same products ``z . z'``."""

    def __init__(
        self,
        Z: FloatArray,
        others: FloatArray,
        factors: FloatArray,
        offset: FloatArray,
        other_offset: FloatArray,
    ) -> None:
        self._Z, self._others, self._factors = Z, others, factors
        self._offset, self._other_offset = offset, other_offset

    def products(self, rows: slice, columns: slice) -> FloatArray:
        """``z . z'`` of a tile."""
        result: FloatArray = self._Z[rows] @ self._others[columns].T
        return result

    def tile(self, products: FloatArray, nodes: slice, rows: slice, columns: slice) -> FloatArray:
        """A new array (n_nodes, n_rows, n_columns)."""
        L: FloatArray = products * self._factors[nodes, None, None]
        L += self._offset[nodes, rows, None]
        L += self._other_offset[nodes, None, columns]
        return L
