"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write instead, which takes the place of `path` once it is whole and on the disk.

    Whatever happens meanwhile, a full disk or Ctrl-C, a file that was there before is not lost, and
    no part of a new one is left.

    Parameters
    ----------
    path : Path
        The file to be; a link is replaced and not followed.

    Yields
    ------
    Path
        A name in a folder of its own beside `path`, with the same ending, for writers that look at
        it.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".kernlens-") as beside:
        part = Path(beside) / path.name
        yield part
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "there is a folder of that name", os.fspath(path))
        _flush(part)
        os.replace(part, path)


def _flush(path: Path) -> None:
    """Wait until a file is on the disk, so that a power cut cannot leave its name without it."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
