"""MARS beside the textbook, which solves least squares afresh for every knot, and mars-earth.

Friedman's function of five columns among d, with noise of standard deviation 1, one core, seconds
of CPU: the best of three fits of ours as it comes, and one fit of the others. The textbook is the
oracle of the tests, with the same spans of knots, and without the queue of parents. R2 is that of
5000 new rows. mars-earth is no dependency of kernlens; it tries every row as a knot, so that it is
only shown up to 500 rows.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score

from benchmarks.rivals import ours, spent, warm_up
from benchmarks.tables import print_row

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from reference import mars

#: Rows, columns, degree.
SIZES = ((200, 5, 1), (500, 10, 1), (500, 10, 2), (1000, 10, 2), (1000, 20, 1), (2000, 10, 1))
#: Those that only ours is fitted to.
LARGE = ((10_000, 10, 2), (100_000, 10, 2))
N_TEST = 5000
MOST_ROWS_OF_MARS_EARTH = 500
WIDTHS = (20, 9, 10, 8, 12, 8, 8, 10, 12)


def run() -> None:
    """Print a row of seconds, ratios and R2 for every size."""
    known = importlib.util.find_spec("pymars") is not None
    if not known:
        print("mars-earth is not installed; its columns stay empty")
    warm_up(("MARS",), False)
    heads = ("ours s", "textbook", "ratio", "mars-earth", "ratio", "R2", "textbook", "mars-earth")
    print_row("rows columns degree", *heads, widths=WIDTHS)
    for size in SIZES:
        _print_size(*size, textbook=True, mars_earth=known and size[0] <= MOST_ROWS_OF_MARS_EARTH)
    for size in LARGE:
        _print_size(*size, textbook=False, mars_earth=False)


def _print_size(n: int, d: int, degree: int, *, textbook: bool, mars_earth: bool) -> None:
    X, y = make_friedman1(n + N_TEST, n_features=d, noise=1.0, random_state=0)
    train, test = (X[:n], y[:n]), (X[n:], y[n:])
    fits = [spent(lambda: ours("MARS", False, degree=degree).fit(*train)) for _ in range(3)]
    seconds = min(time for time, _ in fits)
    scores = [f"{fits[0][1].score(*test):.4f}"]
    cells = [f"{seconds:.4f}"]
    rivals: list[tuple[bool, Callable[..., Any]]] = [(textbook, _textbook), (mars_earth, _rival)]
    for wanted, fit in rivals:
        if not wanted:
            cells += ["", ""]
            scores.append("")
            continue
        taken, predict = spent(lambda fit=fit: fit(*train, degree))
        cells += [f"{taken:.2f}", f"{taken / seconds:.0f}"]
        scores.append(f"{r2_score(test[1], predict(test[0])):.4f}")
    print_row(f"{n:>6} {d:>4} {degree:>4}", *cells, *scores, widths=WIDTHS)
    sys.stdout.flush()


def _textbook(X: Any, y: Any, degree: int) -> Callable[[Any], Any]:
    mean, scale = X.mean(axis=0), X.std(axis=0)
    Z, weights = (X - mean) / scale, np.ones(len(X))
    penalty = 2.0 if degree == 1 else 3.0
    terms, coef, _ = mars.fit(Z, y[None], weights, penalty, degree=degree)
    return lambda new: mars.basis((new - mean) / scale, terms) @ coef[:, 0]


def _rival(X: Any, y: Any, degree: int) -> Callable[[Any], Any]:
    from pymars._sklearn_compat import EarthRegressor

    predict: Callable[[Any], Any] = EarthRegressor(max_degree=degree).fit(X, y).predict
    return predict
