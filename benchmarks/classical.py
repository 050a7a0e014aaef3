"""MAVE and OPG on Experiment 1 of the RegFeaL paper, beside the published MAVE."""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.tables import print_row, published
from kernlens import MAVE, OPG
from kernlens.experiments.regfeal.models import GENERATORS, STRUCTURES
from kernlens.metrics import dimension_score, feature_learning_score

SIZES = (300, 500, 1000)
#: The published experiments have five seeds from this one on.
FIRST_SEED, N_SEEDS = 36, 5
WIDTHS = (12, 10, 5, 7, 8, 8, 11, 12, 11, 10)


def run(arguments=()) -> None:
    """Print mean feature and dimension scores beside the published means."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks classical")
    parser.add_argument("--fixed", action="store_true", help="count no directions")
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="first seed")
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="how many seeds")
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.first + given.seeds)
    print("feature scores with two directions given, dimension scores of MAVE() as it comes;")
    print(f"seeds {seeds.start} to {seeds.stop - 1}, CPU seconds of MAVE(n_directions=2)")
    header = ("data", "setting", "d", "n", "OPG", "MAVE", "published", "dimension", "published")
    print_row(*header, "seconds", widths=WIDTHS)
    for row in published("regfeal_experiment1.csv"):
        if int(row["n"]) in SIZES:
            _print_cell(row, seeds, not given.fixed)


def _print_cell(row, seeds, counted) -> None:
    d, n = int(row["d"]), int(row["n"])
    cells = [_fit(row["dataset"], row["setting"], d, n, seed, counted) for seed in seeds]
    opg, mave, dimension, seconds = np.mean(cells, axis=0)
    print_row(
        row["dataset"],
        row["setting"],
        d,
        n,
        f"{opg:.3f}",
        f"{mave:.3f}",
        f"{float(row['mave_feature_score']):.3f}",
        f"{dimension:.3f}" if counted else "-",
        f"{float(row['mave_dimension_score']):.3f}",
        f"{seconds:.1f}",
        widths=WIDTHS,
    )


def _fit(dataset, setting, d, n, seed, counted):
    # The published training sets are the first rows of one draw of 1000.
    data = GENERATORS[dataset](1000, d, structure=STRUCTURES[setting], random_state=seed)
    X, y = data.X[:n], data.y[:n]
    start = time.process_time()
    mave = MAVE(n_directions=2).fit(X, y)
    seconds = time.process_time() - start
    opg = OPG(n_directions=2).fit(X, y)
    number = MAVE().fit(X, y).n_directions_ if counted else 2
    return (
        feature_learning_score(data.components, opg.components_),
        feature_learning_score(data.components, mave.components_),
        dimension_score(2, number, d),
        seconds,
    )
