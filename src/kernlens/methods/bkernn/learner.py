"""Learning the particles: how alpha is chosen, and on how many rows which steps are taken.

Up to ``SMALL`` rows everything happens on all rows. Beyond, the particles are learned on growing
subsamples, because the directions settle long before the functions of them do: a first part of
2000 rows, a second of 10,000, then the coefficients (and with up to 50,000 rows a few more steps on
the particles) on all. Between parts ``alpha * sum of weights`` stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray, IntArray
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.methods.bkernn.function import RidgeFunctions
from kernlens.methods.bkernn.objective import ParticleObjective, ParticleProblem, ReducedPoint
from kernlens.methods.bkernn.path import (
    PathFollower,
    minimize_from_both,
    revive,
    validation_curve,
)
from kernlens.methods.bkernn.plan import LearnedParticles, ParticlePlan
from kernlens.optim.factored_lbfgs import factored_lbfgs
from kernlens.optim.lbfgs import Progress
from kernlens.optim.proximal_gradient import proximal_gradient

SMALL = 4000
FIRST_PART = 2000
SECOND_PART = 10_000
REFINE_ALL_MAX = 50_000
VALIDATION_ROWS = 4000
N_FOLDS = 3
#: Multiples of the reference alpha that ``alpha="auto"`` tries, in units of 1/n.
GRID = 20.0 * 10.0 ** (-0.5 * np.arange(8))
#: Relative residual of the solves inside a step, and while alpha is chosen.
STEP_TOL = 1e-7
SEARCH_TOL = 1e-5
#: Iterations at one value of alpha while choosing it: enough to rank the values.
SEARCH_ITER = 20
#: Larger values of alpha, as multiples of the wanted one, that a path goes through before it, and
#: the iterations at each: fewer were measured to miss weak directions.
APPROACH = 10.0 ** np.array([1.0, 0.5])
APPROACH_ITER = 80
#: Proximal steps at the end, which make exact zeros of what is nearly zero.
POLISH_ITER = 3
#: Quasi-Newton steps on all rows after the subsamples.
ALL_ROWS_ITER = 10
#: Relative residual of the solves inside the steps on many rows.
LARGE_TOL = 1e-6
#: Relative residual of the last solve; the looser one changes predictions by less than the noise
#: of any data set of that size.
FINAL_TOL = 1e-10
FINAL_TOL_LARGE = 1e-6
FINAL_TOL_MAX_SAMPLES = 20_000
#: Relative rise of the objective that is no rounding of a last solve.
WORSE = 1e-6


@dataclass
class ParticleLearner(Learner[LearnedParticles]):
    """Minimises over the particles, and keeps the best state if interrupted.

    Attributes
    ----------
    plan : ParticlePlan
    rows : CanonicalRows
    strata : ndarray of shape (n_rows,) or None
        Classes to be spread evenly over folds.
    stage : callable or None
        Name of a stage -> callback of its iterations.
    """

    plan: ParticlePlan
    rows: CanonicalRows
    strata: NDArray[np.integer] | None = None
    stage: Stage | None = None
    _watched: ParticleObjective | None = field(default=None, init=False)
    _alpha: float | None = field(default=None, init=False)
    _search: SearchRecord | None = field(default=None, init=False)

    def learn(self) -> LearnedParticles:
        """Choose alpha if it is not given, then learn the particles."""
        self._alpha, self._search = self.plan.alpha, self.plan.search
        if self._alpha is None:
            self._alpha, self._search = self.choose_alpha()
        return self._finish(self.minimize(self._alpha), self._alpha)

    def finish_interrupted(self) -> LearnedParticles:
        """The functions on the best particles so far."""
        W, reached = self.best_so_far()
        return self._finish(SolveResult(W, Status.INTERRUPTED, 0), self._alpha or reached)

    def left_out(self, learned: LearnedParticles) -> LeftOut:
        """Predict every fold with particles learned on the others, ``alpha * n`` kept."""
        parts = []
        for train, test in self._folds():
            function = self._again(self.rows.take(train), learned).function
            rows = self.rows.take(test)
            parts.append(LeftOut(function.decision(rows.X), rows.y, rows.weights))
        return LeftOut.joined(parts)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedParticles
    ) -> Directions:
        """Directions of particles learned on other rows, ``alpha * n`` kept."""
        return self._again(rows, learned).directions

    def _again(self, rows: CanonicalRows, learned: LearnedParticles) -> LearnedParticles:
        # Particles of an earlier fit have seen all rows.
        plan = replace(self.plan, start=None)
        part = replace(self, plan=plan, rows=rows, strata=None, stage=None)
        alpha = learned.alpha * float(self.rows.weights.sum()) / float(rows.weights.sum())
        return part._finish(part.minimize(alpha), alpha)

    def minimize(self, alpha: float) -> SolveResult:
        """Minimise at `alpha`, in the way that the plan asks for."""
        if self.plan.plain:
            return self._learn_plainly(alpha)
        if self.plan.start is not None:
            return self._learn_from(self.plan.start, alpha)
        return self._learn_afresh(alpha)

    def _finish(self, result: SolveResult, alpha: float) -> LearnedParticles:
        point = self.solve_at(result.solution, alpha)
        penalty = self.problem.penalty
        return LearnedParticles(
            function=RidgeFunctions.of(point),
            directions=Directions(
                *penalty.directions(point.W), of_inputs=np.linalg.norm(point.W, axis=0)
            ),
            alpha=alpha,
            objective=point.value + alpha * penalty.value(point.W),
            history=result.history,
            n_iter=result.n_iter,
            status=result.status,
            search=self._search,
        )

    @property
    def problem(self) -> ParticleProblem:
        """Kernel, loss and penalty."""
        return self.plan.problem

    @property
    def is_large(self) -> bool:
        """Whether the particles are learned on subsamples."""
        return len(self.rows.X) > SMALL and self.problem.kernel.linear_cost

    def choose_alpha(self) -> tuple[float, SearchRecord]:
        """Choose alpha on a grid by held-out loss: three folds, or other rows if there are many."""
        total = float(self.rows.weights.sum())
        shifts = GRID * self.problem.reference_alpha(self.rows) * total
        parts = self._parts()
        if not parts:
            # Too few rows, or too few of a class, to hold any out.
            return self._middle_alpha(), SearchRecord({"alpha": np.empty(0)}, np.empty(0), -1)
        followers = [
            self._follower(train, "choosing alpha", SEARCH_ITER, SEARCH_TOL) for train, _ in parts
        ]
        curve = validation_curve(followers, [test for _, test in parts], shifts)
        lowest = int(np.argmin(curve.losses))
        # The best value lies between those of the grid.
        return curve.best() / total, SearchRecord(
            {"alpha": curve.shifts / total}, curve.losses, lowest
        )

    def _learn_afresh(self, alpha: float) -> SolveResult:
        """Minimise at `alpha`; the solution is a ReducedPoint on all rows."""
        if self.is_large:
            return self._learn_large(alpha)
        return self._polish(
            self._learn_on(self.rows, alpha), self.problem.objective(self.rows, alpha)
        )

    def _learn_plainly(self, alpha: float) -> SolveResult:
        """Algorithm 1 as printed, on all rows, every inner problem solved to full accuracy."""
        objective = self._objective(self.rows, alpha, tol=FINAL_TOL)
        return proximal_gradient(
            objective,
            objective.at(self.plan.fresh if self.plan.start is None else self.plan.start),
            max_iter=self.plan.max_iter,
            tol=self.plan.tol,
            progress=self._stage("Algorithm 1"),
        )

    def _learn_from(self, W: FloatArray, alpha: float) -> SolveResult:
        """Minimise at `alpha` from given particles, as they are and revived, on all rows."""
        objective = self._objective(self.rows, alpha)
        ends = [
            factored_lbfgs(
                objective,
                objective.at(start),
                max_iter=self.plan.max_iter,
                tol=self.plan.tol,
                progress=self._stage("learning directions"),
            )
            for start in (W, revive(W, self.plan.fresh))
        ]
        best = min(ends, key=lambda end: objective.value(end.solution))
        return self._polish(best, objective)

    def solve_at(self, solution: ReducedPoint | FloatArray, alpha: float) -> ReducedPoint:
        """Coefficients on all rows for given particles, to full accuracy."""
        tol = FINAL_TOL if len(self.rows.X) <= FINAL_TOL_MAX_SAMPLES else FINAL_TOL_LARGE
        objective = self.problem.objective(self.rows, alpha, tol=tol)
        if not isinstance(solution, ReducedPoint):
            return objective.at(solution)
        refined = objective.refine(solution)
        # Only where rounding drowns the objective is it higher after more work.
        worse = refined.value > (1.0 + WORSE) * solution.value
        return solution if worse else refined

    def best_so_far(self) -> tuple[FloatArray, float]:
        """Particles and alpha to go on with after an interruption."""
        if self._watched is None or self._watched.best is None:
            return self.plan.fresh, self._middle_alpha()
        total = float(self.rows.weights.sum())
        part = float(self._watched.smooth.fitter.weights.sum())
        return self._watched.best.W, self._watched.strength * part / total

    def _middle_alpha(self) -> float:
        return float(GRID[2]) * self.problem.reference_alpha(self.rows)

    def _watch(self, objective: ParticleObjective) -> ParticleObjective:
        """Remember the objective that is being minimised: it keeps its best point."""
        self._watched = objective
        return objective

    def _objective(
        self, rows: CanonicalRows, alpha: float, tol: float = STEP_TOL
    ) -> ParticleObjective:
        return self._watch(self.problem.objective(rows, alpha, tol=tol))

    def _parts(self) -> list[tuple[CanonicalRows, CanonicalRows]]:
        """Rows to train on, and rows to score on."""
        if self.is_large:
            train = slice(0, FIRST_PART)
            test = slice(FIRST_PART, FIRST_PART + VALIDATION_ROWS)
            return [(self.rows.take(train), self.rows.take(test))]
        return [(self.rows.take(train), self.rows.take(test)) for train, test in self._folds()]

    def _folds(self) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        return self.rows.folds(N_FOLDS, self.strata)

    def _follower(
        self, rows: CanonicalRows, stage: str, max_iter: int, inner_tol: float
    ) -> PathFollower:
        return PathFollower(
            self.problem,
            rows,
            self.plan.fresh,
            max_iter=max_iter,
            tol=self.plan.tol,
            inner_tol=inner_tol,
            watch=self._watch,
            progress=self._stage(stage),
        )

    def _learn_on(self, rows: CanonicalRows, alpha: float) -> SolveResult:
        """Approach `alpha` from above, then minimise there until `tol` or `max_iter`."""
        n_iter = min(APPROACH_ITER, self.plan.max_iter)
        follower = self._follower(rows, "approaching alpha", n_iter, STEP_TOL)
        for factor in (*APPROACH, 1.0):
            objective, point = follower.advance(factor * alpha)
        return factored_lbfgs(
            objective,
            point,
            max_iter=self.plan.max_iter,
            tol=self.plan.tol,
            progress=self._stage("learning directions"),
        )

    def _learn_large(self, alpha: float) -> SolveResult:
        """Learn on a first and a second part, then move to all rows."""
        total = float(self.rows.weights.sum())
        first = self.rows.take(slice(0, FIRST_PART))
        end = self._learn_on(first, alpha * total / float(first.weights.sum()))
        second = self.rows.take(slice(0, SECOND_PART))
        objective = self._objective(
            second, alpha * total / float(second.weights.sum()), tol=LARGE_TOL
        )
        end = minimize_from_both(
            objective,
            end.solution.W,
            self.plan.fresh,
            max_iter=self.plan.max_iter,
            tol=self.plan.tol,
            progress=self._stage(f"refining on {len(second.X)} rows"),
        )
        end = self._polish(end, objective)
        return self._move_to_all_rows(end, alpha)

    def _move_to_all_rows(self, end: SolveResult, alpha: float) -> SolveResult:
        objective = self._objective(self.rows, alpha, tol=LARGE_TOL)
        if len(self.rows.X) > REFINE_ALL_MAX:
            point = objective.at(end.solution.W)
            return SolveResult(point, end.status, end.n_iter, (objective.value(point),))
        steps = factored_lbfgs(
            objective,
            objective.at(end.solution.W),
            max_iter=min(ALL_ROWS_ITER, self.plan.max_iter),
            tol=self.plan.tol,
            progress=self._stage("refining on all rows"),
        )
        return SolveResult(steps.solution, end.status, end.n_iter + steps.n_iter, steps.history)

    def _polish(self, end: SolveResult, objective: ParticleObjective) -> SolveResult:
        """Proximal steps from the end of the quasi-Newton ones; the objective only decreases."""
        steps = proximal_gradient(objective, end.solution, max_iter=POLISH_ITER)
        history = (*end.history, *(value for value in steps.history if value < end.history[-1]))
        return SolveResult(steps.solution, end.status, end.n_iter + steps.n_iter, history)

    def _stage(self, name: str) -> Progress | None:
        return None if self.stage is None else self.stage(name)
