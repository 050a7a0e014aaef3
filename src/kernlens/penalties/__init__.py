"""Penalties on the particles, with their exact proximal operators.

A penalty is a *grouping* of the matrix of particles into magnitudes (entries, particles,
variables, singular values) times a *scalar penalty* of each magnitude (absolute value, logarithm).
"""

from __future__ import annotations

from kernlens._public import expose
from kernlens.penalties.contract import Penalty
from kernlens.penalties.log_threshold import log_penalty, log_threshold
from kernlens.penalties.particles import (
    BasicPenalty,
    ConcaveFeaturePenalty,
    ConcaveVariablePenalty,
    FeaturePenalty,
    VariablePenalty,
)
from kernlens.penalties.registry import PENALTIES, make_penalty

__all__ = [
    "PENALTIES",
    "BasicPenalty",
    "ConcaveFeaturePenalty",
    "ConcaveVariablePenalty",
    "FeaturePenalty",
    "Penalty",
    "VariablePenalty",
    "log_penalty",
    "log_threshold",
    "make_penalty",
]

expose(__name__, __all__, globals())
