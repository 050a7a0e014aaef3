"""The target against one column: what is seen before any direction is learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from kernlens._array import FloatArray
from kernlens.inspection._feature_names import resolve_feature_names
from kernlens.inspection._response import make_response


@dataclass(frozen=True)
class ColumnProfile:
    """The target against one column.

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
    model : fitted feature learner
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
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
    if column is None:
        column = int(np.argmax(model.feature_importances_))
    check_consistent_length(X, y)
    response = make_response(model, y, target)
    return ColumnProfile(
        name=resolve_feature_names(model, feature_names)[column],
        positions=np.asarray(X, dtype=np.float64)[:, column],
        observed=response.observed,
        response_name=response.name,
    )
