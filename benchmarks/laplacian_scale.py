"""Kernel Laplacian: 105,000 unknowns without a matrix, 100,000 points with centres, and speed."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.memory import bytes_added
from benchmarks.tables import print_row, timed
from kernlens import KernelLaplacianRegressor

WIDTHS = (12, 12, 10, 12, 10, 12)
NYSTROM_LIMIT = 3e9
#: Given, so that one fit is one solve.
PENALTIES = {"mu": 1e-3, "alpha": 1e-5}
CENTERS = {"solver": "nystrom", "n_centers": 500, "random_state": 0}

_PREPARE = """
import numpy as np
from kernlens import KernelLaplacianRegressor
rng = np.random.default_rng(0)
X = rng.standard_normal((n, 20))
y = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
model = KernelLaplacianRegressor(**{options!r})
model.fit(X[:600], y[:600])
"""


def run() -> None:
    """Print memory, growth and ratios of times."""
    _matrix_free()
    _growth()
    _against_dense()


def _sample(n, d, labeled=None):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    if labeled is not None:
        y[labeled:] = np.nan
    return X, y


def _matrix_free() -> None:
    n, d = 5000, 20
    print(f"n = {n}, d = {d}, all labelled, Euclidean metric: {n * (d + 1):,} unknowns, by")
    print(f"conjugate gradients, mu = {PENALTIES['mu']:g}, alpha = {PENALTIES['alpha']:g}")
    options = {"solver": "cg", "metric": "euclidean", "random_state": 0, **PENALTIES}
    X, y = _sample(n, d)
    model = KernelLaplacianRegressor(**options)
    seconds = timed(partial(model.fit, X, y))[0]
    added = bytes_added(_PREPARE.format(options=options), "model.fit(X, y)", n)
    formula = 8.0 * (6.0 * n * d + 12.0 * n * (d + 1) + 2e7)
    matrix = 8.0 * (n * (d + 1.0)) ** 2
    print(f"{seconds:.0f} s, {model.n_iter_} iterations, residual", end=" ")
    print(f"{model.objective_history_[-2]:.1e}, {model.status_}; a fit adds {added / 1e9:.2f} GB,")
    print(f"{added / formula:.2f} of the formula; the matrix would have {matrix / 1e9:.0f} GB")


def _growth() -> None:
    print("\nd = 20, 500 centres, 1000 labelled rows, one run each")
    header = ("n", "mu, alpha", "ratio", "chosen", "ratio", "GB added")
    for metric in ("euclidean", "local"):
        print(f"metric = {metric}")
        print_row(*header, widths=WIDTHS)
        first = None
        for n in (25_000, 100_000):
            X, y = _sample(n, 20, labeled=1000)
            options = {**CENTERS, "metric": metric}
            models = (
                KernelLaplacianRegressor(**options, **PENALTIES),
                KernelLaplacianRegressor(**options),
            )
            seconds = [timed(partial(model.fit, X, y))[0] for model in models]
            first = first or seconds
            added = bytes_added(_PREPARE.format(options=options), "model.fit(X, y)", n)
            cells = [f"{seconds[0]:.1f} s", f"{seconds[0] / first[0]:.2f}"]
            cells += [f"{seconds[1]:.1f} s", f"{seconds[1] / first[1]:.2f}", f"{added / 1e9:.2f}"]
            print_row(n, *cells, widths=WIDTHS)
    print(f"(limit {NYSTROM_LIMIT / 1e9:.0f} GB)")


def _against_dense() -> None:
    n, d = 600, 10
    X, y = _sample(n, d)
    test_X, test_y = _sample(4000, d)
    test_X, test_y = test_X[n:], test_y[n:]
    print(f"\nn = {n}, d = {d}, all labelled, Euclidean metric, mu and alpha given, best of 3")
    print_row("", "seconds", "ratio", "test R2", "", "", widths=WIDTHS)
    reference = None
    for solver in ("exact", "cg", "nystrom", "random_features"):
        options = {**CENTERS, "solver": solver, "metric": "euclidean", **PENALTIES}
        model = KernelLaplacianRegressor(**options)
        n_runs = 1 if solver == "exact" else 3
        seconds = min(timed(partial(model.fit, X, y))[0] for _ in range(n_runs))
        reference = reference or seconds
        score = f"{model.score(test_X, test_y):.4f}"
        cells = (f"{seconds:.3f}", f"{reference / seconds:.0f}", score, "", "")
        print_row(solver, *cells, widths=WIDTHS)
