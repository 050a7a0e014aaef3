"""Rows in slices of similar targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray, IntArray

#: What is missing to a border of slices by less is rounding of sums of weights.
SLACK = 1e-9
#: Share of values among rows above which a target is not one of few values.
OWN_VALUES = 0.75
#: Rows that a slice has at least if the number of slices is chosen.
ROWS_PER_SLICE = 5


def automatic_n_slices(n_rows: float, most: int) -> int:
    """Slices of an effective number of rows if nobody says how many."""
    return max(2, min(most, int(n_rows / ROWS_PER_SLICE + SLACK)))


@dataclass(frozen=True)
class Slices:
    """A partition of rows by one target.

    Attributes
    ----------
    numbers : ndarray of int of shape (n_rows,)
        Slice of every row, from 0 on; none is empty.
    n_slices : int
    borders : ndarray of shape (n_slices - 1,)
        Values between the slices, increasing: other rows belong to slices by them.
    """

    numbers: IntArray
    n_slices: int
    borders: FloatArray

    @classmethod
    def of(cls, target: FloatArray, weights: FloatArray, n_slices: int | None) -> Slices:
        """Cut the range of a target into slices of about the same weight.

        Equal targets stay together, and a target with no more values than slices has one slice for
        each. A value goes to the slice in which the middle of its weight lies.

        Parameters
        ----------
        target : ndarray of shape (n_rows,)
            Numbers, or numbers of classes.
        weights : ndarray of shape (n_rows,)
            Positive.
        n_slices : int or None
            At most so many slices, and at most half as many as rows where most rows have a value
            of their own: means of single rows say nothing. None for one per value.
        """
        values, codes = np.unique(target, return_inverse=True)
        if n_slices is not None and len(values) > OWN_VALUES * len(target):
            n_slices = min(n_slices, max(2, len(target) // 2))
        if n_slices is None or len(values) <= n_slices:
            return cls(codes, len(values), _between(values, np.arange(len(values))))
        masses = np.bincount(codes, weights=weights)
        middles = (np.cumsum(masses) - 0.5 * masses) / masses.sum()
        places = np.floor(n_slices * middles + SLACK).astype(np.intp).clip(0, n_slices - 1)
        # A value of much weight may leave slices without any.
        used, of_values = np.unique(places, return_inverse=True)
        return cls(of_values[codes], len(used), _between(values, of_values))

    def shares(self, weights: FloatArray) -> FloatArray:
        """Share of the weight in every slice, (n_slices,)."""
        masses = np.bincount(self.numbers, weights=weights, minlength=self.n_slices)
        return masses / masses.sum()

    def means(self, inputs: FloatArray, weights: FloatArray) -> FloatArray:
        """Weighted means of inputs (n_rows, r) in every slice, (n_slices, r)."""
        member = self._membership(weights)
        return (member @ inputs) / member.sum(axis=1, keepdims=True)

    def second_moments(self, inputs: FloatArray, weights: FloatArray) -> FloatArray:
        """Weighted means of ``x x^T`` in every slice, (n_slices, r, r).

        Cost O(n r^2); memory O(n_slices r^2).
        """
        r = inputs.shape[1]
        found = np.empty((self.n_slices, r, r))
        for number in range(self.n_slices):
            rows = self.numbers == number
            some, share = inputs[rows], weights[rows] / weights[rows].sum()
            found[number] = (some.T * share) @ some
        return found

    def _membership(self, weights: FloatArray) -> FloatArray:
        """Weights of the rows of every slice, (n_slices, n_rows)."""
        of_slices = np.arange(self.n_slices)[:, None] == self.numbers
        return np.where(of_slices, weights, 0.0)


def _between(values: FloatArray, places: IntArray) -> FloatArray:
    """Middles between the last of increasing values in a slice and the first in the next one."""
    last = np.flatnonzero(np.diff(places))
    # Not the mean of both, which overflows where they are large.
    middles: FloatArray = values[last] + 0.5 * (values[last + 1] - values[last])
    return middles
