"""Printing, timing, and where the published figures and data sets are looked for."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return (seconds, value) of one call."""
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def print_row(*cells: object, widths: tuple[int, ...]) -> None:
    """Print cells in columns, the first to the left, the others to the right."""
    first, *rest = cells
    line = f"{first!s:<{widths[0]}}"
    print(line + "".join(f"{cell!s:>{w}}" for cell, w in zip(rest, widths[1:], strict=True)))


def shared_folder() -> Path | None:
    """Folder with `published/` and `data/`: KERNLENS_SHARED, or `shared` beside the project."""
    named = os.environ.get("KERNLENS_SHARED")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared"
    return folder if folder.is_dir() else None


def data_folder() -> Path | None:
    """Folder with the data sets; none, with a word, if it is not there."""
    folder = shared_folder()
    if folder is None:
        print("data sets not found: set KERNLENS_SHARED to the folder that has data/")
        return None
    return folder / "data"


def published(name: str) -> Iterator[dict[str, str]]:
    """Rows of a published table; none, with a word, if the folder is not there."""
    folder = shared_folder()
    if folder is None:
        print("published figures not found: set KERNLENS_SHARED to compare with them")
        return
    with (folder / "published" / name).open() as file:
        yield from csv.DictReader(file)
