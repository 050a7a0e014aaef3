"""The weight function of a fitted RKHS weighting, along curves and on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens.inspection._feature_names import resolve_feature_names

#: Weights are shown up to this many of their standard deviations.
REACH = 3.0


@dataclass(frozen=True)
class WeightProfile:
    """alpha(w) along one curve per learned direction, or per column for stumps.

    Attributes
    ----------
    labels : tuple of str
        What the curves belong to.
    grid : ndarray of shape (n_curves, n_points)
        Lengths of weights along unit directions, in units of sigma; for stumps thresholds, in
        standard deviations of the column from its mean.
    values : ndarray of shape (n_curves, n_points)
        alpha, up to a constant positive factor.
    plane : ndarray of shape (n_points, n_points) or None
        alpha for weights in the plane of the first two directions: rows along the second one. None
        for stumps and for a single direction.
    stumps : bool
        Whether the weights are thresholds of columns.
    """

    labels: tuple[str, ...]
    grid: FloatArray
    values: FloatArray
    plane: FloatArray | None
    stumps: bool


def weight_profile(
    model: Any, *, n_curves: int = 3, n_points: int = 121, target: int = 0
) -> WeightProfile:
    """Evaluate the weight function of a fitted RKHS weighting for a picture.

    Parameters
    ----------
    model : RKHSWeightingRegressor or RKHSWeightingClassifier
        Fitted, with a named instantiation.
    n_curves : int, default=3
        Directions, or columns for stumps, most important first.
    n_points : int, default=121
    target : int, default=0
        Which of several targets or classes.

    Returns
    -------
    WeightProfile
    """
    check_is_fitted(model)
    if not hasattr(model, "weight_function") or model.instantiation_ == "custom":
        raise ValueError(
            "weight_profile needs a fitted RKHSWeightingRegressor or RKHSWeightingClassifier with "
            "a named instantiation."
        )
    if target not in range(len(model.intercept_)):
        raise ValueError(f"target must be one of 0 to {len(model.intercept_) - 1}, got {target!r}.")
    if model.instantiation_ == "stumps":
        return _of_stumps(model, n_curves, n_points, target)
    units = _input_directions(model)[:n_curves]
    steps = np.linspace(-REACH, REACH, n_points)
    values = np.array([_alpha(model, steps[:, None] * unit, target) for unit in units])
    plane = None
    if len(units) > 1:
        second, first = np.meshgrid(steps, steps, indexing="ij")
        points = first.ravel()[:, None] * units[0] + second.ravel()[:, None] * units[1]
        plane = _alpha(model, points, target).reshape(n_points, n_points)
    labels = tuple(f"direction {k + 1}" for k in range(len(units)))
    return WeightProfile(labels, np.tile(steps, (len(units), 1)), values, plane, False)


def _of_stumps(model: Any, n_curves: int, n_points: int, target: int) -> WeightProfile:
    varying = np.flatnonzero(model._varying)
    order = np.argsort(-model.feature_importances_[varying], kind="stable")[:n_curves]
    names = resolve_feature_names(model, None)
    steps = np.linspace(-REACH, REACH, n_points) * model._sigma
    values = [
        _alpha(model, np.column_stack([np.full(n_points, place), steps]), target) for place in order
    ]
    labels = tuple(names[varying[place]] for place in order)
    return WeightProfile(labels, np.tile(steps, (len(order), 1)), np.array(values), None, True)


def _input_directions(model: Any) -> FloatArray:
    """The learned directions as unit vectors among the inputs of the random features."""
    directions = (model.components_ * model.scale_)[:, model._varying]
    # Orthonormal for standardised columns, the first one unchanged.
    directions = (
        np.linalg.qr(directions.T)[0].T
        * np.sign(np.diagonal(np.linalg.qr(directions.T)[1]))[:, None]
    )
    n_inputs = model._columns.n_inputs
    return np.hstack([directions, np.zeros((len(directions), n_inputs - directions.shape[1]))])


def _alpha(model: Any, points: FloatArray, target: int) -> FloatArray:
    values = model.weight_function(points, normalized=True)
    return values if values.ndim == 1 else values[:, target]
