"""Predictions of rows that a model has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.cli.fit.problem import CLASSIFICATION, Problem

#: Share of new rows whose target the interval in the file has.
COVERAGE = 0.9


def predictions_of(model: Any, part: Problem) -> dict[str, Any]:
    """Columns of ``predictions.csv``: number of the row, observed, predicted, and how surely."""
    found: dict[str, Any] = {
        "row": part.rows,
        f"observed {part.target}": part.y,
        f"predicted {part.target}": model.predict(part.X),
    }
    if part.task == CLASSIFICATION:
        for label, share in zip(model.classes_, model.predict_proba(part.X).T, strict=True):
            found[f"probability of {label}"] = share
    elif hasattr(model, "predict_interval"):
        low, high = model.predict_interval(part.X, COVERAGE).T
        found[f"{COVERAGE:.0%} interval from"], found[f"{COVERAGE:.0%} interval to"] = low, high
    return found


def joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Predictions of several folds, in the order of the file; a class that a fold lacks has 0."""
    names = list(dict.fromkeys(name for part in parts for name in part))
    columns = {}
    for name in names:
        columns[name] = np.concatenate(
            [part.get(name, np.zeros(len(part["row"]))) for part in parts]
        )
    order = np.argsort(columns["row"], kind="stable")
    return {name: values[order] for name, values in columns.items()}


def by_row(predictions: dict[str, Any], problem: Problem, model: Any) -> FloatArray:
    """Predictions, or probabilities of the classes of a model, of all rows of a problem."""
    order = np.argsort(problem.rows)
    places = order[np.searchsorted(problem.rows, predictions["row"], sorter=order)]
    if problem.task == CLASSIFICATION:
        # A class that no fold has learned was never named.
        none = np.zeros(len(places))
        names = [f"probability of {label}" for label in model.classes_]
        found = np.column_stack([predictions.get(name, none) for name in names])
    else:
        found = np.asarray(predictions[f"predicted {problem.target}"], dtype=np.float64)
    values = np.full((len(problem.y), *found.shape[1:]), np.nan)
    values[places] = found
    return values
