"""Columns beside their ranks: what is skewed or has outliers gets a second, even scale.

A rank is the weighted share of the rows below a value, and half of those at it. Between the values
of the rows it goes on along lines, so that it has derivatives, and few knots keep these steady.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray

#: Values of a column whose ranks are kept, at most.
MOST_KNOTS = 32
#: Ranks are spread evenly over (0, 1): times this their standard deviation is 1.
SPREAD = float(np.sqrt(12.0))


@dataclass(frozen=True)
class Ranks:
    """Centred ranks of standard deviation about 1, as piecewise linear functions of the columns.

    Attributes
    ----------
    knots : ndarray of shape (n_knots, d)
        Increasing values of every column; the last one is repeated where there are fewer.
    values : ndarray of shape (n_knots, d)
        Ranks there.
    """

    knots: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray) -> Ranks:
        """Of the columns of rows (n_rows, d) with positive weights (n_rows,)."""
        pairs = [_knots_of(column, weights) for column in X.T]
        most = max(len(knots) for knots, _ in pairs)
        padded = [
            [np.concatenate([part, np.full(most - len(part), part[-1])]) for part in pair]
            for pair in pairs
        ]
        return cls(*(np.column_stack(parts) for parts in zip(*padded, strict=True)))

    def beside(self, X: FloatArray) -> FloatArray:
        """The columns of rows (n_rows, d), and their ranks, (n_rows, 2 d)."""
        return np.hstack([X, self._at(X)])

    def _at(self, X: FloatArray) -> FloatArray:
        ranks = np.empty_like(X)
        for j in range(X.shape[1]):
            ranks[:, j] = np.interp(X[:, j], self.knots[:, j], self.values[:, j])
        return ranks

    def slopes(self, X: FloatArray) -> FloatArray:
        """Derivatives of the ranks at rows, (n_rows, d); at a knot the mean of both sides."""
        slopes = np.empty_like(X)
        for j in range(X.shape[1]):
            steps = np.diff(self.knots[:, j])
            rises = np.diff(self.values[:, j])
            inner = np.divide(rises, steps, out=np.zeros_like(rises), where=steps > 0.0)
            pieces = np.concatenate([[0.0], inner, [0.0]])
            before = np.searchsorted(self.knots[:, j], X[:, j], side="left")
            after = np.searchsorted(self.knots[:, j], X[:, j], side="right")
            slopes[:, j] = 0.5 * (pieces[before] + pieces[after])
        return slopes

    def chords(self, X: FloatArray, reach: FloatArray) -> FloatArray:
        """How fast ranks rise from `reach` (d,) below rows to as much above them, (n_rows, d).

        Beside a value that most rows have, a rank rises by much within next to nothing: there its
        slope says nothing of what the column does.
        """
        return (self._at(X + reach) - self._at(X - reach)) / (2.0 * reach)

    def pull(
        self, X: FloatArray, gradients: FloatArray, reach: FloatArray | None = None
    ) -> FloatArray:
        """Gradients (n_targets, n_rows, 2 d) in columns and ranks as those in the columns alone.

        With chords of the ranks instead of slopes if there is a `reach`.
        """
        d = X.shape[1]
        slopes = self.slopes(X) if reach is None else self.chords(X, reach)
        pulled: FloatArray = gradients[..., :d] + slopes * gradients[..., d:]
        return pulled


def _knots_of(column: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Increasing values of a column, and their centred ranks."""
    values, place = np.unique(column, return_inverse=True)
    totals = np.bincount(place, weights=weights)
    # A share of the sum, not of what the sum is cumulated to, which rounds otherwise.
    ranks = (np.cumsum(totals) - 0.5 * totals) / totals.sum()
    if len(values) > MOST_KNOTS:
        levels = np.linspace(ranks[0], ranks[-1], MOST_KNOTS)
        # The nearest one: the first above a level would hang on the last digit of a sum.
        above = np.searchsorted(ranks, levels).clip(1, len(ranks) - 1)
        kept = np.unique(above - (levels - ranks[above - 1] <= ranks[above] - levels))
        values, ranks = values[kept], ranks[kept]
    return values, SPREAD * (ranks - 0.5)
