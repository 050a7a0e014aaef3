"""Targets, labels and weights of many kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.arrays import Array
from fuzz.draws import Generator, chance, pick, pick_by

SIZES = (1e-320, 1e-200, 1e-100, 1e-10, 1e10, 1e99)


def signal(rng: Generator, X: Array, n_targets: int) -> Array:
    """Smooth functions of few directions of the ranks of the columns, with a little noise."""
    ranks = np.argsort(np.argsort(np.nan_to_num(X), axis=0, kind="stable"), axis=0)
    inputs = 4.0 * ranks / max(1, len(X) - 1) - 2.0
    directions = rng.standard_normal((X.shape[1], 2, n_targets)) / np.sqrt(X.shape[1])
    along = np.einsum("nd,dkt->nkt", inputs, directions)
    return (
        np.sin(2.0 * along[:, 0])
        + np.abs(along[:, 1])
        + 0.1 * rng.standard_normal((len(X), n_targets))
    )


NUMBERS: dict[str, tuple[float, Callable[[Generator, Array], Array]]] = {
    "smooth": (50, lambda rng, y: y),
    "noise": (10, lambda rng, y: rng.standard_normal(y.shape)),
    "constant": (4, lambda rng, y: np.full_like(y, pick(rng, (0.0, 1.0, -3.7, 1e50, 1e-320)))),
    "nearly constant": (5, lambda rng, y: 1.0 + pick(rng, (1e-8, 1e-13, 1e-16)) * y),
    "sized": (20, lambda rng, y: np.clip(y, -9.0, 9.0) * pick(rng, SIZES)),
    "heavy tails": (7, lambda rng, y: rng.standard_cauchy(y.shape) ** 3),
    "integers": (3, lambda rng, y: np.rint(2.0 * y)),
    "NaN, inf or too large": (
        1.5,
        lambda rng, y: np.where(
            np.arange(len(y))[:, None] == 0, pick(rng, (np.nan, np.inf, 1e150)), y
        ),
    ),
}


def draw_numbers(rng: Generator, X: Array, gaps: bool) -> tuple[Array, str]:
    """Targets (n,) or (n, k) and the word for their kind; with `gaps` some are missing."""
    n_targets = pick(rng, (1, 1, 1, 2, 3))
    kind = pick_by(rng, {name: share for name, (share, _) in NUMBERS.items()})
    y = NUMBERS[kind][1](rng, signal(rng, X, n_targets))
    if gaps and chance(rng, 0.3):
        y[rng.random(len(y)) < rng.random()] = np.nan
        kind += ", some missing"
    flat = n_targets == 1 and chance(rng, 0.9)
    return (y[:, 0].copy() if flat else y), kind


def _words(numbers: Array) -> Array:
    return np.array([f"class {'edcba'[i]}" for i in numbers])


LABELS: dict[str, tuple[float, Callable[[Array], Any]]] = {
    "strings": (3, _words),
    "objects": (1, lambda numbers: _words(numbers).astype(object)),
    "integers": (3, lambda numbers: numbers),
    "odd integers": (1, lambda numbers: 7 * numbers - 3),
    "signs": (1, lambda numbers: np.where(numbers > 0, 1, -1)),
    "booleans": (1, lambda numbers: numbers > 0),
    "whole floats": (1, lambda numbers: numbers.astype(float)),
}


def draw_labels(rng: Generator, X: Array, gaps: bool) -> tuple[Array, str]:
    """Labels (n,) and the word for their kind; with `gaps` some are -1, which means none."""
    n_classes = pick(rng, (2, 2, 2, 3, 4, 5))
    values = signal(rng, X, 1)[:, 0] if chance(rng, 0.7) else rng.standard_normal(len(X))
    numbers = np.searchsorted(np.quantile(values, np.arange(1, n_classes) / n_classes), values)
    kind = pick_by(rng, {name: share for name, (share, _) in LABELS.items()})
    if chance(rng, 0.04):
        numbers[:] = 0
        kind += ", one class"
    elif chance(rng, 0.1):
        numbers[numbers == n_classes - 1] = 0
        numbers[int(rng.integers(len(X)))] = n_classes - 1
        kind += ", a class of one row"
    y = LABELS[kind.split(",")[0]][1](numbers)
    if gaps and y.dtype.kind == "i" and chance(rng, 0.3):
        y[rng.random(len(y)) < rng.random()] = -1
        kind += ", some missing"
    return y, kind


def _all_but_two(rng: Generator, n: int) -> Array:
    weights = np.zeros(n)
    weights[rng.integers(n, size=2)] = 1.0
    return weights


def _one_light(rng: Generator, n: int) -> Array:
    weights = np.ones(n)
    weights[rng.integers(n)] = pick(rng, (5e-324, 1e-250, 1e-30, 1e-8))
    return weights


WEIGHTS: dict[str, tuple[float, Callable[[Generator, int], Array | None]]] = {
    "none": (45, lambda rng, n: None),
    "ones": (5, lambda rng, n: np.ones(n)),
    "integers with zeros": (10, lambda rng, n: rng.integers(0, 4, n).astype(float)),
    "uniform": (8, lambda rng, n: rng.random(n)),
    "of 1e-4": (2, lambda rng, n: np.full(n, 1e-4)),
    "of 1e-300": (2, lambda rng, n: np.full(n, 1e-300)),
    "of 5e-324": (2, lambda rng, n: np.full(n, 5e-324)),
    "of 1e90": (2, lambda rng, n: np.full(n, 1e90)),
    "10^U(-8,8)": (6, lambda rng, n: 10.0 ** rng.uniform(-8, 8, n)),
    "10^U(-250,90)": (4, lambda rng, n: 10.0 ** rng.uniform(-250, 90, n)),
    "one light row": (4, _one_light),
    "all but two zero": (3, _all_but_two),
    "all zero": (1, lambda rng, n: np.zeros(n)),
    "one negative": (1, lambda rng, n: np.where(np.arange(n) == 0, -1.0, 1.0)),
}


def draw_weights(rng: Generator, y: Array | None, n_rows: int) -> tuple[Array | None, str]:
    """Weights (n,) or None and the word for their kind; of labels, a class may have none."""
    if y is not None and y.dtype.kind in "USObi" and chance(rng, 0.05):
        return np.where(y == y[0], 0.0, 1.0), "a class of weight zero"
    kind = pick_by(rng, {name: share for name, (share, _) in WEIGHTS.items()})
    return WEIGHTS[kind][1](rng, n_rows), kind
