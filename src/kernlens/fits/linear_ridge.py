"""Ridge regression with its alpha by rows left out, and where its slopes go on beyond the rows.

A kernel is flat, or says nothing, where there are no rows. A line beside it carries a trend on, if
the rows at the ends of a column show that there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile
from kernlens.linalg.ridge_spectrum import RidgeSpectrum

#: Values of alpha, in units of the mean diagonal of the kernel over the rows.
ALPHAS = tuple(10.0 ** np.arange(-6.0, 3.1, 0.5))
#: More rows change slopes by less than matters.
MOST_ROWS = 20_000
#: Share of the weight at either end of a column whose rows show whether a slope goes on there.
#: Those of a tenth are so near its end that noise hides a trend.
OUTER = 0.25
#: Standard errors that a slope must be better than a constant at an end of its column.
CLEARLY = 5.0
#: Correlation of a target with a column from which on there is a trend along it. With less, rows
#: beyond the others are too few and too near to gain, and slopes of ridge regression too uncertain.
TREND = 0.5


@dataclass(frozen=True)
class LinearRidge:
    """A linear function of centred columns, one per target.

    Attributes
    ----------
    slopes : ndarray of shape (n_targets, n_columns)
    offset : ndarray of shape (n_targets,)
    error, left_out_error : float
        Mean squared errors of the rows, and of rows left out, summed over targets.
    beyond : ndarray of shape (2, n_targets, n_columns)
        Slopes that go on beyond the lower and the upper end of a column; 0 where there is no trend
        along it, or where the rows at the end stay where the middle ends.
    """

    slopes: FloatArray
    offset: FloatArray
    error: float
    left_out_error: float
    beyond: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Values at rows (n_rows, n_columns), (n_targets, n_rows)."""
        return self.slopes @ X.T + self.offset[:, None]


def fit_linear_ridge(X: FloatArray, y: FloatArray, weights: FloatArray) -> LinearRidge:
    """Fit slopes, with the alpha whose errors of rows left out are the smallest.

    O(n d min(n, d)) for the first 20,000 rows, which must be a random sample.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    y : ndarray of shape (n_targets, n_rows)
    weights : ndarray of shape (n_rows,)
        Positive.
    """
    X, y, weights = X[:MOST_ROWS], y[:, :MOST_ROWS], weights[:MOST_ROWS]
    spectrum = RidgeSpectrum.of_features(X, y, weights)
    shifts = [alpha * spectrum.unit / len(X) for alpha in ALPHAS]
    shift = min(shifts, key=spectrum.loss)
    mean = weights @ X / weights.sum()
    root = np.sqrt(weights)
    kept = spectrum.values > 0.0
    vectors, values = spectrum.vectors[:, kept], spectrum.values[kept]
    inner = (spectrum.scaled_targets @ vectors) / (values + shift * weights.sum())
    slopes = (inner @ vectors.T * root) @ (X - mean)
    offset = y @ weights / weights.sum() - slopes @ mean
    left_out = y - spectrum.predictions(shift)
    return LinearRidge(
        slopes,
        offset,
        _mean_square(y - slopes @ X.T - offset[:, None], weights),
        _mean_square(left_out, weights),
        _slopes_beyond(X, left_out, trends(X, y, slopes, weights), weights),
    )


def _mean_square(errors: FloatArray, weights: FloatArray) -> float:
    return float(np.average(np.square(errors).sum(axis=0), weights=weights))


def trends(X: FloatArray, y: FloatArray, slopes: FloatArray, weights: FloatArray) -> FloatArray:
    """Slopes along columns that targets rise or fall with by themselves, 0 along others.

    A slope is at most that of the column alone: those of columns that say nearly the same may be
    large and of both signs, and mean nothing beyond the rows.
    """
    shares = weights / weights.sum()
    columns, targets = X - shares @ X, y - (y @ shares)[:, None]
    squares, variances = shares @ np.square(columns), np.square(targets) @ shares
    along = (targets * shares) @ columns * np.sign(slopes)
    alone = np.divide(along, squares, out=np.zeros_like(along), where=squares > 0.0)
    clear = along > TREND * np.sqrt(np.outer(variances, squares))
    trend: FloatArray = np.where(clear, np.sign(slopes) * np.minimum(np.abs(slopes), alone), 0.0)
    return trend


def _slopes_beyond(
    X: FloatArray, errors: FloatArray, slopes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Slopes that the rows at both ends of every column follow, (2, n_targets, n_columns)."""
    shares = (weights / weights.sum())[:, None]
    # The smallest value with enough weight up to it, from both ends alike.
    ends = weighted_quantile(X, weights, OUTER), -weighted_quantile(-X, weights, OUTER)
    outer = np.minimum(X - ends[0], 0.0), np.maximum(X - ends[1], 0.0)
    beyond = np.zeros((2, *slopes.shape))
    for end, distance in enumerate(outer):
        for target, error in enumerate(errors):
            # With the slope the error is e; without it what the slope adds, m, is missing, and the
            # squared error is larger by (e + m)^2 - e^2 = m^2 + 2 e m, of which e is noise.
            missing = distance * slopes[target]
            chance = 2.0 * error[:, None] * missing * shares
            worse = np.sum(np.square(missing) * shares + chance, axis=0)
            spread = np.sqrt(np.sum(np.square(chance), axis=0))
            follows = (slopes[target] != 0.0) & (worse > CLEARLY * spread)
            beyond[end, target, follows] = slopes[target, follows]
    return beyond
