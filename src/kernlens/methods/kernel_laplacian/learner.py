"""From points and labels to the function: choose the penalties, then solve.

Penalties are judged by squared errors on labelled rows that are left out. A handful of labels says
little about the ratio mu / alpha, and the points, labelled or not, say more: the largest ratio is
preferred if they lie on clusters or curves, and the smallest positive one otherwise. Another ratio
is taken only if its errors are clearly smaller, and by more the fewer labels there are. Two labels
do not decide anything: without one of them the other is all there is, for every ratio.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import IntArray
from kernlens._lazy import lazy
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.methods.kernel_laplacian.all_rows import SampleFeatures, solve_all
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.plan import (
    RELATIVE_ALPHAS,
    SMALLEST_ALPHA,
    LabeledPoints,
    LaplacianPlan,
    LearnedLaplacian,
    Penalties,
    Solution,
)
from kernlens.methods.kernel_laplacian.solvers.conjugate import ConjugateSolver
from kernlens.methods.kernel_laplacian.solvers.exact import ExactSolver
from kernlens.methods.kernel_laplacian.solvers.features import FeatureSolver
from kernlens.methods.kernel_laplacian.solvers.solver import LaplacianSolver
from kernlens.methods.kernel_laplacian.structure import has_structure
from kernlens.subspace import average_outer_product, leading_directions

SOLVERS: dict[str, type[LaplacianSolver]] = {
    "exact": ExactSolver,
    "cg": ConjugateSolver,
    "nystrom": FeatureSolver,
    "random_features": FeatureSolver,
}
#: Divided by the root of the number of labels, this is the share by which the errors of another
#: ratio must be smaller than those of the preferred one.
ADVANTAGE = 1.0
#: Constant of the rule alpha = RULE n^{-1/2}, relative to the spread of the deformed kernel, which
#: decides between alphas that the labels do not tell apart.
RULE = 0.1
#: Relative differences of errors up to this size are rounding.
SAME_LOSS = 1e-6
#: Number of points that gradients are averaged over to find directions.
GRADIENT_POINTS = 1000


@dataclass
class LaplacianLearner(Learner[LearnedLaplacian]):
    """One fit.

    Attributes
    ----------
    plan : LaplacianPlan
    rows : LabeledPoints
        With points in units of the length scale.
    n_jobs : int or None
    stage : callable or None
        Name of a stage -> callback of its iterations.
    tried : list of Penalties
        Penalties compared so far, with their losses.
    """

    plan: LaplacianPlan
    rows: LabeledPoints
    n_jobs: int | None
    stage: Stage | None = None
    tried: list[Penalties] = field(default_factory=list, init=False)
    _solving: bool = field(default=False, init=False)

    @lazy
    def solver(self) -> LaplacianSolver:
        """The solver, with its matrices."""
        rows, n_neighbors = self.rows, self.plan.n_neighbors
        frames = LocalFrames.of(rows.points, rows.weights, n_neighbors, self.n_jobs)
        return SOLVERS[self.plan.solver](self.plan, rows, frames, self.n_jobs)

    def learn(self) -> LearnedLaplacian:
        """Choose the penalties if they are not given, then solve."""
        if self.plan.given is not None:
            return self._solve(self.plan.given, None)
        self._compare()
        return self._solve_best()

    def finish_interrupted(self) -> LearnedLaplacian:
        """Solve with the best penalties so far; without any, interrupt again."""
        if not self.tried:
            raise KeyboardInterrupt
        return replace(self._solve_best(), status=Status.INTERRUPTED)

    def so_far(self) -> LearnedLaplacian | None:
        """Nothing during the last solve: another whole one would be needed to look at it."""
        return None if self._solving else super().so_far()

    def fit_all(self, table: FitTable, learned: LearnedLaplacian) -> LearnedLaplacian:
        """Sum normal equations and slopes over all rows, and choose alpha again."""
        solver, chosen = self.solver, learned.penalties
        assert isinstance(solver, FeatureSolver)
        points = self.rows.points[:GRADIENT_POINTS]
        features = SampleFeatures.of(
            solver.basis, chosen.ratio, self.plan.lengths, solver.frames, points
        )
        same = [one for one in self.tried if one.ratio == chosen.ratio]
        others = [one.alpha for one in same] if len(same) > 1 else []
        solution, alpha = solve_all(
            table, solver.basis, features, chosen.ratio, chosen.alpha, others
        )
        if not others:
            return self._learned(solution, chosen, learned.search)
        chosen = next(one for one in same if one.alpha == alpha)
        return self._learned(solution, chosen, self._record(self.tried.index(chosen)))

    def left_out(self, learned: LearnedLaplacian) -> LeftOut:
        """Predict labelled rows, the first thousand if there are more, each by a fit without it."""
        return self.solver.left_out(learned.penalties)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedLaplacian
    ) -> Directions:
        """Directions of a function learned on other rows, with the chosen penalties."""
        points = LabeledPoints.of(rows).in_units_of(self.plan.lengths)
        part = LaplacianLearner(self.plan, points, self.n_jobs)
        return part._solve(learned.penalties, None).directions

    # The last solve

    def _solve_best(self) -> LearnedLaplacian:
        chosen = self._best()
        return self._solve(self.tried[chosen], self._record(chosen))

    def _solve(self, penalties: Penalties, search: SearchRecord | None) -> LearnedLaplacian:
        if self.stage is not None:
            self.solver.report = self.stage("solving")
        self._solving = True
        solution = self.solver.fit(penalties, searched=search is not None)
        return self._learned(solution, penalties, search)

    def _learned(
        self, solution: Solution, penalties: Penalties, search: SearchRecord | None
    ) -> LearnedLaplacian:
        function = replace(solution.function, n_jobs=self.n_jobs)
        few = slice(0, GRADIENT_POINTS)
        slopes = function.gradient(self.rows.points[few]) / self.plan.lengths
        product = average_outer_product(slopes, self.rows.weights[few])
        return LearnedLaplacian(
            function=replace(function, length=self.plan.lengths),
            directions=Directions(
                *leading_directions(product),
                of_inputs=np.sqrt(np.maximum(np.diagonal(product), 0.0)),
            ),
            alpha=penalties.alpha,
            objective=solution.objective,
            history=(*solution.residuals, solution.objective),
            n_iter=solution.n_iter,
            status=solution.status,
            search=search,
            penalties=penalties,
            mu=self.plan.mu_of(penalties),
            residual=solution.residuals[-1] if solution.residuals else 0.0,
        )

    # The choice of penalties

    def _compare(self) -> None:
        """Measure the losses of the candidates."""
        report = None if self.stage is None else self.stage("choosing mu and alpha")
        for ratio, alphas in self._candidates():
            losses = self.solver.losses(ratio, alphas)
            unit = self.solver.unit(ratio)
            self.tried += [
                Penalties(ratio, alpha, loss, alpha / unit)
                for alpha, loss in zip(alphas, losses, strict=True)
            ]
            if report is not None:
                report(len(self.tried), min(losses))

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

    @lazy
    def preferred_ratio(self) -> float:
        """The ratio that suits the points, labelled or not."""
        plan = self.plan
        _, smallest, *_, largest = plan.ratios
        points = self.rows.points
        if has_structure(plan.kernel, points, plan.n_neighbors, largest, plan.seed):
            return largest
        return smallest

    def _best(self) -> int:
        """Position of the least loss; others than the preferred ratio need the advantage.

        Among alphas that the labels do not tell apart, the one nearest to the rule is taken.
        """
        tried = self.tried
        free = self.plan.mus is None
        losses = np.array([one.loss for one in tried])
        if not np.isfinite(losses).any():
            raise ValueError(
                "No penalties give finite predictions; give a larger length_scale, or another "
                "kernel."
            )
        losses = np.where(np.isfinite(losses), losses, np.inf)
        others = [free and one.ratio != self.preferred_ratio for one in tried]
        root = np.sqrt(len(self.rows.labeled))
        losses = np.where(others, (1.0 + ADVANTAGE / root) * losses, losses)
        limit = float(np.min(losses)) * (1.0 + SAME_LOSS)
        near = np.flatnonzero(losses <= limit)
        rule = RULE / root
        # A single label leaves all losses at zero: the preferred ratio first.
        best = min(near, key=lambda k: (others[k], abs(np.log(tried[k].relative / rule))))
        return int(best)

    def _record(self, chosen: int) -> SearchRecord:
        """What was compared; alpha goes with the ratio, or with mu where values of it are given."""
        alphas = np.array([one.alpha for one in self.tried])
        ratios = np.array([one.ratio for one in self.tried]) * self.plan.length**2
        mus = np.array([self.plan.mu_of(one) for one in self.tried])
        losses = np.array([one.loss for one in self.tried])
        if self.plan.mus is None:
            return SearchRecord({"alpha": alphas, "ratio": ratios}, losses, chosen, {"mu": mus})
        return SearchRecord({"alpha": alphas, "mu": mus}, losses, chosen, {"ratio": ratios})
