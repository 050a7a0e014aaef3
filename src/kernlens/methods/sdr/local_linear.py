"""Local linear regression at anchors: kernel weights, and the moments that all of it is made of.

At an anchor x_j, with kernel weights p_ij that sum to 1 over rows, the line a + b . (x - x_j) that
fits best depends on the data through few moments of the differences x_i - x_j only. They are sums
over rows of products of two columns, so that one product of matrices gives those of many anchors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

from kernlens._array import FloatArray

#: Anchors and rows whose distances give the bandwidth.
SAMPLE_ANCHORS, SAMPLE_ROWS = 100, 2000
#: Halvings of the interval of the logarithm of the bandwidth, which begins e^24 wide.
HALVINGS = 30
#: Numbers that a block of rows or of anchors has at most.
BLOCK_ENTRIES = 10_000_000
#: Variances of smaller size, in units of the standardised columns, are none.
FLOOR = 1e-8


@dataclass(frozen=True)
class LocalProblem:
    """Rows, targets, and anchors among them.

    Attributes
    ----------
    inputs : ndarray of shape (n_rows, d)
        Centred.
    targets : ndarray of shape (n_targets, n_rows)
    weights : ndarray of shape (n_rows,)
        Positive.
    n_anchors : int
        The first rows are anchors.
    """

    inputs: FloatArray
    targets: FloatArray
    weights: FloatArray
    n_anchors: int

    def first(self, n_rows: int) -> LocalProblem:
        """The same with the first rows only."""
        return replace(
            self,
            inputs=self.inputs[:n_rows],
            targets=self.targets[:, :n_rows],
            weights=self.weights[:n_rows],
            n_anchors=min(self.n_anchors, n_rows),
        )


@dataclass(frozen=True)
class LocalMoments:
    """Weighted means over rows, at every anchor of a block.

    Attributes
    ----------
    products : ndarray of shape (n_anchors, d, d)
        Of ``(x - x_j)(x - x_j)^T``.
    means : ndarray of shape (n_anchors, d)
        Of ``x - x_j``.
    levels : ndarray of shape (n_anchors, n_targets)
        Of the targets.
    mixed : ndarray of shape (n_anchors, n_targets, d)
        Of ``y (x - x_j)``.
    importance : ndarray of shape (n_anchors,)
        Weights of the anchors, less for those with few rows nearby.
    """

    products: FloatArray
    means: FloatArray
    levels: FloatArray
    mixed: FloatArray
    importance: FloatArray

    def lines(self, ridge: float, basis: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Levels (n_anchors, n_targets) and slopes (n_anchors, n_targets, k) of the best lines.

        Slopes are along the rows of `basis` (k, d), or along all inputs. `ridge` is a share of the
        mean local variance that is added to all of them.
        """
        products, means, mixed = self.products, self.means, self.mixed
        if basis is not None:
            products, means, mixed = basis @ products @ basis.T, means @ basis.T, mixed @ basis.T
        local = products - means[:, :, None] * means[:, None]
        cross = mixed - self.levels[:, :, None] * means[:, None]
        k = local.shape[1]
        added = ridge * np.trace(local, axis1=1, axis2=2) / k + FLOOR
        local.reshape(len(local), -1)[:, :: k + 1] += added[:, None]
        slopes = np.linalg.solve(local, cross.transpose(0, 2, 1)).transpose(0, 2, 1)
        levels = self.levels - np.einsum("jtk,jk->jt", slopes, means)
        return levels, slopes


