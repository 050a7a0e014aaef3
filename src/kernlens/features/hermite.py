"""Features H_alpha(z), products of normalised Hermite polynomials, and their derivatives.

h_0 = 1,  h_1(z) = z,  h_{k+1}(z) = (z h_k(z) - sqrt(k) h_{k-1}(z)) / sqrt(k + 1),
h_k' = sqrt(k) h_{k-1}                                      (RegFeaL, (2.1) and (2.2))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kernlens._array import FloatArray
from kernlens._compiled import compiled
from kernlens._execution import map_blocks, split_range
from kernlens._lazy import lazy
from kernlens.features.hermite_indices import LARGEST_DEGREE

IntArray = NDArray[np.integer]

#: Entries of a block of features.
BLOCK_ENTRIES = 200_000
#: Features, and their factors, are cut off at this size: a product of two is still finite.
LARGEST_FEATURE = 1e150
#: Weights c_k below this count as zero.
SMALLEST_WEIGHT = 1e-300


@dataclass(frozen=True)
class HermiteFeatures:
    """The features of a list of multi-indices.

    Attributes
    ----------
    indices : ndarray of int of shape (n_indices, n_directions)
        Rows alpha, distinct, none of them zero.
    n_jobs : int or None
        Threads.
    """

    indices: IntArray
    n_jobs: int | None = None

    @lazy
    def degrees(self) -> IntArray:
        """|alpha|, (n_indices,)."""
        total: IntArray = self.indices.sum(axis=1)
        return total

    def block(self, Z: FloatArray) -> FloatArray:
        """H_alpha of some rows, (n_rows, n_indices), at most LARGEST_FEATURE in size."""
        pointers, columns, powers = self._sparse
        listed = powers.min(initial=0) >= 0 and powers.max(initial=0) <= LARGEST_DEGREE
        if Z.shape[1] != self.indices.shape[1] or not listed:
            # The compiled loop would read outside its table, or make one without an end.
            raise ValueError(
                f"indices must be integers from 0 to {LARGEST_DEGREE}, with as many columns as "
                f"rows have, {Z.shape[1]}."
            )
        values = np.empty((len(Z), len(self.indices)))
        largest = int(powers.max(initial=0))
        _fill_products(np.ascontiguousarray(Z), pointers, columns, powers, largest, values)
        return values

    def slices(self, n_rows: int) -> list[slice]:
        """Rows of blocks that fit a processor's cache."""
        return split_range(n_rows, max(16, BLOCK_ENTRIES // max(1, len(self.indices))))

    def matrix(self, Z: FloatArray) -> FloatArray:
        """H_alpha of all rows, (n_samples, n_indices); only non-zero exponents are touched."""
        values = np.empty((len(Z), len(self.indices)))

        def fill(rows: slice) -> None:
            values[rows] = self.block(Z[rows])

        map_blocks(fill, self.slices(len(Z)), n_jobs=self.n_jobs, work=3.0 * values.size)
        return values

    @lazy
    def _sparse(self) -> tuple[IntArray, IntArray, IntArray]:
        rows, columns = np.nonzero(self.indices)
        pointers = np.searchsorted(rows, np.arange(len(self.indices) + 1))
        powers = self.indices[rows, columns]
        return pointers.astype(np.int64), columns.astype(np.int64), powers.astype(np.int64)

    @lazy
    def derivative(self) -> DerivativeKeys:
        """Where the derivatives of the features lie."""
        pointers, columns, powers = self._sparse
        source = np.repeat(np.arange(len(self.indices)), np.diff(pointers))
        # alpha - e_a is known by a random linear code of alpha: 64 bits leave no room for chance.
        code: IntArray = np.asarray(
            np.random.RandomState(0).randint(1, np.iinfo(np.int64).max, self.indices.shape[1])
        )
        with np.errstate(over="ignore"):
            codes: IntArray = (self.indices.astype(np.int64) * code).sum(axis=1)
            lowered = codes[source] - code[columns]
        _, first, key = np.unique(lowered, return_index=True, return_inverse=True)
        keys = self.indices[source[first]].copy()
        keys[np.arange(len(keys)), columns[first]] -= 1
        return DerivativeKeys(keys, key, columns, source, np.sqrt(powers), self.n_jobs)


@dataclass(frozen=True)
class DerivativeKeys:
    """``d H_alpha / d z_a = sqrt(alpha_a) H_{alpha - e_a}``, one entry for every alpha_a > 0.

    Attributes
    ----------
    keys : ndarray of int of shape (n_keys, n_directions)
        Distinct alpha - e_a.
    key, direction, source : ndarray of int of shape (n_entries,)
        Number of the key, a, and number of alpha.
    root : ndarray of shape (n_entries,)
        sqrt(alpha_a).
    n_jobs : int or None
    """

    keys: IntArray
    key: IntArray
    direction: IntArray
    source: IntArray
    root: FloatArray
    n_jobs: int | None = None

    def coefficients(self, expansion: FloatArray) -> csr_matrix:
        """Coefficients of the gradient of ``sum_alpha expansion_alpha H_alpha`` on the keys.

        Sparse, (n_keys, n_directions).
        """
        shape = (len(self.keys), self.keys.shape[1])
        values = self.root * expansion[self.source]
        return csr_matrix((values, (self.key, self.direction)), shape=shape)

    def outer_product(self, expansion: FloatArray, c: FloatArray) -> FloatArray:
        """M_f of equation (2.10), (n_directions, n_directions), summed over the targets.

        Parameters
        ----------
        expansion : ndarray of shape (n_targets, n_indices)
            Coefficients of H_alpha.
        c : ndarray of shape (n_indices,)
            c_{|alpha|}.
        """
        total = np.zeros((self.keys.shape[1], self.keys.shape[1]))
        # c_k of a high degree vanishes, and the coefficients, in proportion to it, do so first.
        known = c > SMALLEST_WEIGHT
        for row in expansion:
            V = self.coefficients(np.divide(row, np.sqrt(c), out=np.zeros(len(c)), where=known))
            total += np.asarray((V.T @ V).todense())
        return total

    def gradients(self, expansion: FloatArray, Z: FloatArray) -> FloatArray:
        """Gradient of one function at the rows Z, (n_samples, n_directions)."""
        V = self.coefficients(expansion)
        features = HermiteFeatures(self.keys, self.n_jobs)
        parts = map_blocks(
            lambda rows: np.asarray((V.T @ features.block(Z[rows]).T).T),
            features.slices(len(Z)),
            n_jobs=self.n_jobs,
            work=3.0 * len(Z) * len(self.keys),
        )
        return np.concatenate(parts)


@compiled()
def _fill_products(
    Z: FloatArray,
    pointers: IntArray,
    columns: IntArray,
    powers: IntArray,
    largest: int,
    values: FloatArray,
) -> None:
    table = np.ones((Z.shape[1], largest + 1))
    for i in range(Z.shape[0]):
        for a in range(Z.shape[1]):
            z = min(max(Z[i, a], -LARGEST_FEATURE), LARGEST_FEATURE)
            if largest >= 1:
                table[a, 1] = z
            for k in range(1, largest):
                above = (z * table[a, k] - np.sqrt(k) * table[a, k - 1]) / np.sqrt(k + 1.0)
                table[a, k + 1] = min(max(above, -LARGEST_FEATURE), LARGEST_FEATURE)
        for j in range(len(pointers) - 1):
            product = 1.0
            for p in range(pointers[j], pointers[j + 1]):
                product *= table[columns[p], powers[p]]
                product = min(max(product, -LARGEST_FEATURE), LARGEST_FEATURE)
            values[i, j] = product
