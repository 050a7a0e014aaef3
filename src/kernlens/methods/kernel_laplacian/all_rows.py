"""The last step of a fit of more rows than memory: features of a sample, sums over all rows.

A sample gives the features, the ratio mu / alpha and the basis eta of the features in which both
penalties of the sample are the plain norm. In it, over all rows,

    (G / Wl + alpha P) eta = Phi^T W y / Wl,    P = D + ratio (1/W) sum_i w_i S_i^T S_i,

with G and the right-hand side summed over rows that have a target, and slopes S_i of the features
over all rows: without a target a row counts in the mean of squared gradients and nowhere else. P is
nearly the identity, because the sample is like all rows, so that sums of products lose no digits
however large the ratio is. Alpha is chosen again on a fifth of the rows, where the sample has tried
others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from kernlens._array import FloatArray
from kernlens._execution import single_threaded_blas, split_range, sum_blocks
from kernlens.base.block_data import FitTable
from kernlens.blocks.block import Block, labeled_rows
from kernlens.blocks.table import BlockTable
from kernlens.linalg.raised_cholesky import raised_cholesky
from kernlens.linalg.ridge_system import BlockPart, RidgeSystem, accumulate_ridge
from kernlens.methods.kernel_laplacian.derivative_system import BLOCK_ENTRIES
from kernlens.methods.kernel_laplacian.energy_basis import DifferentiableMap, EnergyBasis
from kernlens.methods.kernel_laplacian.function import function_in_basis
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.plan import Solution

#: What is added to a matrix that is not positive, as a share of its trace.
ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class SampleFeatures:
    """Features whose norm of both penalties is about the plain one.

    Attributes
    ----------
    map : DifferentiableMap
    matrix : ndarray of shape (n_features, q)
        From features of the map to these.
    lengths : float or ndarray of shape (d,)
        What inputs are divided by.
    frames : LocalFrames or None
        Directions in which gradients are measured.
    shift : ndarray of shape (q,)
        A typical value, which sums are taken about.
    """

    map: DifferentiableMap
    matrix: FloatArray
    lengths: float | FloatArray
    frames: LocalFrames | None
    shift: FloatArray

    @classmethod
    def of(
        cls,
        basis: EnergyBasis,
        ratio: float,
        lengths: float | FloatArray,
        frames: LocalFrames | None,
        points: FloatArray,
    ) -> SampleFeatures:
        """For a ratio mu / alpha; `points` in units of the lengths say what values are typical."""
        matrix = basis.rotation * basis.damping(ratio)
        references = None if frames is None else frames.references
        shift = (basis.map.features(points) @ matrix).mean(axis=0)
        return cls(basis.map, matrix, lengths, references, shift)

    def values(self, X: FloatArray) -> FloatArray:
        """Features of rows of inputs, (n, q)."""
        found: FloatArray = self.map.features(X / self.lengths) @ self.matrix
        return found

    def slopes(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Their derivatives in the directions that count, times roots of weights, (n r, q)."""
        points = X / self.lengths
        frames = np.eye(X.shape[1])[None] if self.frames is None else self.frames.at(points)
        weighted = frames * np.sqrt(weights)[:, None, None]
        slopes = self.map.slopes(points, weighted).reshape(-1, len(self.matrix))
        found: FloatArray = slopes @ self.matrix
        return found


def energy(block: Block, features: SampleFeatures) -> tuple[FloatArray]:
    """``sum_i w_i S_i^T S_i`` of the slopes S_i at all rows of a block, (q, q)."""
    n_features, q = features.matrix.shape
    gram = np.zeros((q, q))
    size = max(1, BLOCK_ENTRIES // (n_features * block.X.shape[1]))
    with single_threaded_blas():
        for rows in split_range(len(block), size):
            slopes = features.slopes(block.X[rows], block.weights[rows])
            gram += slopes.T @ slopes
    return (gram,)


def labeled_sums(block: Block, features: SampleFeatures) -> RidgeSystem:
    """Normal equations of the rows of a block, all of which have a target."""

    def sum_over_blocks(function: BlockPart) -> list[FloatArray]:
        def of(rows: slice) -> tuple[FloatArray, ...]:
            return function(rows, features.values(block.X[rows]))

        size = max(1, BLOCK_ENTRIES // len(features.matrix))
        with single_threaded_blas():
            return sum_blocks(of, split_range(len(block), size), n_jobs=1)

    return accumulate_ridge(sum_over_blocks, block.y, block.weights, True, features.shift)


def solve_all(
    table: FitTable,
    basis: EnergyBasis,
    features: SampleFeatures,
    ratio: float,
    alpha: float,
    others: list[float],
) -> tuple[Solution, float]:
    """The solution of all rows of a table, and its alpha.

    Parameters
    ----------
    table : FitTable
    basis : EnergyBasis
        Of the sample.
    features : SampleFeatures
        Of this basis and this ratio.
    ratio : float
        mu / alpha.
    alpha : float
        What the sample has chosen.
    others : list of float
        What rows held out choose from instead; empty if there is nothing to choose.
    """
    damping = basis.damping(ratio)
    penalty = np.diag(np.square(damping))
    if ratio > 0.0:
        (gram,) = table.table.sum(energy, features)
        penalty += ratio / table.total * gram
    root, _ = raised_cholesky(penalty, 0.0, ROUNDING * float(np.trace(penalty)))
    if others:
        learned = _system(table.part(held_out=False), features, root)
        held_out = _system(table.part(held_out=True), features, root)
    else:
        learned, held_out = _system(table.table, features, root), None
    if learned is not None and held_out is not None:
        losses = [
            float(held_out.mean_losses(*solution).sum()) for solution in learned.solve_along(others)
        ]
        alpha, system = others[int(np.argmin(losses))], learned.merged(held_out)
    else:
        # The rows with targets may all be of one part.
        one = held_out if learned is None else learned
        assert one is not None
        system = one
    b, intercept = system.solve(alpha)
    objective = float(np.sum(system.mean_losses(b, intercept))) + alpha * float(np.vdot(b, b))
    of_sample = solve_triangular(root, b.T, check_finite=False).T * damping
    return Solution(function_in_basis(basis, of_sample, intercept), objective), alpha


def _system(table: BlockTable, features: SampleFeatures, root: FloatArray) -> RidgeSystem | None:
    """Normal equations of the rows with targets, where both penalties are the plain norm."""
    labeled = table.through(labeled_rows)
    found = labeled.fold_present(labeled_sums, RidgeSystem.merged, features)
    return None if found is None else found.divided_by_triangle(root)
