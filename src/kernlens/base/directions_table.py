"""The learned directions as one table, for models and for their summaries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table

#: Name of the row that has the shares of the directions; no column of X is likely to be called so.
SHARES = "(importance)"


def directions_table(
    feature_names: Sequence[str],
    direction_names: Sequence[str],
    loadings: FloatArray,
    component_importances: FloatArray,
    feature_importances: FloatArray,
) -> Table:
    """Loadings by column, with both importances.

    Parameters
    ----------
    feature_names : sequence of str, n_features of them
    direction_names : sequence of str, n_directions of them
    loadings : ndarray of shape (n_directions, n_features)
        Weight of every column per standard deviation.
    component_importances : ndarray of shape (n_directions,)
    feature_importances : ndarray of shape (n_features,)

    Returns
    -------
    Table
        The first row has the importances of the directions, if there are any; then one row per
        column of X follows, the most important first. Columns: the directions, and ``importance``.
    """
    order = np.argsort(-feature_importances, kind="stable")
    index = [feature_names[column] for column in order]
    columns = list(loadings[:, order])
    shares = feature_importances[order]
    if len(direction_names):
        index = [SHARES, *index]
        columns = [
            np.append(share, of_columns)
            for share, of_columns in zip(component_importances, columns, strict=True)
        ]
        # The shares of directions and those of columns both add up to 1: there is no corner.
        shares = np.append(np.nan, shares)
    return Table([*direction_names, "importance"], [*columns, shares], index, decimals=3)
