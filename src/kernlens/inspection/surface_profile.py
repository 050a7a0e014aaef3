"""The fitted function over the plane of two learned directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree
from sklearn.utils import check_consistent_length

from kernlens._array import BoolArray, FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._response import make_response
from kernlens.inspection._unwrapped import unwrap
from kernlens.inspection.direction_profile import natural_moves

#: Points of the plane farther from every row than this share of its width have no value by default.
REACH = 0.1


@dataclass(frozen=True, repr=False)
class SurfaceProfile(Tabular):
    """Fitted function against two learned coordinates: prints as a table, see also `to_frame`.

    Attributes
    ----------
    directions : tuple of int
        Positions of the two directions in `components_`.
    positions : ndarray of shape (n_samples, 2)
        Coordinates of the rows.
    observed : ndarray of shape (n_samples,)
        Target of the rows.
    grid : tuple of two ndarray of shape (n_points,)
        Values of the coordinates, over the range of the rows.
    mean : ndarray of shape (n_points, n_points)
        Mean prediction with rows moved to a point, the second coordinate along the rows of the
        array; NaN where there are no rows near by.
    response_name : str
        What the target is.
    """

    directions: tuple[int, int]
    positions: FloatArray
    observed: FloatArray
    grid: tuple[FloatArray, FloatArray]
    mean: FloatArray
    response_name: str

    def _table(self) -> Table:
        first, second = np.meshgrid(*self.grid)
        near = ~np.isnan(self.mean)
        names = [f"direction {number + 1}" for number in self.directions]
        return Table(
            [*names, "mean"],
            [first[near], second[near], self.mean[near]],
            caption=f"{self.response_name} over two directions",
            spread=True,
        )


def surface_profile(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    directions: tuple[int, int] = (0, 1),
    target: Any = None,
    n_points: int = 30,
    max_rows: int = 100,
    reach: float | None = REACH,
) -> SurfaceProfile:
    """Partial dependence of a fitted model on two learned directions.

    Rows are moved as by :func:`direction_profile`, until both coordinates are those of a point.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        With `transform` and `predict` (`predict_proba` for a classifier).
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        A Series or data frame gives the target its name.
    directions : tuple of two int, default=(0, 1)
        Positions in `components_`.
    target : object or None
        Class (the last by default) or column of y (the first) to look at.
    n_points : int, default=30
        Points along each direction.
    max_rows : int, default=100
        At most this many rows, evenly spaced, are moved; `positions` and `observed` have all.
    reach : float or None, default=0.1
        Points of the plane farther from every row than this share of its width have no value; with
        None all points have one.

    Returns
    -------
    SurfaceProfile
    """
    check_consistent_length(X, y)
    seen = unwrap(model, X)
    coordinates = np.asarray(seen.model.transform(seen.rows), dtype=np.float64)
    _check_directions(directions, coordinates.shape[1])
    response = make_response(seen.model, y, target)
    rows, pair = np.asarray(seen.rows, dtype=np.float64), list(directions)
    positions = coordinates[:, pair]
    low, high = positions.min(axis=0), positions.max(axis=0)
    grid = (np.linspace(low[0], high[0], n_points), np.linspace(low[1], high[1], n_points))
    points = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)
    width = np.where(high > low, high - low, 1.0)
    near = _near(points / width, positions / width, reach)
    moved = np.unique(np.linspace(0, len(rows) - 1, min(max_rows, len(rows))).astype(np.intp))
    steps = points[near][:, None] - positions[moved]
    # One row of points after the other keeps the arrays small.
    delta = natural_moves(rows, coordinates)[pair]
    mean = np.full(len(points), np.nan)
    mean[near] = [response.predict(rows[moved] + step @ delta).mean() for step in steps]
    return SurfaceProfile(
        directions=(int(pair[0]), int(pair[1])),
        positions=positions,
        observed=response.observed,
        grid=grid,
        mean=mean.reshape(n_points, n_points),
        response_name=response.name,
    )


def _near(points: FloatArray, rows: FloatArray, reach: float | None) -> BoolArray:
    if reach is None:
        return np.ones(len(points), dtype=bool)
    found: BoolArray = KDTree(rows).query(points)[0] <= reach
    return found


def _check_directions(directions: tuple[int, int], n_directions: int) -> None:
    if n_directions < 2:
        found = "no direction" if n_directions == 0 else "one direction"
        raise ValueError(f"The model kept {found}: a surface needs two.")
    valid = len(directions) == 2 and all(k in range(n_directions) for k in directions)
    if not valid or directions[0] == directions[1]:
        raise ValueError(
            f"directions must be two different numbers from 0 to {n_directions - 1}, got "
            f"{directions!r}."
        )
