"""Small draws that several files use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

Thing = TypeVar("Thing")
Generator = np.random.Generator

#: Numbers at the edges of double precision, and of what methods can tell from zero.
EXTREMES = (1e-320, 1e-300, 1e-200, 1e-100, 1e-30, 1e-15, 1e15, 1e30, 1e100, 1e200, 1e300)
#: Counts that no machine can do one by one.
HUGE_COUNTS = (10**9, 10**12, 10**18, 10**30)


def pick(rng: Generator, things: Sequence[Thing]) -> Thing:
    """One of some things, all equally likely."""
    return things[int(rng.integers(len(things)))]


def pick_by(rng: Generator, shares: Mapping[str, float]) -> str:
    """One of some words, as likely as their share."""
    weights = np.array(list(shares.values()), dtype=float)
    return list(shares)[int(rng.choice(len(weights), p=weights / weights.sum()))]


def chance(rng: Generator, probability: float) -> bool:
    """True with some probability."""
    return bool(rng.random() < probability)


def power(rng: Generator, low: float, high: float) -> float:
    """Ten to a uniform power."""
    return float(10.0 ** rng.uniform(low, high))


def positive(rng: Generator, wild: bool) -> float:
    """A positive number: of ordinary size, or from all of double precision."""
    if not wild:
        return float(f"{power(rng, -4.0, 2.0):.3g}")
    return pick(rng, EXTREMES) if chance(rng, 0.5) else power(rng, -300.0, 300.0)


def count(rng: Generator, least: int, most: int, wild: bool) -> int:
    """A count between two others, or a huge one."""
    if wild and chance(rng, 0.5):
        return pick(rng, HUGE_COUNTS)
    return int(rng.integers(least, most + 1))
