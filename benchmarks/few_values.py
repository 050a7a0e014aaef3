"""Directions along a column of few values: MAVE, with and without an exchange, OPG and SIR."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.tables import print_row
from kernlens import MAVE, OPG, SIR
from kernlens.methods.sdr.minimum_variance import minimum_variance
from kernlens.metrics import feature_learning_score

N_ROWS, N_COLUMNS, N_SEEDS, NOISE = 200, 6, 5, 0.3
WIDTHS = (26, 11, 8, 8, 8, 18, 24)

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Values of the first column, directions, and the function of the first two columns.
CASES: dict[str, tuple[int, int, Function]] = {
    "two values": (2, 1, lambda a, b: a),
    "three values": (3, 1, lambda a, b: a),
    "two values + sin 2b": (2, 2, lambda a, b: a + np.sin(2.0 * b)),
    "two values x b": (2, 2, lambda a, b: a * b),
}


class WithoutExchange(MAVE):
    """Minimum average variance as in the paper."""

    def _refined(self, fit: Any, k: int) -> Any:
        return minimum_variance(fit.problem, fit.start.directions[:k])


def run() -> None:
    """Print mean feature learning scores, and the numbers that MAVE counts."""
    warnings.simplefilter("ignore", UserWarning)
    print(f"scores of {N_SEEDS} data sets of {N_ROWS} rows and {N_COLUMNS} columns")
    header = (
        "function",
        "directions",
        "SIR",
        "OPG",
        "MAVE",
        "without exchange",
        "counted by MAVE()",
    )
    print_row(*header, widths=WIDTHS)
    for text, case in CASES.items():
        _print_case(text, *case)


def _print_case(text: str, n_values: int, k: int, function: Function) -> None:
    found, counted = [], []
    for seed in range(N_SEEDS):
        X, y = _draw(seed, n_values, function)
        models = [kind(n_directions=k) for kind in (SIR, OPG, MAVE, WithoutExchange)]
        found.append([_score(model.fit(X, y), k) for model in models])
        counted.append(str(MAVE().fit(X, y).n_directions_))
    scores = [f"{score:.3f}" for score in np.mean(found, axis=0)]
    print_row(text, k, *scores, ", ".join(counted), widths=WIDTHS)


def _draw(seed: int, n_values: int, function: Function) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_ROWS, N_COLUMNS))
    X[:, 0] = rng.integers(0, n_values, N_ROWS)
    signal = function(X[:, 0], X[:, 1])
    return X, signal / signal.std() + NOISE * rng.standard_normal(N_ROWS)


def _score(model: Any, k: int) -> float:
    """Nothing for fewer directions than there are."""
    if model.n_directions_ < k:
        return 0.0
    return float(feature_learning_score(np.eye(N_COLUMNS)[:k], model.components_))
