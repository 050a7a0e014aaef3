"""Tables as the subcommands need them: read with one sentence for what is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernlens.cli._errors import CommandError, explained, near
from kernlens.cli._talk import Talk
from kernlens.tables.files import TableFile, opened_table

#: Rows of a block that is predicted at a time.
BLOCK_ROWS = 20_000


@contextmanager
def opened(arguments: argparse.Namespace) -> Iterator[TableFile]:
    """The table that the arguments name."""
    with (
        explained(),
        opened_table(
            arguments.data, delimiter=arguments.delimiter, header=arguments.header
        ) as table,
    ):
        yield table


def read_whole(arguments: argparse.Namespace, talk: Talk) -> Any:
    """All rows, with what was decided on the way."""
    with opened(arguments) as table, explained():
        frame = table.read()
    for sentence in table.notes:
        talk(sentence)
    return frame


def check_columns(frame: Any, names: list[str], option: str) -> None:
    """Refuse a name that is no column, with those that are like it."""
    there = [str(name) for name in frame.columns]
    for name in names:
        if name not in there:
            raise CommandError(f"{option} names {name!r}, which is no column{near(name, there)}.")
