"""Labelled rows predicted by fits without them: without their targets and without their gradients.

A row that is left out as a new row would be is in no part of the objective. Its gradient must go
with its target: where points are few, or the penalty on gradients is strong, functions are made
flat exactly at the points, and so say little about how they behave in between. With targets alone
left out, errors promise what holds at these points and nowhere else.

The penalty on gradients is a sum of squared errors of derivatives whose targets are zero, so that
all is one least squares problem with a block of rows for every labelled point: the value and r
derivatives. With H the hat matrix of rows scaled by the roots of their weights, and e the errors of
the fit to all rows, the errors of a block B that is left out are (I - H_BB)^{-1} e_B. In terms of
the deformed kernel k, which contains all penalties, centred and weighted K = U diag(s) U^T with
shift a = alpha W, and J = U^T k(values, derivatives of B),

    H_vd = c u_B (s + a)^{-1} J,   c^2 = ratio a,
    H_dd = ratio (k_dd - J^T (s + a)^{-1} J),   e_d = -c J^T (s + a)^{-1} U^T y.

If other rows are at the same point, only the share of this row leaves the derivatives. As for
values, weights of the sums are kept when a row is left out. What the row has a part in besides,
the frames of its neighbours, the length scale and the units of the columns, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens.linalg.ridge_spectrum import SMALLEST_FREE, RidgeSpectrum
from kernlens.methods.kernel_laplacian.derivative_system import BLOCK_ENTRIES

#: Numbers of some labelled rows -> k(values, their derivatives), (n, m, r), and
#: I - ratio k(their derivatives, their derivatives), (m, r, r).
DerivativesOf = Callable[[slice], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class RowsLeftOut:
    """The errors of labelled rows left out, for one ratio and any alpha.

    Attributes
    ----------
    spectrum : RidgeSpectrum
        Of the deformed kernel of the n labelled rows.
    derivatives : callable
        The deformed kernel of their derivatives.
    shares : ndarray of shape (n,)
        Share of every row in the weight of its point.
    ratio : float
        mu / alpha, positive.
    n_rows : int
        Number of the first rows that are left out, one by one.
    n_directions : int
        The number r.
    """

    spectrum: RidgeSpectrum
    derivatives: DerivativesOf
    shares: FloatArray
    ratio: float
    n_rows: int
    n_directions: int

    def predictions(self, alphas: list[float]) -> list[FloatArray]:
        """Predictions (n_targets, n_rows) of the rows, for every alpha."""
        width = max(1, len(self.shares) * self.n_directions)
        blocks = split_range(self.n_rows, max(1, BLOCK_ENTRIES // width))
        errors: list[list[FloatArray]] = [[] for _ in alphas]
        fits = [self.spectrum.residuals(alpha) for alpha in alphas]
        for rows in blocks:
            crossed, free = self._block(rows)
            for found, alpha, (residuals, left) in zip(errors, alphas, fits, strict=True):
                found.append(
                    self._errors(rows, alpha, residuals[:, rows], left[rows], crossed, free)
                )
        targets = self.spectrum.y[:, : self.n_rows]
        return [targets - np.concatenate(found, axis=1) for found in errors]

    @property
    def _kept(self) -> tuple[FloatArray, FloatArray]:
        varies = self.spectrum.values > 0.0
        return self.spectrum.vectors[:, varies], self.spectrum.values[varies]

    def _block(self, rows: slice) -> tuple[FloatArray, FloatArray]:
        """J of every row, (m, k, r), and what is left of its derivatives, (m, r, r)."""
        cross, free = self.derivatives(rows)
        vectors = self._kept[0] * np.sqrt(self.spectrum.weights)[:, None]
        crossed = np.tensordot(vectors.T, cross, axes=1)
        return crossed.transpose(1, 0, 2), free

    def _errors(
        self,
        rows: slice,
        alpha: float,
        residuals: FloatArray,
        left: FloatArray,
        crossed: FloatArray,
        free: FloatArray,
    ) -> FloatArray:
        """Errors (n_targets, m) of some rows."""
        vectors, values = self._kept
        shift = alpha * self.spectrum.weights.sum()
        inverse = 1.0 / (values + shift)
        c = np.sqrt(self.ratio * shift)
        shares = self.shares[rows]
        damped = crossed * inverse[:, None]
        # I - H of the block, the value first, where derivatives count by their shares only.
        matrix = np.empty((len(shares), 1 + free.shape[1], 1 + free.shape[1]))
        matrix[:, 0, 0] = left
        across = -c * np.einsum("mk,mkr->mr", vectors[rows], damped)
        matrix[:, 0, 1:] = matrix[:, 1:, 0] = np.sqrt(shares)[:, None] * across
        inner = free + self.ratio * (crossed.transpose(0, 2, 1) @ damped)
        matrix[:, 1:, 1:] = (1.0 - shares)[:, None, None] * np.eye(free.shape[1])
        matrix[:, 1:, 1:] += shares[:, None, None] * inner
        inside = self.spectrum.scaled_targets @ vectors
        slopes = -c * np.einsum("tk,mkr->tmr", inside, damped)
        solved = _first_of_inverse(matrix)
        errors = residuals * solved[:, 0]
        errors += np.einsum("tmr,mr->tm", slopes * np.sqrt(shares)[:, None], solved[:, 1:])
        rescaled: FloatArray = errors / np.sqrt(self.spectrum.weights[rows])
        return rescaled


def _first_of_inverse(matrices: FloatArray) -> FloatArray:
    """First rows (m, p) of the inverses of positive matrices (m, p, p).

    What is left of a value may be smaller by many orders than what is left of a slope. With all
    diagonals made one each keeps its digits, and a little more than one keeps matrices positive
    whose smallest eigenvalues are rounding.
    """
    diagonals = matrices.diagonal(axis1=1, axis2=2)
    scales = 1.0 / np.sqrt(np.where(diagonals > 0.0, diagonals, SMALLEST_FREE))
    scaled = matrices * scales[:, :, None] * scales[:, None]
    identity = np.eye(scaled.shape[1])
    scaled += SMALLEST_FREE * identity
    first = np.linalg.solve(scaled, np.broadcast_to(identity[:, :1], (*scaled.shape[:2], 1)))
    rows: FloatArray = first[:, :, 0] * scales[:, :1] * scales
    return rows
