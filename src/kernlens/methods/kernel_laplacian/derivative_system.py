"""The linear system of values and derivatives, dense or as products (kernel Laplacian, (10)).

Unknowns are coefficients a of values at labelled points and b of derivatives T_j grad at all
points; with Q the Gram matrix of the derivatives,

    [ K_LL + D_a , D   ] [a]   [y]
    [ D^T ,  Q + D_b   ] [b] = [0] .

The square roots of the shares of the points are part of the frames T_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, single_threaded_blas, split_range
from kernlens.kernels.derivatives import KernelDerivatives

#: Entries of one block of kernel values; a product holds about six such blocks per thread.
BLOCK_ENTRIES = 1_000_000


@dataclass(frozen=True)
class DerivativeSystem:
    """Values and derivatives of functions at points.

    Attributes
    ----------
    kernel : KernelDerivatives
    points : ndarray of shape (n, d)
    frames : ndarray of shape (n, r, d), or of shape (n,)
        The T_i; or factors of identities, with r = d.
    n_jobs : int or None
    """

    kernel: KernelDerivatives
    points: FloatArray
    frames: FloatArray
    n_jobs: int | None

    @property
    def n_directions(self) -> int:
        """Number r of directions at every point."""
        return self.points.shape[1] if self.frames.ndim == 1 else self.frames.shape[1]

    def frames_of(self, rows: slice | NDArray[np.integer]) -> FloatArray:
        """Frames (m, r, d) of some points, written out."""
        if self.frames.ndim == 3:
            return self.frames[rows]
        written: FloatArray = self.frames[rows][:, None, None] * np.eye(self.points.shape[1])
        return written

    def spread(self, b: FloatArray) -> FloatArray:
        """``T_j^T b_j``, (t, n, d), of b (t, n, r)."""
        if self.frames.ndim == 1:
            return b * self.frames[:, None]
        return np.einsum("tnr,nrd->tnd", b, self.frames)

    def along(self, gradients: FloatArray, rows: slice) -> FloatArray:
        """``T_i g_i``, (t, m, r), of gradients (t, m, d) at some points."""
        if self.frames.ndim == 1:
            return gradients * self.frames[rows][:, None]
        return np.einsum("tnd,nrd->tnr", gradients, self.frames[rows])

    def products(self, c: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values (t, n) and derivatives (t, n, r) at all points, of c (t, n) and b (t, n, r).

        O(n^2 d) for n (r + 1) unknowns; nothing n x n is held.
        """
        spread = self.spread(b)
        blocks = split_range(len(self.points), max(1, BLOCK_ENTRIES // len(self.points)))

        def part(rows: slice) -> tuple[FloatArray, FloatArray]:
            X = self.points[rows]
            values, gradients = self.kernel.value_and_gradient(X, self.points, c, spread)
            return values, self.along(gradients, rows)

        with single_threaded_blas():
            parts = map_blocks(part, blocks, n_jobs=self.n_jobs)
        values = np.concatenate([part[0] for part in parts], axis=1)
        return values, np.concatenate([part[1] for part in parts], axis=1)

    def derivatives_at(self, X: FloatArray, rows: slice | NDArray[np.integer]) -> FloatArray:
        """D: ``T_j grad_z k(x_i, z_j)`` for some z_j, (n_x, m r)."""
        slopes = self.kernel.slopes(self.points[rows], self.frames_of(rows), X)
        return slopes.reshape(-1, len(X)).T

    def gram(
        self, rows: slice | NDArray[np.integer], others: slice | NDArray[np.integer]
    ) -> FloatArray:
        """Q between the derivatives of some points and those of others, (m r, p r)."""
        mixed = self.kernel.mixed_slopes(
            self.points[rows], self.frames_of(rows), self.points[others], self.frames_of(others)
        )
        return mixed.reshape(mixed.shape[0] * mixed.shape[1], -1)

    def full_gram(self) -> FloatArray:
        """Q of all points, (n r, n r)."""
        n = len(self.points)
        size = self.n_directions
        Q = np.empty((n * size, n * size))
        for rows in split_range(n, max(1, BLOCK_ENTRIES // (n * size * size))):
            Q[rows.start * size : rows.stop * size] = self.gram(rows, slice(0, n))
        return Q
