"""Fit time against the number of rows: Experiment 5's function, noise 0.1, d=20, m=50."""

from __future__ import annotations

from benchmarks.tables import print_row, timed
from kernlens import BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines

WIDTHS = (10, 12, 14, 22)


def run(sizes=(10_000, 100_000)) -> None:
    """Print seconds, ratio to the first size, and R2 against the noiseless function."""
    print("out of the box but m=50, seed 0, one repetition; R2 on 20,000 noiseless test rows")
    print_row("n", "seconds", "ratio", "test R2", widths=WIDTHS)
    fit(2000)  # compile
    first = None
    for n in sizes:
        seconds, score, _ = fit(n)
        first = first or seconds
        print_row(n, f"{seconds:.1f}", f"{seconds / first:.2f}", f"{score:.4f}", widths=WIDTHS)


def fit(n):
    """Return (seconds, test R2, model)."""
    data = make_absolute_sum_of_sines(n, 20, noise=0.1, n_test=20_000, random_state=0)
    model = BKerNNRegressor(n_particles=50, random_state=0)
    seconds, _ = timed(lambda: model.fit(data.X, data.y))
    return seconds, model.score(data.X_test, data.function(data.X_test)), model
