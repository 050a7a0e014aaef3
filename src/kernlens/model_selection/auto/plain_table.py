"""A table of numbers, as it is: what prepares the rows of the automatic mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from kernlens._array import FloatArray
from kernlens._validation import check_magnitude, check_spread
from kernlens.base.arrays import validated


class PlainTable(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers without missing values, passed on unchanged.

    It has what the automatic mode asks of a preparation: names of columns, columns that were left
    out, and importances summed up by the columns of the user.
    """

    @property
    def left_out_(self) -> Sequence[str]:
        """Names of the columns that are not used."""
        return ()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the names of the columns."""
        rows = validated(self, X, dtype=np.float64)
        check_magnitude(rows, "X")
        check_spread(rows, "X")
        return self

    def transform(self, X: Any) -> FloatArray:
        """Check the rows."""
        rows: FloatArray = validated(self, X, dtype=np.float64, reset=False)
        return rows

    def sum_by_source(self, importances: FloatArray) -> FloatArray:
        """Importances of the columns given by the user."""
        return importances
