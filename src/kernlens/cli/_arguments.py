"""What several subcommands take, and how texts become values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import shtab

MAX_SEED = 2**32 - 1  # of numpy's legacy generator, which scikit-learn takes seeds for


class HelpWithExamples(argparse.HelpFormatter):
    """Wraps text, and keeps lines that begin with spaces as they are: commands to copy."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        wrapped = super()._fill_text
        lines = text.split("\n")
        return "\n".join(
            line if line.startswith(" ") else wrapped(line, width, indent) for line in lines
        )


def examples(*commands: str) -> str:
    """The end of the help of a command."""
    title = "example:" if len(commands) == 1 else "examples:"
    return "\n".join([title, *(f"  {command}" for command in commands)])


def seed(text: str) -> int:
    """A seed."""
    value = int(text) if text.isdecimal() else -1
    if not 0 <= value <= MAX_SEED:
        raise argparse.ArgumentTypeError(f"expected an integer from 0 to {MAX_SEED}, got {text!r}")
    return value


def whole(least: int) -> Callable[[str], int]:
    """An integer of at least `least`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(
                f"expected an integer of at least {least}, got {text!r}"
            )
        return value

    return parse


def number(low: float, high: float, words: str) -> Callable[[str], float]:
    """A number from `low`, included, to below `high`."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value < high:
            raise argparse.ArgumentTypeError(f"expected {words}, got {text!r}")
        return value

    return parse


coverage = number(1e-9, 1.0, "a number between 0 and 1, such as 0.9")


def jobs(text: str) -> int:
    """A number of threads; -1 is all cores."""
    value = int(text) if text.removeprefix("-").isdecimal() else 0
    if value == 0:
        raise argparse.ArgumentTypeError(f"expected a number of threads or -1, got {text!r}")
    return value


def add_file(parser: argparse._ActionsContainer, name: str, text: str) -> None:
    """A file to read, whose name a shell completes."""
    parser.add_argument(name, metavar=name.upper(), help=text).complete = shtab.FILE  # type: ignore[attr-defined]


def add_data(parser: argparse.ArgumentParser) -> None:
    """The table, and how it is read where that is not found by itself."""
    add_file(
        parser,
        "data",
        "table: CSV, TSV, JSON lines, Parquet, Feather, gzip of them, or - for the standard input",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How a text file is read."""
    group = parser.add_argument_group("reading the table")
    group.add_argument(
        "--delimiter",
        metavar="CHAR",
        type=_delimiter,
        help="what is between cells (default: comma, semicolon, tabulator or bar, as it looks)",
    )
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line has the names (default: unless it has numbers only)",
    )


def _delimiter(text: str) -> str:
    value = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(value) != 1 or value in '"\r\n':
        raise argparse.ArgumentTypeError(f"expected one character or tab, got {text!r}")
    return value


def add_talking(parser: argparse._ActionsContainer) -> None:
    """How much is said."""
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
