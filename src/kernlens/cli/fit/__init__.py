"""``kernlens fit``: a table, a target; a page, a model and tables."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernlens.cli._errors import CommandError
from kernlens.cli._methods import Method, method_named, settings_of
from kernlens.cli._output import claimed_folder, printing
from kernlens.cli._tables import read_whole
from kernlens.cli._talk import Talk
from kernlens.cli.fit.files import write_model, write_page, write_tables
from kernlens.cli.fit.on_cluster import check_cluster_options, cluster_text, fit_on_cluster
from kernlens.cli.fit.options import add_parser
from kernlens.cli.fit.problem import Problem, make_problem
from kernlens.cli.fit.splits import folds_of, hold_out
from kernlens.cli.fit.study import (
    Study,
    board_of,
    places,
    study_folds,
    study_split,
    summary_of,
)
from kernlens.cli.fit.text import fit_text
from kernlens.cli.fit.training import Recipe

__all__ = ["add_parser", "fit", "run"]

EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


@dataclass(frozen=True)
class Done:
    """What came of it.

    Attributes
    ----------
    summary : dict
        As :func:`kernlens.reporting.summarize` has it.
    folder : Path
    files : list of str
    interrupted : bool
    said : list of str
        What the error stream has had already.
    """

    summary: dict[str, Any]
    folder: Path
    files: list[str]
    interrupted: bool
    said: list[str]

    @property
    def text(self) -> str:
        """What is printed."""
        return fit_text(self.summary, self.folder, self.files, self.said)


def run(arguments: argparse.Namespace) -> int:
    """Fit, write and print."""
    if arguments.dask is not None:
        return _run_on_cluster(arguments)
    done = fit(arguments, Talk(arguments.quiet))
    with printing():
        if arguments.json:
            more = {"folder": str(done.folder), "files": done.files}
            print(json.dumps({**done.summary, **more}, allow_nan=False))
        elif not arguments.quiet:
            print(done.text)
        sys.stdout.flush()
    return EXIT_INTERRUPTED if done.interrupted else 0


def _run_on_cluster(arguments: argparse.Namespace) -> int:
    method = method_named(arguments.method)
    check_cluster_options(arguments, method)
    if arguments.task != "auto":
        settings_of(method.estimator(arguments.task), arguments.set)
    folder: Path = arguments.out or _default_folder(arguments.data)
    with claimed_folder(folder, arguments.force):
        summary = fit_on_cluster(arguments, method, folder, Talk(arguments.quiet))
    with printing():
        if arguments.json:
            print(json.dumps(summary, allow_nan=False))
        elif not arguments.quiet:
            print(cluster_text(summary))
        sys.stdout.flush()
    return 0


def fit(arguments: argparse.Namespace, talk: Talk) -> Done:
    """Fit, check and write."""
    method = method_named(arguments.method)
    _check_options(arguments)
    if arguments.task != "auto":
        # A wrong setting is said before a long file is read.
        settings_of(method.estimator(arguments.task), arguments.set)
    folder: Path = arguments.out or _default_folder(arguments.data)
    with claimed_folder(folder, arguments.force):
        return _fitted(method, folder, arguments, talk)


def _fitted(method: Method, folder: Path, arguments: argparse.Namespace, talk: Talk) -> Done:
    """Read, fit and write to a folder that is ours."""
    problem = make_problem(read_whole(arguments, talk), arguments, talk)
    settings = settings_of(method.estimator(problem.task), arguments.set)
    recipe = Recipe(
        method,
        settings,
        arguments.time_budget,
        arguments.seed,
        arguments.n_jobs,
        arguments.quiet,
    )
    if problem.moments is not None:
        problem = problem.part(places(problem))
    study = _studied(recipe, problem, arguments, talk)
    summary, files = _written(study, recipe, arguments, folder, talk)
    return Done(summary, folder, files, study.interrupted, talk.said)


def _check_options(arguments: argparse.Namespace) -> None:
    if arguments.groups is not None and arguments.time is not None:
        raise CommandError(
            "--groups and --time cannot both say which rows are held out; give one of them."
        )


def _default_folder(data: str) -> Path:
    stem = Path(data).name.partition(".")[0].strip("*?") if data != "-" else "input"
    return Path(f"kernlens-{stem or 'table'}")


def _studied(recipe: Recipe, problem: Problem, arguments: argparse.Namespace, talk: Talk) -> Study:
    n_rows, n_columns = problem.X.shape
    what = (
        f"{len(set(problem.y.tolist()))} classes" if problem.task == "classification" else "numbers"
    )
    columns = f"{n_columns} column{'' if n_columns == 1 else 's'}"
    talk.aside(f"{problem.target!r} ({what}) from {columns} and {n_rows} rows.")
    if arguments.cv is not None:
        return study_folds(recipe, problem, folds_of(problem, arguments.cv, recipe.seed), talk)
    split = hold_out(problem, arguments.test, recipe.seed)
    lost = n_rows - len(split[0]) - len(split[1])
    if lost:
        talk(f"{lost} held-out rows have classes that no other row has, and were left out.")
    if len(split[1]):
        talk.aside(f"{len(split[0])} rows to learn from, {len(split[1])} held out.")
    return study_split(recipe, problem, split, talk)


def _written(
    study: Study, recipe: Recipe, arguments: argparse.Namespace, folder: Path, talk: Talk
) -> tuple[dict[str, Any], list[str]]:
    """Write all files, the model first; return the summary and their names."""
    files = [write_model(study.trained.model, folder)]
    context = {
        "command": shlex.join(["kernlens", *(arguments.words or [])]),
        "data_file": Path(arguments.data).name if arguments.data != "-" else "standard input",
        "title": f"Predicting {study.learned.target}",
        "seed": recipe.seed,
        "warnings": list(talk.said),
        "left_out": study.learned.left_out,
        "rows_read": study.learned.rows_read,
    }
    summary = summary_of(study, recipe, context)
    board = board_of(study, recipe, summary)
    files += write_tables(study.trained.model, study.predictions, board, folder)
    files += write_page(summary, folder)
    return summary, files
