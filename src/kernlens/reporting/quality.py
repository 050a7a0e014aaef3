"""Predictions against what was observed: numbers and the points of the pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix, roc_curve

from kernlens._array import FloatArray, IntArray
from kernlens.reporting.scores import (
    COVERAGE,
    Evaluated,
    area,
    class_scores,
    constant_scores,
    regression_scores,
)
from kernlens.reporting.subject import CLASSES, REGRESSION, Subject

#: Points of a picture.
MOST_POINTS = 1000
#: Nominal coverages of intervals.
COVERAGES = (0.5, 0.8, 0.9, 0.95)
#: Classes of a table of confusions, and of curves; points of a curve.
MOST_CONFUSED = 12
MOST_CURVES = 6
CURVE_POINTS = 101
N_BINS = 10
MOST_PAIRS = 15
#: Rows of a calibration curve at least.
FEWEST_ROWS = 30


def evaluated(subject: Subject) -> Evaluated | None:
    """Rows held out by the user if there are any, else those left out in turn, else all."""
    if subject.kind not in (CLASSES, REGRESSION):
        return None
    model = subject.model
    if subject.y_test is not None:
        return _predicted(subject, subject.X_test, subject.y_test, None, "test")
    if subject.left_out is not None:
        return _left_out(subject, subject.y, subject.left_out, subject.weights)
    kept = getattr(model, "_kept", None)
    if kept is not None:
        return _left_out(subject, kept.y, kept.prediction, kept.weights)
    return _predicted(subject, subject.X, subject.y, subject.weights, "training")


def _left_out(
    subject: Subject, y: Any, prediction: FloatArray, weights: FloatArray | None
) -> Evaluated:
    """Rows predicted by fits that had not seen them, but for those that no such fit predicts."""
    there = np.isfinite(prediction).reshape(len(y), -1).all(axis=1)
    there &= _with_target(subject, y)
    y, prediction = y[there], prediction[there]
    own = None if weights is None else weights[there]
    if subject.kind == REGRESSION:
        return Evaluated("left_out", y.astype(np.float64), prediction, weights=own)
    classes = subject.model.classes_
    labels = classes[prediction.argmax(axis=1)]
    return Evaluated("left_out", y, labels, prediction, classes, own)


def _with_target(subject: Subject, y: Any) -> NDArray[np.bool_]:
    """Rows whose target is known to the model."""
    if subject.kind == CLASSES:
        return np.isin(y, subject.model.classes_)
    return np.isfinite(y.astype(np.float64))


def _predicted(
    subject: Subject, X: Any, y: Any, weights: FloatArray | None, where: str
) -> Evaluated:
    model = subject.model
    if subject.kind == REGRESSION:
        y = y.astype(np.float64)
        known = np.isfinite(y)
        prediction = np.asarray(model.predict(X), dtype=np.float64).reshape(len(y), -1)[:, 0]
        own = None if weights is None else weights[known]
        return Evaluated(where, y[known], prediction[known], weights=own)
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = np.isin(y, model.classes_) | (where == "test")
    own = None if weights is None else weights[known]
    labels = np.asarray(model.predict(X))
    return Evaluated(where, y[known], labels[known], probabilities[known], model.classes_, own)


def scores_of(subject: Subject, rows: Evaluated) -> dict[str, Any]:
    """All scores, with the constant beside them."""
    of = class_scores if subject.kind == CLASSES else regression_scores
    known, weights = _learned(subject, rows)
    return {
        "where": rows.where,
        "n_rows": len(rows.y),
        "coverage": COVERAGE,
        "scores": of(rows, subject.seed),
        "constant": constant_scores(rows, known, weights),
    }


def _learned(subject: Subject, rows: Evaluated) -> tuple[Any, FloatArray | None]:
    """Targets that a constant is learned from: rows left out in turn are all of them."""
    if rows.where == "left_out":
        return rows.y, rows.weights
    assert subject.y is not None
    there = _with_target(subject, subject.y)
    y = subject.y if rows.classes is not None else subject.y.astype(np.float64)
    return y[there], None if subject.weights is None else subject.weights[there]


def regression_quality(subject: Subject, rows: Evaluated) -> dict[str, Any]:
    """Points of predicted against observed, residuals and coverage."""
    places = _few(len(rows.y), subject.seed)
    residuals = rows.y - rows.prediction
    counts, edges = np.histogram(residuals, bins=min(30, max(5, len(residuals) // 5)))
    return {
        "where": rows.where,
        "n_rows": len(rows.y),
        "n_shown": len(places),
        "observed": rows.y[places],
        "predicted": rows.prediction[places],
        "residuals": {
            "quartiles": np.quantile(residuals, [0.0, 0.25, 0.5, 0.75, 1.0]),
            "counts": counts,
            "edges": edges,
        },
        "intervals": _intervals(subject, rows),
    }


def _intervals(subject: Subject, rows: Evaluated) -> dict[str, Any] | None:
    """Coverage and width of the model's own intervals, on rows that they were not made from."""
    model = subject.model
    if not hasattr(model, "predict_interval") or rows.where == "training":
        return None
    found = []
    for coverage in COVERAGES:
        if rows.where == "test":
            bounds = model.predict_interval(subject.X_test, coverage)
            known = np.isfinite(subject.y_test.astype(np.float64))  # type: ignore[union-attr]
            low, high = bounds[known].T
            share = float(np.mean((rows.y >= low) & (rows.y <= high)))
        else:
            # The intervals are made from these very rows: their share is true by construction.
            low, high = model.predict_interval(subject.rows[:1], coverage).T
            share = None
        width = float(np.mean(high - low))
        found.append(
            {
                "coverage": coverage,
                "observed": share,
                "width": width if np.isfinite(width) else None,
            }
        )
    return {"n_rows": len(rows.y), "levels": found}


