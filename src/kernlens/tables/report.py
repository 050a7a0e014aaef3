"""What was done with every column of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray, IntArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular


@dataclass(frozen=True, eq=False, repr=False)
class ColumnReport(Tabular):
    """What was done with every column; it prints as a table.

    Attributes
    ----------
    names : tuple of str
        Of the columns of the user.
    kinds : tuple of str
        "number", "boolean", "date", "category" or "nested".
    actions : tuple of str
        What was done, or why the column was left out.
    left_out : ndarray of bool of shape (n_columns,)
        Columns that have no output.
    n_levels : ndarray of int of shape (n_columns,)
        Different values in the rows of the fit; -1 if they were not counted.
    missing : ndarray of shape (n_columns,)
        Share of rows without a value.
    n_outputs : ndarray of int of shape (n_columns,)
        Columns that come of it.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    actions: tuple[str, ...]
    left_out: NDArray[np.bool_]
    n_levels: IntArray
    missing: FloatArray
    n_outputs: IntArray

    def _table(self) -> Table:
        columns: list[Any] = [
            list(self.kinds),
            list(self.actions),
            self.n_levels,
            self.missing,
            self.n_outputs,
        ]
        return Table(
            ["kind", "action", "levels", "missing", "outputs"],
            columns,
            index=self.names,
            decimals=2,
        )
