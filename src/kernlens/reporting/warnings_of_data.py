"""What a careful reader should be told about the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens.reporting.subject import CLASSES, Subject

#: Rows per column below which a fit has little to learn from.
FEW_ROWS = 50
#: Share of rows of the rarest class, and of values that are missing, from which on it is said.
RARE = 0.05
MANY_MISSING = 0.4
#: Names in a sentence.
MOST_NAMES = 5


def warnings_of(subject: Subject, found: dict[str, Any]) -> list[str]:
    """Sentences about leaks, few rows, rare classes and missing values."""
    sentences = [
        f"Column “{leak['name']}” predicts {subject.target} almost perfectly alone (score "
        f"{leak['score']:.3f} on rows left out): check that it is known before the target is."
        for leak in found["leaks"]
    ]
    if subject.n_rows < FEW_ROWS:
        sentences.append(f"There are only {subject.n_rows} rows: all numbers are rough.")
    scores = found.get("scores")
    if scores is not None and scores["where"] == "training":
        sentences.append(
            "No held-out rows were given: scores are those of rows the model has learned from, and "
            "flatter it."
        )
    if scores is not None and scores["where"] == "test" and scores["n_rows"] < FEW_ROWS:
        rows = "row was" if scores["n_rows"] == 1 else "rows were"
        sentences.append(f"Only {scores['n_rows']} {rows} held out: scores on them are rough.")
    if subject.kind == CLASSES:
        sentences += _rare_classes(subject)
    sentences += _missing(found["data"])
    return sentences


def _rare_classes(subject: Subject) -> list[str]:
    assert subject.y is not None
    labels, counts = np.unique(subject.y, return_counts=True)
    rare = [
        f"“{label}” ({count} rows)" if count != 1 else f"“{label}” (1 row)"
        for label, count in zip(labels, counts, strict=True)
        if count < RARE * counts.sum() and len(labels) <= 1 / RARE
    ]
    return [f"Rare classes are hard to learn: {_some(rare)}."] if rare else []


def _missing(data: dict[str, Any]) -> list[str]:
    names = [f"“{one['name']}”" for one in data["columns"] if one["missing"] > MANY_MISSING]
    return (
        [f"More than {MANY_MISSING:.0%} of the values are missing in {_some(names)}."]
        if names
        else []
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
