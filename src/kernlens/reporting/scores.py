"""How well predictions fit what was observed, with intervals from resampled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from kernlens._array import FloatArray

#: Resamples of the rows, and the share of them that an interval has.
N_RESAMPLES = 400
COVERAGE = 0.9
#: Rows from which on an interval is given.
FEWEST_ROWS = 10
#: More rows than this are drawn as blocks of them.
MOST_DRAWN = 20_000


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Predictions of rows whose targets are known.

    Attributes
    ----------
    where : {"test", "left_out", "training"}
        Rows held out by the user; left out in turn during the fit; or those learned from.
    y : ndarray of shape (n_rows,)
    prediction : ndarray of shape (n_rows,)
        Numbers or labels.
    probabilities : ndarray of shape (n_rows, n_classes) or None
    classes : ndarray of shape (n_classes,) or None
    weights : ndarray of shape (n_rows,) or None
    """

    where: str
    y: NDArray[Any]
    prediction: NDArray[Any]
    probabilities: FloatArray | None = None
    classes: NDArray[Any] | None = None
    weights: FloatArray | None = None


def regression_scores(rows: Evaluated, seed: int) -> list[dict[str, Any]]:
    """R2, root mean squared and mean absolute error."""
    y, f, w = rows.y.astype(np.float64), rows.prediction, rows.weights
    enough = len(y) > 1 and np.ptp(y) > 0.0
    value = r2_score(y, f, sample_weight=w) if enough else None
    error = np.square(y - f)
    weight = np.ones(len(y)) if w is None else w
    sums = resampled([weight, weight * y, weight * y**2, weight * error, weight * abs(y - f)], seed)
    count, first, second, squared, absolute = sums if sums is not None else np.full((5, 1), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_r2 = 1.0 - squared / (second - first**2 / count)
    return [
        _score("R2", "r2", value, of_r2 if enough else None, True),
        _score(
            "root mean squared error",
            "rmse",
            root_mean_squared_error(y, f, sample_weight=w),
            np.sqrt(squared / count),
            False,
        ),
        _score(
            "mean absolute error",
            "mae",
            mean_absolute_error(y, f, sample_weight=w),
            absolute / count,
            False,
        ),
    ]


def class_scores(rows: Evaluated, seed: int) -> list[dict[str, Any]]:
    """Accuracy, balanced accuracy, log loss and the area under the ROC curve."""
    assert rows.probabilities is not None and rows.classes is not None
    y, w = rows.y, rows.weights
    weight = np.ones(len(y)) if w is None else w
    right = (y == rows.prediction).astype(np.float64)
    loss = -np.log(_of_observed(rows).clip(np.finfo(np.float64).eps))
    sums = resampled([weight, weight * right, weight * loss], seed)
    count, hits, losses = sums if sums is not None else np.full((3, 1), np.nan)
    found = [
        _score(
            "accuracy",
            "accuracy",
            accuracy_score(y, rows.prediction, sample_weight=w),
            hits / count,
            True,
        ),
        _score("balanced accuracy", "balanced_accuracy", _balanced(rows), None, True),
    ]
    known = np.isin(y, rows.classes)
    if known.all():
        value = log_loss(y, rows.probabilities, labels=rows.classes, sample_weight=w)
        found.append(_score("log loss", "log_loss", value, losses / count, False))
        found.append(_score("area under the ROC curve", "auc", area(rows), None, True))
    return found


def constant_scores(rows: Evaluated, y: NDArray[Any], weights: FloatArray | None) -> dict[str, Any]:
    """What the mean of y, or its most frequent class, scores on the same rows."""
    if rows.classes is None:
        mean = np.average(y.astype(np.float64), weights=weights)
        guess = np.full(len(rows.y), mean)
        scores = regression_scores(Evaluated(rows.where, rows.y, guess, weights=rows.weights), 0)
        return {"name": "constant (mean)", "prediction": mean, **_values(scores)}
    codes = np.searchsorted(rows.classes, y)
    shares = np.bincount(codes, weights=weights, minlength=len(rows.classes))
    shares = shares / shares.sum()
    label = rows.classes[int(np.argmax(shares))]
    guess = np.full(len(rows.y), label)
    table = np.tile(shares, (len(rows.y), 1))
    same = Evaluated(rows.where, rows.y, guess, table, rows.classes, rows.weights)
    return {"name": "most frequent class", "prediction": label, **_values(class_scores(same, 0))}


def _values(scores: list[dict[str, Any]]) -> dict[str, Any]:
    return {"scores": {one["key"]: one["value"] for one in scores}}


def area(rows: Evaluated) -> float | None:
    """The area under the ROC curve, the mean over classes against the rest if there are more."""
    assert rows.probabilities is not None and rows.classes is not None
    if set(rows.y.tolist()) != set(rows.classes.tolist()):
        return None
    scores: Any = rows.probabilities
    if len(rows.classes) == 2:
        scores = scores[:, 1]
    return float(
        roc_auc_score(
            rows.y, scores, sample_weight=rows.weights, multi_class="ovr", labels=rows.classes
        )
    )


def _balanced(rows: Evaluated) -> float | None:
    if len(np.unique(rows.y)) < 2:
        return None
    present = np.isin(rows.prediction, np.unique(rows.y))
    if not present.all():
        # A class that is predicted and was not observed has no share of its rows.
        parts = [rows.y == label for label in np.unique(rows.y)]
        w = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        right = rows.y == rows.prediction
        return float(np.mean([np.average(right[part], weights=w[part]) for part in parts]))
    return float(balanced_accuracy_score(rows.y, rows.prediction, sample_weight=rows.weights))


def _of_observed(rows: Evaluated) -> FloatArray:
    """The probability of the class that was observed; 0 for one that the model does not know."""
    assert rows.probabilities is not None and rows.classes is not None
    codes = np.searchsorted(rows.classes, rows.y).clip(0, len(rows.classes) - 1)
    chosen: FloatArray = np.take_along_axis(rows.probabilities, codes[:, None], axis=1)[:, 0]
    return np.where(rows.classes[codes] == rows.y, chosen, 0.0)


def _score(
    name: str, key: str, value: float | None, resamples: FloatArray | None, higher: bool
) -> dict[str, Any]:
    low = high = None
    if resamples is not None and len(resamples) > 1 and np.isfinite(resamples).any():
        tail = 50.0 * (1.0 - COVERAGE)
        low, high = np.nanpercentile(resamples, [tail, 100.0 - tail])
    return {
        "name": name,
        "key": key,
        "value": value,
        "low": low,
        "high": high,
        "higher_is_better": higher,
    }


def resampled(columns: list[FloatArray], seed: int) -> FloatArray | None:
    """Sums of columns over rows drawn with replacement, (n_columns, N_RESAMPLES).

    None for so few rows that they say nothing of their spread.
    """
    table = np.column_stack(columns)
    if len(table) < FEWEST_ROWS:
        return None
    if len(table) > MOST_DRAWN:
        # Sums of small blocks of rows are drawn instead, which vary by the same amount.
        begins = np.linspace(0, len(table), MOST_DRAWN, endpoint=False).astype(np.intp)
        table = np.add.reduceat(table, begins, axis=0)
    n = len(table)
    rng = np.random.default_rng(seed)
    drawn = (np.bincount(rng.integers(0, n, n), minlength=n) @ table for _ in range(N_RESAMPLES))
    return np.array(list(drawn)).T
