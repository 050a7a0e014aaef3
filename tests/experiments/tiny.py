"""Settings with which every experiment runs in seconds, and a run of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kernlens.experiments.contract import Cell, Experiment
from kernlens.experiments.data import DataFolder
from kernlens.experiments.journal import Finished
from kernlens.experiments.registry import EXPERIMENTS
from kernlens.experiments.results import Outcome, reproduce

#: Of the tables of RKHS weightings, and of the other methods in two of them.
WEIGHTINGS: dict[str, Any] = {
    **{"n_widths": 1, "search_rows": 40, "search_seeds": 1, "exact_rows": 40, "T": 10},
    "search_T": 10,
    **{"seeds": [0, 1], "default_seeds": []},
}
RIVALS: dict[str, Any] = {"draws": 2, "folds": 2, "rival_rows": 40, "most_rows": 60}
#: What is changed of the quick settings.
TINY: dict[str, dict[str, Any]] = {
    "bkernn-1": {
        **{"n": 50, "d": 6, "n_particles": 5, "lambda_factors": [0.1, 1.0], "folds": 2},
        **{"search_steps": 2, "steps": 4, "seeds": [0, 1]},
    },
    "bkernn-2": {
        **{"n": 60, "d": 6, "particles": [1, 10], "lambdas": [0.0005, 0.5], "steps": 5},
        **{"seeds": [1, 2], "default_particles": [10]},
    },
    "bkernn-3": {
        **{"n": 50, "d": 6, "n_particles": 5, "steps": 3, "seeds": [1, 2], "default_seeds": [1]},
        "mechanisms": ["few features"],
    },
    "bkernn-4": {
        **{"n": 40, "shapes": ["sine"], "network_steps": 50, "steps": 5, "seeds": [0, 1]},
    },
    "bkernn-5": {"sizes": [30, 40], "columns": [3], "seeds": [0]},
    "bkernn-6": {"sets": ["abalone", "pol"], "seeds": [0]},
    "regfeal-1": {
        **{"problems": [["sinus", "variable"]], "columns": [4], "sizes": [30]},
        **{"default_sizes": [30], "seeds": [36, 37], "default_seeds": [36]},
    },
    "regfeal-2": {
        **{"sizes": [30], "draws": [20, 40], "rhos": [0.2, 0.4], "alphas": [1.0], "folds": 2},
        **{"seeds": [36, 37]},
    },
    "regfeal-3": {
        **{"n": 40, "draws": 30, "iterations": [1, 2], "rhos": [0.2], "alphas": [1.0, 0.1]},
        **{"seeds": [36, 37]},
    },
    "hkrr-1": {"steps": {"VarPro (our L-BFGS)": 3, "VarPro": 3, "AGD": 3}, "seeds": [0, 1]},
    "hkrr-2": {
        **{"datasets": ["dataset 1"], "n": 60, "dimensions": [1], "steps": 2, "steps_lbfgs": 2},
        **{"seeds": [0], "default_seeds": [0]},
    },
    "hkrr-3": {"sizes": [60], "dimensions": [3], "steps": 2, "seeds": [0]},
    "weightings-figure-1": {"sizes": [10], "exact_rows": 30, "seeds": [0]},
    "weightings-figure-2": {"sizes": [10, 20], "seeds": [0]},
    "weightings-figures-3-4": {
        **{"sets": ["wine"], "powers": [-3.0, 0.0, 1.0], "T": 10, "seeds": [0, 1]},
    },
    "weightings-table-10": {"sets": ["cancer"], **WEIGHTINGS},
    "weightings-table-11": {"sets": ["wine"], **WEIGHTINGS},
    "weightings-table-12": {"sets": ["cancer"], **WEIGHTINGS, **RIVALS},
    "weightings-table-13": {"sets": ["wine"], **WEIGHTINGS, **RIVALS},
    "weightings-errata": {"sets": ["wine"], "kappas": [10.0], "T": 20, "seeds": [0, 1]},
    "weightings-figures-5-6": {
        **{"sets": ["wine", "conductivity"], "sizes": [5], **WEIGHTINGS},
    },
    "weightings-figures-7-8": {"sets": ["wine"], "points": [100, 200], "seeds": [0]},
    "weightings-figures-9-10": {
        **{"sets": ["wine"], "T": 20, "thetas": [0.5], "most_rows": 60, "seeds": [0]},
    },
    "weightings-rates": {"sizes": [10, 20], "seeds": [0, 1]},
    "laplacian-1": {"sizes": [20, 40], "columns": [1], "more_seeds": [0, 1]},
    "laplacian-2": {"sizes": [20, 40], "columns": [1], "more_seeds": [0, 1]},
    "laplacian-3": {"columns": [2], "seeds": [0]},
    "laplacian-4": {
        **{
            "powers": [-5.0, -4.0],
            "n_grid": 20,
            "grids": [10, 20],
            "sizes": [20, 30],
            "n_centers": 10,
        },
        **{"seeds": [0, 1]},
    },
    "hkrr-4": {"curves": ["square"], "n_starts": 3, "n_cells": 3, "seeds": [0, 1]},
}
#: Labels of the lines of a cell that has several.
LABELS: dict[str, Callable[[Cell], list[dict[str, Any]]]] = {
    "regfeal-2": lambda cell: [
        {"m": m} for m in (cell["draws"] if cell["method"] == "RegFeaL" else ["all"])
    ],
    "regfeal-3": lambda cell: [{"iteration": iteration} for iteration in cell["iterations"]],
}
LABELS |= {
    "weightings-figures-7-8": lambda cell: [{"features": point} for point in cell["points"]],
    "weightings-figures-9-10": lambda cell: [{"kept": kept} for kept in (5, 10, 20, 50)],
    "laplacian-3": lambda cell: [{"setting": "one"}, {"setting": "two"}],
}
#: Scores that claims look at and tables do not show.
HIDDEN = {"gap", "n_above", "third_share", "bounds_apart", "bound_over_gap"}
#: Curves that claims look at: seconds of the parts of a fit, and training rows.
N_PARTS, MANY_ROWS = 3, 20_000


def rows_like(name: str, settings: Any, value: Callable[[], float]) -> list[dict[str, Any]]:
    """Rows of an experiment with drawn scores in place of measured ones."""
    one = EXPERIMENTS[name]
    labels = LABELS.get(name, lambda cell: [{}])
    return [
        {
            **cell,
            **label,
            **{score: value() for score in (*one.table.scores, *sorted(HIDDEN))},
            "seconds": [value() + 0.1 for _ in range(N_PARTS)],
            "rows": [MANY_ROWS],
        }
        for cell in one.cells(settings)
        for label in labels(cell)
    ]


class Silent:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.n_done = 0
        self.ran: list[Cell] = []

    def begin(self, experiment: Experiment, n_done: int, todo: Sequence[Cell]) -> None:
        self.n_done = n_done

    def finished(self, one: Finished) -> None:
        self.ran.append(one.cell)


def tiny(name: str) -> Experiment:
    """An experiment whose quick setting takes seconds."""
    one = EXPERIMENTS[name]
    return replace(one, scales={**one.scales, "quick": {**one.scales["quick"], **TINY[name]}})


def make_data(folder: Path) -> DataFolder:
    """A folder with drawn data: one of the sets of Experiment 6, and two with other names.

    What else an experiment needs is missing.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    (folder / "bkernn_exp6").mkdir(parents=True)
    np.savez(
        folder / "bkernn_exp6" / "abalone.npz",
        X=X,
        y=np.abs(X[:, 0]) + 0.1 * rng.standard_normal(60),
        train_idx=np.arange(40),
        test_idx=np.arange(40, 60),
    )
    for name, y in (("abalone", X[:, 1]), ("mnist17", (X[:, 0] > 0.0).astype(int))):
        test_mask = np.arange(60)[:, None] >= 40
        np.savez(folder / f"{name}.npz", X=X, y=y, test_mask=test_mask)
    return DataFolder(folder)


def run_tiny(
    name: str, folder: Path, data: DataFolder | None = None, n_jobs: int = 1
) -> tuple[Outcome, Silent]:
    """Run a tiny experiment."""
    watcher = Silent()
    outcome = reproduce(tiny(name), "quick", folder, data or DataFolder(), n_jobs, watcher)
    return outcome, watcher
