"""Ridge regression with its errors of rows left out, by the book: one fit for every row."""

from __future__ import annotations

import numpy as np


def slopes_and_offset(X, y, weights, penalty):
    """Minimise sum_i w_i (y_i - b.x_i - c)^2 + penalty |b|^2 for one target, (d,) and a number."""
    d = X.shape[1]
    A = np.column_stack([X, np.ones(len(X))])
    shift = penalty * np.diag([*np.ones(d), 0.0])
    solution = np.linalg.solve((A.T * weights) @ A + shift, A.T @ (weights * y))
    return solution[:d], solution[d]


def left_out_errors(X, y, weights, penalty):
    """Error of every row by a fit without it, for one target."""
    errors = []
    for row in range(len(X)):
        others = np.arange(len(X)) != row
        slopes, offset = slopes_and_offset(X[others], y[others], weights[others], penalty)
        errors.append(y[row] - X[row] @ slopes - offset)
    return np.array(errors)


def slope_beyond(X, y, errors, slopes, weights, column, upper, share, clearly, trend):
    """The slope that the rows at one end of a column follow, row by row, for one target, or 0.

    `errors` are those of the line. Rows beyond the end of the middle are compared with a line that
    stays where the middle ends.
    """
    covariance = np.cov(X[:, column], y, aweights=weights)
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    if correlation * np.sign(slopes[column]) <= trend:
        return 0.0
    alone = covariance[0, 1] / covariance[0, 0]
    trend = alone if abs(alone) < abs(slopes[column]) else slopes[column]
    values = X[:, column] if upper else -X[:, column]
    slope = trend if upper else -trend
    # The largest value with at least `share` of the weight from there on.
    order = np.argsort(-values, kind="stable")
    place = np.searchsorted(np.cumsum(weights[order]), share * weights.sum() * (1 - 1e-9))
    end = values[order][place]
    total = 0.0
    squares = 0.0
    for value, error, weight in zip(values, errors, weights, strict=True):
        if value > end:
            missing = slope * (value - end)
            share = weight / weights.sum()
            total += share * ((error + missing) ** 2 - error**2)
            # What is left to chance is the error.
            squares += (share * 2.0 * error * missing) ** 2
    return trend if total > clearly * np.sqrt(squares) else 0.0
