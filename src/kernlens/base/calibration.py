"""Probabilities from scores that were fitted to labels +1 and -1 with the squared loss.

The best score under the squared loss is f = 2p - 1, so that (1 + f)/2 is a probability where the
fit is good, and those of several classes, one against the rest, have the sum 1. Two things are
learned from rows that were left out: beyond which size a score says more about the noise of the fit
than about p, and how much log-odds are to be stretched, since a smooth fit does not reach +1 and -1
where classes are pure.

Where classes are of unequal sizes, the squared loss is about the large ones. Rows of rare classes
count more then, and log-odds are shifted by as much in return, so that they are those of the rows
as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from kernlens._array import FloatArray, IntArray

#: Sizes of scores that may be taken at their word.
TRUSTS = tuple(np.linspace(0.5, 0.99, 15))
#: Factors of log-odds that are compared, before the best one is refined.
STRETCHES = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
LARGEST_STRETCH = 12.0
#: Gain in mean loss, relative, below which the stretch is left at its grid value.
CLEAR_GAIN = 1e-4
#: A class with a smaller share of an equal part of the weight counts as if it had this share.
RARE = 0.2


@dataclass(frozen=True)
class Calibration:
    """How scores become log-odds; increasing, so that the same class wins.

    Attributes
    ----------
    trusted : float
        In [0, 1): size of a score up to which (1 + f)/2 is the probability, before stretching.
    stretch : float
        At least 1: factor of the log-odds.
    shift : ndarray of shape (n_targets,)
        Added to them.
    """

    trusted: float
    stretch: float
    shift: FloatArray = field(default_factory=lambda: np.zeros(1))

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """Log-odds of the second class, or scores whose softmax are the probabilities.

        Parameters
        ----------
        scores : ndarray of shape (n_targets, n_samples)
            One row for two classes, else one per class.

        Returns
        -------
        ndarray of shape (n_targets, n_samples)
        """
        values = self._log_probability(scores)
        if len(scores) == 1:
            values = values - self._log_probability(-scores)
        return self.stretch * values + self.shift[:, None]

    def _log_probability(self, scores: FloatArray) -> FloatArray:
        """log((1 + f)/2); below -trusted it goes on with the same slope, ever slower."""
        inside = np.maximum(scores, -self.trusted)
        beyond = np.log1p((inside - scores) / (1.0 - self.trusted))
        values: FloatArray = np.log1p(inside) - np.log(2.0) - beyond
        return values

    def slopes(self, scores: FloatArray) -> FloatArray:
        """Derivatives of the log-odds in the scores, (n_targets, n_samples)."""
        values = self._log_probability_slope(scores)
        if len(scores) == 1:
            values = values + self._log_probability_slope(-scores)
        return self.stretch * values

    def _log_probability_slope(self, scores: FloatArray) -> FloatArray:
        inside = np.maximum(scores, -self.trusted)
        slope: FloatArray = 1.0 / (np.maximum(-self.trusted - scores, 0.0) + 1.0 + inside)
        return slope

    def loss(self, scores: FloatArray, y: FloatArray, weights: FloatArray) -> float:
        """Mean negative log-likelihood of labels +1 and -1, (n_targets, n_samples)."""
        odds = self.log_odds(scores)
        if len(y) == 1:
            losses = np.logaddexp(0.0, -y[0] * odds[0])
        else:
            losses = logsumexp(odds, axis=0) - np.sum(np.where(y > 0.0, odds, 0.0), axis=0)
        return float(np.average(losses, weights=weights))


#: What is used where rows left out are too few, or not asked.
UNCALIBRATED = Calibration(trusted=0.9, stretch=1.0)


class CalibratedMixin:
    """Log-odds of a classifier whose function was fitted to labels +1 and -1.

    It stands left of the base class of a family.
    """

    trusted_score_: float
    stretch_: float
    shift_: FloatArray

    @property
    def _calibration(self) -> Calibration:
        return Calibration(self.trusted_score_, self.stretch_, self.shift_)

    def _keep_calibration(self, found: Calibration) -> None:
        self.trusted_score_, self.stretch_ = found.trusted, found.stretch
        self.shift_ = found.shift

    def _leave_uncalibrated(self) -> None:
        self._keep_calibration(replace(UNCALIBRATED, shift=self.shift_))

    def _decision_of(self, rows: FloatArray) -> FloatArray:
        return self._calibration.log_odds(super()._decision_of(rows))  # type: ignore[misc]

    def _gradient_of(self, rows: FloatArray) -> FloatArray:
        slopes = self._calibration.slopes(super()._decision_of(rows))  # type: ignore[misc]
        gradient: FloatArray = super()._gradient_of(rows)  # type: ignore[misc]
        return slopes[..., None] * gradient


def evened(y: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights of which rare classes have more, and what log-odds are shifted by in return.

    One of two classes counts as a tenth of the weight, if it has less.

    Parameters
    ----------
    y : ndarray of shape (n_targets, n_samples)
        Labels +1 and -1; two classes have one row, of the second.
    weights : ndarray of shape (n_samples,)
        Non-negative.

    Returns
    -------
    weights : ndarray of shape (n_samples,)
    shift : ndarray of shape (n_targets,)
    """
    classes = _class_numbers(y)
    totals = np.bincount(classes, weights=weights, minlength=max(2, len(y)))
    shares = totals / totals.sum() * np.count_nonzero(totals) / RARE
    # Classes without a row of positive weight have nothing to be evened.
    shares[(totals == 0.0) | (shares > 1.0)] = 1.0
    log_shares = np.log(shares)
    return weights / shares[classes], log_shares if len(y) > 1 else np.diff(log_shares)


