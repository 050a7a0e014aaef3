"""A linear function beside the kernel's: everywhere, or beyond the rows of a fit only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.columns import Columns
from kernlens.base.learner import Directions, Learned
from kernlens.fits.linear_ridge import LinearRidge
from kernlens.subspace import leading_directions, shares_of

#: Lowest and highest inputs of the rows, (n_varying,) each.
Ends = tuple[FloatArray, FloatArray]

#: Share of the range of an input that its lost digits are less than.
LOST_DIGITS = 1e-6
#: Rows of a block of predictions.
BLOCK = 2**16
#: Rows whose gradients say how steep a function is.
ROWS_FOR_SLOPES = 300
#: Widths of the range of the rows that a line is followed beyond it, and that slopes go on for
#: where there is no line. A line is there because it predicts better than the kernel.
REACH_OF_LINE = 100.0
REACH_BEYOND = 0.5
#: Fewer rows say nothing about a trend.
FEWEST_ROWS = 10
#: The error of rows left out of ridge regression that asks for a linear part, as a share of that of
#: the kernel's function. A smaller gain is within the noise of both.
CLEARLY_LOWER = 0.9
#: The same where the line leaves less than this share of the variance: a target that is nearly a
#: line may go on far beyond the rows, so that a tie is broken in favour of the line.
NEARLY_A_LINE, NOT_CLEARLY_HIGHER = 0.01, 1.1


@dataclass(frozen=True)
class LinearPart:
    """What is added to the function of a kernel, for plain inputs ``(x - mean) / scale``.

    Attributes
    ----------
    slopes : ndarray of shape (n_targets, n_varying)
        Everywhere, in the units of the user's targets.
    below, above : ndarray of shape (n_targets, n_varying)
        Beyond the range of the rows only, where the kernel's function stays as it is at the end of
        the range.
    low, high : ndarray of shape (n_varying,)
        Range of the rows.
    reach : float
        Inputs count up to so many widths of that range beyond it.
    """

    slopes: FloatArray
    below: FloatArray
    above: FloatArray
    low: FloatArray
    high: FloatArray
    reach: float

    @classmethod
    def everywhere(cls, ridge: LinearRidge, scale: FloatArray, ends: Ends) -> LinearPart:
        """The line of `ridge`, whose targets were divided by `scale`, with the range of inputs."""
        slopes = scale[:, None] * ridge.slopes
        flat, (low, high) = np.zeros_like(slopes), ends
        # Inputs have lost their last digits: the rows themselves are within.
        slack = LOST_DIGITS * (high - low)
        return cls(slopes, flat, flat, low - slack, high + slack, REACH_OF_LINE)

    @classmethod
    def going_on(cls, ridge: LinearRidge, scale: FloatArray, ends: Ends) -> LinearPart:
        """The same, beyond the range and where rows at its ends show that slopes go on."""
        line = cls.everywhere(ridge, scale, ends)
        below, above = scale[:, None] * ridge.beyond
        return replace(line, slopes=line.below, below=below, above=above, reach=REACH_BEYOND)

    def confine(self, inputs: FloatArray) -> FloatArray:
        """Inputs (n_rows, n_inputs) of the kernel's function; a bias comes last."""
        low, high = self._kernel_range
        if np.isinf(low).all() and np.isinf(high).all():
            return inputs
        within = inputs.copy(order="K")
        within[:, : len(low)] = within[:, : len(low)].clip(low, high)
        return within

    def values(self, plain: FloatArray) -> FloatArray:
        """What is added at plain inputs (n_rows, n_varying), (n_targets, n_rows)."""
        added = np.empty((len(self.slopes), len(plain)))
        for start in range(0, len(plain), BLOCK):
            rows = slice(start, start + BLOCK)
            reached = plain[rows].clip(*self._reached)
            under, over = np.minimum(reached - self.low, 0.0), np.maximum(reached - self.high, 0.0)
            added[:, rows] = self.slopes @ reached.T + self.below @ under.T + self.above @ over.T
        return added

    def gradient(self, plain: FloatArray) -> FloatArray:
        """Its derivatives, (n_targets, n_rows, n_varying)."""
        near, far = self._reached
        under, over = plain < self.low, plain > self.high
        slopes = self.slopes[:, None] + under * self.below[:, None] + over * self.above[:, None]
        return ((plain >= near) & (plain <= far)) * slopes

    def kernel_gradient(self, plain: FloatArray, slopes: FloatArray) -> FloatArray:
        """Derivatives (n_targets, n_rows, n_inputs) of the kernel's function of confined inputs."""
        low, high = self._kernel_range
        kept = np.ones(slopes.shape[1:])
        kept[:, : plain.shape[1]] = (plain >= low) & (plain <= high)
        return slopes * kept

    @property
    def _kernel_range(self) -> tuple[FloatArray, FloatArray]:
        """Where the kernel's function sees inputs: not where a slope goes on instead."""
        low = np.where(self.below.any(axis=0), self.low, -np.inf)
        return low, np.where(self.above.any(axis=0), self.high, np.inf)

    @property
    def _reached(self) -> tuple[FloatArray, FloatArray]:
        width = self.reach * (self.high - self.low)
        return self.low - width, self.high + width


