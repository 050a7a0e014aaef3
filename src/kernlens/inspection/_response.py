"""One number per row to look at: a target, or the probability of a class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from kernlens._array import FloatArray
from kernlens.inspection._target_names import target_names


@dataclass(frozen=True)
class Response:
    """What a fitted model says of rows, and what was observed.

    Attributes
    ----------
    predict : callable
        Takes an array (n, n_features), returns (n,).
    observed : ndarray of shape (n_samples,)
        The target; for a class 1 where the row has it and 0 elsewhere.
    name : str
        What the numbers are.
    """

    predict: Callable[[FloatArray], FloatArray]
    observed: FloatArray
    name: str


def make_response(model: Any, y: ArrayLike, target: Any = None) -> Response:
    """Choose the number that is looked at.

    Parameters
    ----------
    model : fitted regressor or classifier
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The name of a Series and the names of the columns of a data frame are those of the targets.
    target : object or None
        Classifier: a class, the last by default. Regressor with several targets: a column of y, by
        number or name, the first by default.
    """
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{type(model).__name__} finds directions and predicts nothing, so that there is no "
            "fitted function to look at; its directions_frame() lists what it found."
        )
    names = target_names(y)
    if is_classifier(model):
        return _class_response(model, np.asarray(y).ravel(), target, names[0] if names else "y")
    observed = np.asarray(y, dtype=np.float64)
    if observed.ndim == 1:
        if target is not None:
            raise ValueError("target chooses among several targets, but y has one: leave it out.")
        return Response(_unnamed(model.predict), observed, names[0] if names else "y")
    column = _column_of(target, observed.shape[1], names)
    return Response(
        lambda X: _unnamed(model.predict)(X).reshape(len(X), -1)[:, column],
        observed[:, column],
        names[column] if names else f"y[{column}]",
    )


def _column_of(target: Any, n_targets: int, names: tuple[str, ...] | None) -> int:
    if target is None:
        return 0
    if names is not None and target in names:
        return names.index(target)
    if target not in range(n_targets):
        known = "" if names is None else f", or one of {list(names)}"
        raise ValueError(
            f"target must be a column of y, 0 to {n_targets - 1}{known}, got {target!r}."
        )
    return int(target)


def _class_response(model: Any, y: NDArray[Any], target: Any, name: str) -> Response:
    classes = list(model.classes_)
    label = classes[-1] if target is None else target
    if label not in classes:
        raise ValueError(f"target must be one of the classes {classes}, got {target!r}.")
    position = classes.index(label)
    return Response(
        lambda X: _unnamed(model.predict_proba)(X)[:, position],
        (y == label).astype(np.float64),
        f"P({name} = {label})",
    )


def _unnamed(method: Callable[[FloatArray], Any]) -> Callable[[FloatArray], FloatArray]:
    """Call with an array a model that may have been fitted on a data frame."""

    def call(X: FloatArray) -> FloatArray:
        with warnings.catch_warnings():
            # The moved points are arrays made here, in the order of the fitted columns; names and
            # order of the user's X were checked by `transform` before.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return np.asarray(method(X), dtype=np.float64)

    return call
