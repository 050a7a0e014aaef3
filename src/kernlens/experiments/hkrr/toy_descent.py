"""VarPro and AGD on an objective of two variables, with the backtracking of this library.

Steps start at 0.02, halve while they fail and never grow. The outcome depends on that, as it must
have in the paper, which does not give its own: short steps follow the slopes and show what the
paper shows, while with first steps of 0.5 both methods jump over the barrier from (-1.5, -1.5).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernlens._array import FloatArray
from kernlens.datasets import ToyObjective
from kernlens.optim.backtracking import Step, StepRule, backtrack

RULE = StepRule(contraction=0.5, dilation=1.0, decrease=1e-4)
FIRST_STEP = 0.02
MAX_ITER = 400
#: The maxima of min_x f(x, y) beside its global minimum, and f there: from below, a descent in
#: short steps stays in its valley.
PASSES, PASS_VALUE = (-0.3162, 2.3162), 3.2782
#: The other minima.
LOCAL_MINIMA = (-0.5508, 2.5508)

Descent = Callable[[ToyObjective, tuple[float, float], float], FloatArray]


def varpro(toy: ToyObjective, start: tuple[float, float], stop_below: float = 0.0) -> FloatArray:
    """Points of Algorithm 3, the first one already with the best x."""
    y, size = start[1], FIRST_STEP
    x = float(toy.best_x(y))
    points = [(x, y)]
    for _ in range(MAX_ITER):
        step = _step_in_y(toy, x, y, size)
        if step is None or toy.value(x, y) < stop_below:
            break
        y, size = step.trial, step.size
        x = float(toy.best_x(y))
        points.append((x, y))
    return np.array(points)


def alternating(
    toy: ToyObjective, start: tuple[float, float], stop_below: float = 0.0
) -> FloatArray:
    """Points of Algorithm 4 with one step in x per step in y."""
    (x, y), size_x, size_y = start, FIRST_STEP, FIRST_STEP
    points = [(x, y)]
    for _ in range(MAX_ITER):
        step = _step_in_y(toy, x, y, size_y)
        if step is not None:
            y, size_y = step.trial, step.size
        inner = _step_in_x(toy, x, y, size_x)
        if inner is not None:
            x, size_x = inner.trial, inner.size
        points.append((x, y))
        if (step is None and inner is None) or toy.value(x, y) < stop_below:
            break
    return np.array(points)


def in_global_valley(path: FloatArray) -> bool:
    """Whether a descent ended in the valley of the global minimum."""
    return bool(PASSES[0] < path[-1, 1] < PASSES[1])


def _step_in_y(toy: ToyObjective, x: float, y: float, size: float) -> Step[float] | None:
    """One backtracked gradient step in y; None at a stationary point."""
    slope = float(toy.gradient(x, y)[1])

    def move(size: float) -> tuple[float, float, float]:
        trial = y - size * slope
        return trial, float(toy.value(x, trial)), (trial - y) ** 2

    return backtrack(move, float(toy.value(x, y)), size, RULE)


def _step_in_x(toy: ToyObjective, x: float, y: float, size: float) -> Step[float] | None:
    """One backtracked gradient step in x."""
    slope = float(toy.gradient(x, y)[0])

    def move(size: float) -> tuple[float, float, float]:
        trial = x - size * slope
        return trial, float(toy.value(trial, y)), (trial - x) ** 2

    return backtrack(move, float(toy.value(x, y)), size, RULE)
