"""The automatic classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._validation import check_classes, class_labels
from kernlens.base.class_weights import class_weighted
from kernlens.base.contract import all_or_nothing
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.model_selection.auto.candidates import CLASSIFIERS, Candidate, portfolio
from kernlens.model_selection.auto.estimator import BaseAutoLens
from kernlens.model_selection.auto.inputs import check_parts, checked_labels, checked_rows
from kernlens.model_selection.auto.parameters import CLASSIFIER_PARAMETERS
from kernlens.model_selection.auto.scores import (
    CLASSIFICATION_SCORES,
    SMALLEST_PROBABILITY,
    Score,
)
from kernlens.model_selection.auto.splits import given_rows
from kernlens.model_selection.auto.stacking import Stack, Stacker, Weigh, likelihood_shares

#: Powers of probabilities that are looked at.
MILDEST, SHARPEST = 0.5, 2.0


@lazy_on_dask("predict", "decision_function", "predict_proba", "predict_log_proba")
@documented
class AutoLensClassifier(ClassifierMixin, BaseAutoLens):
    """Classification for people who do not want to choose: a table, labels, a time budget.

    As :class:`AutoLensRegressor`, for two or more classes. The probabilities of the members are
    averaged, and sharpened or softened as rows left out want it.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    sharpness_ : float
        Power of the averaged probabilities, 1 if they are right as they are.
    leaderboard_, explanation_, member_names_, member_weights_, members_, table_, best_score_
        As those of :class:`AutoLensRegressor`.
    components_, component_importances_, output_importances_, feature_importances_
        As those of :class:`AutoLensRegressor`.
    n_directions_, stability_, mean_, scale_, seconds_, status_, n_features_in_, feature_names_in_
        As those of :class:`AutoLensRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlens import AutoLensClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoLensClassifier(time_budget=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _parameters = CLASSIFIER_PARAMETERS
    _scores = CLASSIFICATION_SCORES

    def __init__(
        self,
        *,
        scoring: str = "auto",
        time_budget: float = 60.0,
        cv: Any = None,
        ensemble: bool = True,
        include_trees: bool = False,
        n_directions: int | str = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.scoring = scoring
        self.time_budget = time_budget
        self.cv = cv
        self.ensemble = ensemble
        self.include_trees = include_trees
        self.n_directions = n_directions
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Try, compare, stack.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, multiplied by `class_weight`.
        groups : array-like of shape (n_samples,) or None
            Rows of a group are never both learned from and predicted.

        Returns
        -------
        self
        """
        self._check_parameters()
        labels = checked_labels(y)
        class_labels(labels)  # of all rows, before those without weight are left out
        splits = given_rows(self.cv, labels, groups)
        X, labels, weights, groups, splits = checked_rows(X, labels, sample_weight, groups, splits)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        check_classes(self.classes_, type(self).__name__)
        if self.class_weight is not None:
            ones = np.ones(len(labels)) if weights is None else weights
            weights = class_weighted(self.class_weight, labels, ones)
        check_parts(splits, labels)
        numbers = codes.astype(np.float64)
        self._fit_table(X, numbers, labels, weights, groups, splits, len(self.classes_))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the second class, or one score per class.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
            Their softmax are the probabilities.
        """
        scores = self.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities, in the order of `classes_`.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return sharpened(self._values(self._prepared(X)), self.sharpness_)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X).clip(np.finfo(np.float64).tiny))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        winners = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def _portfolio(self, y: FloatArray) -> list[Candidate]:
        return portfolio(CLASSIFIERS, None, len(y))

    def _weigh(self, score: Score) -> Weigh:
        return likelihood_shares

    def _keep_errors(self, stack: Stack, stacker: Stacker) -> Stack:
        self.sharpness_ = best_sharpness(stack.crossed, stacker.y, stacker.weights)
        return replace(
            stack,
            prediction=sharpened(stack.prediction, self.sharpness_),
            crossed=sharpened(stack.crossed, self.sharpness_),
        )


def sharpened(probabilities: FloatArray, power: float) -> FloatArray:
    """Probabilities (n_rows, n_classes) to a power, over their sum."""
    raised = probabilities.clip(SMALLEST_PROBABILITY) ** power
    shares: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return shares


def best_sharpness(probabilities: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """The power of least log loss on rows left out.

    A mean of several distributions is milder than each of them; one number, learned from all rows,
    undoes that (temperature scaling; Guo et al., "On calibration of modern neural networks", 2017).
    """
    codes = y.astype(np.intp)[:, None]

    def loss(power: float) -> float:
        chosen = np.take_along_axis(sharpened(probabilities, power), codes, axis=1)[:, 0]
        return -float(np.average(np.log(chosen), weights=weights))

    found = minimize_scalar(loss, bounds=(MILDEST, SHARPEST), method="bounded")
    return float(found.x) if found.fun < loss(1.0) else 1.0
