"""The arguments of `fit`."""

from __future__ import annotations

import argparse
from pathlib import Path

from kernlens.cli._arguments import (
    add_data,
    add_reading,
    add_talking,
    jobs,
    number,
    seed,
    whole,
)
from kernlens.cli._methods import METHODS
from kernlens.cli.fit.on_cluster import place_of

DESCRIPTION = """
Find which few combinations of columns drive a target, how surely, and how well they predict it.
Writes a page to look at, a model to keep and the tables of both to a folder.
"""

EPILOG = """
examples:
  kernlens fit houses.csv --target price
  kernlens fit churn.csv.gz --target left --ignore customer,notes --out churn
  kernlens fit visits.parquet --target visits --time date --test 0.25
  kernlens fit trial.csv --target dose --method rfm --set metric=diag --cv 5
  other-program | kernlens fit - --target y --json
  kernlens fit 'rows/*.parquet' --target y --method rfm --dask local:4

files: report.html (the page), model.skops (for 'kernlens predict' and kernlens.load),
predictions.csv (rows held out), directions.csv, leaderboard.csv, summary.json.

The model that is saved has learned from the rows that are not held out, and is the one that the
page describes. With --cv the model has learned from all rows, and the scores are those of fits
that leave out one part each. --test 0 holds out nothing.

exit codes: 0 done; 1 it could not be done, with one sentence on the error stream; 2 wrong command
line; 130 ended by Ctrl-C, with the files of the best model so far if there was one; 141 nobody
reads the output any longer.
"""


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "fit",
        help="learn to predict a column of a table; writes a page, a model and tables",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_data(parser)
    parser.add_argument("--target", metavar="COL", required=True, help="column to predict")
    _add_columns(parser)
    _add_model(parser)
    _add_checking(parser)
    _add_output(parser)
    add_reading(parser)
    return parser


def _add_columns(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("columns (all others are used to predict)")
    group.add_argument(
        "--ignore",
        metavar="COLS",
        type=_names,
        action="extend",
        default=[],
        help="columns to leave out, with commas between them; may be repeated",
    )
    group.add_argument(
        "--groups",
        metavar="COL",
        help="rows of the same value, of one patient for example, are held out together",
    )
    group.add_argument(
        "--time",
        metavar="COL",
        help="order of the rows: the latest are held out. Not used to predict",
    )
    group.add_argument("--weight", metavar="COL", help="weights of the rows, at least 0")


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument(
        "--task",
        choices=("auto", "regression", "classification"),
        default="auto",
        help="auto takes text and at most 10 different whole numbers for classes",
    )
    names = [method.name for method in METHODS]
    group.add_argument(
        "--method",
        metavar="NAME",
        default="auto",
        help=f"one of {', '.join(names)}; see 'kernlens methods' (default: auto)",
    ).choices_shown = names  # type: ignore[attr-defined]
    group.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of the method; may be repeated. 'kernlens methods NAME' lists them",
    )
    group.add_argument(
        "--time-budget",
        metavar="SECONDS",
        type=number(1e-3, 3.2e7, "a number of seconds above 0"),
        default=60.0,
        help="for all fits together, about (default: 60)",
    )
    group.add_argument(
        "--seed", metavar="N", type=seed, default=0, help="of everything drawn (default: 0)"
    )
    group.add_argument(
        "--n-jobs", metavar="N", type=jobs, help="threads; default and -1: all cores"
    )
    group.add_argument(
        "--dask",
        metavar="WHERE",
        type=place_of,
        help="fit Parquet files block by block on a cluster: local, local:WORKERS for processes of "
        "this machine, or tcp://HOST:PORT of a scheduler whose workers see the files",
    )


def _add_checking(parser: argparse.ArgumentParser) -> None:
    checking = parser.add_argument_group("checking").add_mutually_exclusive_group()
    checking.add_argument(
        "--test",
        metavar="SHARE",
        type=number(0.0, 0.9, "a share from 0 to below 0.9"),
        default=0.2,
        help="share of the rows that the fit never sees (default: 0.2)",
    )
    checking.add_argument(
        "--cv",
        metavar="K",
        type=whole(2),
        help="check with K parts of the rows, each held out once, instead of one",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out", metavar="DIR", type=Path, help="folder to write to (default: kernlens-DATA)"
    )
    group.add_argument("--force", action="store_true", help="replace files of a folder")
    group.add_argument(
        "--json", action="store_true", help="print the summary as JSON instead of a short table"
    )
    add_talking(group)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
