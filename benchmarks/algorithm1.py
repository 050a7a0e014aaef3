"""Plain Algorithm 1 with the paper's lambda, both implementations from the same particles."""

from __future__ import annotations

import numpy as np

from benchmarks.direct import algorithm_1
from benchmarks.tables import print_row, timed
from kernlens import BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines

WIDTHS = (8, 14, 14, 10, 22)


def run(sizes=(1000, 4000), n_features=15, n_particles=50, n_iter=20) -> None:
    """Print seconds, ratio and the relative difference of the final objectives."""
    print(f"d={n_features}, m={n_particles}, {n_iter} iterations, one repetition, seed 0")
    print_row("n", "direct s", "kernlens s", "ratio", "objective difference", widths=WIDTHS)
    _compare(100, n_features, n_particles, 2)  # compile both
    for n in sizes:
        slow, fast, difference = _compare(n, n_features, n_particles, n_iter)
        cells = (n, f"{slow:.2f}", f"{fast:.3f}", f"{slow / fast:.0f}x", f"{difference:.1e}")
        print_row(*cells, widths=WIDTHS)


def _compare(n, n_features, n_particles, n_iter):
    data = make_absolute_sum_of_sines(n, n_features, random_state=0)
    W = np.random.RandomState(0).normal(size=(n_particles, n_features)) / np.sqrt(n_features)
    model = BKerNNRegressor(
        alpha="heuristic",
        n_particles=n_particles,
        optimizer="plain",
        max_iter=n_iter,
        tol=0.0,
        standardize=False,
        init=W,
    )
    fast, _ = timed(lambda: model.fit(data.X, data.y))
    slow, (_, objective) = timed(lambda: algorithm_1(data.X, data.y, W, model.alpha_, n_iter))
    return slow, fast, abs(model.objective_ - objective) / objective
