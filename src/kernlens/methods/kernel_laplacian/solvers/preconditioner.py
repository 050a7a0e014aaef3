"""The system of values and derivatives with its shifts, and a preconditioner for it.

Its matrix is nearly of low rank, shifted by alpha and alpha / mu: the preconditioner takes the
derivatives at a few points and the values at a few labelled ones, and is exact on what they span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from kernlens._array import FloatArray
from kernlens._execution import single_threaded_blas, split_range, sum_blocks
from kernlens.linalg.raised_cholesky import raised_cholesky
from kernlens.methods.kernel_laplacian.derivative_system import BLOCK_ENTRIES, DerivativeSystem
from kernlens.methods.kernel_laplacian.plan import (
    SMALLEST_RATIO,
    LabeledPoints,
    Penalties,
)

#: Approximate rank of the preconditioner, half of it for values and half for derivatives.
RANK = 1000
#: What is first added to the diagonal of the core, relative to its largest entry.
JITTER = 1e-12


@dataclass(frozen=True)
class ShiftedSystem:
    """The symmetric positive operator on stacked unknowns (t, n_labeled + n r).

    Attributes
    ----------
    rows : LabeledPoints
    system : DerivativeSystem
    shifts : ndarray of shape (n_labeled + n r,)
        alpha Wl / w_i for values, alpha / mu for derivatives.
    """

    rows: LabeledPoints
    system: DerivativeSystem
    shifts: FloatArray

    @classmethod
    def of(
        cls, rows: LabeledPoints, system: DerivativeSystem, penalties: Penalties
    ) -> ShiftedSystem:
        """The system with the shifts of given penalties."""
        of_values = penalties.alpha * rows.label_weights.sum() / rows.label_weights
        n_slopes = len(rows.points) * system.n_directions
        of_slopes = np.full(n_slopes, 1.0 / max(penalties.ratio, SMALLEST_RATIO))
        return cls(rows, system, np.concatenate([of_values, of_slopes]))

    def split(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients a (t, n_labeled) and b (t, n, r)."""
        n_labeled = len(self.rows.labeled)
        b = unknowns[:, n_labeled:].reshape(len(unknowns), len(self.rows.points), -1)
        return unknowns[:, :n_labeled], b

    def apply(self, unknowns: FloatArray) -> FloatArray:
        """Product with the shifted matrix."""
        a, b = self.split(unknowns)
        values, slopes = self.system.products(self.rows.on_points(a), b)
        image = np.hstack([values[:, self.rows.labeled], slopes.reshape(len(a), -1)])
        image += unknowns * self.shifts
        return image


