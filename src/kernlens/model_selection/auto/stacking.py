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
#: Steps of the reweighted squares.
ABSOLUTE_STEPS = 30
#: Steps of the log loss: it ends earlier where a step gains less than this.
LIKELIHOOD_STEPS = 100
LIKELIHOOD_GAIN = 1e-9
#: What keeps its systems regular, and the shortest share of a step.
TINY = 1e-9
SMALLEST_STEP = 1e-3

#: Predictions (n_members, n_rows, ...), targets and weights of rows -> shares (n_members,).
Weigh = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def squared_shares(predictions: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Shares of least squared error, for predictions (n_members, n_rows)."""
    errors = (predictions - y) * np.sqrt(weights / weights.sum())
    return mixing_weights(errors @ errors.T)


def absolute_shares(predictions: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Shares of least absolute error, by squares that are weighted by what the last ones left."""
    return _reweighted(predictions, y, weights, 0.5, shifted=False)


def quantile_shares(level: float) -> Weigh:
    """Shares of least pinball loss, of predictions with the shift that suits them."""

    def shares(predictions: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
        return _reweighted(predictions, y, weights, level, shifted=True)

    return shares


def _reweighted(
    predictions: FloatArray, y: FloatArray, weights: FloatArray, level: float, *, shifted: bool
) -> FloatArray:
    """Shares of least pinball loss; a shift is free where squares are those of centred rows."""
    own = weights
    left = y - predictions.mean(axis=0)
    for step in range(ABSOLUTE_STEPS):
        if step:
            slopes = np.where(left > 0.0, level, 1.0 - level)
            floor = 1e-3 * float(np.abs(left).mean()) or 1.0
            own = weights * slopes / np.maximum(np.abs(left), floor)
        rows, target = predictions, y
        if shifted:
            rows = rows - np.average(rows, axis=1, weights=own)[:, None]
            target = y - np.average(y, weights=own)
        shares = squared_shares(rows, target, own)
        left = target - shares @ rows
    return shares


def likelihood_shares(predictions: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Shares of least log loss, for probabilities (n_members, n_rows, n_classes).

    With r the probability of a row's class over that of the mixture so far, the loss is
    ``-log r``, of which ``(r - 2)^2 / 2`` is the quadratic at r = 1, up to a constant. For shares
    of sum 1, r - 2 is the mean of ``p_member / p_mixture - 2``: Newton's step is a stack of least
    squares. It is halved until the loss falls.
    """
    chosen = predictions[:, np.arange(len(y)), y.astype(np.intp)].clip(SMALLEST_PROBABILITY)
    weights = weights / weights.sum()

    def loss(shares: FloatArray) -> float:
        return -float(weights @ np.log(shares @ chosen))

    shares = np.full(len(predictions), 1.0 / len(predictions))
    value = loss(shares)
    for _ in range(LIKELIHOOD_STEPS):
        errors = (chosen / (shares @ chosen) - 2.0) * np.sqrt(weights)
        step = mixing_weights(errors @ errors.T, evenness=TINY) - shares
        length = 1.0
        while loss(shares + length * step) > value and length > SMALLEST_STEP:
            length /= 2.0
        before, trial = value, loss(shares + length * step)
        if trial <= value:
            shares, value = shares + length * step, trial
        if before - value < LIKELIHOOD_GAIN:
            break
    total: FloatArray = shares.clip(0.0) / shares.clip(0.0).sum()
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
        Rows left out, predicted with these shares.
    crossed : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The same with shares that the other folds have chosen: errors of new rows are like these.
    """

    members: tuple[int, ...]
    shares: FloatArray
    prediction: FloatArray
    crossed: FloatArray


@dataclass(frozen=True)
class Stacker:
    """What a stack is chosen by.

    Attributes
    ----------
    predictions : ndarray of shape (n_candidates, n_rows) or (n_candidates, n_rows, n_classes)
        Rows left out, of candidates in the order in which they were finished.
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
        one = self.predictions[member]
        return Stack((member,), np.ones(1), one, one)

    def best_single(self) -> Stack:
        """The candidate of the best score."""
        values = [self.score.value(self.y, one, self.weights) for one in self.predictions]
        return self.single(int(np.argmax(values)))

    def best(self) -> Stack:
        """The best of the pruned stacks of the first candidates, of any number of them.

        More candidates are therefore never worse: what was best without them is among these. Of
        equal ones the last is taken.
        """
        numbers = range(len(self.predictions), 0, -1)
        pruned = dict.fromkeys(tuple(self._pruned(list(range(number)))) for number in numbers)
        return self.of(min(pruned, key=self._loss))

    def of(self, members: Sequence[int]) -> Stack:
        """All of some candidates, with the shares that suit them."""
        shares = self._shares(members)
        order = np.argsort(-shares, kind="stable")
        places = tuple(int(members[place]) for place in order)
        prediction = mixed(self.predictions[np.asarray(members)], shares)
        return Stack(places, shares[order], prediction, self._left_out(members))

    def beats_a_constant(self, stack: Stack) -> bool:
        """Whether a stack predicts rows left out better than the mean of all, or its shares."""
        targets = self.y
        if self.predictions.ndim == 3:
            targets = np.eye(self.predictions.shape[2])[self.y.astype(np.intp)]
        constant = np.broadcast_to(np.average(targets, axis=0, weights=self.weights), targets.shape)
        value = self.score.value(self.y, stack.prediction, self.weights)
        return value > self.score.value(self.y, constant, self.weights)

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

    def _pruned(self, members: list[int]) -> list[int]:
        """Those that earn their place: without any of them rows are predicted worse."""
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
