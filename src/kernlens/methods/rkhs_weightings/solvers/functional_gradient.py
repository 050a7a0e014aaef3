"""Stochastic functional gradient descent (Algorithm 3) on the weight function.

    alpha <- (1 - 2 eta lambda) alpha - eta (1/c) sum_j g_j K(w_j, .)

and then onto the ball |alpha| <= B, with g_j the mean of loss'(f(x), y) phi(w_j, x) over a batch,
c fresh weights a step, and the average of all iterates as the result. Everything is kept in the
basis of features of norm 1:
coefficients by a common factor times a vector, so that a step costs O(c) beside the new features;
the norm by its recursion (76); the average by the sums of the common factor (O(1) a step).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens.features.weightings import Weighting
from kernlens.methods.rkhs_weightings.options import FunctionalGradient

#: Steps whose features are evaluated at once.
STEPS_AT_ONCE = 64
#: A factor of the iterate that is rounding of 0, which it is at t = 2, or t = 1 for half steps.
SMALLEST_FACTOR = 1e-12
#: A common factor below this is multiplied out.
SMALLEST_SCALE = 1e-4
#: Attributes that steps change.
STATE = (
    "W",
    "raw",
    "before",
    "settled",
    "scale",
    "scale_sum",
    "squared_norm",
    "largest_norm",
    "n_steps",
)


class Diverged(FloatingPointError):
    """The iterates of a descent grow without bound."""


@dataclass
class Descent:
    """State of the descent; more steps can be taken at any time.

    The iterate is ``scale * raw``, and its sum over the steps is ``raw`` times what `scale` has
    added up to since a coefficient was set, plus `settled`. Coefficients are those of the scaled
    features, (n_targets, T).

    Attributes
    ----------
    weighting : Weighting
    rule : FunctionalGradient
        Its `max_norm` is a number or None.
    penalty : float
        lambda, in units of the implicit kernel.
    n_targets : int
    seed : int
        Weights and batches are drawn from it and from the number of steps taken.
    largest : float
        An iterate of a larger norm has run away.
    """

    weighting: Weighting
    rule: FunctionalGradient
    penalty: float
    n_targets: int
    seed: int
    largest: float = np.inf
    n_steps: int = 0

    def __post_init__(self) -> None:
        self.radius = None if self.rule.max_norm is None else float(self.rule.max_norm)
        self.W = self.weighting.sample(0, np.random.default_rng(self.seed))
        self.raw, self.before, self.settled = (np.empty((self.n_targets, 0)) for _ in range(3))
        self.scale: FloatArray = np.ones(self.n_targets)
        self.scale_sum: FloatArray = np.zeros(self.n_targets)
        self.squared_norm: FloatArray = np.zeros(self.n_targets)
        self.largest_norm: FloatArray = np.zeros(self.n_targets)

    def state(self) -> dict[str, Any]:
        """Everything that steps change, as plain arrays."""
        return {name: getattr(self, name) for name in STATE}

    def go_on(self, state: dict[str, Any]) -> None:
        """Take up a state."""
        for name in STATE:
            value = state[name]
            setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)

    def run(
        self,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        n_steps: int,
        report: Callable[[int, float], None] | None = None,
    ) -> None:
        """Take steps on batches of these rows; O(n_samples) a step, beside the new features.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_inputs)
        y : ndarray of shape (n_targets, n_samples)
            Centred.
        weights : ndarray of shape (n_samples,)
            Rows are drawn in proportion to them.
        n_steps : int
        report : callable, optional
            Called with the number of the step and the loss on its batch.

        Raises
        ------
        Diverged
            If an iterate is larger than `largest`, or not finite.
        """
        # What overflows is not finite after the step, either.
        with np.errstate(over="ignore", invalid="ignore"):
            self._run(X, y, weights, n_steps, report)

    def _run(
        self,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        n_steps: int,
        report: Callable[[int, float], None] | None,
    ) -> None:
        rng = np.random.default_rng([self.seed, self.n_steps])
        shares = np.cumsum(weights / weights.sum())
        values = self._values(X)
        for steps in split_range(n_steps, STEPS_AT_ONCE):
            n_old, c = len(self.W), self.rule.features_per_step
            fresh = self.weighting.sample((steps.stop - steps.start) * c, rng)
            features, log_factors = self.weighting.expectation(fresh)
            F = features.evaluate(X) * np.exp(log_factors)
            base, gains = self.weighting.base(fresh), np.exp(self._log_gains(fresh))
            self._extend(fresh)
            past = self.weighting.gram(self.W, fresh)
            for first in range(0, len(fresh), c):
                members = np.arange(first, first + c)
                drawn = np.searchsorted(shares, rng.random(self.rule.batch_size))
                rows = np.minimum(drawn, len(X) - 1)
                errors = self.scale[:, None] * values[:, rows] - y[:, rows]
                phi = base.take(members).evaluate(X[rows]) * gains[members]
                slopes = 2.0 * errors @ phi / (len(rows) * c)
                values *= self._step(slopes, n_old + members, past[:, members])[:, None]
                values += self.raw[:, n_old + members] @ F[:, members].T
                if report is not None:
                    report(self.n_steps, float(np.mean(np.square(errors))))

    def _log_gains(self, W: FloatArray) -> FloatArray:
        """Logarithms of what phi(w_t, x) is multiplied by as a gradient in the scaled features.

        The gradient of f(x) is phi(w, x) K(w, .) in expectation, here over the root of the unit,
        and K(w, .) is a multiple of what the coefficients belong to.
        """
        return self.weighting.log_rescaling(W) - 0.5 * self.weighting.log_unit

    def _values(self, X: FloatArray) -> FloatArray:
        """The iterate at rows, over `scale`, (n_targets, n_samples)."""
        if len(self.W) == 0:
            return np.zeros((self.n_targets, len(X)))
        features, log_factors = self.weighting.expectation(self.W)
        return self.raw @ (features.evaluate(X) * np.exp(log_factors)).T

    def _extend(self, fresh: FloatArray) -> None:
        self.W = np.concatenate([self.W, fresh])
        zeros = np.zeros((self.n_targets, len(fresh)))
        self.raw = np.concatenate([self.raw, zeros], axis=1)
        self.before = np.concatenate([self.before, zeros], axis=1)
        self.settled = np.concatenate([self.settled, zeros], axis=1)

    def _step(
        self, slopes: FloatArray, members: NDArray[np.integer], past: FloatArray
    ) -> FloatArray:
        """One step: shrink, add, update the norm by (76), project; what `raw` was multiplied by."""
        t = self.n_steps + 1
        eta = 1.0 / (self.penalty * t * (2.0 if self.rule.step == "half" else 1.0))
        shrink = 1.0 - 2.0 * eta * self.penalty
        added = -eta * slopes
        at_new = self.scale[:, None] * (self.raw @ past)
        among = past[members]
        grown = shrink**2 * self.squared_norm + np.sum((added @ among) * added, axis=1)
        grown += 2.0 * shrink * np.sum(at_new * added, axis=1)
        self.squared_norm = np.maximum(grown, 0.0)
        kept: FloatArray = np.ones(self.n_targets)
        self.scale = self.scale * shrink
        if abs(shrink) < SMALLEST_FACTOR:
            # Nothing of the past remains.
            kept = self._settle(np.zeros(self.n_targets))
        self.raw[:, members] = added / self.scale[:, None]
        self.before[:, members] = self.scale_sum[:, None]
        if self.radius is not None:
            norms = np.sqrt(self.squared_norm)
            factors = self.radius / np.maximum(norms, self.radius)
            self.scale = self.scale * factors
            self.squared_norm = self.squared_norm * factors**2
        norms = np.sqrt(self.squared_norm)
        if not np.all(norms <= self.largest):
            raise Diverged
        self.largest_norm = np.maximum(self.largest_norm, norms)
        if np.any(np.abs(self.scale) < SMALLEST_SCALE):
            # Projections one after the other: what the scale adds up to would lose its digits.
            kept = kept * self._settle(self.scale)
        self.scale_sum = self.scale_sum + self.scale
        self.n_steps = t
        return kept

    def _settle(self, factors: FloatArray) -> FloatArray:
        """Settle what iterates add to the average so far, and go on from `factors` times `raw`."""
        self.settled += self.raw * (self.scale_sum[:, None] - self.before)
        self.raw *= factors[:, None]
        self.before[:] = 0.0
        self.scale_sum = np.zeros(self.n_targets)
        self.scale = np.ones(self.n_targets)
        return factors

    @property
    def average(self) -> FloatArray:
        """Mean of the iterates 0 to T as coefficients of the scaled features, (n_targets, T)."""
        total = self.settled + self.raw * (self.scale_sum[:, None] - self.before)
        mean: FloatArray = total / (self.n_steps + 1)
        return mean