@dataclass(frozen=True)
class AtomPreconditioner:
    """Inverse of ``U C^{-1} U^T + S``, with the columns U of some atoms and C their Gram matrix.

    By Woodbury's identity; products with U are functions of few atoms, evaluated everywhere.
    """

    shifted: ShiftedSystem
    labels: NDArray[np.integer]
    points: NDArray[np.integer]
    factor: tuple[FloatArray, bool]

    @classmethod
    def build(cls, shifted: ShiftedSystem, seed: int) -> AtomPreconditioner:
        """Draw atoms; O(N m^2) for N unknowns and m atoms."""
        random = np.random.default_rng(seed)
        rows, system = shifted.rows, shifted.system
        n_labels = min(RANK // 2, len(rows.labeled))
        n_points = min(max(1, RANK // (2 * system.n_directions)), len(rows.points))
        labels = np.sort(random.permutation(len(rows.labeled))[:n_labels])
        points = np.sort(random.permutation(len(rows.points))[:n_points])
        X = rows.points[rows.labeled[labels]]
        D = system.derivatives_at(X, points)
        core = np.block([[system.kernel.matrix(X, X), D], [D.T, system.gram(points, points)]])
        weighted = core + _weighted_gram(shifted, X, points)
        jitter = JITTER * float(np.diagonal(weighted).max())
        factor, _ = raised_cholesky(weighted, jitter, jitter)
        return cls(shifted, labels, points, (factor, False))

    def __call__(self, residual: FloatArray) -> FloatArray:
        """Return the preconditioned residual, (t, N)."""
        scaled = residual / self.shifted.shifts
        inner = cho_solve(self.factor, self._adjoint(scaled).T, check_finite=False).T
        return scaled - self._spread(inner) / self.shifted.shifts

    def _adjoint(self, unknowns: FloatArray) -> FloatArray:
        """``U^T v``: values and derivatives at the chosen atoms of a function with all atoms."""
        system, rows = self.shifted.system, self.shifted.rows
        a, b = self.shifted.split(unknowns)
        c = rows.on_points(a)
        X = rows.points[rows.labeled[self.labels]]
        values, _ = _values_in_blocks(system, X, rows.points, c, system.spread(b))
        _, gradients = _values_in_blocks(
            system, rows.points[self.points], rows.points, c, system.spread(b)
        )
        slopes = np.einsum("tnd,nrd->tnr", gradients, system.frames_of(self.points))
        return np.hstack([values, slopes.reshape(len(a), -1)])

    def _spread(self, inner: FloatArray) -> FloatArray:
        """``U u``: values and derivatives everywhere of a function with the chosen atoms."""
        system, rows = self.shifted.system, self.shifted.rows
        a = inner[:, : len(self.labels)]
        b = inner[:, len(self.labels) :].reshape(len(inner), len(self.points), -1)
        centers = np.vstack([rows.points[rows.labeled[self.labels]], rows.points[self.points]])
        spread = np.einsum("tnr,nrd->tnd", b, system.frames_of(self.points))
        c = np.hstack([a, np.zeros((len(a), len(self.points)))])
        B = np.concatenate([np.zeros((len(a), len(self.labels), centers.shape[1])), spread], axis=1)
        values, gradients = _values_in_blocks(system, rows.points, centers, c, B)
        slopes = system.along(gradients, slice(0, len(rows.points)))
        return np.hstack([values[:, rows.labeled], slopes.reshape(len(a), -1)])


def _values_in_blocks(
    system: DerivativeSystem, X: FloatArray, Z: FloatArray, c: FloatArray, B: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values (t, n) and gradients (t, n, d) of functions with atoms at Z, in blocks of X."""
    values = np.empty((len(c), len(X)))
    gradients = np.empty((len(c), *X.shape))
    for rows in split_range(len(X), max(1, BLOCK_ENTRIES // len(Z))):
        values[:, rows], gradients[:, rows] = system.kernel.value_and_gradient(X[rows], Z, c, B)
    return values, gradients


def _weighted_gram(
    shifted: ShiftedSystem, X: FloatArray, points: NDArray[np.integer]
) -> FloatArray:
    """``U^T S^{-1} U`` summed over blocks of points."""
    rows, system = shifted.rows, shifted.system
    n_labeled = len(rows.labeled)
    roots = 1.0 / np.sqrt(shifted.shifts)
    size = max(1, 4 * BLOCK_ENTRIES // (RANK * system.n_directions))

    def of_derivatives(block: slice) -> tuple[FloatArray]:
        U = np.hstack([system.derivatives_at(X, block).T, system.gram(block, points)])
        r = system.n_directions
        U *= roots[n_labeled + block.start * r : n_labeled + block.stop * r, None]
        return (U.T @ U,)

    def of_values(block: slice) -> tuple[FloatArray]:
        Y = rows.points[rows.labeled[block]]
        U = np.hstack([system.kernel.matrix(Y, X), system.derivatives_at(Y, points)])
        U *= roots[block, None]
        return (U.T @ U,)

    with single_threaded_blas():
        (slopes,) = sum_blocks(
            of_derivatives, split_range(len(rows.points), size), n_jobs=system.n_jobs
        )
        (values,) = sum_blocks(
            of_values, split_range(n_labeled, 4 * BLOCK_ENTRIES // RANK), n_jobs=system.n_jobs
        )
    return slopes + values
