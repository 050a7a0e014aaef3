"""Arguments of the subcommands that use a model on a table."""

from __future__ import annotations

import argparse

import shtab

from kernlens.cli._arguments import add_data, add_file, add_reading, add_talking


def add_using(parser: argparse.ArgumentParser) -> None:
    """The model, the table and where the rows go."""
    add_file(parser, "model", "file of a model that 'kernlens fit' or kernlens.save wrote")
    add_data(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        default="-",
        help="CSV file to write, with gzip if it ends in .gz; - is the standard output (default)",
    ).complete = shtab.FILE  # type: ignore[attr-defined]
    parser.add_argument(
        "--keep",
        metavar="COLS",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        default=[],
        help="columns of the table to write beside, with commas between them",
    )
    add_talking(parser)
    add_reading(parser)
