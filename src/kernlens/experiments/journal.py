"""Finished cells in a file, one line of JSON each, so that a run goes on where it stopped."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kernlens._version import __version__
from kernlens.experiments.contract import Cell, Measured, Row, key_of


@dataclass(frozen=True)
class Finished:
    """A cell, the lines that were measured in it or why it failed, and its seconds."""

    cell: Cell
    measured: list[Measured]
    seconds: float
    failure: str | None = None
    version: str = field(default=__version__)

    @property
    def rows(self) -> list[Row]:
        """The cell with its labels and scores, and its curves under their names."""
        return [{**self.cell, **one.labels, **one.scores, **one.curves} for one in self.measured]


class Journal:
    """The file of finished cells of one experiment.

    A line is written in one piece and reaches the disk before the next cell is counted; what a
    crash leaves of a line is no line, and is overwritten.

    Parameters
    ----------
    path : Path
        The file, made when the first line is written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ends_well = True

    def read(self) -> dict[str, Finished]:
        """Cells that this version has finished, by their key; the last line of a cell counts."""
        if not self._path.is_file():
            return {}
        text = self._path.read_bytes()
        self._ends_well = not text or text.endswith(b"\n")
        found = {}
        for line in text.split(b"\n"):
            one = _finished(line)
            if one is not None and one.version == __version__:
                found[key_of(one.cell)] = one
        return found

    def write(self, one: Finished) -> None:
        """Add a line."""
        line = json.dumps(asdict(one), sort_keys=True).encode() + b"\n"
        if not self._ends_well:
            line, self._ends_well = b"\n" + line, True
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _finished(line: bytes) -> Finished | None:
    """A line that is whole, and None for any other."""
    try:
        fields: dict[str, Any] = json.loads(line)
        measured = [Measured(**one) for one in fields.pop("measured")]
        return Finished(measured=measured, **fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
