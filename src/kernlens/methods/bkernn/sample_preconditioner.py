"""The system of all rows as a sample of them sees it, factorised: few iterations are left.

With n_s rows in the sample and p numbers to be found, the condition of the preconditioned system is
at worst about ``((1 + s) / (1 - s))^2`` with ``s^2 = p / n_s``, whatever that of the system is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens.kernels.knots import KnotSpace, make_knot_space
from kernlens.linalg.raised_cholesky import raised_cholesky

#: Coordinates of functions that are factorised together; beyond, particles in groups.
LARGEST = 6500


@dataclass(frozen=True)
class SamplePreconditioner:
    """Factors of the system of a sample, without a constant.

    The constant is eliminated: it has no penalty, and its row is that of the means.

    Attributes
    ----------
    groups : tuple of slice
        Particles that are factorised together.
    factors : tuple of ndarray
        Upper Cholesky factors.
    means : ndarray of shape (m, q)
        Mean of what rows multiply coordinates with.
    curvature : float
        Mean curvature of the loss.
    """

    groups: tuple[slice, ...]
    factors: tuple[FloatArray, ...]
    means: FloatArray
    curvature: float

    @classmethod
    def of(
        cls,
        space: KnotSpace,
        projections: FloatArray,
        curvature: FloatArray,
        alpha: float,
        n_jobs: int | None,
    ) -> SamplePreconditioner:
        """From the projections (m, n_rows) of a sample and the curvature (n_rows,) of each row.

        Curvatures are those of weighted losses, divided by the sum of all weights.
        """
        total = float(curvature.sum())
        shares = curvature / total
        means = space.coordinates(space.seen_by(projections).sums(shares[None]))[0]
        together = max(1, LARGEST // space.n_coordinates)
        groups = split_range(len(space.knots), together)
        factors = []
        for group in groups:
            part = make_knot_space(space.kernel, space.knots[group], space.n_particles)
            mean = means[group].ravel()
            system = part.gram(projections[group], shares, n_jobs)
            system -= np.outer(mean, mean)
            system *= total
            rounding = float(np.finfo(np.float64).eps) * float(np.trace(system))
            factors.append(raised_cholesky(system, alpha, rounding)[0])
        return cls(tuple(groups), tuple(factors), means, total)

    def __call__(self, slopes: FloatArray, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Moves (t, m, q) and (t,) of coordinates and constants for slopes of the same shapes."""
        centered = slopes - totals[:, None, None] * self.means
        moves = np.empty_like(slopes)
        for group, factor in zip(self.groups, self.factors, strict=True):
            part = centered[:, group].reshape(len(slopes), -1).T
            half = solve_triangular(factor, part, trans=1, check_finite=False)
            found = solve_triangular(factor, half, check_finite=False).T
            moves[:, group] = found.reshape(moves[:, group].shape)
        constant = totals / self.curvature - np.einsum("mq,tmq->t", self.means, moves)
        return moves, constant
