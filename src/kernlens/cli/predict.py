"""``kernlens predict``: what a model says of the rows of a table."""

from __future__ import annotations

import argparse
from typing import Any

from kernlens.cli._arguments import HelpWithExamples, coverage, examples
from kernlens.cli._csv import check_output
from kernlens.cli._errors import CommandError
from kernlens.cli._models import load_model, write_blocks
from kernlens.cli._talk import Talk
from kernlens.cli._using import add_using


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "predict",
        help="predict the rows of a table with a model",
        description="Predict the rows of a table with a saved model. Rows are read and written "
        "block by block, so that the table may be larger than memory. The table needs the columns "
        "of the fit, in any order; others are not looked at.",
        epilog=examples(
            "kernlens predict kernlens-houses/model.skops new.csv -o prices.csv --interval 0.9",
            "zcat large.csv.gz | kernlens predict churn/model.skops - --proba --keep customer",
        ),
        formatter_class=HelpWithExamples,
    )
    add_using(parser)
    parser.add_argument(
        "--interval",
        metavar="SHARE",
        type=coverage,
        help="also bounds that have the target with this probability, such as 0.9; models of "
        "numbers by --method auto have them",
    )
    parser.add_argument("--proba", action="store_true", help="also the probability of every class")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Predict and write."""
    check_output(arguments.output, (arguments.model, arguments.data))
    model = load_model(arguments.model)
    _check_able(model, arguments)
    interval: float | None = arguments.interval

    def columns_of(X: Any) -> dict[str, Any]:
        found: dict[str, Any] = {"prediction": model.predict(X)}
        if interval is not None:
            low, high = model.predict_interval(X, interval).T
            found[f"{interval:g} interval from"] = low
            found[f"{interval:g} interval to"] = high
        if arguments.proba:
            for label, share in zip(model.classes_, model.predict_proba(X).T, strict=True):
                found[f"probability of {label}"] = share
        return found

    write_blocks(arguments, Talk(arguments.quiet), model, columns_of)
    return 0


def _check_able(model: Any, arguments: argparse.Namespace) -> None:
    name = type(model.steps[-1][1] if hasattr(model, "steps") else model).__name__
    if not hasattr(model, "predict"):
        raise CommandError(f"{name} predicts nothing; use 'kernlens transform'.")
    if arguments.interval is not None and not hasattr(model, "predict_interval"):
        raise CommandError(
            f"{name} has no intervals; fit numbers with --method auto, or leave out --interval."
        )
    if arguments.proba and not hasattr(model, "predict_proba"):
        raise CommandError(f"{name} predicts numbers, not classes; leave out --proba.")
