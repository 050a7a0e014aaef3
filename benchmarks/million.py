"""A fit of 1,000,000 rows: d=20, m=50, Experiment 5's function with noise 0.1."""

from __future__ import annotations

import resource

from benchmarks.growth import fit


def run() -> None:
    """Print seconds, peak memory of the process (data included) and R2 on noiseless test rows."""
    seconds, score, model = fit(1_000_000)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{seconds:.0f} s, peak {peak:.2f} GiB, test R2 {score:.4f}, {model.n_directions_} "
        f"directions, alpha {model.alpha_:.3g}"
    )
