"""Where a subcommand writes to: a folder, and the standard output."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kernlens import _atomic
from kernlens.cli._errors import CommandError


@contextmanager
def writing_to(folder: Path, option: str = "--output") -> Iterator[None]:
    """Turn a failure to write into one sentence that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(
            f"cannot write to the folder {folder} ({reason}); choose another one with {option}."
        ) from error


@contextmanager
def printing() -> Iterator[None]:
    """Turn a failure to print into one sentence; a reader who has left is none."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(f"cannot write to the standard output ({reason}).") from error


def prepare_folder(folder: Path, option: str = "--output") -> None:
    """Make the folder, and find out before any long work whether files can be written there."""
    with writing_to(folder, option):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def claim_folder(folder: Path, force: bool, option: str = "--out") -> None:
    """Prepare a folder whose files are ours to replace: it is empty, or `force` says so."""
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise CommandError(
            f"the folder {folder} is not empty; choose another one with {option}, or replace the "
            "files in it with --force."
        )
    prepare_folder(folder, option)


@contextmanager
def claimed_folder(folder: Path, force: bool, option: str = "--out") -> Iterator[None]:
    """A folder as :func:`claim_folder` has it; a new one that stays empty is taken away again."""
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    claim_folder(folder, force, option)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for one in new:
                one.rmdir()
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write instead, as :func:`kernlens._atomic.replacing` has it."""
    try:
        with _atomic.replacing(path) as part:
            yield part
    except IsADirectoryError as error:
        raise CommandError(f"cannot write {path}: there is a folder of that name.") from error
