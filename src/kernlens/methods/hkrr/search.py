"""Choice of HKRR's number of components and alpha on held-out rows, maps reused along the way.

Every split follows decreasing values of alpha, each started from the map of the one before. A
strong penalty on the function leaves only the directions that matter; as it weakens they stay, and
local minima that a direct start would fall into are avoided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.base.search import SearchRecord
from kernlens.fits.held_out import Bounds, Split, clip_decision
from kernlens.methods.hkrr.objective import HyperKernelPoint
from kernlens.methods.hkrr.problem import HyperKernelProblem
from kernlens.methods.hkrr.starts import gradient_outer_product
from kernlens.methods.hkrr.varpro import Watch
from kernlens.optim.lbfgs import Progress
from kernlens.subspace import directions_of_map, reduce_map

#: Relative decrease at which the iterations at one alpha of a path end.
STEP_TOL = 1e-4
#: A path ends after this many alphas in a row that gain less than this share over the best before.
PATIENCE = 2
GAIN = 0.01
#: Standard errors that a setting may be worse than the best one and still be as good.
AS_GOOD = 1.0
#: A direction counts if the function varies along it at least this much, as a share.
SHARE = 0.02


@dataclass(frozen=True)
class Visited:
    """One setting, with the map it led to on every split and the mean held-out loss.

    Attributes
    ----------
    n_components : int
    alpha : float
    loss : float
    maps : tuple of ndarray of shape (n_components, n_inputs)
    attempt : int
        How many times the search had been started again.
    row_losses : ndarray of shape (n_held_out,)
        The losses of all held-out rows, split by split.
    """

    n_components: int
    alpha: float
    loss: float
    maps: tuple[FloatArray, ...]
    attempt: int = 0
    row_losses: FloatArray = field(default_factory=lambda: np.zeros(0))

    def is_as_good_as(self, best: Visited, weights: FloatArray) -> bool:
        """Whether held-out rows, of these weights, can hardly tell it from a better setting."""
        worse = self.row_losses - best.row_losses
        shares = weights / weights.sum()
        mean = float(worse @ shares)
        return mean <= AS_GOOD * float(np.linalg.norm(shares * (worse - mean)))


@dataclass
class SettingSearch:
    """Paths over alpha for several numbers of components.

    Attributes
    ----------
    problem : HyperKernelProblem
    splits : sequence of Split
    alphas : sequence of float
        Tried from large to small.
    bounds : tuple of ndarray of shape (n_targets,), or None
        Lowest and highest decision values, to which what is scored is clipped (the paper's T_M).
    progress, watch : callable or None
        The callback of iterations, and alpha -> callback of evaluated points.
    floor : float
        A held-out loss that is as good as none, and ends a path.
    visited : list of Visited
        Everything tried so far.
    attempt : int
        How many times the search has been started again.
    """

    problem: HyperKernelProblem
    splits: Sequence[Split]
    alphas: Sequence[float]
    bounds: Bounds | None = None
    progress: Progress | None = None
    watch: Callable[[float], Watch] | None = None
    floor: float = 0.0
    visited: list[Visited] = field(default_factory=list, init=False)
    attempt: int = field(default=0, init=False)

    def follow(self, starts: Sequence[FloatArray], alphas: Sequence[float] | None = None) -> None:
        """Go down the alphas from one map per split, until predictions stop improving."""
        maps = tuple(starts)
        lowest, worse = np.inf, 0
        for alpha in self.alphas if alphas is None else alphas:
            ends = [self._step(split, B, alpha) for split, B in zip(self.splits, maps, strict=True)]
            maps = tuple(end.W for end in ends)
            losses = [
                row_losses(self.problem, end, split.test, self.bounds)
                for end, split in zip(ends, self.splits, strict=True)
            ]
            loss = float(np.mean([self._mean(k, of_rows) for k, of_rows in enumerate(losses)]))
            rows = np.concatenate(losses)
            self.visited.append(Visited(len(maps[0]), alpha, loss, maps, self.attempt, rows))
            worse = worse + 1 if loss >= (1.0 - GAIN) * lowest else 0
            lowest = min(lowest, loss)
            if worse == PATIENCE or loss < self.floor:
                return

    def _mean(self, k: int, losses: FloatArray) -> float:
        return float(np.average(losses, weights=self.splits[k].test.weights))

    def smoothest(self, eligible: Sequence[Visited]) -> Visited:
        """Of the settings that held-out rows can hardly tell from the best, the largest alpha."""
        best = min(eligible, key=lambda setting: setting.loss)
        weights = np.concatenate([split.test.weights for split in self.splits])
        as_good = [tried for tried in eligible if tried.is_as_good_as(best, weights)]
        return min(as_good, key=lambda setting: (-setting.alpha, setting.loss))

    def settle(self, starts: Sequence[FloatArray]) -> Visited:
        """Learn at the largest alpha from several maps; every split gets the one that fits it best.

        Local minima are decided here: the starts go round the splits, each split is learned from
        at least one of them, and takes over a map of another where that has a lower objective.
        What a strongly penalised map of another split knows of held-out rows is negligible.
        """
        alpha = self.alphas[0]
        n_splits = len(self.splits)
        ends = [
            self._step(self.splits[k % n_splits], starts[k % len(starts)], alpha).W
            for k in range(max(n_splits, len(starts)))
        ]
        maps = []
        for split in self.splits:
            objective = self.problem.objective(split.train, split.Z, alpha)
            points = objective.compared(ends)
            lowest = min(points, key=lambda point: self.problem.value(objective, point))
            maps.append(lowest.W)
        return Visited(len(maps[0]), alpha, np.nan, tuple(maps))

    @property
    def best(self) -> Visited:
        """The setting with the lowest held-out loss; of equal ones the first."""
        return min(self.visited, key=lambda setting: setting.loss)

    def record(self, chosen: Visited, eligible: Sequence[Visited]) -> SearchRecord:
        """What could be chosen, with the number of the attempt only if there were several.

        Alphas on the way to a given one are not among them.
        """
        names = ["n_components", "alpha"] + ["attempt"] * (self.attempt > 0)
        return SearchRecord(
            {name: np.array([getattr(tried, name) for tried in eligible]) for name in names},
            np.array([tried.loss for tried in eligible]),
            next(k for k, tried in enumerate(eligible) if tried is chosen),
        )

    def narrowed(self, setting: Visited, n_components: int) -> list[FloatArray]:
        """Maps of `setting` reduced to the directions that matter most, one per split."""
        return [
            reduce_map(B, directions[:n_components])
            for B, (_, directions) in zip(setting.maps, self._strengths(setting), strict=True)
        ]

    def n_directions(self, setting: Visited) -> int:
        """Number of directions that a function of `setting` varies along by at least SHARE."""
        shares = [slopes / (slopes.sum() or 1.0) for slopes, _ in self._strengths(setting)]
        return max(1, int(np.sum(np.mean(shares, axis=0) >= SHARE)))

    def _strengths(self, setting: Visited) -> list[tuple[FloatArray, FloatArray]]:
        points = [
            self.problem.objective(split.train, split.Z, setting.alpha).at(B)
            for split, B in zip(self.splits, setting.maps, strict=True)
        ]
        return [
            direction_strengths(point, split.train.weights)
            for point, split in zip(points, self.splits, strict=True)
        ]

    def _step(self, split: Split, B: FloatArray, alpha: float) -> HyperKernelPoint:
        objective = self.problem.objective(split.train, split.Z, alpha)
        result = self.problem.minimize(
            objective,
            objective.at(B),
            max_iter=self.problem.optimizer.search_iter,
            tol=STEP_TOL,
            progress=self.progress,
            watch=None if self.watch is None else self.watch(alpha),
        )
        point: HyperKernelPoint = result.solution
        return point


def score_point(
    problem: HyperKernelProblem,
    point: HyperKernelPoint,
    test: CanonicalRows,
    bounds: Bounds | None,
) -> float:
    """Mean loss of the function fitted at a point on other rows."""
    return float(np.average(row_losses(problem, point, test, bounds), weights=test.weights))


def row_losses(
    problem: HyperKernelProblem,
    point: HyperKernelPoint,
    test: CanonicalRows,
    bounds: Bounds | None,
) -> FloatArray:
    """Loss of every other row, (n_test,)."""
    matrix = problem.kernel.matrix(test.X @ point.W.T, point.blocks.center_images)
    decision = point.fit.coefficients @ matrix.T + point.fit.intercept[:, None]
    return problem.loss.values(test.y, clip_decision(decision, bounds))


def direction_strengths(
    point: HyperKernelPoint, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Root mean square slopes of a fitted function along its principal directions.

    Returns
    -------
    slopes : ndarray of shape (n_components,)
        Square roots of the leading eigenvalues of the average gradient outer product, decreasing.
    directions : ndarray of shape (n_components, n_features)
        Its eigenvectors, orthonormal rows.
    """
    return directions_of_map(point.W, gradient_outer_product(point, weights))
