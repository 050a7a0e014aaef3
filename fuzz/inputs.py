"""Matrices X of many kinds, and rows to predict."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzz.arrays import Array
from fuzz.draws import Generator, chance, pick, pick_by


def draw_shape(rng: Generator) -> tuple[int, int]:
    """Numbers of rows and columns: mostly few of both, sometimes more columns than rows."""
    if chance(rng, 0.08):
        n_rows = int(rng.integers(1, 5))
    else:
        n_rows = int(rng.integers(5, 41)) if chance(rng, 0.88) else int(rng.integers(41, 61))
    if chance(rng, 0.9):
        return n_rows, int(rng.integers(1, 9))
    return n_rows, 30 if chance(rng, 0.5) else int(rng.integers(n_rows + 1, n_rows + 8))


def _rare(rng: Generator, X: Array) -> Array:
    X[:, 0] = 0.0
    X[rng.integers(len(X)), 0] = 1.0
    return X


def _constant(rng: Generator, X: Array) -> Array:
    X[:, rng.random(X.shape[1]) < 0.5] = pick(rng, (0.0, 1.0, -7.3, 1e10, 1e-300))
    return X


def _duplicated(rng: Generator, X: Array) -> Array:
    X[:, -1] = X[:, 0]
    return X


def _collinear(rng: Generator, X: Array) -> Array:
    X[:, -1] = X[:, 0] + pick(rng, (1e-3, 1e-8, 1e-14)) * X[:, -1]
    return X


def _outlier(rng: Generator, X: Array) -> Array:
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = pick(rng, (1e3, -1e6, 1e12, 1e50, 1e99))
    return X


def _hole(rng: Generator, X: Array) -> Array:
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = pick(rng, (np.nan, np.inf, -np.inf))
    return X


def _repeated(rng: Generator, X: Array) -> Array:
    return X[rng.integers(max(1, len(X) // 3), size=len(X))]


def _sized(size: float) -> Callable[[Generator, Array], Array]:
    return lambda rng, X: X * size


KINDS: dict[str, tuple[float, Callable[[Generator, Array], Array]]] = {
    "normal": (30, lambda rng, X: X),
    "cauchy": (6, lambda rng, X: rng.standard_cauchy(X.shape)),
    "integers": (5, lambda rng, X: rng.integers(-5, 6, X.shape).astype(float)),
    "lattice": (5, lambda rng, X: rng.integers(0, 3, X.shape) / 2.0),
    "repeated rows": (5, _repeated),
    "constant columns": (5, _constant),
    "duplicated column": (4, _duplicated),
    "collinear columns": (4, _collinear),
    "rare dummy": (5, _rare),
    "sizes by column": (6, lambda rng, X: X * 10.0 ** rng.uniform(-12, 12, X.shape[1])),
    "far from zero": (3, lambda rng, X: X + pick(rng, (1e3, 1e8, 1e15))),
    "of 1e-300": (3, _sized(1e-300)),
    "of 1e-310": (3, _sized(1e-310)),
    "of 1e-150": (1, _sized(1e-150)),
    "of 1e90": (3, _sized(1e90)),
    "of 1e99": (2, lambda rng, X: np.clip(X, -9.0, 9.0) * 1e99),
    "of 1e150": (1, _sized(1e150)),
    "far outlier": (5, _outlier),
    "all rows equal": (2, lambda rng, X: np.repeat(X[:1], len(X), axis=0)),
    "NaN or inf": (1.5, _hole),
}


def draw_inputs(rng: Generator, n_rows: int, n_columns: int) -> tuple[Array, str]:
    """A matrix and the word for its kind."""
    kind = pick_by(rng, {name: share for name, (share, _) in KINDS.items()})
    return KINDS[kind][1](rng, rng.standard_normal((n_rows, n_columns))), kind


#: Sizes of rows to predict.
FAR = (1e3, 1e10, 1e50, 1e150, 1e300, 1.7e308)


def draw_rows(rng: Generator, X: Array) -> Array:
    """Rows to predict: some of training, of their law, of zeros, and far ones of both signs."""
    known = np.where(np.isfinite(X), X, 0.0)
    seen = known[rng.integers(len(known), size=2)]
    mixed = np.take_along_axis(known, rng.integers(len(known), size=(2, known.shape[1])), axis=0)
    rows = [seen, mixed, np.zeros((1, X.shape[1]))]
    if chance(rng, 0.6):
        rows.append(_far_rows(rng, mixed))
    return np.concatenate(rows)[rng.permutation(sum(map(len, rows)))]


def _far_rows(rng: Generator, ordinary: Array) -> Array:
    sizes = rng.choice(FAR, size=(len(ordinary), 1))
    far = sizes * rng.choice([-1.0, 1.0], size=ordinary.shape)
    return np.where(rng.random(ordinary.shape) < 0.3, ordinary, far)
