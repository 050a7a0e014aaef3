"""Probabilities from scores that were fitted to labels +1 and -1 with the squared loss.

The best score under the squared loss is f = 2p - 1, so that (1 + f)/2 is a probability where the
fit is good, and scores of several classes, one against the rest, add up to a sum of 1. Beyond some
size a score says more about the noise of the fit than about p: there log((1 + f)/2) goes on as a
straight line. Where that begins is learned from rows that were left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

FloatArray = NDArray[np.floating]

#: Sizes of scores that are taken at their word: at least, and at most.
SMALLEST, LARGEST = 0.5, 0.99


def log_odds(scores: FloatArray, trusted: float) -> FloatArray:
    """Log-odds of the second class, or scores whose softmax are the probabilities.

    Increasing in the scores: which class is the most probable does not change.

    Parameters
    ----------
    scores : ndarray of shape (n_targets, n_samples)
        One row for two classes, else one per class.
    trusted : float
        In [0, 1): size of a score up to which (1 + f)/2 is the probability.

    Returns
    -------
    ndarray of shape (n_targets, n_samples)
    """
    if len(scores) == 1:
        return _log_probability(scores, trusted) - _log_probability(-scores, trusted)
    return _log_probability(scores, trusted)


def _log_probability(scores: FloatArray, trusted: float) -> FloatArray:
    """log((1 + f)/2), and its tangent at -trusted below."""
    inside = np.maximum(scores, -trusted)
    values: FloatArray = np.log1p(inside) - np.log(2.0) + (scores - inside) / (1.0 - trusted)
    return values


def calibrate(scores: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """Size up to which scores are trusted, for which held-out labels are most likely.

    Parameters
    ----------
    scores : ndarray of shape (n_targets, n_samples)
        Of rows that the scores were not fitted to.
    y : ndarray of shape (n_targets, n_samples)
        Labels +1 and -1.
    weights : ndarray of shape (n_samples,)
    """

    def negative_log_likelihood(trusted: float) -> float:
        odds = log_odds(scores, trusted)
        if len(y) == 1:
            losses = np.logaddexp(0.0, -y[0] * odds[0])
        else:
            losses = logsumexp(odds, axis=0) - np.sum(np.where(y > 0.0, odds, 0.0), axis=0)
        return float(np.average(losses, weights=weights))

    found = minimize_scalar(
        negative_log_likelihood,
        bounds=(SMALLEST, LARGEST),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(found.x)
