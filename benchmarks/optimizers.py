"""What the default optimiser and plain Algorithm 1 reach, the latter given at least as long."""

from __future__ import annotations

import numpy as np

from benchmarks.tables import print_row, timed
from kernlens import BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines, make_quartic, make_rising_sines

WIDTHS = (34, 10, 12, 10, 14, 14)
MAKERS = (make_absolute_sum_of_sines, make_quartic, make_rising_sines)


def run(sizes=(300, 2000, 20_000)) -> None:
    """Print seconds and objectives; both with alpha = 0.2 / n on standardised data, seed 0."""
    print("d=15, m=50, noise 0.1, alpha = 0.2/n; Algorithm 1 runs until it has taken as long")
    header = ("data", "n", "default s", "plain s", "default F", "plain F")
    print_row(*header, widths=WIDTHS)
    for make in MAKERS:
        for n in sizes:
            print_row(make.__name__, n, *_compare(make, n), widths=WIDTHS)


def _compare(make, n):
    data = make(n, 15, noise=0.1, random_state=0)
    options = {"alpha": 0.2 / n, "n_particles": 50, "random_state": 0}
    model = BKerNNRegressor(**options)
    seconds, _ = timed(lambda: model.fit(data.X, data.y))
    n_iter, plain_seconds = 20, 0.0
    while plain_seconds < seconds:
        plain = BKerNNRegressor(**options, optimizer="plain", tol=0.0, max_iter=n_iter)
        plain_seconds, _ = timed(lambda plain=plain: plain.fit(data.X, data.y))
        n_iter = int(n_iter * np.clip(1.2 * seconds / plain_seconds, 1.5, 20))
    objectives = (f"{model.objective_:.6f}", f"{plain.objective_:.6f}")
    return f"{seconds:.1f}", f"{plain_seconds:.1f}", *objectives
