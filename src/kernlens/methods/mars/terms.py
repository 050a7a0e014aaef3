"""Terms of a spline: products of hinges and lines, as small arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray, IntArray

#: Larger inputs count as this, so that products of ten do not overflow.
LARGEST = 1e25


@dataclass(frozen=True)
class Terms:
    """Products of at most `degree` factors of single inputs; the first term is the constant.

    A factor is ``(x - t)_+`` of sign 1, ``(t - x)_+`` of sign -1, or ``x - t`` of sign 0, a line.

    Attributes
    ----------
    inputs : ndarray of int of shape (n_terms, degree)
        Input of every factor, -1 where there is none.
    knots : ndarray of shape (n_terms, degree)
    signs : ndarray of int of shape (n_terms, degree)
    """

    inputs: IntArray
    knots: FloatArray
    signs: IntArray

    @classmethod
    def constant(cls, degree: int) -> Terms:
        """The constant alone."""
        none = np.zeros((1, degree), dtype=np.int64)
        return cls(none - 1, np.zeros((1, degree)), none)

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def degrees(self) -> IntArray:
        """Number of factors of every term, (n_terms,)."""
        return np.asarray(np.sum(self.inputs >= 0, axis=1))

    def factors(self, term: int) -> set[int]:
        """Inputs of one term."""
        return {int(one) for one in self.inputs[term] if one >= 0}

    def uses(self, n_inputs: int) -> np.ndarray:
        """Whether a term uses an input, (n_terms, n_inputs)."""
        used = np.zeros((len(self), n_inputs), dtype=bool)
        for place in range(self.inputs.shape[1]):
            rows = np.flatnonzero(self.inputs[:, place] >= 0)
            used[rows, self.inputs[rows, place]] = True
        return used

    def with_factor(self, parent: int, column: int, knot: float, sign: int) -> Terms:
        """These terms, and last the product of one of them with a factor."""
        place = int(self.degrees[parent])
        inputs, knots, signs = (a[parent].copy() for a in (self.inputs, self.knots, self.signs))
        inputs[place], knots[place], signs[place] = column, knot, sign
        return Terms(
            np.vstack([self.inputs, inputs]),
            np.vstack([self.knots, knots]),
            np.vstack([self.signs, signs]),
        )

    def take(self, kept: IntArray) -> Terms:
        """Some of the terms."""
        return Terms(self.inputs[kept], self.knots[kept], self.signs[kept])

    def values(self, X: FloatArray) -> FloatArray:
        """Values at rows (n_rows, n_inputs), (n_rows, n_terms)."""
        X = X.clip(-LARGEST, LARGEST)
        values = np.ones((len(X), len(self)))
        for term, degree in enumerate(self.degrees):
            for place in range(degree):
                values[:, term] *= self._factor(X, term, place)
        return values

    def gradient(self, X: FloatArray, coef: FloatArray) -> FloatArray:
        """Gradients of ``sum_m coef_tm B_m``, (n_targets, n_rows, n_inputs).

        At a knot they are the mean of both sides.
        """
        inside = np.abs(X) <= LARGEST
        X = X.clip(-LARGEST, LARGEST)
        slopes = np.zeros((len(coef), *X.shape))
        for term, degree in enumerate(self.degrees):
            for place in range(degree):
                column = self.inputs[term, place]
                part = self._slope(X, term, place) * inside[:, column]
                for other in range(degree):
                    if other != place:
                        part = part * self._factor(X, term, other)
                slopes[:, :, column] += coef[:, term, None] * part
        return slopes

    def _factor(self, X: FloatArray, term: int, place: int) -> FloatArray:
        distance: FloatArray = X[:, self.inputs[term, place]] - self.knots[term, place]
        return hinge(distance, int(self.signs[term, place]))

    def _slope(self, X: FloatArray, term: int, place: int) -> FloatArray:
        sign = int(self.signs[term, place])
        if sign == 0:
            return np.ones(len(X))
        distance = sign * (X[:, self.inputs[term, place]] - self.knots[term, place])
        return sign * 0.5 * (np.sign(distance) + 1.0)


def hinge(distance: FloatArray, sign: int) -> FloatArray:
    """The positive part of ``sign * distance``, or the distance itself for the sign 0."""
    return distance if sign == 0 else np.maximum(sign * distance, 0.0)
