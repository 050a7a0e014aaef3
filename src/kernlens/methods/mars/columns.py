"""Columns that the user names, as inputs of the learner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kernlens._array import IntArray


def is_list(value: Any) -> bool:
    """Whether a value is a list, tuple, set, or array of one dimension."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, list | tuple | set | frozenset)


def is_column(value: Any) -> bool:
    """Whether a value may be a name or a number of a column."""
    if isinstance(value, str):
        return True
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def column_number(argument: str, column: Any, n_features: int, names: Sequence[str] | None) -> int:
    """Position in X of a column given by its name or its number."""
    if isinstance(column, str):
        places = [] if names is None else [place for place, n in enumerate(names) if n == column]
        if not places:
            raise ValueError(f"{argument} has the column {str(column)!r}, which X has not.")
        return places[0]
    if column >= n_features:
        raise ValueError(
            f"{argument} has the column {column}, but X has {n_features}, counted from 0."
        )
    return int(column)


def inputs_of_columns(
    argument: str,
    columns: Iterable[Any],
    n_features: int,
    names: Sequence[str] | None,
    used: IntArray,
) -> frozenset[int]:
    """Inputs that columns are, given by name or number; constant columns are none.

    Parameters
    ----------
    argument : str
        For the sentence about a column that X has not.
    columns : iterable of int or str
    n_features : int
    names : sequence of str or None
        Of the columns of X.
    used : ndarray of int of shape (n_varying,)
        Columns in the order of the inputs.
    """
    place = {int(column): at for at, column in enumerate(used)}
    numbers = {column_number(argument, column, n_features, names) for column in columns}
    return frozenset(place[number] for number in numbers if number in place)
