"""Minimum average variance: one subspace for all local lines (Xia, Tong, Li and Zhu, 2002)."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens.methods.sdr.gradients import (
    EARLY_ROWS,
    GradientDirections,
    falling_shares,
    last_share,
)
from kernlens.methods.sdr.local_linear import LocalMoments, LocalProblem, local_moments
from kernlens.subspace import leading_directions

#: Rounds until the last share of rows is reached, rounds after that, and those with all rows.
N_ROUNDS, N_LAST, N_WITH_ALL = 10, 5, 3
#: Share of the mean local variance along directions that is added to it.
LINE_RIDGE = 1e-3
#: Share of the mean of its diagonal that is added to the system of the basis: this many columns
#: per row, and at least the second number. It shrinks what directions are more than what is new in
#: them, which helps to find weak ones; more than the system has along the basis would go too far.
RIDGE_PER_COLUMN, LEAST_RIDGE = 0.75, 1e-3
#: Share that is added even where rows do not differ along the basis.
SMALLEST_RIDGE = 1e-8
#: Rows that the median anchor looks at in the end, at least: so many, and so many per column. Both
#: were chosen on the generators of the RegFeaL paper, with other seeds than the published ones.
LEAST_ROWS, ROWS_PER_COLUMN = 20.0, 1.5


def minimum_variance(problem: LocalProblem, start: FloatArray) -> GradientDirections:
    r"""Find the subspace that leaves least of the targets to lines along it.

    .. math:: \sum_j \sum_i p_{ij} (y_i - a_j - d_j^\top B (x_i - x_j))^2 ,

    is minimised in turn over the lines and over B, with weights :math:`p_{ij}` of distances of B x
    whose bandwidth shrinks from round to round (the refined kernel of the paper).

    Parameters
    ----------
    problem : LocalProblem
    start : ndarray of shape (k, d)
        Orthonormal rows.

    Returns
    -------
    GradientDirections
        The k directions, and the mean squared slopes along them.

    Notes
    -----
    A round costs O(m n d^2 + (k d)^3) with m anchors.
    """
    n_rows = float(problem.weights.sum())
    shares = falling_shares(final_share(problem), N_ROUNDS, N_LAST)
    ridge = max(LEAST_RIDGE, RIDGE_PER_COLUMN * problem.inputs.shape[1] / n_rows)
    basis = start
    for number, share in enumerate(shares):
        late = number >= len(shares) - N_WITH_ALL
        part = problem if late else problem.first(EARLY_ROWS)
        basis = one_step(part, basis, float(share), ridge)
    return _principal(problem, basis, float(shares[-1]))


def final_share(problem: LocalProblem) -> float:
    """Share of the rows that the median anchor looks at in the end."""
    least = max(LEAST_ROWS, ROWS_PER_COLUMN * problem.inputs.shape[1])
    return last_share(float(problem.weights.sum()), least, 0.2)


def one_step(problem: LocalProblem, basis: FloatArray, share: float, ridge: float) -> FloatArray:
    """The best lines for a basis (k, d), and then the best basis for these lines, orthonormal.

    `ridge` is a share of the mean of the diagonal of the system of the basis; what is added is at
    most the mean of the system along the basis.
    """
    k, d = basis.shape
    normal, right = np.zeros((k, d, k, d)), np.zeros((k, d))
    for moments in local_moments(problem, problem.inputs @ basis.T, share):
        levels, slopes = moments.lines(LINE_RIDGE, basis)
        normal += _normal_matrix(moments, slopes)
        left = moments.mixed - levels[:, :, None] * moments.means[:, None]
        right += np.einsum("jtk,jtd->kd", slopes * moments.importance[:, None, None], left)
    matrix = normal.reshape(k * d, k * d)
    size = np.trace(matrix) / (k * d)
    if size <= 0.0:
        return basis
    along = np.einsum("kd,kdke,ke->", basis, normal, basis) / k
    # Columns that are mixtures of others leave the system singular: something is added always.
    matrix.flat[:: k * d + 1] += min(ridge, max(along / size, SMALLEST_RIDGE)) * size
    found = np.linalg.solve(matrix, right.ravel()).reshape(k, d)
    left_vectors, values, vectors = np.linalg.svd(found, full_matrices=False)
    if values[-1] <= 1e-10 * values[0]:
        return basis
    # The orthonormal basis that is nearest to the solution.
    nearest: FloatArray = left_vectors @ vectors
    return nearest


def _normal_matrix(moments: LocalMoments, slopes: FloatArray) -> FloatArray:
    """Sum over anchors of the outer products of slopes times those of differences, (k, d, k, d)."""
    scaled = slopes * np.sqrt(moments.importance)[:, None, None]
    m, _, k = slopes.shape
    d = moments.means.shape[1]
    outer = np.einsum("jtk,jtl->jkl", scaled, scaled).reshape(m, k * k)
    flat: FloatArray = (outer.T @ moments.products.reshape(m, d * d)).reshape(k, k, d, d)
    return flat.transpose(0, 2, 1, 3)


def _principal(problem: LocalProblem, basis: FloatArray, share: float) -> GradientDirections:
    """The directions of a subspace in the order of the slopes along them."""
    k = len(basis)
    total, product = 0.0, np.zeros((k, k))
    for moments in local_moments(problem, problem.inputs @ basis.T, share):
        _, slopes = moments.lines(LINE_RIDGE, basis)
        product += np.einsum("j,jtk,jtl->kl", moments.importance, slopes, slopes)
        total += float(moments.importance.sum())
    vectors, squares = leading_directions(product / total)
    return GradientDirections(vectors @ basis, squares)
