"""The kernel of rows against centres through a linear map, one block of rows at a time.

The matrix k(B x_i, B z_j) is needed twice in an evaluation: to fit the coefficients and, with its
slopes, for the gradient in B. It is held between the two uses while it is small, and computed again
when it is large, so that memory stays at a few blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range, sum_blocks
from kernlens._geometry import with_finite_squares
from kernlens._lazy import lazy
from kernlens.kernels.radial import RadialKernel

Value = TypeVar("Value")

#: Entries of a block: small enough for a processor's cache, large enough to hide the call.
BLOCK_ENTRIES = 100_000
#: Kernel matrices of at most this many entries are held with their slopes (64 MB in all).
HELD_ENTRIES = 4_000_000
#: Elementary operations per kernel value, for the choice between one thread and several.
WORK_PER_ENTRY = 30


@dataclass(frozen=True)
class KernelBlock:
    """Some rows, their images and their kernel with every centre.

    Attributes
    ----------
    rows : slice
        Which rows.
    images : ndarray of shape (n_block, n_components)
        U, the rows mapped by B.
    values : ndarray of shape (n_block, n_centers)
        phi of the squared distances.
    slopes : ndarray of shape (n_block, n_centers)
        phi' of them; of shape (n_block, 0) if they were not asked for.
    """

    rows: slice
    images: FloatArray
    values: FloatArray
    slopes: FloatArray


class KernelBlocks:
    """Kernel of rows X against centres Z through a map B.

    Parameters
    ----------
    B : ndarray of shape (n_components, n_features)
        Linear map.
    X : ndarray of shape (n_samples, n_features)
        Rows.
    Z : ndarray of shape (n_centers, n_features)
        Centres.
    kernel : RadialKernel
        Mother kernel.
    n_jobs : int or None
        Threads.
    slopes : bool
        Whether the derivative of the kernel is needed, too.
    """

    def __init__(
        self,
        B: FloatArray,
        X: FloatArray,
        Z: FloatArray,
        kernel: RadialKernel,
        n_jobs: int | None = None,
        *,
        slopes: bool = True,
    ) -> None:
        self.B = B
        self.X = X
        self.Z = Z
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.slopes = slopes
        self.center_images: FloatArray = with_finite_squares(Z @ B.T)

    @lazy
    def center_kernel(self) -> tuple[FloatArray, FloatArray]:
        """Values and slopes of the centres among themselves, (n_centers, n_centers) each."""
        V = self.center_images
        values, slopes = self.kernel.profile_and_derivative(self.kernel.distances(V, V))
        # Rounding leaves the matrix product a little off: the diagonal is phi(0) = 1.
        np.fill_diagonal(values, 1.0)
        return 0.5 * (values + values.T), 0.5 * (slopes + slopes.T)

    def map(self, function: Callable[[KernelBlock], Value]) -> list[Value]:
        """Apply `function` to every block; values come in the order of the rows."""
        if self.X.shape[0] * len(self.Z) <= HELD_ENTRIES:
            return self._run(function, self._held)
        return self._run(lambda rows: function(self._block(rows)), self._slices)

    def sum(self, function: Callable[[KernelBlock], tuple[FloatArray, ...]]) -> list[FloatArray]:
        """Sum what `function` returns over all blocks, part by part."""
        if self.X.shape[0] * len(self.Z) <= HELD_ENTRIES:
            return sum_blocks(function, self._held, n_jobs=self.n_jobs, work=self._work)
        return sum_blocks(
            lambda rows: function(self._block(rows)),
            self._slices,
            n_jobs=self.n_jobs,
            work=self._work,
        )

    def release(self) -> None:
        """Let go of what is held; it is computed again if it is asked for again."""
        vars(self).pop("_held", None)

    @lazy
    def _held(self) -> list[KernelBlock]:
        return self._run(self._block, self._slices)

    @property
    def _slices(self) -> list[slice]:
        return split_range(len(self.X), max(64, BLOCK_ENTRIES // len(self.Z)))

    def _run(self, function: Callable[..., Value], items: list) -> list[Value]:
        return map_blocks(function, items, n_jobs=self.n_jobs, work=self._work)

    @property
    def _work(self) -> float:
        return float(WORK_PER_ENTRY * len(self.X) * len(self.Z))

    def _block(self, rows: slice) -> KernelBlock:
        images = with_finite_squares(self.X[rows] @ self.B.T)
        s = self.kernel.distances(images, self.center_images)
        if not self.slopes:
            return KernelBlock(rows, images, self.kernel.profile(s), np.empty((len(s), 0)))
        return KernelBlock(rows, images, *self.kernel.profile_and_derivative(s))


def weighted_squared_distance_gradient(
    blocks: KernelBlocks, row_weights: Callable[[KernelBlock], FloatArray], center: FloatArray
) -> FloatArray:
    """Gradient in B of ``sum_ij C_ij |B(x_i - z_j)|^2 + sum_jk D_jk |B(z_j - z_k)|^2``, C, D fixed.

    In matrix products, with U = X B^T and V = Z B^T (D symmetric):

        2 [(diag(C 1) U - C V)^T X + (diag(C^T 1) V - C^T U)^T Z] + 4 (diag(D 1) V - D V)^T Z,

    O(n p k + (n + p) k d) for p centres, k components and d columns.

    Parameters
    ----------
    blocks : KernelBlocks
    row_weights : callable
        The rows of C, (n_block, n_centers), of a block.
    centre : ndarray of shape (n_centers, n_centers)
        D.

    Returns
    -------
    ndarray of shape (n_components, n_features)
    """
    V = blocks.center_images

    def part(block: KernelBlock) -> tuple[FloatArray, FloatArray, FloatArray]:
        C = row_weights(block)
        pulled = C.sum(axis=1)[:, None] * block.images - C @ V
        return pulled.T @ blocks.X[block.rows], C.sum(axis=0), C.T @ block.images

    over_rows, column_sums, images = blocks.sum(part)
    over_centers = column_sums[:, None] * V - images
    among_centers = center.sum(axis=1)[:, None] * V - center @ V
    gradient: FloatArray = 2.0 * over_rows + 2.0 * (over_centers + 2.0 * among_centers).T @ blocks.Z
    return gradient
