"""Fit and predictions of a regressor and of a classifier of any family.

Both mixins stand left of the base class of a family, which offers ``_fit_encoded`` and
``_decision(X)``: decision values of shape (n_targets, n_samples).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin, RegressorMixin

from kernlens._array import FloatArray
from kernlens.base.arrays import (
    EncodedLabels,
    check_fit_arrays,
    encode_labels,
    regression_targets,
)
from kernlens.base.callbacks import observed
from kernlens.base.class_weights import class_weighted
from kernlens.base.contract import all_or_nothing
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.losses import Loss, SquaredLoss


@lazy_on_dask("predict")
class DecisionRegressorMixin(RegressorMixin):
    """Predict of a regressor for one or several targets; `fit` sets `_single_target`."""

    _single_target: bool

    @all_or_nothing
    @observed
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions and the function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; several are fitted together and share their directions.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, of which the ratios matter: a weight twice as large is the row
            repeated.

        Returns
        -------
        self
        """
        X, y, weights = check_fit_arrays(
            self, X, y, sample_weight, dtype=self._precisions, multi_output=True, y_numeric=True
        )
        targets = regression_targets(y)
        self._single_target = y.ndim == 1
        self._fit_encoded(X, targets, weights, self._make_loss(targets, weights))
        return self

    def _make_loss(self, y: FloatArray, weights: FloatArray) -> Loss:
        """The loss of a row, for targets (n_targets, n_samples)."""
        return SquaredLoss()

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


@lazy_on_dask("predict", "decision_function", "predict_proba", "predict_log_proba")
class DecisionClassifierMixin(ClassifierMixin):
    """Scores, probabilities and labels of a classifier; `fit` sets `classes_`.

    The decision values are log-odds of the second class, one row, if there are two classes, and
    else one row per class, whose softmax are the probabilities.
    """

    class_weight: Any
    classes_: NDArray[Any]

    @all_or_nothing
    @observed
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions, the scores of the classes and their probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two or more classes, of any type scikit-learn takes.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, of which the ratios matter: a weight twice as large is the row
            repeated. `class_weight` multiplies them.

        Returns
        -------
        self
        """
        X, y, weights = check_fit_arrays(self, X, y, sample_weight, dtype=self._precisions)
        weights = class_weighted(self.class_weight, y, weights)
        labels = encode_labels(y, weights, type(self).__name__)
        self.classes_ = labels.classes
        self._fit_labels(X, labels, weights)
        return self

    def _fit_labels(self, X: FloatArray, labels: EncodedLabels, weights: FloatArray) -> None:
        """Fit the targets of a loss of classes; another family may fit other ones."""
        self._fit_encoded(X, labels.targets, weights, labels.loss)

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
            # Not one minus the other, which has no digits where it is small.
            return np.column_stack([expit(-scores), expit(scores)])
        probabilities: FloatArray = softmax(scores, axis=1)
        return probabilities

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Logarithms of the class probabilities, exact also where those round to 0 or 1.

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
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        logarithms: FloatArray = log_softmax(scores, axis=1)
        return logarithms

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
