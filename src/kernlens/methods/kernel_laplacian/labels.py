"""Targets of which some are missing: NaN for a regressor, a label of its own for a classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from kernlens._array import FloatArray
from kernlens._validation import (
    check_magnitude,
    check_no_dates,
    class_labels,
    plain_complaints,
    significant,
)
from kernlens._warnings import warn
from kernlens.base.class_weights import class_weighted
from kernlens.blocks.block import Block


def targets_with_gaps(y: ArrayLike | None, X: FloatArray, estimator: str) -> NDArray[np.floating]:
    """Targets (n_samples,) or (n_samples, n_targets) as numbers, NaN where there is none."""
    if y is None:
        raise ValueError(
            f"{estimator} requires y to be passed, but the target y is None; give NaN for rows "
            "without a target."
        )
    check_no_dates(y)
    with plain_complaints("y"):
        checked: NDArray[Any] = check_array(
            y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
        )
    if checked.ndim > 2:
        raise ValueError(f"y must have one or two dimensions, got an array of {checked.ndim}.")
    check_consistent_length(X, checked)
    missing = np.isnan(checked)
    if checked.ndim == 2:
        if np.any(missing.any(axis=1) & ~missing.all(axis=1)):
            raise ValueError(
                "y has rows with NaN in some targets only; give all targets of a row or none, or "
                "fit one model per target."
            )
        missing = missing.all(axis=1)
    if missing.all():
        raise ValueError(
            "y is NaN for every row, which means that no row is labelled; give at least one target."
        )
    check_magnitude(np.nan_to_num(checked), "y")
    return checked


def numbers_with_gaps(block: Block) -> Block:
    """The block with its targets as numbers, (n_targets, n_rows), NaN where there is none."""
    check_no_dates(block.y)
    try:
        y = np.asarray(block.y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y must be numbers or NaN in block {block.number}.") from None
    return replace(block, y=np.ascontiguousarray(np.atleast_2d(y.T)))


def check_labeled_weights(labeled: NDArray[np.bool_], weights: FloatArray) -> None:
    """Refuse labels that all have weight zero."""
    if not np.any(weights[labeled] > 0):
        raise ValueError(
            "sample_weight is zero for every labelled row; give at least one a positive weight."
        )


def check_unlabeled(unlabeled: Any) -> None:
    """Refuse what cannot be the label of rows that have none."""
    if np.ndim(unlabeled) > 0 or _is_missing(unlabeled):
        raise ValueError(
            f"unlabeled must be 'auto', None or one label, which equals itself, got {unlabeled!r}."
        )


def refuse_missing_labels(y: Any) -> None:
    """Refuse labels NaN, None and the like, in a sentence that says what to give instead."""
    labels = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if labels.dtype.kind == "f":
        missing = bool(np.isnan(labels).any())
    else:
        listed = labels.ravel().tolist() if labels.dtype.kind == "O" else []
        missing = any(label is None or _is_missing(label) for label in listed)
    if missing:
        raise ValueError(
            "Input y contains NaN or None; give rows that have no label -1, or another label that "
            "the parameter unlabeled names."
        )


def _is_missing(label: Any) -> bool:
    """Whether a label is NaN, or what pandas has instead of it."""
    if isinstance(label, float | np.floating):
        return bool(np.isnan(label))
    return type(label).__name__ in ("NAType", "NaTType")


def has_label(y: NDArray[Any], unlabeled: Any) -> NDArray[np.bool_]:
    """Say which rows have a label other than `unlabeled`; with None all of them do."""
    if unlabeled is None:
        return np.ones(len(y), dtype=bool)
    if y.dtype.kind in "US":
        # An array of words that was a list of words and -1.
        found: NDArray[np.bool_] = y != str(unlabeled)
        return found
    # Words among objects may come from such a list, too.
    word = str(unlabeled)
    known = [label != (word if isinstance(label, str) else unlabeled) for label in y.tolist()]
    return np.array(known, dtype=bool)


def resolve_unlabeled(y: NDArray[Any], unlabeled: Any) -> Any:
    """What "auto" means: -1, unless labels are -1 and 1 and nothing else."""
    if not isinstance(unlabeled, str) or unlabeled != "auto":
        return unlabeled
    if y.dtype.kind not in "if" or set(np.unique(y).tolist()) != {-1, 1}:
        return -1
    warn(
        "y has the labels -1 and 1 only, which are taken as two classes; set unlabeled=None to say "
        "so, or unlabeled=-1 if -1 means that a row has no label."
    )
    return None


def labels_with_gaps(
    y: NDArray[Any], weights: FloatArray, unlabeled: Any, class_weight: Any, estimator: str
) -> tuple[NDArray[Any], FloatArray, FloatArray]:
    """Classes (n_classes,), targets +1, -1 and NaN, (n_targets, n_samples), and weights.

    For two classes there is one row of targets, which is that of the second. Rows without a label
    keep their weights, whatever those of the classes.
    """
    y = column_or_1d(y)
    unlabeled = resolve_unlabeled(y, unlabeled)
    labeled = has_label(y, unlabeled)
    meaning = "" if unlabeled is None else f" (label {unlabeled!r} means that a row has none)"
    if not labeled.any():
        raise ValueError(
            f"{estimator} found no labelled row{meaning}; label at least one row of every class."
        )
    class_labels(y[labeled])
    check_labeled_weights(labeled, weights)
    weights = weights.copy()
    weights[labeled] = class_weighted(class_weight, y[labeled], weights[labeled])
    weights = significant(weights)
    known = labeled & (weights > 0)
    if not known.any():
        raise ValueError(
            "class_weight makes the weights of all labelled rows vanish beside those of rows "
            "without a label; give larger ones."
        )
    classes: NDArray[Any] = np.unique(y[known])
    if len(classes) < 2:
        raise ValueError(
            f"{estimator} needs samples of at least 2 classes with a label and a positive weight, "
            f"but the data has only one class: {classes.tolist()[0]!r}{meaning}; label rows of "
            "another class."
        )
    targets = np.full((len(classes), len(y)), np.nan)
    targets[:, known] = np.where(y[known] == classes[:, None], 1.0, -1.0)
    return classes, targets[1:] if len(classes) == 2 else targets, weights
