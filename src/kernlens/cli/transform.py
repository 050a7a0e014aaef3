"""``kernlens transform``: the learned features of the rows of a table."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from kernlens.cli._arguments import HelpWithExamples, examples
from kernlens.cli._csv import check_output
from kernlens.cli._errors import CommandError
from kernlens.cli._models import load_model, write_blocks
from kernlens.cli._talk import Talk
from kernlens.cli._using import add_using


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "transform",
        help="project the rows of a table on the directions of a model",
        description="Write where the rows of a table lie along the directions of a saved model, "
        "one column for each direction, block by block: features for another program.",
        epilog=examples(
            "kernlens transform kernlens-houses/model.skops houses.csv -o features.csv"
        ),
        formatter_class=HelpWithExamples,
    )
    add_using(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Project and write."""
    check_output(arguments.output, (arguments.model, arguments.data))
    model = load_model(arguments.model)
    if not hasattr(model, "transform"):
        raise CommandError(f"{type(model).__name__} has no directions to project on.")

    def columns_of(X: Any) -> dict[str, Any]:
        features = np.asarray(model.transform(X))
        if features.shape[1] == 0:
            raise CommandError("the model has no direction: none predicts better than a constant.")
        return {f"direction {place + 1}": values for place, values in enumerate(features.T)}

    write_blocks(arguments, Talk(arguments.quiet), model, columns_of)
    return 0
