"""Predictions from decision values, for regressors and classifiers of any family.

Both mixins stand left of the base class of a family, which offers ``_decision(X)``: decision values
of shape (n_targets, n_samples).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin

FloatArray = NDArray[np.floating]


class DecisionRegressorMixin(RegressorMixin):
    """Predict of a regressor for one or several targets; `fit` sets `_single_target`."""

    _single_target: bool

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            In the shape of the y given to `fit`.
        """
        decision: FloatArray = self._decision(X)
        return decision[0] if self._single_target else np.ascontiguousarray(decision.T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class DecisionClassifierMixin(ClassifierMixin):
    """Scores, probabilities and labels of a classifier; `fit` sets `classes_`.

    The decision values are log-odds of the second class, one row, if there are two classes, and
    else one row per class, whose softmax are the probabilities.
    """

    classes_: NDArray[Any]

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Log-odds of the second class, or one score per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            Their softmax are the probabilities.
        """
        decision: FloatArray = self._decision(X)
        return decision[0] if len(decision) == 1 else np.ascontiguousarray(decision.T)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Class probabilities, in the order of `classes_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            second = expit(scores)
            return np.column_stack([1.0 - second, second])
        probabilities: FloatArray = softmax(scores, axis=1)
        return probabilities

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        winners = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winners]
        return labels
