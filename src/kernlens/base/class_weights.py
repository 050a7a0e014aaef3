"""Weights of classes, which multiply those of the rows.

The words and rules are scikit-learn's. Its own function takes labels such as "1" for numbers, and
before version 1.8 it counts rows instead of their weights, for which a weight of 2 would no longer
be a repetition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._validation import check_labels, check_magnitude, significant


def class_weighted(
    class_weight: Any,
    y: NDArray[Any],
    weights: FloatArray,
    classes: NDArray[Any] | None = None,
) -> FloatArray:
    """Weights of rows times those of their classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        As the user gave it, checked.
    y : ndarray of shape (n_samples,)
        Labels.
    weights : ndarray of shape (n_samples,)
        Non-negative.
    classes : ndarray of shape (n_classes,) or None
        All labels, sorted, if there may be more than those of y.

    Returns
    -------
    ndarray of shape (n_samples,)
        Those that are lost beside the largest are zero.
    """
    if class_weight is None:
        return weights
    check_labels(y)
    labels, codes = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str):
        factors = _balanced(codes, weights, len(labels))
    else:
        factors = _named(class_weight, labels, labels if classes is None else classes)
    product = weights * factors[codes]
    check_magnitude(product, "sample_weight times class_weight")
    if not product.any():
        raise ValueError(
            "class_weight is zero for every class of a row with a positive sample_weight; give "
            "at least one a positive weight."
        )
    return significant(product)


def refuse_balanced(class_weight: Any) -> None:
    """Refuse to balance the classes of a stream, whose later batches are not known."""
    if isinstance(class_weight, str):
        raise ValueError(
            "class_weight='balanced' is not for partial_fit, which does not know the classes of "
            "batches to come; give a dictionary, such as that of compute_class_weight of "
            "scikit-learn for a large sample of labels."
        )


def _balanced(codes: NDArray[np.integer], weights: FloatArray, n_classes: int) -> FloatArray:
    """Factors (n_classes,) that give all classes the same weight, and leave the sum as it is."""
    totals = np.bincount(codes, weights=weights, minlength=n_classes)
    present = totals > 0.0
    factors = np.ones(n_classes)
    factors[present] = totals.sum() / (present.sum() * totals[present])
    return factors


def _named(
    class_weight: dict[Any, float], labels: NDArray[Any], classes: NDArray[Any]
) -> FloatArray:
    """Factors (n_labels,) of a dictionary, 1 for classes that it does not have.

    A name that is no class is a slip if a class has no name; otherwise it may be a class that
    these rows lack, as folds of a cross-validation do.
    """
    known = classes.tolist()
    unknown = [name for name in class_weight if name not in known]
    if unknown and any(label not in class_weight for label in known):
        raise ValueError(
            f"class_weight has {unknown[0]!r}, which is not among the classes {_short(known)}; "
            "name classes as they are in y."
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels.tolist()])


def _short(labels: list[Any]) -> str:
    """Labels as a text, the first of them if there are many."""
    shown = ", ".join(map(repr, labels[:10]))
    return f"[{shown}, ...]" if len(labels) > 10 else f"[{shown}]"
