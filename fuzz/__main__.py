"""The command line: ``python -m fuzz``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import kernlens
from fuzz.cases import Case, draw_case
from fuzz.estimators import public_names
from fuzz.minimize import Minimizer
from fuzz.report import Report
from fuzz.runner import Worker, run_all
from fuzz.spelling import lines_of


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    known = public_names()
    parser.add_argument("--estimator", nargs="+", choices=known, default=known, metavar="NAME")
    parser.add_argument("--cases", type=int, default=100, help="cases of every estimator")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="workers side by side")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one case")
    parser.add_argument(
        "--tries", type=int, default=60, help="smaller cases tried for a group of findings"
    )
    parser.add_argument(
        "--small-seconds", type=float, default=300.0, help="seconds for all smaller cases together"
    )
    parser.add_argument("--minimize-hangs", action="store_true", help="which takes long")
    parser.add_argument("--log", help="file that gets a line of JSON for every finding")
    return parser.parse_args(given)


def cases_of(asked: argparse.Namespace) -> Iterator[Case]:
    """All cases, an estimator after the other in turn."""
    for number in range(asked.start, asked.start + asked.cases):
        for name in asked.estimator:
            yield draw_case(name, number, asked.seed)


def make_small(report: Report, asked: argparse.Namespace) -> None:
    """Write the lines of every group, of a case as small as can be found in the time there is."""
    end = time.monotonic() + (asked.small_seconds if asked.tries else 0.0)
    with Worker(asked.time_limit) as worker:
        for group in report.gravest_first():
            case, finding = group.first, group.finding
            slow = finding.kind == "hang" and not asked.minimize_hangs
            try:
                if time.monotonic() < end and not slow:
                    # Every crash costs the start of another worker.
                    seconds = 60.0 if finding.kind == "crash" else 10.0
                    minimizer = Minimizer(worker.run, asked.tries, seconds)
                    case, finding = minimizer.minimize(case, finding)
            except KeyboardInterrupt:
                end = 0.0
            group.lines = lines_of(case, finding)


def main(given: list[str] | None = None) -> int:
    """Run cases and print what was found; 1 if there was something."""
    asked = arguments(given)
    # With several copies about, it matters which one is tested.
    print(f"kernlens {kernlens.__version__} of {Path(kernlens.__file__).parent}", flush=True)
    with open(asked.log, "a") if asked.log else nullcontext() as log:
        report = Report(log)
        try:
            for case, outcome in run_all(cases_of(asked), asked.jobs, asked.time_limit):
                report.add(case, outcome)
        except KeyboardInterrupt:
            print("Interrupted; this is what was found so far.", file=sys.stderr)
            asked.tries = 0
    make_small(report, asked)
    print(report.text())
    return 1 if report.groups else 0


if __name__ == "__main__":
    sys.exit(main())
