"""A file with a table in it, whatever its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from kernlens._pandas import import_pandas
from kernlens.tables.files.errors import TableFileError


class TableFile(ABC):
    """A table that is read whole or in blocks of rows.

    Attributes
    ----------
    name : str
        What sentences call the file.
    notes : list of str
        What was decided while reading, one sentence each, without repetition.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes: list[str] = []

    @abstractmethod
    def blocks(self, n_rows: int | None = None, text: Collection[str] = ()) -> Iterator[Any]:
        """Data frames of pandas, one after the other.

        Parameters
        ----------
        n_rows : int or None
            Rows of a block; None for all at once.
        text : collection of str
            Columns that stay text even if a block of them looks like numbers.
        """

    def read(self) -> Any:
        """The whole table as a data frame of pandas."""
        pandas = import_pandas()
        found = list(self.blocks())
        if not found or len(found[0].columns) == 0:
            raise TableFileError(f"{self.name} has no rows.")
        return found[0] if len(found) == 1 else pandas.concat(found, ignore_index=True)

    def note(self, sentence: str) -> None:
        """Keep what the user should be told, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)


def usable_names(table: TableFile, given: Sequence[Any]) -> list[str]:
    """Names of columns of which none is empty and no two are the same."""
    names: list[str] = []
    taken = {str(name).strip() for name in given}
    seen: set[str] = set()
    for place, raw in enumerate(given, start=1):
        name = str(raw).strip()
        if not name:
            name = f"column {place}"
            table.note(f"Column {place} has no name and is called {name!r}.")
        number, stem = 2, name
        while name in seen or (name != stem and name in taken):
            name = f"{stem} ({number})"
            number += 1
        if name != stem:
            table.note(f"Column {place} is the second named {stem!r} and is called {name!r}.")
        seen.add(name)
        names.append(name)
    return names
