"""The target against one column: what is seen before any direction is learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._response import make_response
from kernlens.inspection._unwrapped import unwrap


@dataclass(frozen=True, repr=False)
class ColumnProfile(Tabular):
    """The target against one column: prints as a table, see also `to_frame`.

    Attributes
    ----------
    name : str
        Of the column.
    positions, observed : ndarray of shape (n_samples,)
        The column and the target.
    response_name : str
        What the target is.
    """

    name: str
    positions: FloatArray
    observed: FloatArray
    response_name: str

    def _table(self) -> Table:
        return Table([self.name, self.response_name], [self.positions, self.observed])


def column_profile(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    column: int | None = None,
    target: Any = None,
    feature_names: Sequence[str] | None = None,
) -> ColumnProfile:
    """Look at the target along one column.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        In a pipeline, columns are those that reach the last step.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        A Series or data frame gives the target its name.
    column : int or None
        Which column; by default the one with the largest `feature_importances_`.
    target : object or None
        Class (the last by default) or column of y (the first) to look at.
    feature_names : sequence of str or None
        Names of the columns; by default those seen in `fit`, or x0, x1, ...

    Returns
    -------
    ColumnProfile
    """
    check_consistent_length(X, y)
    seen = unwrap(model, X, feature_names=feature_names)
    if column is None:
        column = int(np.argmax(seen.model.feature_importances_))
    response = make_response(seen.model, y, target)
    return ColumnProfile(
        name=seen.feature_names[column],
        positions=np.asarray(seen.rows, dtype=np.float64)[:, column],
        observed=response.observed,
        response_name=response.name,
    )