def plain_inputs(columns: Columns, X: FloatArray) -> FloatArray:
    """Standardised columns (n_rows, n_varying) in double precision, without limits or a bias."""
    rows = X.astype(np.float64, copy=False)
    return replace(columns, limit=None, bias=0.0, order="C").apply(rows)[:, : columns.n_varying]


@dataclass(frozen=True)
class Line:
    """A linear part in the units of a learner, for the directions of both parts together.

    Attributes
    ----------
    slopes : ndarray of shape (n_targets, n_varying)
    values : ndarray of shape (n_targets, n_rows)
        At the rows of the fit.
    steepness : float
        Mean squared length of the gradients of the kernel's function.
    """

    slopes: FloatArray
    values: FloatArray
    steepness: float

    @classmethod
    def beside(cls, slopes: FloatArray, plain: FloatArray, learned: Learned, X: FloatArray) -> Line:
        """Beside a function that was learned from rows (n_rows, n_inputs), a random sample first.

        `plain` has their standardised columns, (n_rows, n_varying).
        """
        rows = X[:ROWS_FOR_SLOPES].astype(np.float64, copy=False)
        try:
            gradients = learned.function.gradient(rows)
            steepness = float(np.mean(np.square(gradients).sum(axis=(0, 2))))
        except NotImplementedError:
            # An estimator of the user's own has none. Along standardised columns a function varies
            # about as much as it is steep.
            steepness = float(np.var(learned.function.decision(rows), axis=1).sum())
        return cls(slopes, slopes @ plain.T.astype(np.float64), steepness)

    def joined(self, found: Directions) -> Directions:
        """Directions of the sum, by the mean products of the slopes of both parts.

        The importances of the kernel's directions are shares of its steepness.
        """
        # An input beyond the columns, which is constant, belongs to no direction.
        n_inputs, n_columns = found.components.shape[1], self.slopes.shape[1]
        lengths = np.sqrt(self.steepness * shares_of(found.importances))
        both = np.vstack([self.slopes, lengths[:, None] * found.components[:, :n_columns]])
        product = both.T @ both
        components, importances = leading_directions(product)
        n_kept = min(n_columns, len(found.components) + len(self.slopes))
        beyond = ((0, 0), (0, n_inputs - n_columns))
        return Directions(
            np.pad(components[:n_kept], beyond),
            importances[:n_kept],
            np.pad(np.sqrt(np.diagonal(product)), beyond[1]),
            None,
        )


def wants_line(ridge: LinearRidge, learned: Any, unit: float) -> bool:
    """Whether ridge regression predicts rows left out clearly better than what was learned.

    It need not be better where it leaves next to nothing. Its errors are those for targets of
    standard deviation 1. `unit` is what the search of settings counts a squared error of 1 as.
    """
    error = held_out_error(learned, unit)
    nearly = ridge.left_out_error < NEARLY_A_LINE
    asked = NOT_CLEARLY_HIGHER if nearly else CLEARLY_LOWER
    return error is not None and ridge.left_out_error < asked * error


def held_out_error(learned: Learned, unit: float) -> float | None:
    """Mean squared error of held-out rows with the settings that were chosen, if any were."""
    search = learned.search
    if search is None or not len(search.losses):
        return None
    return float(search.losses[search.chosen]) / unit