def class_quality(subject: Subject, rows: Evaluated) -> dict[str, Any]:
    """Confusions, ROC curves, calibration and a table of the classes."""
    assert rows.classes is not None and rows.probabilities is not None
    classes = rows.classes
    table = confusion_matrix(rows.y, rows.prediction, labels=classes)
    counts = table.sum(axis=1)
    order = np.argsort(-counts, kind="stable")
    return {
        "where": rows.where,
        "n_rows": len(rows.y),
        "n_classes": len(classes),
        "confusion": _confusion(table, classes),
        "most_confused": _pairs(table, classes),
        "by_class": [_of_class(table, classes, int(place)) for place in order[:30]],
        "n_classes_not_shown": max(0, len(classes) - 30),
        "roc": _curves(rows, order),
        "auc": area(rows),
        "calibration": _calibration(rows),
    }


def _confusion(table: IntArray, classes: Any) -> dict[str, Any] | None:
    if len(classes) > MOST_CONFUSED:
        return None
    return {"classes": [str(label) for label in classes], "counts": table}


def _pairs(table: IntArray, classes: Any) -> list[dict[str, Any]]:
    """The classes that are most often taken for each other."""
    wrong = table - np.diag(np.diag(table))
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
    found = []
    for place in order:
        row, column = np.unravel_index(place, wrong.shape)
        if wrong[row, column] > 0:
            found.append(
                {
                    "observed": str(classes[row]),
                    "predicted": str(classes[column]),
                    "count": int(wrong[row, column]),
                }
            )
    return found


def _of_class(table: IntArray, classes: Any, place: int) -> dict[str, Any]:
    right, there, said = table[place, place], table[place].sum(), table[:, place].sum()
    return {
        "name": str(classes[place]),
        "n_rows": int(there),
        "recall": right / there if there else None,
        "precision": right / said if said else None,
    }


def _curves(rows: Evaluated, order: IntArray) -> list[dict[str, Any]]:
    """One curve for two classes, else one per class against the rest."""
    assert rows.classes is not None and rows.probabilities is not None
    places = [1] if len(rows.classes) == 2 else sorted(int(k) for k in order[:MOST_CURVES])
    found = []
    for place in places:
        members = rows.y == rows.classes[place]
        if members.all() or not members.any():
            continue
        wrong, right, _ = roc_curve(
            members, rows.probabilities[:, place], sample_weight=rows.weights
        )
        thin = np.unique(np.linspace(0, len(wrong) - 1, CURVE_POINTS).round().astype(np.intp))
        one = Evaluated(
            rows.where,
            members,
            members,
            np.column_stack([1 - rows.probabilities[:, place], rows.probabilities[:, place]]),
            np.array([False, True]),
            rows.weights,
        )
        found.append(
            {
                "class": str(rows.classes[place]),
                "auc": area(one),
                "false_positive_rate": wrong[thin],
                "true_positive_rate": right[thin],
            }
        )
    return found


def _calibration(rows: Evaluated) -> dict[str, Any] | None:
    """How often what is said with a probability is so."""
    assert rows.classes is not None and rows.probabilities is not None
    if len(rows.y) < FEWEST_ROWS:
        return None
    if len(rows.classes) == 2:
        said, true = rows.probabilities[:, 1], rows.y == rows.classes[1]
        of = f"class {rows.classes[1]}"
    else:
        said, true = rows.probabilities.max(axis=1), rows.y == rows.prediction
        of = "the class that is predicted"
    observed, predicted = calibration_curve(
        true, said.clip(0.0, 1.0), n_bins=N_BINS, strategy="quantile", pos_label=True
    )
    return {"of": of, "predicted": predicted, "observed": observed}


def _few(n_rows: int, seed: int) -> IntArray:
    if n_rows <= MOST_POINTS:
        return np.arange(n_rows)
    chosen = np.random.default_rng(seed).choice(n_rows, MOST_POINTS, replace=False)
    return np.sort(chosen)
