"""CSV and its relatives: rows on lines, cells between delimiters."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kernlens._pandas import import_pandas
from kernlens.tables.files.errors import TableFileError
from kernlens.tables.files.source import opened
from kernlens.tables.files.spelling import numbers_of_texts, style_of
from kernlens.tables.files.table_file import TableFile, usable_names
from kernlens.tables.files.text_look import TextLook

DELIMITERS = (",", ";", "\t", "|")
#: Rows of the beginning that say what is between cells.
ROWS_TO_SNIFF = 50
#: Names of columns that a note lists.
MOST_NAMES = 5


class DelimitedFile(TableFile):
    """A text file with a row on every line.

    Parameters
    ----------
    path : Path
    name : str
    look : TextLook
        What the first pass has found.
    delimiter : str or None
        What is between cells; None to find it.
    header : bool or None
        Whether the first line has the names; None says so unless it has numbers only.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        look: TextLook,
        delimiter: str | None = None,
        header: bool | None = None,
    ) -> None:
        super().__init__(name)
        self._path = path
        self._encoding = look.encoding
        rows = _rows_of(look.sample)
        self._delimiter = delimiter or best_delimiter(look.sample)
        first = next(iter(_rows_of(look.sample, self._delimiter, 1)), None) if rows else None
        if first is None:
            raise TableFileError(f"{name} is empty.")
        self._header = header if header is not None else not _all_numbers(first)
        if header is None and not self._header:
            self.note(
                "The first line has numbers only and was read as a row: columns are called "
                "'column 1', 'column 2', ... (--header says that it has names)."
            )
        self._names: list[str] = []
        self._styles: dict[str, str | None] = {}
        if look.foreign_line:
            self.note(f"Line {look.foreign_line} is not UTF-8: the file was read as Windows-1252.")

    def blocks(self, n_rows: int | None = None, text: Collection[str] = ()) -> Iterator[Any]:
        """Data frames of pandas, one after the other."""
        pandas = import_pandas()
        options = {
            "sep": self._delimiter,
            "header": None,
            "dtype": object,
            "keep_default_na": False,
            "na_filter": False,
            "encoding": self._encoding,
            "encoding_errors": "replace",
            "engine": "c",
        }
        with opened(self._path, self.name) as stream:
            try:
                if n_rows is None:
                    yield self._typed(self._named(pandas.read_csv(stream, **options)), text)
                    return
                chunks = pandas.read_csv(stream, **options, chunksize=n_rows)
                for number, chunk in enumerate(chunks):
                    frame = self._named(chunk, first=number == 0)
                    if len(frame) or number == 0:
                        yield self._typed(frame, text)
            except pandas.errors.EmptyDataError:
                raise TableFileError(f"{self.name} is empty.") from None
            except pandas.errors.ParserError as error:
                raise TableFileError(self._explained(str(error))) from error
            except UnicodeError as error:
                raise TableFileError(f"{self.name} cannot be decoded ({error}).") from error

    def _named(self, frame: Any, first: bool = True) -> Any:
        """The rows, with the names of the first line or of places."""
        if first:
            if self._header:
                given = ["" if cell != cell else cell for cell in frame.iloc[0].tolist()]
                frame = frame.iloc[1:]
            else:
                given = [""] * frame.shape[1]
            before = list(self.notes)
            self._names = usable_names(self, given)
            if not self._header:
                self.notes = before
        return frame.reset_index(drop=True)

    def _typed(self, frame: Any, text: Collection[str]) -> Any:
        """Numbers where all cells of a column are numbers."""
        pandas = import_pandas()
        found: dict[str, Any] = {}
        for place, name in enumerate(self._names):
            cells = frame.iloc[:, place].to_numpy(dtype=object)
            found[name] = cells if name in text else self._converted(name, cells)
        self._note_styles()
        return pandas.DataFrame(found, index=range(len(frame)))

    def _converted(self, name: str, cells: Any) -> Any:
        numbers = numbers_of_texts(cells, None)
        if numbers is None and len(cells):
            # What a first block shows holds for the others: 1,234 alone says nothing.
            style = self._styles.get(name) or style_of(cells, self._delimiter)
            if style is not None:
                numbers = numbers_of_texts(cells, style)
                if numbers is not None:
                    self._styles[name] = style
        return cells if numbers is None or np.isnan(numbers).all() else numbers

    def _note_styles(self) -> None:
        for style in sorted({style for style in self._styles.values() if style}):
            names = [name for name, own in self._styles.items() if own == style]
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            listed = ", ".join(map(repr, names[:MOST_NAMES])) + more
            self.note(f"Numbers with {style}: {listed}.")

    def _explained(self, reason: str) -> str:
        """What a parser says, with the line of the file."""
        if "Expected" in reason and "saw" in reason:
            found = self._too_long()
            if found is not None:
                line, width, expected = found
                return (
                    f"Line {line} of {self.name} has {width} cells and the first line has "
                    f"{expected}; put cells that have a {_spoken(self._delimiter)} inside between "
                    "double quotes."
                )
        if "EOF inside string" in reason:
            place = re.search(r"row (\d+)", reason)
            row = int(place[1]) + 1 if place else 1
            return (
                f"A double quote opens near line {row} of {self.name} and is never closed; close "
                "it, or write it twice if it is part of the cell."
            )
        return f"{self.name} cannot be read as a table ({' '.join(reason.split())})."

    def _too_long(self) -> tuple[int, int, int] | None:
        """Line, cells, and cells expected, of the first row that has more than the first."""
        with opened(self._path, self.name) as stream:
            lines = io.TextIOWrapper(stream, self._encoding, errors="replace", newline="")
            reader = csv.reader(lines, delimiter=self._delimiter)
            expected = 0
            try:
                for row in reader:
                    expected = expected or len(row)
                    if len(row) > expected:
                        return reader.line_num, len(row), expected
            except csv.Error:
                pass
        return None


def _spoken(delimiter: str) -> str:
    return {",": "comma", ";": "semicolon", "\t": "tabulator", "|": "bar"}.get(
        delimiter, repr(delimiter)
    )


def _rows_of(sample: str, delimiter: str = ",", most: int = ROWS_TO_SNIFF) -> list[list[str]]:
    """Rows of the beginning that are not empty."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) == most:
                break
    except csv.Error:
        pass
    return rows


def best_delimiter(sample: str) -> str:
    """The delimiter with which most rows have the same number of cells, more than one."""

    def quality(delimiter: str) -> tuple[float, int]:
        rows = _rows_of(sample, delimiter)
        # The last one may be cut off where the sample ends.
        widths = Counter(len(row) for row in (rows[:-1] if len(rows) > 2 else rows))
        if not widths:
            return 0.0, 0
        width, count = max(widths.items(), key=lambda pair: (pair[0] > 1, pair[1], pair[0]))
        return (count / widths.total() if width > 1 else 0.0), width

    return max(DELIMITERS, key=quality)


def _all_numbers(row: list[str]) -> bool:
    """Whether a first line has numbers only: names have letters."""
    try:
        return bool(row) and all(np.isfinite(float(cell.replace(",", "."))) for cell in row)
    except ValueError:
        return False
