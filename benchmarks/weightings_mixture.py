"""Mixing solutions of several alphas, against the best alpha alone, on data the tables do not have.

The default ``mix_alphas=True`` was chosen by these sets, and so were the alphas that are mixed: the
best one, and one and two decades around it; one, three or four decades, or all, were worse on
average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.tables import data_folder, print_row, timed
from kernlens import RandomKitchenSinksRegressor, RKHSWeightingRegressor

SETS = ("housing", "autompg", "airfoil", "skillcraft", "elevators", "parkinsons", "pol", "sml")
#: Training rows; the rest, at most so many, is predicted.
SIZES, TEST_ROWS = (130, 330, 1000, 3000), 2000
WIDTHS = (12, 7, 12, 12, 12, 12, 12)
MODELS: dict[str, Callable[..., Any]] = {
    "default": RKHSWeightingRegressor,
    "sampled": lambda **given: RKHSWeightingRegressor(
        solver="least_squares", n_random_features=500, **given
    ),
    "sampled, L2": lambda **given: RKHSWeightingRegressor(
        solver="least_squares", n_random_features=500, penalty="l2", **given
    ),
    "kitchen": RandomKitchenSinksRegressor,
}


def run(repetitions: int = 4) -> None:
    """Print how mixing changes mean squared errors, in percent, and times, as a ratio."""
    print("squared error with mix_alphas=True over that with False, in percent; mean over splits")
    print(f"and weights 0 to {repetitions - 1}, half as many from 1000 rows on; time: ratio of all")
    print_row("", "rows", *MODELS, "time", widths=WIDTHS)
    means: dict[int, list[list[float]]] = {}
    for name, X, y in _load():
        for size in SIZES:
            if size + 60 > len(X):
                continue
            n_runs = repetitions if size < 1000 else max(repetitions // 2, 1)
            changes, times = zip(
                *(_compare(make, X, y, size, n_runs) for make in MODELS.values()), strict=True
            )
            means.setdefault(size, []).append(list(changes))
            seconds = np.sum(times, axis=0)
            cells = [f"{change:+.1f}" for change in changes]
            print_row(name, size, *cells, f"{seconds[1] / seconds[0]:.2f}", widths=WIDTHS)
    for size, rows in means.items():
        cells = [f"{change:+.1f}" for change in np.mean(rows, axis=0)]
        print_row("mean", size, *cells, "", widths=WIDTHS)


def _compare(make, X, y, size: int, n_runs: int) -> tuple[float, tuple[float, float]]:
    """Mean change of the error in percent, and seconds without and with mixing."""
    changes, seconds = [], np.zeros(2)
    for seed in range(n_runs):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:size], order[size : size + TEST_ROWS]
        errors = []
        for mixed in (False, True):
            model = make(mix_alphas=mixed, random_state=seed)
            spent, model = timed(lambda model=model, train=train: model.fit(X[train], y[train]))
            seconds[int(mixed)] += spent
            errors.append(float(np.square(model.predict(X[test]) - y[test]).mean()))
        changes.append(100.0 * np.log(errors[1] / errors[0]))
    return float(np.mean(changes)), (float(seconds[0]), float(seconds[1]))


def _load() -> Iterator[tuple[str, Any, Any]]:
    folder = data_folder()
    if folder is None:
        return
    for name in SETS:
        data = np.load(folder / f"{name}.npz", allow_pickle=False)
        yield name, data["X"].astype(float), data["y"].astype(float).ravel()
