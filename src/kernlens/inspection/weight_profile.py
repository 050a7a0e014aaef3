"""The weight function of a fitted RKHS weighting, along curves and on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._unwrapped import Unwrapped, unwrap
from kernlens.methods.rkhs_weightings import RKHSWeightingClassifier, RKHSWeightingRegressor
from kernlens.methods.rkhs_weightings.weight_function import WeightSpace

#: Weights are shown up to this many of their standard deviations.
REACH = 3.0


@dataclass(frozen=True, repr=False)
class WeightProfile(Tabular):
    """alpha(w) along one curve per learned direction, or per column for stumps.

    Prints as a short table of the curves; `to_frame` has all points.

    Attributes
    ----------
    labels : tuple of str
        What the curves belong to.
    grid : ndarray of shape (n_curves, n_points)
        Lengths of weights along unit directions, in units of sigma; for stumps thresholds, in
        standard deviations of the column from its mean. The same for all curves.
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

    def _table(self) -> Table:
        # Without a column that varies there is no curve, and no point of one.
        steps = self.grid[0] if len(self.grid) else self.grid.ravel()[:0]
        return Table(
            ["threshold" if self.stumps else "weight", *self.labels],
            [steps, *self.values],
            spread=True,
        )


def weight_profile(
    model: Any, *, n_curves: int = 3, n_points: int = 121, target: int = 0
) -> WeightProfile:
    """Evaluate the weight function of a fitted RKHS weighting for a picture.

    Parameters
    ----------
    model : RKHSWeightingRegressor or RKHSWeightingClassifier
        Fitted, with a named instantiation; or a fitted Pipeline that ends with one.
    n_curves : int, default=3
        Directions, or columns for stumps, most important first.
    n_points : int, default=121
    target : int, default=0
        Which of several targets or classes.

    Returns
    -------
    WeightProfile
    """
    seen = unwrap(model)
    model = seen.model
    known = isinstance(model, RKHSWeightingRegressor | RKHSWeightingClassifier)
    if not known or model.instantiation_ == "custom":
        raise ValueError(
            "weight_profile needs a fitted RKHSWeightingRegressor or RKHSWeightingClassifier with "
            "a named instantiation."
        )
    if target not in range(len(model.intercept_)):
        raise ValueError(f"target must be one of 0 to {len(model.intercept_) - 1}, got {target!r}.")
    space = model.weight_space()
    if space.stumps:
        return _of_stumps(seen, space, n_curves, n_points, target)
    units = space.directions[:n_curves]
    steps = np.linspace(-REACH, REACH, n_points)
    values = _stacked([_alpha(model, steps[:, None] * unit, target) for unit in units], n_points)
    plane = None
    if len(units) > 1:
        second, first = np.meshgrid(steps, steps, indexing="ij")
        points = first.ravel()[:, None] * units[0] + second.ravel()[:, None] * units[1]
        plane = _alpha(model, points, target).reshape(n_points, n_points)
    labels = tuple(f"direction {k + 1}" for k in range(len(units)))
    return WeightProfile(labels, np.tile(steps, (len(units), 1)), values, plane, False)


def _of_stumps(
    seen: Unwrapped, space: WeightSpace, n_curves: int, n_points: int, target: int
) -> WeightProfile:
    model, names = seen.model, seen.feature_names
    order = np.argsort(-model.feature_importances_[space.columns], kind="stable")[:n_curves]
    steps = np.linspace(-REACH, REACH, n_points) * space.sigma
    values = [
        _alpha(model, np.column_stack([np.full(n_points, place), steps]), target) for place in order
    ]
    labels = tuple(names[space.columns[place]] for place in order)
    grid = np.tile(steps, (len(order), 1))
    return WeightProfile(labels, grid, _stacked(values, n_points), None, True)


def _stacked(curves: list[FloatArray], n_points: int) -> FloatArray:
    """Curves as rows, also if there are none because no column varies."""
    return np.array(curves).reshape(len(curves), n_points)


def _alpha(model: Any, points: FloatArray, target: int) -> FloatArray:
    values = model.weight_function(points, normalized=True)
    return values if values.ndim == 1 else values[:, target]
