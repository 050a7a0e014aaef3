"""Short searches and few iterations: what a case has in place of costly defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuzz.draws import Generator, chance, pick, power
from kernlens._parameters import Kind, Listed, Or

Draw = Callable[[Generator], Any]


def _between(low: int, high: int) -> Draw:
    return lambda rng: int(rng.integers(low, high + 1))


def _one_of(*values: Any) -> Draw:
    return lambda rng: pick(rng, values)


def _alpha(rng: Generator) -> float:
    return float(f"{power(rng, -5.0, 0.0):.3g}")


def _takes_lists(kind: Kind) -> bool:
    return isinstance(kind, Listed) or (isinstance(kind, Or) and _takes_lists(kind.kind))


#: By the name of a parameter, of whatever family.
QUICK: dict[str, Draw] = {
    "alpha": _alpha,
    "base": _one_of("relu", "sign", "stumps"),
    "centers": _between(1, 30),
    "correlation": _one_of(0.1, 0.5, 0.9, [0.2, 0.8]),
    "init": _one_of(1, 2),
    "instantiation": _one_of("relu", "sign", "stumps", "exp_relu", "exp_sign"),
    "max_iter": _between(1, 10),
    "mu": _one_of(0.0, 1e-3, 0.1, [0.01, 0.1]),
    "n_centers": _between(1, 40),
    "n_clusters": _between(2, 4),
    "n_components": _between(1, 4),
    "n_folds": _one_of(2),
    "n_init": _one_of(1, 2),
    "n_jobs": _one_of(1),
    "n_particles": _between(1, 12),
    "n_permutations": _between(1, 20),
    "n_random_features": _between(1, 60),
    "n_updates": _between(0, 3),
    "random_state": _between(0, 3),
    "refit": _one_of(None, None, None, "kernel"),
    "time_budget": _one_of(0.01),
    "rho": _one_of(0.1, 0.3, 0.7, [0.2, 0.4]),
    "width": _one_of(1.0, 3.0, 10.0, [1.0, 10.0]),
}
#: Words of these start with a first guess of their own, not with a number.
WORDED_INIT = ("BKerNN", "RegFeaL")
#: Counts of steps that are all done if they are asked for: they are never huge.
STEPS = {"max_iter": 40, "n_init": 5, "n_folds": 6, "n_updates": 20, "n_permutations": 40}
#: Seconds that a fit may be told to take: those of the default are as many as a case has.
SECONDS = 0.5


def quick_value(family: str, name: str, kind: Kind, rng: Generator) -> Any:
    """A cheap value, or None if the default is as cheap."""
    if name not in QUICK or (name == "init" and family in WORDED_INIT):
        return None
    if name == "refit" and family == "HKRR":
        return pick(rng, (10, 30, None, "exact"))
    value = QUICK[name](rng)
    if name == "alpha" and _takes_lists(kind) and chance(rng, 0.15):
        return [value, 0.1 * value]
    return value


def bounded(name: str, value: Any) -> Any:
    """A drawn value, with counts of steps and seconds kept low."""
    if name == "time_budget" and isinstance(value, float):
        return min(value, SECONDS)
    most = STEPS.get(name)
    if most is None or not isinstance(value, int) or isinstance(value, bool):
        return value
    return min(value, most)
