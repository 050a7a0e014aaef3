"""The learned directions in words a reader can use: weights by column, shares of importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens.inspection._feature_names import resolve_feature_names


@dataclass(frozen=True)
class DirectionSummary:
    """Directions of a fitted feature learner.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the columns.
    loadings : ndarray of shape (n_directions, n_features)
        Weight of every column, measured in its standard deviations; unit rows.
    component_importances : ndarray of shape (n_directions,)
        Shares of the directions, sum 1.
    feature_importances : ndarray of shape (n_features,)
        Shares of the columns, sum 1.
    """

    feature_names: tuple[str, ...]
    loadings: FloatArray
    component_importances: FloatArray
    feature_importances: FloatArray

    def strongest(self, direction: int, n_columns: int) -> list[tuple[str, float]]:
        """Names and weights of the columns with the largest weights in one direction."""
        weights = self.loadings[direction]
        order = np.argsort(-np.abs(weights), kind="stable")[:n_columns]
        return [(self.feature_names[column], float(weights[column])) for column in order]


def summarize_directions(
    model: Any, X: ArrayLike, *, feature_names: Sequence[str] | None = None
) -> DirectionSummary:
    """Describe the directions of a fitted model.

    The rows of `components_` are in the units of X, so a column measured in small units has a large
    entry. They are multiplied here by the standard deviations of the columns of X, which makes the
    weights comparable: ``loadings[k] = components_[k] * std / norm``.

    Parameters
    ----------
    model : fitted feature learner
        With `components_`, `component_importances_` and `feature_importances_`.
    X : array-like of shape (n_samples, n_features)
        Rows that give the standard deviations, usually those of `fit`.
    feature_names : sequence of str or None
        Names of the columns; by default those seen in `fit`, or x0, x1, ...

    Returns
    -------
    DirectionSummary
    """
    weights = model.components_ * np.std(np.asarray(X, dtype=np.float64), axis=0)
    norms = np.linalg.norm(weights, axis=1, keepdims=True)
    return DirectionSummary(
        feature_names=resolve_feature_names(model, feature_names),
        loadings=weights / np.where(norms > 0.0, norms, 1.0),
        component_importances=np.asarray(model.component_importances_),
        feature_importances=np.asarray(model.feature_importances_),
    )
