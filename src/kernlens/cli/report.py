"""``kernlens report``: the page of a saved model, with a table."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import shtab

from kernlens.cli._arguments import (
    HelpWithExamples,
    add_data,
    add_file,
    add_reading,
    add_talking,
    examples,
    seed,
)
from kernlens.cli._csv import check_output
from kernlens.cli._errors import CommandError, explained
from kernlens.cli._models import Chosen, load_model
from kernlens.cli._output import printing, replacing, writing_to
from kernlens.cli._tables import check_columns, read_whole
from kernlens.cli._talk import Talk
from kernlens.cli.fit.problem import CLASSIFICATION, REGRESSION, column_of, target_of, without_value
from kernlens.reporting import render, summarize


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "report",
        help="write the page of a saved model and a table",
        description="Write the page of a saved model with the rows of a table. Without --held-out "
        "they are taken for rows that the model has learned from, and the page says that they do "
        "not tell how well it predicts.",
        epilog=examples(
            "kernlens report kernlens-houses/model.skops new.csv --target price --held-out"
        ),
        formatter_class=HelpWithExamples,
    )
    add_file(parser, "model", "file of a model that 'kernlens fit' or kernlens.save wrote")
    add_data(parser)
    parser.add_argument("--target", metavar="COL", required=True, help="column that is predicted")
    parser.add_argument("--held-out", action="store_true", help="the model has not seen these rows")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PAGE",
        default="report.html",
        help="file to write (default: %(default)s)",
    ).complete = shtab.FILE  # type: ignore[attr-defined]
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")
    parser.add_argument(
        "--seed", metavar="N", type=seed, default=0, help="of the rows of pictures (default: 0)"
    )
    add_talking(parser)
    add_reading(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, summarise and write."""
    page = Path(arguments.output)
    if page.exists() and not arguments.force:
        raise CommandError(f"{page} is there already; choose another -o, or replace it by --force.")
    check_output(arguments.output, (arguments.model, arguments.data))
    talk = Talk(arguments.quiet)
    model = load_model(arguments.model)
    frame = read_whole(arguments, talk)
    check_columns(frame, [arguments.target], "--target")
    y, kept = _targets(model, frame, arguments.target)
    if not kept.all():
        talk(without_value(~kept, arguments.target))
    X, y = Chosen(model)(frame)[kept], y[kept]
    tests = {"X_test": X, "y_test": y} if arguments.held_out else {}
    with explained():
        summary = summarize(
            model,
            X,
            y,
            **tests,
            target_name=arguments.target,
            random_state=arguments.seed,
            context={
                "command": shlex.join(["kernlens", *(arguments.words or [])]),
                "data_file": arguments.data,
                "warnings": list(talk.said),
                "rows_read": len(frame),
            },
        )
        content = render(summary).encode("utf-8", errors="replace")
    with writing_to(page.parent, "-o"), replacing(page) as part:
        part.write_bytes(content)
    if not arguments.quiet:
        with printing():
            print(page, flush=True)
    return 0


def _targets(model: Any, frame: Any, name: str) -> tuple[Any, Any]:
    """Targets as the model knows them, and which rows have one."""
    classes = getattr(model, "classes_", None)
    task = REGRESSION if classes is None else CLASSIFICATION
    y, _ = target_of(name, column_of(frame, name), task)
    if classes is None:
        return y, ~np.isnan(y)
    kept = np.array([label is not None for label in y])
    known = {_spelled(label): label for label in classes.tolist()}
    strange = sorted({label for label in y[kept].tolist() if label not in known})
    if strange:
        raise CommandError(f"the model has not learned the class {strange[0]!r} of {name!r}.")
    labels = np.full(len(y), classes[0], dtype=classes.dtype)
    labels[kept] = [known[label] for label in y[kept].tolist()]
    return labels, kept


def _spelled(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
