"""Parquet and Feather, through pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernlens.tables.files.errors import TableFileError
from kernlens.tables.files.source import unpacked
from kernlens.tables.files.table_file import TableFile, usable_names

#: Rows that are read at a time where all are wanted.
MANY_ROWS = 2**16


class ArrowFile(TableFile):
    """A Parquet or a Feather file."""

    def __init__(self, path: Path, name: str, batches: Callable[..., Iterator[Any]]) -> None:
        super().__init__(name)
        self._path = path
        self._batches = batches

    def blocks(self, n_rows: int | None = None, text: Collection[str] = ()) -> Iterator[Any]:
        """Data frames of pandas, one after the other."""
        with unpacked(self._path, self.name) as plain, self._explained():
            for batch in self._batches(plain, n_rows or MANY_ROWS):
                frame = _table_of(batch).to_pandas(ignore_metadata=True)
                frame.columns = usable_names(self, list(frame.columns))
                yield frame

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import pyarrow

        try:
            yield
        except (pyarrow.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise TableFileError(f"{self.name} is damaged ({reason}).") from error


def _table_of(batch: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_batches([batch])


def parquet_batches(path: Path, n_rows: int) -> Iterator[Any]:
    """Batches of a Parquet file."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        yield from file.iter_batches(batch_size=n_rows)


def feather_batches(path: Path, n_rows: int) -> Iterator[Any]:
    """Batches of a Feather file, of the first version or of the second."""
    import pyarrow.feather

    table = pyarrow.feather.read_table(path, memory_map=True)
    yield from table.to_batches(max_chunksize=n_rows)


def check_arrow(name: str) -> None:
    """Say what to install, before anything is read."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise TableFileError(
            f"{name} is a Parquet or Feather file, which needs pyarrow to be read: "
            "python -m pip install pyarrow."
        ) from error
