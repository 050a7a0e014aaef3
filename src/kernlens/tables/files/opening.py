"""From a path to a table: which format it is, by its first bytes and its ending."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernlens.tables.files.arrow import ArrowFile, check_arrow, feather_batches, parquet_batches
from kernlens.tables.files.delimited import DelimitedFile
from kernlens.tables.files.errors import TableFileError
from kernlens.tables.files.json_lines import JsonLinesFile
from kernlens.tables.files.source import GZIP_ENDINGS, STANDARD_INPUT, local_file, opened
from kernlens.tables.files.table_file import TableFile
from kernlens.tables.files.text_look import look_at_text

PARQUET = b"PAR1"
FEATHER = (b"ARROW1", b"FEA1")
#: What other programs write, by the first bytes, and what to do with it.
OTHERS = {
    b"PK\x03\x04": "is a zip archive or a workbook of a spreadsheet; save it as CSV",
    b"\xd0\xcf\x11\xe0": "is a workbook of an old spreadsheet; save it as CSV",
    b"BZh91AY&SY": "is compressed by bzip2; unpack it",
    b"\xfd7zXZ": "is compressed by xz; unpack it",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; unpack it",
    b"%PDF": "is a PDF document; save the table as CSV",
    b"SQLite format 3": "is a database; save the table as CSV",
    b"\x89HDF": "is an HDF5 file; save the table as CSV or Parquet",
}
ARROW_ENDINGS = (".parquet", ".feather", ".arrow")
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
#: Bytes that tell one format from another.
HEAD = 4096


@contextmanager
def opened_table(
    path: str, *, delimiter: str | None = None, header: bool | None = None
) -> Iterator[TableFile]:
    """A table in a file, ready to be read.

    Parameters
    ----------
    path : str
        Of a CSV, TSV, JSON lines, Parquet or Feather file, or of gzip of one of them; "-" is the
        standard input.
    delimiter : str or None
        What is between the cells of a text file; None to find it.
    header : bool or None
        Whether its first line has names; None says so unless it has numbers only.

    Raises
    ------
    TableFileError
        If there is no such file, or it is no table.
    """
    name = "The standard input" if path == STANDARD_INPUT else str(path)
    with local_file(str(path)) as local:
        yield _table_at(local, name, delimiter, header)


def _table_at(path: Path, name: str, delimiter: str | None, header: bool | None) -> TableFile:
    with opened(path, name) as stream:
        head = stream.read(HEAD)
    if not head:
        raise TableFileError(f"{name} is empty.")
    if head.startswith(PARQUET) and b"\0" in head:
        check_arrow(name)
        return ArrowFile(path, name, parquet_batches)
    if head.startswith(FEATHER):
        check_arrow(name)
        return ArrowFile(path, name, feather_batches)
    for start, advice in OTHERS.items():
        if head.startswith(start):
            raise TableFileError(f"{name} {advice}.")
    if _ending(name) in ARROW_ENDINGS:
        raise TableFileError(
            f"{name} is no Parquet or Feather file, whatever its name says; it may be damaged, or "
            "another format under this name."
        )
    with opened(path, name) as stream:
        look = look_at_text(stream, name)
    if _is_json(name, look.sample):
        if look.sample.lstrip().startswith("["):
            raise TableFileError(
                f"{name} is one JSON array; write JSON lines, with an object on every line."
            )
        return JsonLinesFile(path, name, look)
    ending = _ending(name)
    return DelimitedFile(
        path, name, look, delimiter or ("\t" if ending == ".tsv" else None), header
    )


def _ending(name: str) -> str:
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in GZIP_ENDINGS else path.suffix


def _is_json(name: str, sample: str) -> bool:
    start = sample.lstrip()[:1]
    return start == "{" or (_ending(name) in JSON_ENDINGS and start == "[")
