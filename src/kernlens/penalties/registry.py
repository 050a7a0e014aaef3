"""Penalties by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kernlens.penalties.contract import Penalty
from kernlens.penalties.particles import (
    BasicPenalty,
    ConcaveFeaturePenalty,
    ConcaveVariablePenalty,
    FeaturePenalty,
    VariablePenalty,
)

#: Name of a penalty -> constructor taking ``s`` (ignored by the convex ones) and ``strength``.
PENALTIES: Mapping[str, Callable[[float, float], Penalty]] = MappingProxyType(
    {
        "basic": lambda s, strength: BasicPenalty(strength=strength),
        "basic_l1": lambda s, strength: BasicPenalty("l1", strength=strength),
        "variable": lambda s, strength: VariablePenalty(strength=strength),
        "feature": lambda s, strength: FeaturePenalty(strength=strength),
        "concave_variable": lambda s, strength: ConcaveVariablePenalty(s, strength=strength),
        "concave_feature": lambda s, strength: ConcaveFeaturePenalty(s, strength=strength),
    }
)


def make_penalty(name: str, *, s: float = 1.0, strength: float = 1.0) -> Penalty:
    """Return the penalty called ``name``.

    Parameters
    ----------
    name : str
        A key of :data:`PENALTIES`.
    s : float
        Concavity of the concave penalties; the convex ones ignore it.
    strength : float
        Factor in front of Omega.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens.penalties import make_penalty
    >>> W = np.array([[3.0, 0.1], [4.0, 0.0]])
    >>> make_penalty("variable").prox(W, step=np.sqrt(8.0))
    array([[2.4, 0. ],
           [3.2, 0. ]])
    """
    if name not in PENALTIES:
        raise ValueError(f"Unknown penalty {name!r}; choose one of {', '.join(PENALTIES)}.")
    return PENALTIES[name](s, strength)
