"""From points and labels to the function: choose the penalties, then solve.

Penalties are judged by squared errors on labelled rows that are left out. A handful of labels says
little, so the points have a word, too: one ratio mu / alpha is preferred, the largest one if they
lie on clusters or curves, and else the smallest one that is positive. Others must have clearly
smaller errors, the more so the fewer labels there are, and two labels do not judge at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from kernlens._result import Status
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.plan import (
    RELATIVE_ALPHAS,
    SMALLEST_ALPHA,
    LabelledPoints,
    LaplacianPlan,
    Learned,
    Penalties,
)
from kernlens.methods.kernel_laplacian.solvers.conjugate import ConjugateSolver
from kernlens.methods.kernel_laplacian.solvers.exact import ExactSolver
from kernlens.methods.kernel_laplacian.solvers.features import FeatureSolver
from kernlens.methods.kernel_laplacian.solvers.solver import LaplacianSolver
from kernlens.methods.kernel_laplacian.structure import has_structure

Stage = Callable[[str], Callable[[int, float], None]]

SOLVERS: dict[str, type[LaplacianSolver]] = {
    "exact": ExactSolver,
    "cg": ConjugateSolver,
    "nystrom": FeatureSolver,
    "random_features": FeatureSolver,
}
#: Over the root of the number of labels: share by which the errors of another ratio must be smaller
#: than those of the preferred one.
ADVANTAGE = 1.0
#: Constant of the rule alpha = RULE n^{-1/2}, relative to the spread of the deformed kernel, which
#: decides between alphas that the labels do not tell apart.
RULE = 0.1
#: Relative differences of errors that are rounding.
SAME_LOSS = 1e-6


class LaplacianLearner:
    """One fit.

    Parameters
    ----------
    plan : LaplacianPlan
    rows : LabelledPoints
    n_jobs : int or None
    stage : callable or None
        Returns the callback that the steps of a stage report to.
    """

    def __init__(
        self,
        plan: LaplacianPlan,
        rows: LabelledPoints,
        n_jobs: int | None,
        stage: Stage | None = None,
    ) -> None:
        self.plan = plan
        self.rows = rows
        self.n_jobs = n_jobs
        self.stage = stage

    @cached_property
    def solver(self) -> LaplacianSolver:
        """The solver, with its matrices."""
        rows, n_neighbors = self.rows, self.plan.n_neighbors
        frames = LocalFrames.of(rows.points, rows.weights, n_neighbors, self.n_jobs)
        return SOLVERS[self.plan.solver](self.plan, self.rows, frames, self.n_jobs)

    def learn(self) -> Learned:
        """Choose and solve; an interrupted choice goes on with the best penalties so far."""
        tried: list[Penalties] = []
        status = Status.CONVERGED
        chosen = self.plan.given
        if chosen is None:
            try:
                self._compare(tried)
            except KeyboardInterrupt:
                if not tried:
                    raise
                status = Status.INTERRUPTED
            chosen = self._best(tried)
        if self.stage is not None:
            self.solver.report = self.stage("solving")
        learned = self.solver.fit(chosen)
        if self.stage is not None and learned.n_iter == 1:
            self.stage("solving")(0, learned.objective)
        ended = learned.status if status is Status.CONVERGED else status
        return replace(learned, tried=tuple(tried), status=ended)

    def _compare(self, tried: list[Penalties]) -> None:
        """Append the candidates with their losses."""
        report = None if self.stage is None else self.stage("choosing mu and alpha")
        for ratio, alphas in self._candidates():
            losses = self.solver.losses(ratio, alphas)
            unit = self.solver.unit(ratio)
            tried += [
                Penalties(ratio, alpha, loss, alpha / unit)
                for alpha, loss in zip(alphas, losses, strict=True)
            ]
            if report is not None:
                report(len(tried), min(losses))

    def _candidates(self) -> list[tuple[float, list[float]]]:
        """Ratios, and the alphas of each."""
        plan = self.plan
        if plan.mus is None and plan.alphas is None:
            return [(ratio, self._alphas_at(ratio)) for ratio in plan.ratios]
        if plan.alphas is None:
            assert plan.mus is not None
            # Those of the ratios alone would all be tiny where mu is.
            plain = self._alphas_at(0.0)
            pairs = [(0.0, plain)] * (0.0 in plan.mus)
            for mu in (mu for mu in plan.mus if mu > 0.0):
                alphas = [mu / ratio for ratio in plan.ratios if ratio > 0.0]
                alphas = [alpha for alpha in (*alphas, *plain) if alpha >= SMALLEST_ALPHA]
                pairs += [(mu / alpha, [alpha]) for alpha in alphas]
            return pairs
        if plan.mus is None:
            return [(ratio, list(plan.alphas)) for ratio in plan.ratios]
        return [(mu / alpha, [alpha]) for mu in plan.mus for alpha in plan.alphas]

    def _alphas_at(self, ratio: float) -> list[float]:
        unit = self.solver.unit(ratio)
        return [relative * unit for relative in RELATIVE_ALPHAS]

    @cached_property
    def preferred_ratio(self) -> float:
        """The ratio that the points speak for, labelled or not."""
        plan = self.plan
        _, smallest, *_, largest = plan.ratios
        points = self.rows.points
        if has_structure(plan.kernel, points, plan.n_neighbors, largest, plan.seed):
            return largest
        return smallest

    def _best(self, tried: list[Penalties]) -> Penalties:
        """Least loss, with the advantage; near the rule for alpha where the labels do not tell."""
        free = self.plan.mus is None
        losses = np.array([one.loss for one in tried])
        if not np.isfinite(losses).any():
            raise ValueError(
                "No penalties give finite predictions; give a larger length_scale, or another "
                "kernel."
            )
        losses = np.where(np.isfinite(losses), losses, np.inf)
        others = [free and one.ratio != self.preferred_ratio for one in tried]
        root = np.sqrt(len(self.rows.labelled))
        losses = np.where(others, (1.0 + ADVANTAGE / root) * losses, losses)
        limit = float(np.min(losses)) * (1.0 + SAME_LOSS)
        near = np.flatnonzero(losses <= limit)
        rule = RULE / root
        # A single label leaves all losses at zero: the preferred ratio first.
        return tried[min(near, key=lambda k: (others[k], abs(np.log(tried[k].relative / rule))))]
