"""Experiment 1 of the RegFeaL paper: both data sets, both settings, d = 10 and 40."""

from __future__ import annotations

import numpy as np

from benchmarks.tables import print_row, published, timed
from kernlens import RegFeaLRegressor
from kernlens.datasets import make_quartic, make_two_sines
from kernlens.metrics import dimension_score, feature_learning_score

GENERATORS = {"sinus": make_two_sines, "polynomial": make_quartic}
STRUCTURES = {"feature": "features", "variable": "variables"}
SIZES = (200, 500, 1000)
SEEDS = range(5)
WIDTHS = (12, 10, 5, 7, 9, 11, 9, 11, 11, 10, 9)


def run() -> None:
    """Print mean test R2, feature and dimension score beside the published means."""
    print("RegFeaLRegressor(structure=...) out of the box: the paper's 7 x 7 grid, five folds;")
    print(f"seeds {SEEDS.start} to {SEEDS.stop - 1}; MAVE and the noise level as published")
    header = ("data", "setting", "d", "n", "R2", "published", "feature", "published")
    print_row(*header, "dimension", "MAVE R2", "seconds", widths=WIDTHS)
    for row in published("regfeal_experiment1.csv"):
        if int(row["n"]) in SIZES:
            _print_cell(row)


def _print_cell(row) -> None:
    d, n = int(row["d"]), int(row["n"])
    cells = [_fit(row["dataset"], row["setting"], d, n, seed) for seed in SEEDS]
    score, feature, dimension, seconds = np.mean(cells, axis=0)
    print_row(
        row["dataset"],
        row["setting"],
        d,
        n,
        f"{score:.3f}",
        f"{float(row['regfeal_r2']):.3f}",
        f"{feature:.3f}",
        f"{float(row['regfeal_feature_score']):.3f}",
        f"{dimension:.3f}",
        f"{float(row['mave_r2']):.3f}",
        f"{seconds:.1f}",
        widths=WIDTHS,
    )


def _fit(dataset, setting, d, n, seed):
    data = GENERATORS[dataset](n, d, structure=STRUCTURES[setting], random_state=seed)
    model = RegFeaLRegressor(structure=STRUCTURES[setting], random_state=seed)
    seconds, _ = timed(lambda: model.fit(data.X, data.y))
    # The score compares the two leading directions, whatever number was estimated.
    leading = np.zeros((min(2, len(model.shares_)), d))
    leading[:, model.inputs_] = model.rotation_.T[:2]
    leading /= model.scale_
    return (
        model.score(data.X_test, data.y_test),
        feature_learning_score(data.components, leading),
        dimension_score(2, model.n_directions_, d),
        seconds,
    )
