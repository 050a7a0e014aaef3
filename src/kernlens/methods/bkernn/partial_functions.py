"""The one-dimensional functions that a fitted BKerNN adds up, for plotting and inspection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.columns import Columns
from kernlens.base.targets import Targets
from kernlens.methods.bkernn.function import RidgeFunctions


@dataclass(frozen=True)
class PartialFunctions:
    """Functions g_j with ``prediction = constant + sum_j g_j(direction_j . (x - offset))``.

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


def tabulate(
    functions: RidgeFunctions,
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
