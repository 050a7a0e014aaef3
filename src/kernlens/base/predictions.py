"""Fit and predictions of a regressor and of a classifier of any family.

Both mixins stand left of the base class of a family, which offers ``_fit_encoded`` and
``_decision(X)``: decision values of shape (n_targets, n_samples).
"""

from __future__ import annotations

import warnings
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
from kernlens.base.block_targets import LabelTargets, LabelTotals, numeric_targets
from kernlens.base.callbacks import observed
from kernlens.base.class_weights import class_weighted
from kernlens.base.contract import all_or_nothing
from kernlens.base.targets import Targets
from kernlens.blocks import is_blocks
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.blocks.moments import Moments
from kernlens.blocks.table import BlockTable
from kernlens.losses import Loss, SquaredLoss


@lazy_on_dask("predict")
class DecisionRegressorMixin(RegressorMixin):
    """Predict of a regressor for one or several targets; `fit` sets `_single_target`."""

    _single_target: bool

    @all_or_nothing
    @observed
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions and the function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Dask collection or RowBlocks
            Rows. With :class:`~kernlens.RowBlocks` there is no other argument.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; several are fitted together and share their directions.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, of which the ratios matter: a weight twice as large is the row
            repeated.

        Returns
        -------
        self
        """
        if is_blocks(X):
            table = self._open_blocks(X, y, sample_weight)
            self._single_target = table.target_ndim == 1
            self._fit_table(table.through(numeric_targets), self._make_loss)
            return self
        X, y, weights = check_fit_arrays(
            self, X, y, sample_weight, dtype=self._precisions, multi_output=True, y_numeric=True
        )
        targets = regression_targets(y)
        self._single_target = y.ndim == 1
        self._fit_encoded(X, targets, weights, self._make_loss(targets, weights))
        return self

    def _targets_of(self, moments: Moments) -> Targets:
        """Standardised targets of a table, and predictions within their range if that is wanted."""
        targets = Targets(moments.center, moments.scale)
        return targets.truncated(getattr(self, "truncate", None), moments.low, moments.high)

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
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions, the scores of the classes and their probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Dask collection or RowBlocks
            Rows. With :class:`~kernlens.RowBlocks` there is no other argument.
        y : array-like of shape (n_samples,)
            Labels of two or more classes, of any type scikit-learn takes.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, of which the ratios matter: a weight twice as large is the row
            repeated. `class_weight` multiplies them.

        Returns
        -------
        self
        """
        if is_blocks(X):
            self._fit_labelled_table(self._open_blocks(X, y, sample_weight))
            return self
        X, y, weights = check_fit_arrays(self, X, y, sample_weight, dtype=self._precisions)
        self._fit_encoded(X, *self._label_targets(y, weights))
        return self

    def _fit_labelled_table(self, table: BlockTable) -> None:
        """Fit a table with labels; what follows from labels and weights does so from their sums."""
        counted = LabelTotals.of(table, type(self).__name__)
        with warnings.catch_warnings():
            # Every label is there once, which scikit-learn takes for numbers.
            warnings.filterwarnings("ignore", "The number of unique classes is greater")
            targets, weights, loss = self._label_targets(counted.labels, counted.totals)
        step = LabelTargets(counted.labels, targets, weights / counted.totals)
        self._fit_table(table.through(step), lambda _y, _weights: loss)

    def _label_targets(
        self, y: NDArray[Any], weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, Loss]:
        """Targets (n_targets, n_samples), weights and loss that labels are learned by."""
        weights = class_weighted(self.class_weight, y, weights)
        labels = encode_labels(y, weights, type(self).__name__)
        self.classes_ = labels.classes
        return self._fitted_to(labels, weights)

    def _fitted_to(
        self, labels: EncodedLabels, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, Loss]:
        """Those of a loss of classes; another family may fit other targets."""
        return labels.targets, weights, labels.loss

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
