"""How the prediction changes with every column, on average over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._unwrapped import unwrap


@dataclass(frozen=True, repr=False)
class AverageDerivatives(Tabular):
    """Derivatives of the prediction in the columns, averaged over rows.

    Prints as a table with one row per column; `to_frame` gives it as a data frame.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the columns.
    mean : ndarray of shape (n_features,) or (n_targets, n_features)
        Mean derivatives: by how much the prediction rises per unit of the column. Rises and falls
        cancel.
    root_mean_square : ndarray of shape (n_features,) or (n_targets, n_features)
        Root mean square derivatives, in which they do not cancel.
    target_names : tuple of str
        Names of the targets or classes, if there are several.
    """

    feature_names: tuple[str, ...]
    mean: FloatArray
    root_mean_square: FloatArray
    target_names: tuple[str, ...] = ()

    def _table(self) -> Table:
        statistics = {"mean": self.mean, "root_mean_square": self.root_mean_square}
        if self.mean.ndim == 1:
            return Table(list(statistics), list(statistics.values()), self.feature_names)
        return Table(
            [f"{statistic} {target}" for statistic in statistics for target in self.target_names],
            [row for values in statistics.values() for row in values],
            self.feature_names,
        )

    def by_name(self) -> dict[str, Any]:
        """Mean derivatives by column name: a number, or an array with one per target."""
        return dict(zip(self.feature_names, self.mean.T.tolist(), strict=True))


def average_derivatives(
    model: Any,
    X: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
) -> AverageDerivatives:
    """Average the gradient of a fitted model over rows.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        With `gradient`: the derivative of `predict`, or of `decision_function` for a classifier.
        In a pipeline, derivatives are those in the columns that reach the last step.
    X : array-like of shape (n_samples, n_features)
        Rows to average over.
    feature_names : sequence of str or None
        Names of the columns; by default those seen in `fit`, or x0, x1, ...
    target_names : sequence of str or None
        Names of several targets; by default the classes of a classifier, and else y[0], y[1], ...

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
    seen = unwrap(model, X, feature_names=feature_names)
    gradients = np.asarray(seen.model.gradient(seen.rows), dtype=np.float64)
    mean = gradients.mean(axis=0)
    return AverageDerivatives(
        seen.feature_names,
        mean,
        np.sqrt(np.mean(np.square(gradients), axis=0)),
        () if mean.ndim == 1 else _names_of_targets(seen.model, len(mean), target_names),
    )


def _names_of_targets(
    model: Any, n_targets: int, target_names: Sequence[str] | None
) -> tuple[str, ...]:
    if target_names is None:
        default = (f"y[{target}]" for target in range(n_targets))
        return tuple(str(label) for label in getattr(model, "classes_", default))
    if len(target_names) != n_targets:
        raise ValueError(
            f"target_names has {len(target_names)} names, but the model has {n_targets} targets: "
            "pass one name per target."
        )
    return tuple(str(name) for name in target_names)
