"""Results that people read: each says once what its table is, and prints and exports it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

import numpy as np

from kernlens._pandas import import_pandas
from kernlens._table import Table


def as_frame(table: Table) -> Any:
    """The whole table as a pandas DataFrame of shape (n_rows, n_columns)."""
    pandas = import_pandas()
    index = None if table.index is None else list(table.index)
    frame = pandas.DataFrame(dict(enumerate(table.columns)), index=index)
    # Afterwards: two columns may have the same name, a column of X and the target for example.
    frame.columns = list(table.names)
    return frame


class Tabular(ABC):
    """A frozen dataclass with arrays: a short table in print, a data frame on request.

    Dataclasses that inherit from it are made with ``repr=False``.
    """

    @abstractmethod
    def _table(self) -> Table:
        """All numbers."""

    def _printed(self) -> Table:
        """What is printed; the table itself unless something shorter says more."""
        return self._table()

    def to_frame(self) -> Any:
        """Return the table as a data frame.

        Returns
        -------
        pandas.DataFrame
            Needs pandas to be installed.
        """
        return as_frame(self._table())

    def __str__(self) -> str:
        return self._printed().text()

    def __repr__(self) -> str:
        entries = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(entries)})"


def _brief(value: Any) -> str:
    """A value in a few letters: the shape of an array, the length of what is long."""
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>"
    text = repr(value) if not isinstance(value, tuple | dict) else ""
    if text and len(text) <= 60:
        return text
    return f"<{type(value).__name__} of {len(value)}>" if hasattr(value, "__len__") else "<...>"
