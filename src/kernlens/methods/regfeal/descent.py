"""Minimise J over the directions: reweighting, lengthened where that pays, and turning.

Reweighting (Algorithm 1) takes the best Lambda for the function at hand. It never increases J, but
its steps are short, and a direction that the function does not use cannot enter. So steps go beyond
the reweighted point while that lowers J, and between them the directions are turned down the
gradient of J, which sees the whole space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.objective import HermiteObjective, HermitePoint
from kernlens.optim.lbfgs import Progress

#: A step beyond the reweighted point is lengthened by this factor after every success.
LENGTHEN = 1.7
LONGEST = 100.0
#: First turn, and longest one, as norms of the change of R. Every turn begins with twice the length
#: of the one before.
FIRST_TURN = 0.3
LONGEST_TURN = 0.7
SHORTEST_TURN = 1e-6
#: A turn must promise at least this part of the decrease that the descent stops at.
LEAST_PROMISE = 0.1
#: A turn that was too long is shortened to the minimum of a parabola, within these factors.
SHORTEN = (0.05, 0.5)
#: Shares below this part of an even one are dropped: their directions are out of use.
DROP = 1e-4
#: eps relative to the mean of M_f's diagonal at the start.
SMOOTHING = 1e-10


@dataclass(frozen=True)
class DescentRule:
    """How J is minimised.

    Attributes
    ----------
    rotate : bool
        False for variable selection: no turning, and M_f is used through its diagonal.
    lengthen : bool
        Whether steps may go beyond the reweighted point.
    turns : int
        Turning steps after every reweighting.
    max_iter : int
        Reweightings.
    tol : float
        Relative decrease of J at which the descent stops.
    monotone : bool
        False for sampled indices, with which J is another function at every step.
    """

    rotate: bool = True
    lengthen: bool = True
    turns: int = 2
    max_iter: int = 50
    tol: float = 1e-5
    monotone: bool = True


def descend(
    objective: HermiteObjective,
    start: WeightedDirections,
    rule: DescentRule,
    *,
    progress: Progress | None = None,
    watch: Callable[[HermitePoint], None] | None = None,
) -> SolveResult:
    """Minimise J from `start`; the solution is the HermitePoint of the lowest J.

    Parameters
    ----------
    objective : HermiteObjective
        Its smoothing is set anew from the first fit.
    start : WeightedDirections
    rule : DescentRule
    progress : callable or None
        Called with the iteration and J.
    watch : callable or None
        Called with every point that is kept.
    """
    point = objective.at(start)
    size = float(np.mean(np.diag(point.derivatives[0]))) if rule.max_iter else 0.0
    # M_f of a function that is nearly constant is rounding, of either sign.
    size = max(size, 0.0)
    objective = replace(objective, smoothing=SMOOTHING * size)
    history = [point.value]
    if watch is not None:
        watch(point)
    steps = _Steps(objective, rule)
    status = Status.CONVERGED
    if rule.max_iter:
        # What is sampled anew at every step does not settle.
        status = Status.MAX_ITER if rule.monotone else Status.ALL_STEPS
    for iteration in range(1, rule.max_iter + 1):
        before, plain = point.value, steps.factor == 1.0
        point = steps.reweight(point)
        if rule.rotate:
            point = steps.turn(point)
        history.append(point.value)
        if watch is not None:
            watch(point)
        if progress is not None:
            progress(iteration, point.value)
        if rule.monotone and before - point.value <= rule.tol * abs(before):
            # A step that was too long says little: one more, to the reweighted point itself.
            if plain or steps.factor == 1.0:
                status = Status.CONVERGED
                break
            steps.factor = 1.0
    return SolveResult(point, status, len(history) - 1, tuple(history))


class _Steps:
    """Steps with what they remember of the ones before."""

    def __init__(self, objective: HermiteObjective, rule: DescentRule) -> None:
        self.objective = objective
        self.rule = rule
        self.factor = 1.0
        self._length = FIRST_TURN
        self._last: tuple[FloatArray, FloatArray] | None = None

    def reweight(self, point: HermitePoint) -> HermitePoint:
        """To the reweighted directions, or beyond them if J is lower there."""
        here = point.directions
        M, _ = point.derivatives
        target = here.reweighted(M, self.objective.smoothing, rotate=self.rule.rotate)
        if self.factor > 1.0:
            far = self.objective.at(self._in_use(here.beyond(target, self.factor)), start=point)
            if far.value < point.value:
                self._lengthen()
                return far
            self.factor = 1.0
        reached = self.objective.at(self._in_use(target), start=point)
        # Rounding and the quadrature may spoil a decrease that is smaller than they are.
        if self.rule.monotone and reached.value > point.value:
            return point
        self._lengthen()
        return reached

    def _lengthen(self) -> None:
        if self.rule.lengthen:
            self.factor = min(LENGTHEN * self.factor, LONGEST)

    def _in_use(self, directions: WeightedDirections) -> WeightedDirections:
        return directions.without_small(DROP / len(directions.R))

    def turn(self, point: HermitePoint) -> HermitePoint:
        """Turn the directions down the gradient, with step lengths of Barzilai and Borwein."""
        self._last = None
        for _ in range(self.rule.turns):
            turned = self._turn_once(point)
            if turned is None:
                break
            point = turned
        return point

    def _turn_once(self, point: HermitePoint) -> HermitePoint | None:
        R = point.directions.R
        _, gradient = point.derivatives
        inner = R.T @ gradient
        tangent = gradient - R @ (0.5 * (inner + inner.T))
        size = float(np.linalg.norm(tangent))
        if not size > 0.0:
            return None
        step = self._length / size
        if self._last is not None:
            moved, changed = R - self._last[0], tangent - self._last[1]
            curvature = abs(float(np.vdot(moved, changed)))
            if curvature > 0.0:
                step = min(float(np.vdot(moved, moved)) / curvature, LONGEST_TURN / size)
        self._last = R, tangent
        least = LEAST_PROMISE * self.rule.tol * abs(point.value)
        while step * size > SHORTEST_TURN and step * size**2 > least:
            turned = self.objective.at(point.directions.turned(-step * tangent), start=point)
            promised = step * size**2
            if turned.value <= point.value - 1e-4 * promised:
                self._length = min(2.0 * step * size, LONGEST_TURN)
                return turned
            bend = (turned.value - point.value + promised) / promised
            step *= float(np.clip(0.5 / bend, *SHORTEN))
        self._length = max(step * size, SHORTEST_TURN)
        return None
