"""``kernlens reproduce``: the experiments of the papers, with tables, figures and verdicts."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import shtab

from kernlens._execution import effective_n_jobs
from kernlens.cli._arguments import add_talking, jobs
from kernlens.cli._errors import CommandError, near
from kernlens.cli._output import prepare_folder, printing, writing_to

if TYPE_CHECKING:
    from kernlens.experiments.contract import Experiment
    from kernlens.experiments.results import Outcome

ALL = "all"
WIDTH = 80


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "reproduce",
        help="run the experiments of the papers, beside the published numbers",
        description="Run experiments of the papers: tables, figures, the published numbers beside "
        "ours, and for each claim of the papers whether it holds. Runs go on where they stopped. "
        "'kernlens reproduce --list' names the experiments.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments, or 'all'")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument(
        "--quick",
        dest="scale",
        action="store_const",
        const="quick",
        help="fewer or shorter repetitions; figures say so (default)",
    )
    scale.add_argument(
        "--full",
        dest="scale",
        action="store_const",
        const="full",
        help="the settings of the papers, which take hours",
    )
    parser.set_defaults(scale="quick")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("kernlens-reproduction"),
        metavar="DIR",
        help="folder to write to, made if needed (default: %(default)s)",
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="folder of npz files with X and y, for the experiments on real data",
    ).complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    parser.add_argument(
        "--n-jobs",
        type=jobs,
        default=-1,
        metavar="N",
        help="cells that run at once, each on one core (default: as many as there are cores)",
    )
    add_talking(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """List or run."""
    from kernlens.experiments.registry import EXPERIMENTS

    if arguments.list:
        _print(_listed(EXPERIMENTS))
        return 0
    chosen = _chosen(arguments.names, EXPERIMENTS)
    folder: Path = arguments.out
    if arguments.data_dir is not None and not arguments.data_dir.is_dir():
        raise CommandError(f"--data-dir {arguments.data_dir} is no folder.")
    prepare_folder(folder, "--out")
    say: Callable[[str], None] = (lambda text: None) if arguments.quiet else _print
    page = _reproduce(chosen, list(EXPERIMENTS), arguments, say)
    say(f"The page: {page}")
    return 0


def _reproduce(
    chosen: list[Experiment],
    order: list[str],
    arguments: argparse.Namespace,
    say: Callable[[str], None],
) -> Path:
    """Run one after the other; the page is whole after each of them."""
    from kernlens.experiments.data import DataFolder
    from kernlens.experiments.page import write_pages
    from kernlens.experiments.progress import Progress
    from kernlens.experiments.results import reproduce

    folder: Path = arguments.out
    data = DataFolder(arguments.data_dir)
    progress = Progress(effective_n_jobs(arguments.n_jobs), arguments.quiet)
    page = folder
    for experiment in chosen:
        with writing_to(folder, "--out"):
            outcome = reproduce(
                experiment,
                arguments.scale,
                folder / experiment.name,
                data,
                arguments.n_jobs,
                progress,
            )
            page = write_pages(folder, order)
        say(_verdicts(outcome))
    return page


def _chosen(names: list[str], experiments: dict[str, Experiment]) -> list[Experiment]:
    if not names:
        raise CommandError(
            "name an experiment, or 'all'; 'kernlens reproduce --list' lists the experiments."
        )
    if ALL in names:
        return list(experiments.values())
    unknown = [name for name in names if name not in experiments]
    if unknown:
        raise CommandError(f"no experiment {unknown[0]!r}{near(unknown[0], list(experiments))}.")
    return [experiments[name] for name in dict.fromkeys(names)]


def _listed(experiments: dict[str, Experiment]) -> str:
    width = max(map(len, experiments), default=0)
    lines = [
        f"{name:<{width}}  {one.paper.name}, {one.place}: {one.title}"
        for name, one in experiments.items()
    ]
    return "\n".join(
        [*lines, "", "'kernlens reproduce NAME' runs one, 'kernlens reproduce all' all."]
    )


def _verdicts(outcome: Outcome) -> str:
    """The claims of an experiment, as they came out."""
    lines = [f"\n{outcome.experiment.name} ({outcome.scale}): {outcome.experiment.title}"]
    if outcome.collected.missing:
        lines.append(f"  missing data sets: {', '.join(outcome.collected.missing)}")
    if outcome.collected.failures:
        lines.append(f"  {len(outcome.collected.failures)} cells failed, see result.json")
    for claim, verdict in zip(outcome.experiment.claims, outcome.verdicts, strict=True):
        lines += textwrap.wrap(
            f"{verdict.outcome}: {claim.text}",
            WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
        )
    return "\n".join(lines)


def _print(text: str) -> None:
    with printing():
        print(text, flush=True)