def local_moments(
    problem: LocalProblem, coordinates: FloatArray, share: float
) -> Iterator[LocalMoments]:
    """Moments with Gaussian weights of the distances of coordinates, by blocks of anchors.

    Cost O(n_anchors n d^2) by products of matrices; memory O(`BLOCK_ENTRIES`).

    Parameters
    ----------
    problem : LocalProblem
    coordinates : ndarray of shape (n_rows, k)
        What distances are measured in.
    share : float
        Effective share of the rows that the median anchor looks at.
    """
    width = find_bandwidth(coordinates, problem.weights, problem.n_anchors, share)
    d = problem.inputs.shape[1]
    size = max(1, min(BLOCK_ENTRIES // (d * d), BLOCK_ENTRIES // len(coordinates)))
    for start in range(0, problem.n_anchors, size):
        block = slice(start, min(start + size, problem.n_anchors))
        kernel = gaussian_weights(coordinates[block], coordinates, width) * problem.weights
        total = kernel.sum(axis=1)
        n_nearby = np.square(total) / np.sum(np.square(kernel), axis=1)
        wanted = share * float(problem.weights.sum())
        importance = problem.weights[block] * np.minimum(1.0, n_nearby / wanted)
        yield moments_of_weights(
            problem, kernel / total[:, None], problem.inputs[block], importance
        )


def find_bandwidth(
    coordinates: FloatArray, weights: FloatArray, n_anchors: int, share: float
) -> float:
    """Bandwidth at which the median anchor has an effective share of the rows.

    The effective number of rows is ``(sum p)^2 / sum p^2`` for kernel weights p.
    """
    anchors = coordinates[: min(SAMPLE_ANCHORS, n_anchors)]
    some, of_some = coordinates[:SAMPLE_ROWS], weights[:SAMPLE_ROWS]
    squares = cdist(anchors, some, "sqeuclidean")
    typical = float(np.mean(squares))
    if typical <= 0.0:
        return 1.0
    wanted = share * float(of_some.sum())
    low, high = -16.0, 8.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        kernel = np.exp(-squares / (2.0 * typical * np.exp(middle))) * of_some
        found = np.median(np.square(kernel.sum(axis=1)) / np.sum(np.square(kernel), axis=1))
        low, high = (middle, high) if found < wanted else (low, middle)
    return float(np.sqrt(typical * np.exp(high)))


def gaussian_weights(anchors: FloatArray, coordinates: FloatArray, width: float) -> FloatArray:
    """``exp(-|u_j - u_i|^2 / (2 width^2))``, (n_anchors, n_rows); 1 at the anchor itself."""
    kernel: FloatArray = np.exp(cdist(anchors, coordinates, "sqeuclidean") / (-2.0 * width**2))
    return kernel


def moments_of_weights(
    problem: LocalProblem, kernel: FloatArray, anchors: FloatArray, importance: FloatArray
) -> LocalMoments:
    """Moments of differences, from moments of the rows themselves.

    Parameters
    ----------
    problem : LocalProblem
    kernel : ndarray of shape (n_anchors, n_rows)
        Weights that sum to 1 in every line.
    anchors : ndarray of shape (n_anchors, d)
    importance : ndarray of shape (n_anchors,)
    """
    m, d = anchors.shape
    upper = np.triu_indices(d)
    n_products, n_targets = len(upper[0]), len(problem.targets)
    sums = np.zeros((m, n_products + d + n_targets * (d + 1)))
    size = max(1, BLOCK_ENTRIES // sums.shape[1])
    for start in range(0, len(problem.inputs), size):
        rows = slice(start, start + size)
        X, y = problem.inputs[rows], problem.targets[:, rows]
        products = [X * target[:, None] for target in y]
        sums += kernel[:, rows] @ np.hstack([X[:, upper[0]] * X[:, upper[1]], X, y.T, *products])
    squares, means, levels, mixed = np.split(sums, np.cumsum([n_products, d, n_targets]), axis=1)
    full = np.empty((m, d, d))
    full[:, upper[0], upper[1]] = full[:, upper[1], upper[0]] = squares
    outer = anchors[:, :, None] * means[:, None]
    full += anchors[:, :, None] * anchors[:, None] - outer - outer.transpose(0, 2, 1)
    mixed = mixed.reshape(m, n_targets, d) - levels[:, :, None] * anchors[:, None]
    return LocalMoments(full, means - anchors, levels, mixed, importance)
