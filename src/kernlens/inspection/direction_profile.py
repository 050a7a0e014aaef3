"""The fitted function along one learned direction, beside the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._response import make_response
from kernlens.inspection._unwrapped import unwrap


@dataclass(frozen=True, repr=False)
class DirectionProfile(Tabular):
    """Target and fitted function against one learned coordinate z = component . (x - mean).

    Prints as a short table of the fitted function; `to_frame` has all points of the grid.

    Attributes
    ----------
    direction : int
        Position of the direction in `components_`.
    positions, observed : ndarray of shape (n_samples,)
        z and the target of the rows.
    grid : ndarray of shape (n_points,)
        Values of z, over the range of the rows.
    mean, low, high : ndarray of shape (n_points,)
        Prediction with z moved to the grid: mean, 10th and 90th percentile over rows.
    response_name : str
        What the target is.
    """

    direction: int
    positions: FloatArray
    observed: FloatArray
    grid: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    response_name: str

    def _table(self) -> Table:
        number = self.direction + 1
        return Table(
            [f"direction {number}", "mean", "low", "high"],
            [self.grid, self.mean, self.low, self.high],
            caption=f"{self.response_name} along direction {number}: mean and 10% to 90% of rows",
            spread=True,
        )


def direction_profile(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    direction: int = 0,
    target: Any = None,
    n_points: int = 80,
    max_rows: int = 300,
) -> DirectionProfile:
    """Partial dependence of a fitted model on one learned direction.

    Every row is moved until its coordinate z_k along the direction is the grid value, its other
    learned coordinates unchanged: ``x + (t - z_k) delta_k``, where delta (n_directions, n_features)
    are the least-squares coefficients of the columns of X on the learned coordinates. Among all
    moves that do this, it is the one the data themselves make on average, so that moved rows stay
    where data are.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        With `transform` and `predict` (`predict_proba` for a classifier).
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        A Series or data frame gives the target its name.
    direction : int, default=0
        Position in `components_`.
    target : object or None
        Class (the last by default) or column of y (the first) to look at.
    n_points : int, default=80
        Points of the grid.
    max_rows : int, default=300
        At most this many rows, evenly spaced, are moved; `positions` and `observed` have all.

    Returns
    -------
    DirectionProfile
    """
    check_consistent_length(X, y)
    seen = unwrap(model, X)
    coordinates = np.asarray(seen.model.transform(seen.rows), dtype=np.float64)
    if coordinates.shape[1] == 0:
        raise ValueError("The model kept no direction: there is none to look along.")
    if not 0 <= direction < coordinates.shape[1]:
        raise ValueError(
            f"direction must be 0 to {coordinates.shape[1] - 1}, one of the directions the model "
            f"kept, got {direction}."
        )
    response = make_response(seen.model, y, target)
    rows = np.asarray(seen.rows, dtype=np.float64)
    z = coordinates[:, direction]
    grid = np.linspace(z.min(), z.max(), n_points)
    moved = np.unique(np.linspace(0, len(rows) - 1, min(max_rows, len(rows))).astype(np.intp))
    steps = grid[:, None] - z[moved]
    delta = natural_moves(rows, coordinates)[direction]
    points = rows[moved] + steps[:, :, None] * delta
    predictions = response.predict(points.reshape(-1, rows.shape[1])).reshape(steps.shape)
    low, high = np.percentile(predictions, [10, 90], axis=1)
    return DirectionProfile(
        direction=direction,
        positions=z,
        observed=response.observed,
        grid=grid,
        mean=predictions.mean(axis=1),
        low=low,
        high=high,
        response_name=response.name,
    )


def natural_moves(X: FloatArray, coordinates: FloatArray) -> FloatArray:
    """Coefficients of the columns on the learned coordinates, (n_directions, n_features)."""
    centered = coordinates - coordinates.mean(axis=0)
    # Coordinates of different columns can differ by orders of magnitude; lstsq cuts small ones.
    scale = centered.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    slopes = np.linalg.lstsq(centered / scale, X - X.mean(axis=0), rcond=None)[0]
    return slopes / scale[:, None]
