"""Step sizes by backtracking, as HKRR's Algorithms 3 and 4 choose them, with the test corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from kernlens._validation import check_between, check_positive

Trial = TypeVar("Trial")

MAX_BACKTRACKS = 60


@dataclass(frozen=True)
class StepRule:
    """Constants of the non-monotone backtracking.

    Attributes
    ----------
    contraction : float, default=0.5
        rho in (0, 1): a step that fails is multiplied by it.
    dilation : float, default=0.5
        delta in (0, 1]: every search starts from the last step divided by it, 1 for steps that
        never grow.
    decrease : float, default=1e-4
        c > 0: how much of the squared move, over the step, the objective must gain.
    largest : float, default=inf
        s_max > 0: no step is longer.
    """

    contraction: float = 0.5
    dilation: float = 0.5
    decrease: float = 1e-4
    largest: float = np.inf

    def __post_init__(self) -> None:
        check_between("contraction", self.contraction, 0.0, 1.0)
        if self.dilation != 1.0:
            check_between("dilation", self.dilation, 0.0, 1.0, "; or 1 for steps that never grow")
        check_positive("decrease", self.decrease)
        if self.largest != np.inf:
            check_positive("largest", self.largest, other="infinity")


@dataclass(frozen=True)
class Step(Generic[Trial]):
    """An accepted trial, with its step size and how far it moved."""

    trial: Trial
    size: float
    square_move: float


def backtrack(
    move: Callable[[float], tuple[Trial, float, float]],
    value: float,
    size: float,
    rule: StepRule,
) -> Step[Trial] | None:
    """Shrink the step until the objective has decreased enough; None if it never does.

    The test is ``F(x+) <= F(x) - (c / s) |x+ - x|^2``. The paper prints ``F(x+) - F(x) <
    -c s |grad F(x)|^2``, which no step satisfies at a stationary point of the constrained problem
    (there x+ = x): the printed loop would not end. For an unconstrained step both agree.

    Parameters
    ----------
    move : callable
        ``size -> (trial, F(trial), |trial - x|^2)``.
    value : float
        F(x).
    size : float
        The last accepted step size.
    rule : StepRule
    """
    # F is known to about its rounding; a gain missed by less counts.
    slack = 4.0 * np.finfo(np.float64).eps * abs(value)
    size = min(size / (rule.contraction * rule.dilation), rule.largest / rule.contraction)
    for _ in range(MAX_BACKTRACKS):
        size *= rule.contraction
        if size == 0.0:
            # Where gradients are huge the steps that might do are below all numbers.
            return None
        trial, trial_value, square_move = move(size)
        if trial_value <= value - (rule.decrease / size) * square_move + slack:
            return Step(trial, size, square_move)
    return None
