"""JSON lines: an object on every line."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kernlens._pandas import import_pandas
from kernlens.tables.files.errors import TableFileError
from kernlens.tables.files.source import opened
from kernlens.tables.files.table_file import TableFile, usable_names
from kernlens.tables.files.text_look import TextLook

#: Digits of a whole number that a double holds.
DIGITS = 15


class JsonLinesFile(TableFile):
    """A text file with a JSON object on every line."""

    def __init__(self, path: Path, name: str, look: TextLook) -> None:
        super().__init__(name)
        self._path = path
        self._encoding = look.encoding

    def blocks(self, n_rows: int | None = None, text: Collection[str] = ()) -> Iterator[Any]:
        """Data frames of pandas, one after the other."""
        with opened(self._path, self.name) as stream:
            lines = io.TextIOWrapper(stream, self._encoding, errors="replace")
            records = self._records(lines)
            while True:
                block = list(islice(records, n_rows))
                if not block:
                    return
                yield self._frame(block)
                if n_rows is None:
                    return

    def _records(self, lines: Iterator[str] | io.TextIOWrapper) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line, parse_int=_whole)
            except (ValueError, RecursionError) as error:
                reason = getattr(error, "msg", "it is nested too deeply")
                raise TableFileError(
                    f"Line {number} of {self.name} is not JSON ({reason}); every line must have an "
                    'object such as {"size": 3, "price": 2.5}.'
                ) from None
            if not isinstance(record, dict):
                raise TableFileError(
                    f"Line {number} of {self.name} is no JSON object; every line must have one, "
                    'such as {"size": 3, "price": 2.5}.'
                )
            yield record

    def _frame(self, records: list[dict[str, Any]]) -> Any:
        pandas = import_pandas()
        keys = list(dict.fromkeys(key for record in records for key in record))
        names = usable_names(self, keys)
        return pandas.DataFrame(
            {
                name: [record.get(key) for record in records]
                for name, key in zip(names, keys, strict=True)
            },
            index=range(len(records)),
        )


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= DIGITS else float(digits)
