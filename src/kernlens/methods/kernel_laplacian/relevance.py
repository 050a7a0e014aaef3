"""How much every column counts in the distance of two points, as rows left out want it.

A radial kernel takes all columns alike. Where the target depends on few of them, the others only
make points distant, and where columns are mostly zero, their standard deviations say little. So
plain kernel ridge regression on the labelled rows compares relevances, factors of the columns:

- one, that is, columns as they are;
- the inverse of the range of a column, which rare values do not shrink;
- the root of the share of the target that a column explains alone, by means over its quantiles;
- from the best of these on, root mean squared slopes of the fit before, again and again.

All of them follow columns of any unit. Ranges are taken instead of one, and what was learned from
targets instead of both, only if errors are clearly smaller, by more the fewer labels there are.
Where most points have no label, these say less of the columns than the points do, and nothing is
learned from targets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.methods.kernel_laplacian.function import KernelFunction
from kernlens.methods.kernel_laplacian.plan import RELATIVE_ALPHAS, LabeledPoints

#: Labelled rows that are looked at.
RELEVANCE_ROWS = 1000
#: With fewer labels nothing is compared.
FEWEST_LABELS = 15
#: A smaller relevance than this share of the largest counts as it: columns remain apart.
SMALLEST = 0.01
#: Steps that follow slopes.
STEPS = 4
#: Share of the error that a step must gain to be followed by another.
CLEAR_GAIN = 0.02
#: Divided by the root of the number of labels, shares by which errors must be smaller: with ranges,
#: and with what was learned from the targets.
ADVANTAGE, LEARNED_ADVANTAGE = 0.25, 2.0
#: Quantiles of a column: one for this many rows, and at most so many.
ROWS_OF_A_BIN, MOST_BINS = 10, 50
#: Standard deviations of what a column without meaning explains that are taken off.
LUCK = 2.0


@dataclass(frozen=True)
class Relevance:
    """Factors of the columns, the largest of which is 1, and what they give.

    Attributes
    ----------
    factors : ndarray of shape (d,)
    loss : float
        Mean squared error of labelled rows left out.
    slopes : ndarray of shape (d,)
        Root mean squared slopes of the fit along the columns.
    """

    factors: FloatArray
    loss: float
    slopes: FloatArray


def learned_relevance(
    kernel: KernelDerivatives, rows: LabeledPoints, length_of: Callable[[FloatArray], float]
) -> FloatArray | None:
    """Factors (d,) of the columns that rows left out want, or None for columns as they are.

    Parameters
    ----------
    kernel : KernelDerivatives
    rows : LabeledPoints
        In units of the inputs.
    length_of : callable
        Length scale for points.
    """
    d = rows.points.shape[1]
    part = rows.with_labels(slice(0, RELEVANCE_ROWS))
    n_labels = len(part.labeled)
    if d < 2 or n_labels < FEWEST_LABELS or not np.ptp(part.y, axis=1).any():
        return None

    def tried(factors: FloatArray) -> Relevance:
        factors = np.maximum(factors / factors.max(), SMALLEST)
        length = length_of(rows.points * factors)
        return _plain_fit(kernel, part, factors, length)

    plain, of_ranges = tried(np.ones(d)), tried(1.0 / np.ptp(rows.points, axis=0))
    root = np.sqrt(n_labels)
    chosen = of_ranges if of_ranges.loss * (1.0 + ADVANTAGE / root) < plain.loss else plain
    if 2 * len(rows.labeled) >= len(rows.points):
        best = min((plain, of_ranges), key=lambda one: one.loss)
        explained = explained_alone(part.labeled_points, part.y, part.label_weights)
        if explained.any():
            best = min((best, tried(np.sqrt(explained))), key=lambda one: one.loss)
        best = _along_slopes(best, tried)
        if best.loss * (1.0 + LEARNED_ADVANTAGE / root) < chosen.loss:
            chosen = best
    return None if chosen is plain else chosen.factors


def _along_slopes(best: Relevance, tried: Callable[[FloatArray], Relevance]) -> Relevance:
    """The best of relevances that follow the slopes of the fit before."""
    for _ in range(STEPS):
        if not best.slopes.any():
            break
        step = tried(best.slopes)
        gained = step.loss < (1.0 - CLEAR_GAIN) * best.loss
        best = min((best, step), key=lambda one: one.loss)
        if not gained:
            break
    return best


def explained_alone(X: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Share of the targets that every column explains by itself, beyond luck, (d,).

    Every row is predicted by the mean of the others in its quantile of the column.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n_targets, n)
    weights : ndarray of shape (n,)
    """
    n_bins = int(np.clip(len(X) // ROWS_OF_A_BIN, 2, MOST_BINS))
    levels = np.arange(1, n_bins) / n_bins
    edges = np.array([weighted_quantile(X, weights, level) for level in levels])
    centered = y - np.average(y, axis=1, weights=weights)[:, None]
    whole = float(np.sum(np.square(centered) @ weights))
    shares = np.zeros(X.shape[1])
    for j, column in enumerate(X.T):
        bins = np.searchsorted(edges[:, j], column)
        total = np.bincount(bins, weights, minlength=n_bins)
        # A row that is alone in its bin is predicted by the mean of all.
        rest = total[bins] - weights
        alone = rest <= 0.0
        error = 0.0
        for target in centered:
            sums = np.bincount(bins, weights * target, minlength=n_bins)
            others = sums[bins] - weights * target
            means = np.divide(others, rest, out=np.zeros_like(others), where=~alone)
            error += float(weights @ np.square(target - means))
        shares[j] = 1.0 - error / whole
    luck = LUCK * np.sqrt(2.0 * n_bins) / len(X)
    return np.maximum(shares - luck, 0.0)


def _plain_fit(
    kernel: KernelDerivatives, rows: LabeledPoints, factors: FloatArray, length: float
) -> Relevance:
    """Kernel ridge regression on the labelled rows, at the alpha that rows left out want."""
    units = length / factors
    points = rows.labeled_points / units
    K = kernel.matrix(points, points)
    spectrum = RidgeSpectrum.of_kernel(K, rows.y, rows.label_weights)
    shifts = [alpha * spectrum.unit for alpha in RELATIVE_ALPHAS]
    losses = [spectrum.loss(shift) for shift in shifts]
    best = int(np.argmin(losses))
    residuals, _ = spectrum.residuals(shifts[best])
    # The residuals of ridge regression are alpha Wt times its coefficients.
    scaled = residuals / (shifts[best] * rows.label_weights.sum())
    function = KernelFunction(
        kernel=kernel,
        centers=points,
        coefficients=scaled * np.sqrt(rows.label_weights),
        intercept=np.zeros(len(rows.y)),
    )
    slopes = function.gradient(points) / units
    energies = np.average(np.square(slopes).sum(axis=0), axis=0, weights=rows.label_weights)
    return Relevance(factors, losses[best], np.sqrt(energies))
