"""The number of directions by a criterion of the eigenvalues, without a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.methods.sdr.dimension_tests import MOST_DIRECTIONS

#: Penalty of a parameter over the logarithm of the number of rows; chosen on simulated data.
PENALTY = 0.25


@dataclass(frozen=True, repr=False)
class DimensionCriterion(Tabular):
    """A criterion of 0, 1, 2, ... directions, of which the largest value is taken.

    Attributes
    ----------
    method : str
        ``"bic"``.
    n_directions : int
        The number with the largest criterion, the first of equal ones.
    dimension : ndarray of int of shape (n_numbers,)
        The numbers that were compared.
    likelihood : ndarray of shape (n_numbers,)
        What the eigenvalues beyond them take away, never positive.
    penalty : ndarray of shape (n_numbers,)
        What is paid for them.
    criterion : ndarray of shape (n_numbers,)
        The difference of both.
    """

    method: str
    n_directions: int
    dimension: IntArray
    likelihood: FloatArray
    penalty: FloatArray
    criterion: FloatArray

    def _table(self) -> Table:
        return Table(
            ["directions", "likelihood", "penalty", "criterion"],
            [self.dimension, self.likelihood, self.penalty, self.criterion],
            caption=f"{self.method}: {self.n_directions} directions have the largest criterion",
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to be kept by a fitted model."""
        return dict(vars(self))

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> DimensionCriterion:
        """The criterion that :meth:`as_dict` has written down."""
        return cls(**plain)


def bayes_criterion(eigenvalues: FloatArray, n_rows: float, most: int) -> DimensionCriterion:
    r"""The criterion of Zhu, Miao and Peng (2006), after Schwarz's.

    .. math::

        G(k) = \frac n2 \sum_{i > k} \bigl(\log(1 + \lambda_i) - \lambda_i\bigr)
        - C_n \frac{k (2 d - k + 1)}{2}, \qquad C_n = \frac{\log n}{4},

    is the largest at the number of directions. The first part is that of the likelihood of a
    covariance with eigenvalues :math:`1 + \lambda_i` of which the last are 1, the second has the
    parameters of k directions. The paper asks of :math:`C_n` that it grows, and less than n: the
    true number is then found as n grows, because eigenvalues beyond it are of order 1 / n.

    Parameters
    ----------
    eigenvalues : ndarray of shape (d,)
        Of the candidate matrix, non-negative, decreasing.
    n_rows : float
    most : int
        No more directions are compared; nor are more than 10.
    """
    d = len(eigenvalues)
    dimension = np.arange(min(most, MOST_DIRECTIONS) + 1)
    terms = np.log1p(eigenvalues) - eigenvalues
    likelihood = np.array([0.5 * n_rows * float(np.sum(terms[k:])) for k in dimension])
    penalty = PENALTY * np.log(n_rows) * dimension * (2 * d - dimension + 1) / 2.0
    criterion = likelihood - penalty
    number = int(np.argmax(criterion))
    return DimensionCriterion("bic", number, dimension, likelihood, penalty, criterion)
