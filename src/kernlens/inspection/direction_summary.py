"""The learned directions in words a reader can use: weights by column, shares of importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.directions_table import directions_table
from kernlens.base.tabular import Tabular
from kernlens.inspection._unwrapped import unwrap


@dataclass(frozen=True, repr=False)
class DirectionSummary(Tabular):
    """Directions of a fitted feature learner.

    Prints as a table with the most important columns first; `to_frame` has all of them.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the columns.
    loadings : ndarray of shape (n_directions, n_features)
        Weight of every column per standard deviation; orthonormal rows.
    component_importances : ndarray of shape (n_directions,)
        Shares of the directions, sum 1.
    feature_importances : ndarray of shape (n_features,)
        Shares of the columns, sum 1.
    standardized : bool
        Whether the model divides columns by their standard deviations; else the loadings are
        weights in the units of X.
    """

    feature_names: tuple[str, ...]
    loadings: FloatArray
    component_importances: FloatArray
    feature_importances: FloatArray
    standardized: bool = True

    def strongest(self, direction: int, n_columns: int) -> list[tuple[str, float]]:
        """Names and weights of the columns with the largest weights in one direction."""
        weights = self.loadings[direction]
        order = np.argsort(-np.abs(weights), kind="stable")[:n_columns]
        return [(self.feature_names[column], float(weights[column])) for column in order]

    def _table(self) -> Table:
        return directions_table(
            self.feature_names,
            [f"direction {number + 1}" for number in range(len(self.loadings))],
            self.loadings,
            self.component_importances,
            self.feature_importances,
        )


def summarize_directions(
    model: Any, *, feature_names: Sequence[str] | None = None
) -> DirectionSummary:
    """Describe the directions of a fitted model.

    The rows of `components_` act on X in its own units, so that a column of large numbers has small
    entries. `loadings_` are the same directions per standard deviation of the columns, which makes
    the weights comparable.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        With `loadings_`, `component_importances_` and `feature_importances_`. Fitted with
        ``standardize=False``, its `scale_` is 1 and the loadings are `components_`.
    feature_names : sequence of str or None
        Names of the columns; by default those seen in `fit`, or x0, x1, ... In a pipeline they are
        the names that the steps before the last one make of these.

    Returns
    -------
    DirectionSummary
    """
    seen = unwrap(model, feature_names=feature_names)
    return DirectionSummary(
        feature_names=seen.feature_names,
        loadings=np.asarray(seen.model.loadings_),
        component_importances=np.asarray(seen.model.component_importances_),
        feature_importances=np.asarray(seen.model.feature_importances_),
        standardized=bool(getattr(seen.model, "standardize", True)),
    )
