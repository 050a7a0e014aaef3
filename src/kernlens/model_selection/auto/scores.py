"""What is meant by a good prediction: scores, higher is better, and how sure they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile

#: Parts of the rows that are left out in turn for a standard error.
N_PARTS = 20
#: Probabilities count as no smaller.
SMALLEST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class Score:
    """A score of predictions.

    Attributes
    ----------
    name : str
        As in scikit-learn's `scoring`.
    title : str
        What tables call it.
    value : callable
        Targets (n_rows,), predictions (n_rows,) or probabilities (n_rows, n_classes), and weights
        -> score. Classes are numbers from 0.
    """

    name: str
    title: str
    value: Callable[[FloatArray, FloatArray, FloatArray], float]

    def with_error(
        self, y: FloatArray, prediction: FloatArray, weights: FloatArray
    ) -> tuple[float, float]:
        """The score, and its standard error by leaving out parts of the rows (the jackknife)."""
        value = self.value(y, prediction, weights)
        n_parts = min(N_PARTS, len(y))
        if n_parts < 3:
            return value, float("nan")
        part = np.arange(len(y)) % n_parts
        others = []
        for k in range(n_parts):
            kept = part != k
            others.append(self.value(y[kept], prediction[kept], weights[kept]))
        spread = np.var(np.array(others)) * (n_parts - 1)
        return value, float(np.sqrt(spread))


def _r2(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
    mean = np.average(y, weights=weights)
    total = float(weights @ np.square(y - mean))
    error = float(weights @ np.square(y - prediction))
    # A constant target is predicted wholly, or not at all.
    return 1.0 - error / total if total > 0.0 else float(error == 0.0)


def _mean_absolute(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
    return -float(np.average(np.abs(y - prediction), weights=weights))


def _log_loss(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
    chosen = np.take_along_axis(prediction, y.astype(np.intp)[:, None], axis=1)[:, 0]
    return float(np.average(np.log(chosen.clip(SMALLEST_PROBABILITY, 1.0)), weights=weights))


def _accuracy(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
    return float(np.average(prediction.argmax(axis=1) == y, weights=weights))


def _auc(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
    """Area under the ROC curve; the mean over classes against the rest if there are more."""
    areas = []
    for number in range(prediction.shape[1]) if prediction.shape[1] > 2 else (1,):
        members = y == number
        if members.any() and not members.all():
            areas.append(roc_auc_score(members, prediction[:, number], sample_weight=weights))
    return float(np.mean(areas)) if areas else 0.5


def best_shift(y: FloatArray, prediction: FloatArray, weights: FloatArray, level: float) -> float:
    """What must be added to predictions to make them the quantile of a level."""
    return float(weighted_quantile(y - prediction, weights, level))


def pinball(errors: FloatArray, weights: FloatArray, level: float) -> float:
    """Mean of ``level * e`` where e = y - prediction is positive, and ``(level - 1) * e`` else."""
    return float(np.average(np.maximum(level * errors, (level - 1.0) * errors), weights=weights))


def quantile_score(level: float) -> Score:
    """Score of predictions of a quantile, after the shift that suits the rows best.

    Candidates predict means, and are as good as what they say of the differences between rows.
    """

    def value(y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
        shift = best_shift(y, prediction, weights, level)
        return -pinball(y - prediction - shift, weights, level)

    return Score(PINBALL, f"-pinball loss of the {level:g} quantile", value)


#: The score that needs a level.
PINBALL = "neg_mean_pinball_loss"
REGRESSION_SCORES = {
    "r2": Score("r2", "R2", _r2),
    "neg_mean_absolute_error": Score("neg_mean_absolute_error", "-MAE", _mean_absolute),
    PINBALL: quantile_score(0.5),
}
CLASSIFICATION_SCORES = {
    "neg_log_loss": Score("neg_log_loss", "-log loss", _log_loss),
    "accuracy": Score("accuracy", "accuracy", _accuracy),
    "roc_auc": Score("roc_auc", "AUC", _auc),
}
