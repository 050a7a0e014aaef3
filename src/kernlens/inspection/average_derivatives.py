"""How the prediction changes with every column, on average over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens.inspection._feature_names import resolve_feature_names


@dataclass(frozen=True)
class AverageDerivatives:
    """Derivatives of the prediction in the columns, averaged over rows.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the columns.
    mean : ndarray of shape (n_features,) or (n_targets, n_features)
        Mean derivatives: by how much the prediction rises per unit of the column. Rises and falls
        cancel.
    root_mean_square : ndarray of shape (n_features,) or (n_targets, n_features)
        Root mean square derivatives, in which they do not cancel.
    """

    feature_names: tuple[str, ...]
    mean: FloatArray
    root_mean_square: FloatArray

    def by_name(self) -> dict[str, Any]:
        """Mean derivatives by column name: a number, or an array with one per target."""
        return dict(zip(self.feature_names, self.mean.T.tolist(), strict=True))


def average_derivatives(
    model: Any, X: ArrayLike, *, feature_names: Sequence[str] | None = None
) -> AverageDerivatives:
    """Average the gradient of a fitted model over rows.

    Parameters
    ----------
    model : fitted feature learner
        With `gradient`: the derivative of `predict`, or of `decision_function` for a classifier.
    X : array-like of shape (n_samples, n_features)
        Rows to average over.
    feature_names : sequence of str or None
        Names of the columns; by default those seen in `fit`, or x0, x1, ...

    Returns
    -------
    AverageDerivatives

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import RKHSWeightingRegressor
    >>> from kernlens.inspection import average_derivatives
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = RKHSWeightingRegressor(random_state=0).fit(X, 2 * X[:, 0] - X[:, 1])
    >>> derivatives = average_derivatives(model, X).by_name()
    >>> {name: round(value) for name, value in derivatives.items()}
    {'x0': 2, 'x1': -1, 'x2': 0}
    """
    gradients = np.asarray(model.gradient(X), dtype=np.float64)
    return AverageDerivatives(
        tuple(resolve_feature_names(model, feature_names)),
        gradients.mean(axis=0),
        np.sqrt(np.mean(np.square(gradients), axis=0)),
    )
