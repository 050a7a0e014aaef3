"""``kernlens demo``: two small data sets; scores, directions, pictures, models and a page."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from kernlens.cli._arguments import seed
from kernlens.cli._output import claim_folder, printing, replacing, writing_to
from kernlens.cli.demo.page import fit_patients
from kernlens.cli.demo.problems import make_problems
from kernlens.cli.demo.study import save_files, study_problem
from kernlens.cli.demo.text import closing_text, opening_text, study_text


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        help="show everything on two small data sets; writes pictures, models and a page",
        description="Fit BKerNN on two small data sets, without network: synthetic data with known "
        "directions, and the diabetes data of scikit-learn. Prints cross-validated scores beside "
        "ridge regression and kernel ridge regression, and the learned directions; writes a "
        "picture, a model and the printed text to a folder. Then writes the second as a CSV file, "
        "runs 'kernlens fit' on it, and ends with the path of the page. Takes about a minute.",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("kernlens-demo"),
        metavar="DIR",
        help="folder to write to, made if needed (default: %(default)s)",
    )
    parser.add_argument("--force", action="store_true", help="replace files of the folder")
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="N",
        help="seed of the data, the folds and the models (default: %(default)s)",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="print nothing but errors; write the files only"
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration."""
    folder: Path = arguments.output
    claim_folder(folder, arguments.force, "--output")
    text: list[str] = []
    say = _speaker(text, arguments.quiet)
    say(opening_text(folder))
    for number, problem in enumerate(make_problems(arguments.seed), start=1):
        say(f"\n{number}. {problem.title}\n{problem.description}\n")
        done = study_problem(problem, arguments.seed, show_progress=not arguments.quiet)
        with writing_to(folder):
            save_files(done, folder)
        say(study_text(done))
    say(closing_text(folder, problem.name))
    say(f"\n{fit_patients(folder, arguments.seed, say, arguments.quiet).text}")
    with writing_to(folder), replacing(folder / "summary.txt") as summary:
        summary.write_text("\n".join(text) + "\n", encoding="utf-8")
    return 0


def _speaker(text: list[str], quiet: bool) -> Callable[[str], None]:
    """Collect what is said, and print it at once unless quiet."""

    def say(part: str) -> None:
        text.append(part)
        if not quiet:
            with printing():
                print(part, flush=True)

    return say
