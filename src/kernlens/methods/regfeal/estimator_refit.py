"""Any regressor or classifier of scikit-learn on the projected rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.fits.held_out import Split, held_out_loss
from kernlens.losses import Loss

#: Rows of an estimator that takes no weights are repeated at most so many times.
MOST_REPEATS = 1000


def is_estimator(value: Any) -> bool:
    """Whether `value` can be fitted; a class cannot, its instances can."""
    return hasattr(value, "fit") and not isinstance(value, type)


def check_refit_estimator(estimator: Any, classifier: bool) -> None:
    """Refuse an estimator for the other kind of target, or one without predictions."""
    if not hasattr(estimator, "predict"):
        raise ValueError(f"refit must be an estimator with predict, got {estimator!r}.")
    fitting = is_classifier(estimator) == classifier
    if classifier and not (fitting and hasattr(estimator, "predict_proba")):
        raise ValueError(f"refit must be a classifier with predict_proba, got {estimator!r}.")
    if not fitting:
        raise ValueError(f"refit must be a regressor, got {estimator!r}.")


def check_refit_weights(estimator: Any, weights: FloatArray) -> None:
    """Refuse weights that can neither be handed on nor be replaced by repeated rows."""
    if has_fit_parameter(estimator, "sample_weight") or np.all(weights == weights[0]):
        return
    if np.any(weights != np.round(weights)) or weights.max() > MOST_REPEATS:
        raise ValueError(
            f"refit={estimator!r} does not take sample_weight; use weights that are integers of at "
            f"most {MOST_REPEATS}, for which rows are repeated, or another refit."
        )


@dataclass(frozen=True)
class FittedEstimator:
    """A fitted estimator and the map its rows go through.

    Attributes
    ----------
    B : ndarray of shape (n_directions, n_features)
    estimator : object
    n_classes : int or None
        Of a classifier that may not have seen all of them; None if it has.
    """

    B: FloatArray
    estimator: Any
    n_classes: int | None = None

    def decision(self, X: FloatArray) -> FloatArray:
        """Predictions, or log-odds from probabilities, (n_targets, n_rows)."""
        rows = X @ self.B.T
        if not is_classifier(self.estimator):
            predicted = np.asarray(self.estimator.predict(rows), dtype=np.float64)
            return np.atleast_2d(predicted.T)
        probabilities = self.estimator.predict_proba(rows)
        if self.n_classes is not None:
            seen = probabilities
            probabilities = np.zeros((len(rows), self.n_classes))
            probabilities[:, self.estimator.classes_] = seen
        odds = np.log(np.clip(probabilities, 1e-12, 1.0)).T
        return odds[1:] - odds[:1] if len(odds) == 2 else odds


@dataclass(frozen=True)
class EstimatorRefit:
    """Fits clones of an estimator.

    Attributes
    ----------
    estimator : object
        A regressor, or a classifier with ``predict_proba``.
    loss : Loss
        That held-out rows are scored with.
    """

    estimator: Any
    loss: Loss

    def held_out(self, split: Split, B: FloatArray, *, quick: bool) -> float:
        """Loss on the held-out rows through B."""
        decision = self._fitted(split.train, B).decision(split.test.X)
        return held_out_loss(self.loss, split.test, decision, None)

    def fit(
        self,
        rows: CanonicalRows,
        B: FloatArray,
        splits: Sequence[Split],
        maps: Sequence[FloatArray],
    ) -> FittedEstimator:
        """Fit a clone on all rows; nothing is tuned."""
        return self._fitted(rows, B)

    def _fitted(self, rows: CanonicalRows, B: FloatArray) -> FittedEstimator:
        model = clone(self.estimator)
        y = rows.y[0] if len(rows.y) == 1 else rows.y.T
        if is_classifier(model):
            # One-hot rows, of which two classes have the second one only.
            y = rows.y[0].astype(np.intp) if len(rows.y) == 1 else rows.y.argmax(axis=0)
        X, options = rows.X @ B.T, {}
        if has_fit_parameter(model, "sample_weight"):
            options["sample_weight"] = rows.weights
        elif np.any(rows.weights != rows.weights[0]):
            repeats = rows.weights.astype(np.intp)
            X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats, axis=0)
        n_classes = max(2, len(rows.y)) if is_classifier(model) else None
        return FittedEstimator(B, model.fit(X, y, **options), n_classes)
