"""The fitted function over two learned directions at a time."""

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
from kernlens.inspection.direction_profile import natural_moves


@dataclass(frozen=True, repr=False)
class DirectionSurface(Tabular):
    """The fitted function over two learned coordinates: prints as a table, see also `to_frame`.

    Attributes
    ----------
    directions : tuple of int
        Positions of the two directions in `components_`.
    positions : ndarray of shape (n_samples, 2)
        Coordinates of the rows.
    observed : ndarray of shape (n_samples,)
        Their targets.
    first, second : ndarray of shape (n_points,)
        Values of the two coordinates, over the ranges of the rows.
    mean : ndarray of shape (n_points, n_points)
        Prediction with the first coordinate moved to ``first[i]`` and the second to ``second[j]``,
        averaged over rows.
    response_name : str
        What the target is.
    """

    directions: tuple[int, int]
    positions: FloatArray
    observed: FloatArray
    first: FloatArray
    second: FloatArray
    mean: FloatArray
    response_name: str

    def _table(self) -> Table:
        one, two = (number + 1 for number in self.directions)
        first, second = np.meshgrid(self.first, self.second, indexing="ij")
        return Table(
            [f"direction {one}", f"direction {two}", "mean"],
            [first.ravel(), second.ravel(), self.mean.ravel()],
            caption=f"{self.response_name} over directions {one} and {two}, mean over rows",
            spread=True,
        )


def direction_surface(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    directions: tuple[int, int] = (0, 1),
    target: Any = None,
    n_points: int = 25,
    max_rows: int = 100,
) -> DirectionSurface:
    """Partial dependence of a fitted model on two learned directions.

    Rows are moved as by :func:`direction_profile`, along both directions at once.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        With `transform` and `predict` (`predict_proba` for a classifier).
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        A Series or data frame gives the target its name.
    directions : tuple of int, default=(0, 1)
        Positions in `components_`.
    target : object or None
        Class (the last by default) or column of y (the first) to look at.
    n_points : int, default=25
        Points of the grid along each direction.
    max_rows : int, default=100
        At most this many rows, evenly spaced, are moved; `positions` and `observed` have all.

    Returns
    -------
    DirectionSurface
    """
    check_consistent_length(X, y)
    seen = unwrap(model, X)
    coordinates = np.asarray(seen.model.transform(seen.rows), dtype=np.float64)
    known = range(coordinates.shape[1])
    if len(set(directions)) != 2 or not set(directions) <= set(known):
        raise ValueError(
            f"directions must be two different ones of the {len(known)} directions that the model "
            f"kept, numbered from 0, got {directions!r}."
        )
    response = make_response(seen.model, y, target)
    rows = np.asarray(seen.rows, dtype=np.float64)
    places = list(directions)
    z = coordinates[:, places]
    first, second = np.linspace(z.min(axis=0), z.max(axis=0), n_points).T
    moved = np.unique(np.linspace(0, len(rows) - 1, min(max_rows, len(rows))).astype(np.intp))
    deltas = natural_moves(rows, coordinates)[places]
    goals = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1)
    steps = goals[:, :, None, :] - z[moved]
    points = rows[moved] + steps @ deltas
    predictions = response.predict(points.reshape(-1, rows.shape[1]))
    return DirectionSurface(
        directions=(int(directions[0]), int(directions[1])),
        positions=z,
        observed=response.observed,
        first=first,
        second=second,
        mean=predictions.reshape(steps.shape[:3]).mean(axis=2),
        response_name=response.name,
    )
