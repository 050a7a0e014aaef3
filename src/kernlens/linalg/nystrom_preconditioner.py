"""A Nyström preconditioner for kernel systems, applied with two products and no n x r matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range
from kernlens.linalg.kernel_operator import KernelOperator
from kernlens.losses import CurvatureRoot

ROWS_PER_BLOCK = 4096


@dataclass(frozen=True)
class NystromPreconditioner:
    """Inverse of ``S K_nr K_rr^{-1} K_rn S + shift I`` by the Woodbury identity.

    K_nr has the columns of r landmark rows, anchored at one more landmark, which makes a
    conditionally positive kernel positive. Products with K_nr and K_rn are products with K on
    vectors that live on, or are read at, the landmarks: an application costs two products.
    The Gram matrix K_rn S^2 K_nr is summed exactly over row blocks: replacing it by that of a
    sample of the rows was measured to make the iterations diverge once shift is small.
    """

    operator: KernelOperator
    root: CurvatureRoot
    shift: float
    landmarks: NDArray[np.integer]
    factor: tuple[FloatArray, bool]

    @classmethod
    def build(
        cls,
        operator: KernelOperator,
        root: CurvatureRoot,
        shift: float,
        *,
        rank: int | None = None,
        seed: int = 0,
    ) -> NystromPreconditioner:
        """Draw `rank` landmarks (default ``2 sqrt(n)``, at most 1000); O(n r (m + r))."""
        diagonals = root.diagonals
        # One Gram matrix is to be exact for all targets: with an average of several curvatures the
        # preconditioner is not even positive.
        if diagonals is None or not root.shared_by_targets:
            raise TypeError("A Nyström preconditioner needs one curvature shared by all targets.")
        n = operator.n_samples
        rank = rank or int(min(1000, 2 * np.sqrt(n)))
        landmarks = np.random.default_rng(seed).choice(n, min(rank, n - 1) + 1, replace=False)
        gram = _anchored_gram(operator, landmarks, diagonals[0] ** 2)
        corner = operator.submatrix(landmarks, landmarks)
        corner = corner[1:, 1:] - corner[1:, :1] - corner[:1, 1:] + corner[0, 0]
        system = gram + shift * corner
        # The trace is zero when all particles are, and any factor will do.
        system[np.diag_indices_from(system)] += 1e-13 * (np.trace(system) or 1.0)
        return cls(operator, root, shift, landmarks, cho_factor(system, check_finite=False))

    def __call__(self, residual: FloatArray) -> FloatArray:
        """Return the preconditioned residual, (n_targets, n_samples)."""
        at_landmarks = self.operator.matvec(self.root.apply(residual))[:, self.landmarks]
        coefficients = cho_solve(
            self.factor, (at_landmarks[:, 1:] - at_landmarks[:, :1]).T, check_finite=False
        ).T
        spread = np.zeros_like(residual)
        spread[:, self.landmarks[1:]] = coefficients
        spread[:, self.landmarks[0]] = -coefficients.sum(axis=1)
        return (residual - self.root.adjoint(self.operator.matvec(spread))) / self.shift


def _anchored_gram(
    operator: KernelOperator, landmarks: NDArray[np.integer], curvature: FloatArray
) -> FloatArray:
    """Return the curvature-weighted, centred Gram matrix of the anchored landmark columns."""

    def moments(rows: slice) -> tuple[FloatArray, FloatArray]:
        columns = operator.submatrix(np.arange(rows.start, rows.stop), landmarks)
        columns = columns[:, 1:] - columns[:, :1]
        weighted = columns * curvature[rows, None]
        return weighted.T @ columns, weighted.sum(axis=0)

    parts = map_blocks(
        moments, split_range(operator.n_samples, ROWS_PER_BLOCK), n_jobs=operator.n_jobs
    )
    gram, total = parts[0]
    for gram_part, total_part in parts[1:]:
        gram += gram_part
        total += total_part
    return gram - np.outer(total, total) / curvature.sum()
