"""The one-dimensional functions that a fitted BKerNN adds up, for plotting and inspection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.columns import Columns
from kernlens.base.tabular import Tabular
from kernlens.base.targets import Targets
from kernlens.methods.bkernn.tabulated import TabulatedFunctions


@dataclass(frozen=True, repr=False)
class PartialFunctions(Tabular):
    """Functions g_j with ``prediction = constant + sum_j g_j(direction_j . (x - offset))``.

    Prints as a table with one row per function; `to_frame` has all points of all grids.

    Attributes
    ----------
    directions : ndarray of shape (n_functions, n_features)
        Vectors for columns in the units of X, of length 1 per standard deviations, like
        `components_`; the function with the largest spread first.
    grid : ndarray of shape (n_functions, n_points)
        Projections ``direction . (x - offset)`` over the range of the training rows.
    values : ndarray of shape (n_functions, n_points, n_targets)
        g_j on its grid, of mean zero over the grid.
    constant : ndarray of shape (n_targets,)
        What the centring took out, with the intercept.
    offset : ndarray of shape (n_features,)
        Mean of the training rows.
    """

    directions: FloatArray
    grid: FloatArray
    values: FloatArray
    constant: FloatArray
    offset: FloatArray

    def _table(self) -> Table:
        n_functions, n_points, n_targets = self.values.shape
        values = self.values.reshape(-1, n_targets).T
        return Table(
            ["function", "position", *self._of_targets("value")],
            [np.repeat(np.arange(n_functions), n_points), self.grid.ravel(), *values],
        )

    def _printed(self) -> Table:
        spreads = np.sqrt(np.mean(np.square(self.values), axis=1))
        return Table(
            ["function", *self._of_targets("spread"), "from", "to"],
            [np.arange(len(self.grid)), *spreads.T, self.grid[:, 0], self.grid[:, -1]],
            caption="Functions of one direction each: root mean square, and range of positions",
        )

    def _of_targets(self, name: str) -> list[str]:
        n_targets = self.values.shape[2]
        return [name] if n_targets == 1 else [f"{name} y[{target}]" for target in range(n_targets)]


def tabulate(
    functions: TabulatedFunctions,
    particles: FloatArray,
    columns: Columns,
    targets: Targets,
    n_points: int,
) -> PartialFunctions:
    """Evaluate every function of a fit on a grid over its knots.

    `particles` (n_functions, n_features) are those of the functions, in the units of X.
    """
    share = np.linspace(0.0, 1.0, n_points)
    low, high = functions.knots[:, :1], functions.knots[:, -1:]
    grid = low + share * (high - low)
    values = functions.contributions(grid) * targets.scale[:, None, None]
    means = values.mean(axis=2, keepdims=True)
    values = values - means
    order = np.argsort(-np.sqrt(np.mean(values**2, axis=(0, 2))), kind="stable")
    lengths = np.linalg.norm(particles * columns.scale, axis=1)
    return PartialFunctions(
        directions=(particles / lengths[:, None])[order],
        grid=(grid / lengths[:, None])[order],
        values=np.moveaxis(values, 0, 2)[order],
        constant=targets.restore(functions.intercept[:, None])[:, 0] + means[:, :, 0].sum(axis=1),
        offset=columns.mean,
    )
