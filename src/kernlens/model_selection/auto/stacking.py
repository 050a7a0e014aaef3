"""A mean of the predictions of few members, with the weights that rows left out want.

The weights are non-negative and sum to 1 (Breiman, "Stacked regressions", Machine Learning 24,
1996): of least squared or absolute error for numbers, of least log loss for probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens.fits.mixture import mixing_weights
from kernlens.model_selection.auto.scores import SMALLEST_PROBABILITY, Score

#: Members with a smaller share are left out.
SMALLEST_SHARE = 0.03
#: A member stays if the loss without it is higher by this share.
WORTH = 0.002
#: Members of a stack at most: each is fitted to all rows, and must be kept.
MOST_MEMBERS = 6
#: Steps of the reweighted squares, and of expectation and maximisation.
ABSOLUTE_STEPS = 30
LIKELIHOOD_STEPS = 500

#: Predictions (n_members, n_rows, ...), targets and weights of rows -> shares (n_members,).
Weigh = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def squared_shares(predictions: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Shares of least squared error, for predictions (n_members, n_rows)."""
    errors = (predictions - y) * np.sqrt(weights / weights.sum())
    return mixing_weights(errors @ errors.T)


def absolute_shares(predictions: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Shares of least absolute error, by squares that are weighted by what the last ones left."""
    shares = squared_shares(predictions, y, weights)
    for _ in range(ABSOLUTE_STEPS):
        left = np.abs(shares @ predictions - y)
        floor = 1e-3 * float(left.mean()) or 1.0
        shares = squared_shares(predictions, y, weights / np.maximum(left, floor))
    return shares


def likelihood_shares(predictions: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Shares of least log loss, for probabilities (n_members, n_rows, n_classes).

    The mean of the members is a mixture of distributions, whose shares are those of expectation
    and maximisation: every step multiplies a share by the mean of p_member / p_mixture, and none
    raises the loss.
    """
    chosen = predictions[:, np.arange(len(y)), y.astype(np.intp)].clip(SMALLEST_PROBABILITY)
    weights = weights / weights.sum()
    shares = np.full(len(predictions), 1.0 / len(predictions))
    for _ in range(LIKELIHOOD_STEPS):
        shares = shares * (chosen @ (weights / (shares @ chosen)))
    total: FloatArray = shares / shares.sum()
    return total


def mixed(predictions: FloatArray, shares: FloatArray) -> FloatArray:
    """The mean of predictions (n_members, n_rows, ...) with these shares."""
    mean: FloatArray = np.tensordot(shares, predictions, axes=1)
    return mean


@dataclass(frozen=True)
class Stack:
    """Members and their shares.

    Attributes
    ----------
    members : tuple of int
        Places among the candidates, the heaviest first.
    shares : ndarray of shape (n_members,)
        Positive, sum 1.
    prediction : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Rows left out, predicted with shares that other folds have chosen.
    """

    members: tuple[int, ...]
    shares: FloatArray
    prediction: FloatArray


@dataclass(frozen=True)
class Stacker:
    """What a stack is chosen by.

    Attributes
    ----------
    predictions : ndarray of shape (n_candidates, n_rows) or (n_candidates, n_rows, n_classes)
        Rows left out.
    y, weights : ndarray of shape (n_rows,)
    fold : ndarray of shape (n_rows,)
        The fold that every row was left out in.
    weigh : callable
        Chooses shares.
    score : Score
        Compares stacks.
    """

    predictions: FloatArray
    y: FloatArray
    weights: FloatArray
    fold: IntArray
    weigh: Weigh
    score: Score

    def single(self, member: int) -> Stack:
        """One candidate alone."""
        return Stack((member,), np.ones(1), self.predictions[member])

    def best_single(self) -> Stack:
        """The candidate of the best score."""
        values = [self.score.value(self.y, one, self.weights) for one in self.predictions]
        return self.single(int(np.argmax(values)))

    def best(self) -> Stack:
        """A pruned stack, or the best candidate alone if that is as good."""
        alone = self.best_single()
        stack = self._of(self._pruned())
        return stack if self._value(stack) > self._value(alone) else alone

    def _value(self, stack: Stack) -> float:
        return self.score.value(self.y, stack.prediction, self.weights)

    def _of(self, members: Sequence[int]) -> Stack:
        shares = self._shares(members)
        order = np.argsort(-shares, kind="stable")
        places = tuple(int(members[place]) for place in order)
        return Stack(places, shares[order], self._left_out(members))

    def _shares(self, members: Sequence[int], rows: slice | FloatArray = slice(None)) -> FloatArray:
        chosen = self.predictions[np.asarray(members)][:, rows]
        return self.weigh(chosen, self.y[rows], self.weights[rows])

    def _left_out(self, members: Sequence[int]) -> FloatArray:
        """Predictions whose shares were chosen without the rows that are predicted."""
        chosen = self.predictions[np.asarray(members)]
        folds = np.unique(self.fold)
        if len(folds) < 2:
            return mixed(chosen, self._shares(members))
        prediction = np.empty_like(chosen[0])
        for fold in folds:
            out = self.fold == fold
            prediction[out] = mixed(chosen[:, out], self._shares(members, ~out))
        return prediction

    def _pruned(self) -> list[int]:
        """Members that earn their place: without any of them rows are predicted worse."""
        members = list(range(len(self.predictions)))
        while len(members) > 1:
            shares = self._shares(members)
            least = int(np.argmin(shares))
            if shares[least] < SMALLEST_SHARE or len(members) > MOST_MEMBERS:
                del members[least]
                continue
            loss = self._loss(members)
            without = [self._loss([one for one in members if one != other]) for other in members]
            least = int(np.argmin(without))
            if without[least] > loss + WORTH * abs(loss):
                break
            del members[least]
        return members

    def _loss(self, members: Sequence[int]) -> float:
        """Mean loss of the shares chosen on all rows: one minus the score for R2, else its minus.

        One minus R2 is the squared error itself, of which a share can be taken.
        """
        prediction = mixed(self.predictions[np.asarray(members)], self._shares(members))
        best = 1.0 if self.score.name in ("r2", "accuracy", "roc_auc") else 0.0
        return best - self.score.value(self.y, prediction, self.weights)
