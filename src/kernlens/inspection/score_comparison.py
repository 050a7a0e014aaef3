"""Cross-validated scores of several models on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv, cross_val_score

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular


@dataclass(frozen=True, repr=False)
class ScoreComparison(Tabular):
    """Scores of several models, fold by fold: prints as a table, see also `to_frame`.

    Attributes
    ----------
    scores : dict of str to ndarray of shape (n_folds,)
        Held-out score of every model in every fold, the folds in the same order.
    """

    scores: Mapping[str, FloatArray]

    def _table(self) -> Table:
        by_model = np.array(list(self.scores.values()))
        folds = [f"fold {fold + 1}" for fold in range(by_model.shape[1])]
        deviations = by_model.std(axis=1, ddof=1) if len(folds) > 1 else np.zeros(len(by_model))
        columns = [by_model.mean(axis=1), deviations, *by_model.T]
        return Table(["mean", "std", *folds], columns, list(self.scores))

    def best_of_others(self, name: str) -> str:
        """Name of the model with the highest mean score beside `name`."""
        others = [other for other in self.scores if other != name]
        return max(others, key=lambda other: float(self.scores[other].mean()))

    def difference(self, name: str, other: str) -> tuple[float, float]:
        """Mean over folds of ``score(name) - score(other)``, and its standard error.

        The standard error takes the folds as independent; they share training rows, so it is
        somewhat too small.
        """
        differences = self.scores[name] - self.scores[other]
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        return float(differences.mean()), float(error)


def compare_scores(
    models: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    cv: Any = 5,
    progress: Callable[[str], None] | None = None,
) -> ScoreComparison:
    """Cross-validate several models on the same folds.

    Parameters
    ----------
    models : dict of str to estimator
        Unfitted; every fold fits a clone. What a model tunes, it tunes on the training rows.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    cv : int, splitter or iterable, default=5
        As in scikit-learn.
    progress : callable or None
        Called with the name of a model after each of its fits.

    Returns
    -------
    ScoreComparison
        With the score of every model's own `score`.
    """
    classify = all(is_classifier(model) for model in models.values())
    folds = list(check_cv(cv, y, classifier=classify).split(X, y))
    scores: dict[str, FloatArray] = {}
    for name, model in models.items():
        of_model = []
        for fold in folds:
            # Fold by fold, so that progress is seen; a failing fit raises instead of scoring nan.
            of_model += list(cross_val_score(model, X, y, cv=[fold], error_score="raise"))
            if progress is not None:
                progress(name)
        scores[name] = np.asarray(of_model)
    return ScoreComparison(scores)
