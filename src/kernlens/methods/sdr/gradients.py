"""The outer product of gradients, with weights that adapt to what was found before.

The eigenvectors of the mean of b_j b_j^T, with b_j the slopes of local lines, are the directions
(Xia, Tong, Li and Zhu, 2002). Distances of the next round are measured along these
directions, each in units of its root mean square slope, and fewer rows are looked at: rows that
differ in what does not matter become neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.methods.sdr.local_linear import LocalProblem, local_moments
from kernlens.subspace import leading_directions

#: Share of the rows that the first round looks at, and rounds until the last share is reached.
FIRST_SHARE = 0.5
N_ROUNDS = 8
#: Rounds after that, in which the ridge is halved.
N_LAST = 4
#: Share of the mean local variance that is added to all of them.
RIDGE = 0.1
#: Rows of all rounds but the last.
EARLY_ROWS = 3000
#: Mean squared slopes of a smaller size, of standardised targets, are rounding.
SMALLEST_SLOPE = 1e-12


@dataclass(frozen=True)
class GradientDirections:
    """Principal directions of gradients.

    Attributes
    ----------
    directions : ndarray of shape (d, d)
        Orthonormal rows, most important first.
    squares : ndarray of shape (d,)
        Mean squared slopes along them, decreasing.
    """

    directions: FloatArray
    squares: FloatArray

    @property
    def n_found(self) -> int:
        """Number of directions along which anything varies."""
        return int(np.sum(self.squares > SMALLEST_SLOPE))


def last_share(n_rows: float, least: float, factor: float) -> float:
    """Share of the rows that the last rounds look at: ``max(least, factor n^(2/3)) / n``."""
    return min(FIRST_SHARE, max(least, factor * n_rows ** (2.0 / 3.0)) / n_rows)


def falling_shares(last: float, n_rounds: int, n_last: int) -> FloatArray:
    """Shares from the first one to `last`, in equal ratios, and then `last` again and again."""
    return np.concatenate([np.geomspace(FIRST_SHARE, last, n_rounds + 1), np.full(n_last, last)])


def gradient_directions(problem: LocalProblem) -> GradientDirections:
    """Find directions by rounds of local lines."""
    shares = falling_shares(last_share(float(problem.weights.sum()), 30.0, 0.8), N_ROUNDS, N_LAST)
    found = GradientDirections(np.eye(problem.inputs.shape[1]), np.ones(problem.inputs.shape[1]))
    for number, share in enumerate(shares):
        part = problem if number == len(shares) - 1 else problem.first(EARLY_ROWS)
        ridge = RIDGE * 0.5 ** max(0, number - N_ROUNDS)
        found = one_round(part, found, float(share), ridge)
        if not found.n_found:
            break
    return found


def one_round(
    problem: LocalProblem, before: GradientDirections, share: float, ridge: float
) -> GradientDirections:
    """Local lines with distances along the directions before, and the directions of their slopes.

    Cost O(n_anchors (n d^2 + d^3)).
    """
    lengths = np.sqrt(before.squares / before.squares[0])
    coordinates = problem.inputs @ (before.directions.T * lengths)
    total, product = 0.0, np.zeros((problem.inputs.shape[1],) * 2)
    for moments in local_moments(problem, coordinates, share):
        _, slopes = moments.lines(ridge)
        scaled = slopes * np.sqrt(moments.importance)[:, None, None]
        flat = scaled.reshape(-1, product.shape[0])
        product += flat.T @ flat
        total += float(moments.importance.sum())
    return GradientDirections(*leading_directions(product / total))
