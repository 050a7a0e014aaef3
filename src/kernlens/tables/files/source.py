"""The bytes of a file: from a path or the standard input, with or without gzip."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from kernlens.tables.files.errors import TableFileError

#: The name of the standard input on a command line.
STANDARD_INPUT = "-"
GZIP = b"\x1f\x8b"
GZIP_ENDINGS = (".gz", ".gzip")


@contextmanager
def local_file(path: str) -> Iterator[Path]:
    """A file that can be read more than once: what comes from the standard input is put on disk."""
    if path != STANDARD_INPUT:
        if os.path.isdir(path):
            raise TableFileError(f"{path} is a folder; give the path of a file with a table.")
        if not os.path.exists(path):
            raise TableFileError(f"There is no file {path}{_near_files(path)}.")
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="kernlens-") as folder:
        copy = Path(folder) / "standard-input"
        with open(copy, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


def _near_files(path: str) -> str:
    from difflib import get_close_matches

    folder = Path(path).parent
    try:
        found = get_close_matches(Path(path).name, [one.name for one in folder.iterdir()], n=3)
    except OSError:
        return ""
    return f"; names like it are {', '.join(map(repr, found))}" if found else ""


def is_gzip(path: Path) -> bool:
    """Whether a file is compressed, by its first bytes."""
    with open(path, "rb") as file:
        return file.read(2) == GZIP


@contextmanager
def opened(path: Path, name: str) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed where they are compressed."""
    try:
        if is_gzip(path):
            with gzip.open(path, "rb") as unpacked:
                yield cast(BinaryIO, unpacked)
        else:
            with open(path, "rb") as plain:
                yield plain
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableFileError(
            f"{name} is a damaged gzip file ({error}); take another copy of it."
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise TableFileError(f"{name} cannot be read ({reason}).") from error


@contextmanager
def unpacked(path: Path, name: str) -> Iterator[Path]:
    """A file without gzip, for readers that go back and forth in it."""
    if not is_gzip(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="kernlens-") as folder:
        copy = Path(folder) / "unpacked"
        with opened(path, name) as file, open(copy, "wb") as target:
            shutil.copyfileobj(file, target, io.DEFAULT_BUFFER_SIZE * 16)
        yield copy
