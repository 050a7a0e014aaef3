"""The tables of the benchmark of AutoLens, from the lines of its file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.tables import print_row

#: Columns of the file; the first eight tell a line from the others.
FIELDS = (
    "group", "set", "split", "model", "seconds", "rows", "jobs", "clock",
    "score", "log_loss", "ece", "coverage", "width", "taken", "settings", "note",
)  # fmt: skip
#: Column of the file, what a table calls it, and whether higher is better.
SHOWN = {
    "regression": (("score", "R2", True),),
    "classification": (
        ("log_loss", "log loss", False), ("score", "accuracy", True), ("ece", "ECE", False),
    ),
}  # fmt: skip
#: Rows to learn from beyond which a line is of a table at full size.
LARGE = 5000
OF_OURS = ("coverage", "width", "taken", "settings")

Line = dict[str, str]


def print_tables(lines: Sequence[Line]) -> None:
    """Print every group and budget by itself."""
    tables: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in lines:
        size = f"more than {LARGE}" if int(line["rows"]) > LARGE else f"at most {LARGE}"
        tables[(line["group"], size, line["seconds"], line["clock"], line["jobs"])].append(line)
    for (group, size, seconds, clock, jobs), own in tables.items():
        print(f"\n{group}, {size} rows: {seconds} s ({clock} clock, {jobs} threads) per model")
        kind = "classification" if group == "classification" else "regression"
        for column, title, higher in SHOWN[kind]:
            _print_table(own, column, title, higher)
        _print_ours([line for line in own if line["model"] == "AutoLens"])


def _means(lines: Sequence[Line], column: str) -> dict[str, dict[str, float]]:
    """Mean over splits, by set and model."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if line.get(column):
            values[line["set"]][line["model"]].append(float(line[column]))
    return {
        name: {model: float(np.mean(found)) for model, found in of_set.items()}
        for name, of_set in values.items()
    }


def _print_table(lines: Sequence[Line], column: str, title: str, higher: bool) -> None:
    means = _means(lines, column)
    models = list(dict.fromkeys(line["model"] for line in lines))
    widths = (26, *(max(11, len(model) + 2) for model in models))
    print(f"\n{title}, {'higher' if higher else 'lower'} is better; sets with all models below")
    print_row("data set", *models, widths=widths)
    for name, of_set in means.items():
        print_row(name, *(_shown(of_set.get(model)) for model in models), widths=widths)
    whole = [of_set for of_set in means.values() if len(of_set) == len(models)]
    if not whole:
        return
    table = np.array([[of_set[model] for model in models] for of_set in whole])
    print_row("mean", *(f"{value:.4f}" for value in table.mean(axis=0)), widths=widths)
    ranks = np.argsort(np.argsort(-table if higher else table, axis=1), axis=1) + 1.0
    print_row("mean rank", *(f"{value:.2f}" for value in ranks.mean(axis=0)), widths=widths)


def _print_ours(lines: Sequence[Line]) -> None:
    """Coverage and width of intervals, seconds taken, and candidates finished."""
    found = {column: _means(lines, column) for column in OF_OURS}
    widths = (26, *(11,) * len(OF_OURS))
    print()
    print_row("AutoLens", *OF_OURS, widths=widths)
    for name in found["taken"]:
        cells = [_shown(found[column].get(name, {}).get("AutoLens")) for column in OF_OURS]
        print_row(name, *cells, widths=widths)
    cells = [
        _shown(float(np.mean([one["AutoLens"] for one in of_sets.values()])) if of_sets else None)
        for of_sets in found.values()
    ]
    print_row("mean", *cells, widths=widths)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
