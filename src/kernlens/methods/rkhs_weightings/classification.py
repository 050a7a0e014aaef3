"""Classification with random features of any kind: labels +1 and -1, batches, probabilities."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from kernlens._array import FloatArray
from kernlens.base.arrays import (
    PRECISIONS,
    batch_classes,
    check_batch_arrays,
    check_fit_arrays,
    encode_labels,
    one_hot,
    plus_minus_one,
)
from kernlens.base.calibration import Calibration, calibrate
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.methods.rkhs_weightings.learner import WeightingLearner
from kernlens.methods.rkhs_weightings.plan import Learned
from kernlens.methods.rkhs_weightings.stream import StreamingRandomFeatures, can_stream


class RandomFeatureClassifier(DecisionClassifierMixin, StreamingRandomFeatures):
    """Stands left of the base class that says which features there are.

    Scores are turned into log-odds by what rows that were left out say of them.
    """

    trusted_score_: float
    stretch_: float

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the scores, their directions and the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, of any type scikit-learn takes.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated.

        Returns
        -------
        self
        """
        X, y, weights = check_fit_arrays(self, X, y, sample_weight, dtype=PRECISIONS)
        labels = encode_labels(y, weights, type(self).__name__)
        self._fit_encoded(X, plus_minus_one(labels.targets), weights)
        self.classes_ = labels.classes
        return self

    @available_if(can_stream)
    @all_or_nothing
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows on top of those before, without keeping any.

        The units of columns, the kind of features, and their weights follow from the first
        batch, which should be a fair sample of some thousand rows; `alpha` is chosen anew
        with every batch. Probabilities are calibrated on rows of the last one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,) or None
            All labels that are to come; needed in the first call.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights.

        Returns
        -------
        self
        """
        X, y, weights = check_batch_arrays(self, X, y, sample_weight, dtype=PRECISIONS)
        self.classes_ = batch_classes(
            classes, getattr(self, "classes_", None), self._going_on, type(self).__name__
        )
        targets = plus_minus_one(one_hot(y, self.classes_, type(self).__name__))
        self._partial_fit_encoded(X, targets, weights)
        return self

    def _calibrate(self, learner: WeightingLearner, learned: Learned) -> None:
        scores, rows = learner.left_out(learned)
        found = calibrate(scores, rows.y, rows.weights)
        self.trusted_score_, self.stretch_ = found.trusted, found.stretch

    def _decision(self, X: ArrayLike) -> FloatArray:
        scores = super()._decision(X)
        return Calibration(self.trusted_score_, self.stretch_).log_odds(scores)