def _class_numbers(y: FloatArray) -> IntArray:
    """Numbers (n_samples,) of the classes of labels +1 and -1."""
    numbers: IntArray = (y[0] > 0.0).astype(np.intp) if len(y) == 1 else y.argmax(axis=0)
    return numbers


def _as_they_are(y: FloatArray, weights: FloatArray, shift: FloatArray) -> FloatArray:
    """Weights before they were evened, up to a factor."""
    of_classes = shift if len(y) > 1 else np.append(0.0, shift)
    plain: FloatArray = weights * np.exp(of_classes[_class_numbers(y)] - of_classes.max())
    return plain


def calibrate(
    scores: FloatArray, y: FloatArray, weights: FloatArray, shift: FloatArray | None = None
) -> Calibration:
    """The calibration for which held-out labels are most likely.

    Parameters
    ----------
    scores : ndarray of shape (n_targets, n_samples)
        Of rows that the scores were not fitted to.
    y : ndarray of shape (n_targets, n_samples)
        Labels +1 and -1.
    weights : ndarray of shape (n_samples,)
        Those of the fit.
    shift : ndarray of shape (n_targets,) or None
        What :func:`evened` has given with them; None if rows count as they are.
    """
    shift = np.zeros(len(y)) if shift is None else shift
    weights = _as_they_are(y, weights, shift)

    def loss(trusted: float, stretch: float) -> float:
        return Calibration(float(trusted), float(stretch), shift).loss(scores, y, weights)

    # A grid first: the loss may have several minima.
    pairs = [(trusted, stretch) for stretch in STRETCHES for trusted in TRUSTS]
    trusted, stretch = min(pairs, key=lambda pair: loss(*pair))
    k = STRETCHES.index(stretch)
    refined = minimize_scalar(
        lambda other: loss(trusted, other),
        bounds=((*STRETCHES, LARGEST_STRETCH)[max(k - 1, 0)], (*STRETCHES, LARGEST_STRETCH)[k + 1]),
        method="bounded",
        options={"xatol": 0.01},
    )
    if refined.fun < loss(trusted, stretch) * (1.0 - CLEAR_GAIN):
        # Otherwise no stretch at all is left exactly that.
        stretch = float(refined.x)
    step = TRUSTS[1] - TRUSTS[0]
    refined = minimize_scalar(
        lambda other: loss(other, stretch),
        bounds=(max(trusted - step, TRUSTS[0]), min(trusted + step, TRUSTS[-1])),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return Calibration(float(refined.x), stretch, shift)


def with_doubts(
    scores: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every row once with its label, and once with each of the others, of a small weight.

    A handful of labels that were left out is often predicted without a mistake, and the likelihood
    then asks for probabilities 0 and 1. As Platt (1999) has it, a label of a class with N of them
    holds with probability (N + 1) / (N + 2) only, so that few labels give modest probabilities.

    Parameters
    ----------
    scores : ndarray of shape (n_targets, n_samples)
    y : ndarray of shape (n_targets, n_samples)
        Labels +1 and -1; two classes have one row, of the second.
    weights : ndarray of shape (n_samples,)

    Returns
    -------
    scores, y : ndarray of shape (n_targets, n_classes n_samples)
    weights : ndarray of shape (n_classes n_samples,)
    """
    n_classes = max(2, len(y))
    numbers = _class_numbers(y)
    # Rows of one weight count as they are, and rows of hardly any weight hardly.
    relative = weights / weights.max()
    unit = relative @ relative / relative.sum()
    counts = np.bincount(numbers, weights=relative, minlength=n_classes) / unit
    doubts = 1.0 / (counts[numbers] + 2.0)
    labels = [y]
    shares = [weights * (1.0 - doubts)]
    for step in range(1, n_classes):
        other = (numbers + step) % n_classes
        rows = np.arange(n_classes)[-len(y) :, None]
        labels.append(np.where(other == rows, 1.0, -1.0))
        shares.append(weights * doubts / (n_classes - 1))
    return np.tile(scores, n_classes), np.hstack(labels), np.concatenate(shares)
