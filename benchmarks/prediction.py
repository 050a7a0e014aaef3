"""Prediction of 1,000,000 rows by a model of 10,000, against evaluating the kernel."""

from __future__ import annotations

import numpy as np

from benchmarks.tables import timed
from kernlens import BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.kernels.one_dimensional import BrownianKernel

EVALUATED = 5000


def run() -> None:
    """Print seconds on one thread each; the kernel is timed on 5000 rows and scaled up."""
    data = make_absolute_sum_of_sines(10_000, 20, noise=0.1, n_test=1_000_000, random_state=0)
    model = BKerNNRegressor(n_particles=50, alpha=1e-4, max_iter=10, random_state=0)
    model.fit(data.X, data.y)
    model.set_params(n_jobs=1).predict(data.X_test[:1000])
    ours, predictions = timed(lambda: model.predict(data.X_test))
    # The kernel expansion needs the coefficients; products with the kernel alone are timed.
    left = data.X_test[:EVALUATED] @ model.particles_.T
    right = data.X @ model.particles_.T
    BrownianKernel().pairwise_mean(left[:10], right[:10])
    part, _ = timed(lambda: BrownianKernel().pairwise_mean(left, right))
    kernel = part * len(data.X_test) / EVALUATED
    print(f"kernlens {ours:.2f} s, kernel (vectorised, compiled) {kernel:.1f} s: ", end="")
    print(f"{kernel / ours:.0f}x; finite: {bool(np.isfinite(predictions).all())}")
