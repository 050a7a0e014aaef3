"""Objective and predictions of a fit against the slow oracle of the tests, same particles."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.tables import print_row
from kernlens import BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.kernels.one_dimensional import KERNELS
from kernlens.penalties import PENALTIES, make_penalty

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from reference import bkernn

WIDTHS = (14, 18, 10, 14, 14)


def run() -> None:
    """Print relative differences for every kernel and penalty, with and without weights."""
    print("n=120, d=5, m=20, default optimiser, alpha=0.01, seed 0; relative differences")
    print_row("kernel", "penalty", "weights", "objective", "prediction", widths=WIDTHS)
    for kernel in KERNELS:
        for penalty in PENALTIES:
            for weighted in (False, True):
                objective, prediction = _differences(kernel, penalty, weighted)
                cells = (kernel, penalty, weighted, f"{objective:.1e}", f"{prediction:.1e}")
                print_row(*cells, widths=WIDTHS)


def _differences(kernel, penalty, weighted):
    data = make_absolute_sum_of_sines(120, 5, noise=0.1, random_state=0)
    random = np.random.RandomState(0)
    weights = random.randint(0, 4, 120).astype(float) if weighted else np.ones(120)
    model = BKerNNRegressor(
        alpha=0.01,
        n_particles=20,
        penalty=make_penalty(penalty),
        kernel=kernel,
        standardize=False,
        max_iter=30,
        random_state=0,
    ).fit(data.X, data.y, sample_weight=weights)
    # Particles that have died count in the mean over all 20.
    W = np.zeros((20, 5))
    W[: len(model.particles_)] = model.particles_
    oracle = bkernn.fit(kernel, "squared", W, data.X, data.y[None], weights, 0.01)
    objective = oracle.value + 0.01 * bkernn.omega(penalty, W, 1.0)
    expected = bkernn.predict(kernel, W, data.X, oracle, data.X_test)[0]
    difference = np.abs(model.predict(data.X_test) - expected).max() / np.abs(expected).max()
    return abs(model.objective_ - objective) / objective, difference
