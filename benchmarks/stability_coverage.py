"""How often the intervals of SubspaceStability contain the entries of planted directions.

Intervals are those of the subspace, so that a planted basis of several directions is turned towards
the fitted one before its entries are looked up. All figures are shares of entries over data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.rivals import spent
from benchmarks.tables import print_row
from kernlens import PHD, SAVE, SIR, DirectionalRegression, RKHSWeightingRegressor
from kernlens.model_selection import SubspaceStability
from kernlens.model_selection.subspace_variation import aligned_with, orthonormal_rows

N_SETS, N_RESAMPLES, COVERAGE = 100, 50, 0.9
WIDTHS = (38, 12, 10, 12, 12, 12)
#: One direction, and two, of eight columns.
ONE = np.array([[2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
TWO = np.array([[1.0, 1.0, 0, 0, 0, 0, 0, 0], [0, 0, 1.0, -1.0, 1.0, 0, 0, 0]])


@dataclass(frozen=True)
class Planted:
    """A learner and a function of planted directions that it should see."""

    text: str
    learner: Any
    directions: np.ndarray
    function: Callable[[np.ndarray], np.ndarray]
    noise: float


def _cubic(z: np.ndarray) -> np.ndarray:
    return z[:, 0] + 0.3 * z[:, 0] ** 3


def _two(z: np.ndarray) -> np.ndarray:
    return z[:, 0] / (0.5 + (z[:, 1] + 1.5) ** 2)


def _square(z: np.ndarray) -> np.ndarray:
    return z[:, 0] ** 2


CASES = (
    Planted("SIR, a + .3 a^3", SIR(n_directions=1), ONE, _cubic, 0.5),
    Planted("SIR, a / (.5 + (b + 1.5)^2)", SIR(n_directions=2), TWO, _two, 0.2),
    Planted("SAVE, a^2", SAVE(n_directions=1), ONE, _square, 0.5),
    Planted(
        "directional regression, a^2", DirectionalRegression(n_directions=1), ONE, _square, 0.5
    ),
    Planted("PHD, a^2", PHD(n_directions=1), ONE, _square, 0.5),
    Planted(
        "RKHS weighting, a + .3 a^3",
        RKHSWeightingRegressor(n_directions=1, instantiation="relu", random_state=0, n_jobs=1),
        ONE,
        _cubic,
        0.5,
    ),
)


def run() -> None:
    """Print the shares, for rows 300 and both ways of resampling."""
    print(f"{N_SETS} data sets of 300 rows (seeds 0 to {N_SETS - 1}), {N_RESAMPLES} resamples,")
    print(f"{COVERAGE:.0%} intervals; wanted between 80 and 97 % of the entries")
    print_row("", "resamples", "all", "planted", "zeros", "CPU s", widths=WIDTHS)
    for case in CASES:
        for method in ("bootstrap", "folds"):
            seconds, shares = spent(lambda case=case, method=method: _coverage(case, method))
            cells = (f"{share:.1%}" for share in shares)
            print_row(case.text, method, *cells, f"{seconds:.1f}", widths=WIDTHS)


def _coverage(case: Planted, method: str) -> tuple[float, float, float]:
    """Share of entries inside their intervals: of all, of those planted, of those that are zero."""
    inside = []
    for seed in range(N_SETS):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((300, case.directions.shape[1]))
        truth = orthonormal_rows(case.directions)
        y = case.function(X @ truth.T) + case.noise * rng.standard_normal(300)
        stability = SubspaceStability(
            case.learner, method=method, n_resamples=N_RESAMPLES, coverage=COVERAGE,
            random_state=seed,
        ).fit(X, y)  # fmt: skip
        # Directions are orthonormal for the columns divided by their sample deviations.
        scaled = orthonormal_rows(truth * stability.estimator_.scale_)
        turned = aligned_with(stability.loadings_, scaled)
        low, high = stability.intervals_
        inside.append((low <= turned) & (turned <= high))
    found = np.array(inside)
    planted = np.broadcast_to((case.directions != 0.0).any(axis=0), found.shape)
    return found.mean(), found[planted].mean(), found[~planted].mean()
