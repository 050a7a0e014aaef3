"""Rows held out of a search, and the loss of predictions on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.losses import Loss

#: Lowest and highest decision value of every target, (n_targets,) each.
Bounds = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Split:
    """Rows to learn from, rows to score on, and the centres among the first."""

    train: CanonicalRows
    test: CanonicalRows
    Z: FloatArray


def held_out_loss(
    loss: Loss, test: CanonicalRows, decision: FloatArray, bounds: Bounds | None
) -> float:
    """Weighted mean loss of clipped decision values on `test`."""
    clipped = clip_decision(decision, bounds)
    return float(np.average(loss.values(test.y, clipped), weights=test.weights))


def clip_decision(decision: FloatArray, bounds: Bounds | None) -> FloatArray:
    """Keep decision values (n_targets, n_samples) within the bounds of every target."""
    if bounds is None:
        return decision
    low, high = bounds
    return np.clip(decision, low[:, None], high[:, None])
