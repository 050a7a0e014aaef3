"""What an experiment leaves in its folder: tables, a figure, and `result.json`."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy
import scipy
import sklearn
from matplotlib.figure import Figure

from kernlens._atomic import replacing
from kernlens._execution import effective_n_jobs
from kernlens._version import __version__
from kernlens.experiments import summaries
from kernlens.experiments.claims import Verdict
from kernlens.experiments.contract import QUICK, Experiment, Row
from kernlens.experiments.data import DataFolder
from kernlens.experiments.journal import Finished
from kernlens.experiments.runner import Collected, Watcher, run_cells

RESULT, TABLE, TIMES, FIGURE = "result.json", "table.csv", "times.csv", "figure.png"
#: Dots per inch of figures, which stay small files.
DPI = 80


@dataclass(frozen=True)
class Outcome:
    """An experiment that was run: its rows, the lines of its table and its verdicts."""

    experiment: Experiment
    scale: str
    collected: Collected
    lines: list[summaries.Line]
    verdicts: list[Verdict]

    @property
    def rows(self) -> list[Row]:
        """Cells with what was measured in them."""
        return [row for one in self.collected.finished for row in one.rows]


def reproduce(
    experiment: Experiment,
    scale: str,
    folder: Path,
    data: DataFolder,
    n_jobs: int | None,
    watcher: Watcher,
) -> Outcome:
    """Run an experiment and write all that comes of it to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    collected = run_cells(experiment, scale, folder, data, n_jobs, watcher)
    rows = [row for one in collected.finished for row in one.rows]
    lines = summaries.summarize(rows, experiment.table)
    verdicts = [claim.judge(rows) for claim in experiment.claims]
    outcome = Outcome(experiment, scale, collected, lines, verdicts)
    _write(folder / TABLE, _table(outcome))
    _write(folder / TIMES, _times(collected.finished))
    if experiment.draw is not None and rows:
        _draw(folder / FIGURE, outcome)
    result = describe(outcome, effective_n_jobs(n_jobs))
    _write(folder / RESULT, json.dumps(result, indent=1, sort_keys=True) + "\n")
    return outcome


def describe(outcome: Outcome, n_jobs: int) -> dict[str, Any]:
    """An outcome in plain values: all that the page of a reproduction says."""
    experiment, collected = outcome.experiment, outcome.collected
    n_met, n_published, missed = summaries.met(outcome.lines, experiment.table)
    seeds = sorted({row["seed"] for row in outcome.rows if "seed" in row})
    return {
        "name": experiment.name,
        "paper": asdict(experiment.paper),
        "place": experiment.place,
        "title": experiment.title,
        "scale": outcome.scale,
        "settings": dict(experiment.scales[outcome.scale]),
        "full_settings": dict(experiment.scales["full"]),
        "notes": list(experiment.notes),
        "missing": collected.missing,
        "failures": [{"cell": one.cell, "why": one.failure} for one in collected.failures],
        "n_cells": len(collected.finished),
        "cell_seconds": round(sum(one.seconds for one in collected.finished), 1),
        "seeds": seeds,
        "n_jobs": n_jobs,
        "cores": effective_n_jobs(-1),
        "versions": versions(),
        "published": {"n": n_published, "met": n_met, "missed": missed},
        "claims": [
            {
                "text": claim.text,
                "place": claim.place,
                "rule": claim.rule_text,
                "outcome": verdict.outcome,
                "evidence": [_finite(asdict(one)) for one in verdict.evidence],
            }
            for claim, verdict in zip(experiment.claims, outcome.verdicts, strict=True)
        ],
        "header": summaries.header(experiment.table),
        "table": [summaries.cells_of(line, experiment.table) for line in outcome.lines],
        "figure": FIGURE if experiment.draw is not None and outcome.rows else None,
    }


def versions() -> dict[str, str]:
    """What the numbers were computed with."""
    return {
        "kernlens": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "matplotlib": matplotlib.__version__,
    }


def _table(outcome: Outcome) -> str:
    form = outcome.experiment.table
    cells = (summaries.cells_of(line, form) for line in outcome.lines)
    return summaries.as_csv(summaries.header(form), cells)


def _times(finished: Sequence[Finished]) -> str:
    """Mean seconds of a cell by method; no two runs have the same."""
    groups: dict[str, list[Finished]] = {}
    for one in finished:
        groups.setdefault(str(one.cell.get("method", "")), []).append(one)
    names = sorted({name for one in finished for line in one.measured for name in line.times})
    lines = []
    for method, members in groups.items():
        cells = [method, str(len(members)), f"{_average([one.seconds for one in members]):.3f}"]
        for name in names:
            lists = [line.times for one in members for line in one.measured]
            seconds = [times[name] for times in lists if name in times]
            cells.append(f"{_average(seconds):.4f}" if seconds else "")
        lines.append(cells)
    return summaries.as_csv(["method", "cells", "seconds_of_a_cell", *names], lines)


def _draw(path: Path, outcome: Outcome) -> None:
    experiment = outcome.experiment
    figure = Figure(figsize=experiment.size, layout="constrained")
    assert experiment.draw is not None
    experiment.draw(figure, outcome.rows)
    word = "Quick setting" if outcome.scale == QUICK else "Full setting"
    seeds = {row.get("seed") for row in outcome.rows}
    text = f"{word}: {len(seeds)} repetition{'s' if len(seeds) != 1 else ''}"
    if outcome.scale == QUICK:
        text += ", fewer or shorter than the paper's"
    figure.suptitle(text, fontsize=8, x=0.99, ha="right")
    with replacing(path) as part:
        figure.savefig(part, dpi=DPI)


def _write(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def _average(values: Sequence[float]) -> float:
    return float(numpy.mean(values)) if values else math.nan


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    """None for what is no number, which JSON has no word for."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in fields.items()
    }
