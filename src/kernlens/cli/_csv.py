"""CSV files for people: text of the user is never a formula, numbers have all their digits."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from kernlens.cli._output import printing, replacing, writing_to
from kernlens.reporting.cells import safe_cell
from kernlens.tables.files.source import GZIP_ENDINGS, STANDARD_INPUT


class CsvWriter:
    """Writes rows with the names above them."""

    def __init__(self, stream: TextIO) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._begun = False

    def write(self, columns: dict[str, Any]) -> None:
        """Write some rows: columns of the same length, by name."""
        if not self._begun:
            self._writer.writerow([safe_cell(name) for name in columns])
            self._begun = True
        cells = [_cells(column) for column in columns.values()]
        self._writer.writerows(zip(*cells, strict=True))


def _cells(column: Any) -> list[Any]:
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, bool | int | float):
        return value
    return safe_cell(str(value))


def write_csv(path: Path, columns: dict[str, Any]) -> None:
    """Write a whole file, or leave what was there."""
    with replacing(path) as part, open(part, "w", encoding="utf-8", newline="") as stream:
        CsvWriter(stream).write(columns)


def frame_columns(frame: Any, index: str | None = None) -> dict[str, Any]:
    """Columns of a data frame, after its index under this name."""
    columns: dict[str, Any] = {} if index is None else {index: frame.index}
    for place, name in enumerate(frame.columns):
        columns[str(name)] = frame.iloc[:, place]
    return columns


@contextmanager
def csv_output(path: str) -> Iterator[CsvWriter]:
    """A file that is there at the end, or the standard output for "-"; gzip by its ending."""
    if path == STANDARD_INPUT:
        with printing():
            yield CsvWriter(sys.stdout)
            sys.stdout.flush()
        return
    target = Path(path)
    with writing_to(target.parent, "-o"), replacing(target) as part:
        if target.suffix.lower() in GZIP_ENDINGS:
            with gzip.open(part, "wb") as packed, io.TextIOWrapper(packed, "utf-8") as stream:
                yield CsvWriter(stream)
        else:
            with open(part, "w", encoding="utf-8", newline="") as stream:
                yield CsvWriter(stream)


def check_output(path: str, inputs: Sequence[str]) -> None:
    """Find out before any work whether a file can be written, and is none that is read."""
    from kernlens.cli._errors import CommandError
    from kernlens.cli._output import prepare_folder

    if path == STANDARD_INPUT:
        return
    target = Path(path)
    if target.is_dir():
        raise CommandError(f"cannot write {path}: there is a folder of that name.")
    if any(
        one != STANDARD_INPUT and Path(one).exists() and target.exists() and target.samefile(one)
        for one in inputs
    ):
        raise CommandError(f"{path} is read and cannot be written as well; choose another -o.")
    prepare_folder(target.parent, "-o")
