"""Learning the particles: how settings are chosen, and on how many rows which steps are taken.

Up to ``SMALL`` rows everything happens on all rows. Beyond, the particles are learned on growing
subsamples, because the directions settle long before the functions of them do: a first part of
1000 rows, a second of 10,000, then the coefficients (and with up to 50,000 rows a few more steps on
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
    ValidationCurve,
    minimize_from_each,
    record_of,
    revive,
    validation_curve,
)
from kernlens.methods.bkernn.plan import LearnedParticles, ParticlePlan
from kernlens.optim.factored_lbfgs import factored_lbfgs
from kernlens.optim.lbfgs import Progress
from kernlens.optim.proximal_gradient import proximal_gradient
from kernlens.penalties.directions import coordinate_directions, principal_directions

SMALL = 2000
FIRST_PART = 1000
SECOND_PART = 10_000
REFINE_ALL_MAX = 50_000
N_FOLDS = 3
#: With more rows, settings are compared on one part of about `SEARCH_ROWS` instead of three folds,
#: and scored on at most `VALIDATION_ROWS` others.
FOLDS_MAX = 1200
SEARCH_ROWS = 2000
VALIDATION_ROWS = 4000
#: Multiples of the reference alpha that ``alpha="auto"`` tries, in units of 1/n.
GRID = 20.0 * 10.0 ** (-0.5 * np.arange(8))
#: Relative residual of the solves inside a step, on a part of the rows, and in a comparison: of
#: other penalties, and of alphas of the first one.
STEP_TOL = 1e-7
PART_STEP_TOL = 1e-5
SEARCH_TOL = 1e-4
THOROUGH_TOL = 1e-5
#: Iterations at one value of alpha in these comparisons, and particles of the first kind: enough to
#: rank what is compared.
SEARCH_ITER = 15
THOROUGH_ITER = 20
SEARCH_PARTICLES = 50
#: Larger values of alpha, as multiples of the wanted one, that a path goes through before it, and
#: the iterations at each: fewer were measured to miss weak directions.
APPROACH = 10.0 ** np.array([1.0, 0.5])
APPROACH_ITER = 80
PART_APPROACH_ITER = 20
#: Iterations from particles of an earlier fit, as they are and revived, before one goes on.
AGAIN_ITER = 4
#: Relative decrease of the objective below which a stage on a part of the rows stops.
PART_TOL = 1e-5
#: Rows up to which the directions of a part are learned as those of all rows are.
COUNTED_IN_FULL = 700
#: Proximal steps at the end, which make exact zeros of what is nearly zero.
POLISH_ITER = 3
#: Quasi-Newton steps on the second part, from both starts and then from the better end, and on all
#: rows after it.
SECOND_ITER = 20
SECOND_MORE_ITER = 60
ALL_ROWS_ITER = 3
#: What another penalty must bring the loss down to, relative to that of the first: the steps of a
#: comparison are few, and those of the first penalty need the most to come to their end.
MARGIN = 0.8
#: Relative residual of the solves inside the steps on many rows.
LARGE_TOL = 1e-4
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
    _penalty: str = field(default="", init=False)
    _watched: ParticleObjective | None = field(default=None, init=False)
    _alpha: float | None = field(default=None, init=False)
    _search: SearchRecord | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._penalty = next(iter(self.plan.problems))

    def learn(self) -> LearnedParticles:
        """Choose what is not given, then learn the particles."""
        self._alpha, self._search = self.plan.alpha, self.plan.search
        if self._alpha is None:
            self._alpha, self._search = self.choose()
        return self._finish(self.minimize(self._alpha), self._alpha)

    def finish_interrupted(self) -> LearnedParticles:
        """The functions on the best particles so far."""
        W, reached = self.best_so_far()
        return self._finish(SolveResult(W, Status.INTERRUPTED, 0), self._alpha or reached)

    def left_out(self, learned: LearnedParticles) -> LeftOut:
        """Predict every fold with particles learned on the others, ``alpha * n`` kept."""
        parts = []
        for train, test in self.rows.folds(N_FOLDS, self.strata):
            part, alpha = self._on(self.rows.take(train), learned)
            function = part._finish(part.minimize(alpha), alpha).function
            rows = self.rows.take(test)
            parts.append(LeftOut(function.decision(rows.X), rows.y, rows.weights))
        return LeftOut.joined(parts)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedParticles
    ) -> Directions:
        """Directions of particles learned on other rows, ``alpha * n`` kept.

        Many rows are learned from by a short path, which finds strong directions only.
        """
        part, alpha = self._on(rows, learned)
        if len(rows.X) <= COUNTED_IN_FULL:
            return part._finish(part.minimize(alpha), alpha).directions
        follower = part._searcher(rows, "counting directions")
        for factor in (*APPROACH, 1.0):
            _, point = follower.advance(factor * alpha)
        return part._directions(point)

    def _on(self, rows: CanonicalRows, learned: LearnedParticles) -> tuple[ParticleLearner, float]:
        """A learner of other rows by the penalty that was chosen, and its alpha."""
        # Particles of an earlier fit have seen all rows.
        problems = {learned.penalty: self.plan.problems[learned.penalty]}
        plan = replace(self.plan, start=None, problems=problems)
        part = replace(self, plan=plan, rows=rows, strata=None, stage=None)
        return part, learned.alpha * float(self.rows.weights.sum()) / float(rows.weights.sum())

    def minimize(self, alpha: float) -> SolveResult:
        """Minimise at `alpha`, in the way that the plan asks for."""
        if self.plan.plain:
            return self._learn_plainly(alpha)
        if self.start is not None:
            return self._learn_from(self.start, alpha)
        return self._learn_afresh(alpha)

    def _finish(self, result: SolveResult, alpha: float) -> LearnedParticles:
        point = self.solve_at(result.solution, alpha)
        return LearnedParticles(
            function=RidgeFunctions.of(point),
            penalty=self._penalty,
            directions=self._directions(point),
            alpha=alpha,
            objective=point.value + alpha * self.problem.penalty.value(point.W),
            history=result.history,
            n_iter=result.n_iter,
            status=result.status,
            search=self._search,
        )

    def _directions(self, point: ReducedPoint) -> Directions:
        if self.problem.on_axes:
            every = np.ones(len(point.W), dtype=bool)
            axes = coordinate_directions(point.operator.particles(every))
            return Directions(*axes, of_inputs=np.abs(point.W[:, 0]))
        # Whoever asks for few columns gets columns; a penalty that was compared is a means.
        directions = principal_directions if self.plan.compared else self.problem.penalty.directions
        return Directions(*directions(point.W), of_inputs=np.linalg.norm(point.W, axis=0))

    @property
    def problem(self) -> ParticleProblem:
        """Kernel, loss and penalty in use."""
        return self.plan.problems[self._penalty]

    @property
    def fresh(self) -> FloatArray:
        """First particles; along axes they are all of the same length."""
        if not self.problem.on_axes:
            return self.plan.fresh
        alive = float(np.any(self.plan.fresh != 0.0))
        return np.full((self.rows.X.shape[1], 1), alive * self.plan.scale)

    @property
    def start(self) -> FloatArray | None:
        """Particles of an earlier fit; along axes the mean size of their entries, times d."""
        W = self.plan.start
        if W is None or not self.problem.on_axes:
            return W
        return W.shape[1] * np.abs(W).mean(axis=0)[:, None]

    @property
    def is_large(self) -> bool:
        """Whether the particles are learned on subsamples."""
        return len(self.rows.X) > SMALL and self.problem.kernel.linear_cost

    def choose(self) -> tuple[float, SearchRecord]:
        """Choose alpha on a grid, and the penalty if there are several, by held-out loss."""
        total = float(self.rows.weights.sum())
        shifts = GRID * self.problem.reference_alpha(self.rows) * total
        parts = self._parts()
        if not parts:
            # Too few rows, or too few of a class, to hold any out.
            return self._middle_alpha(), SearchRecord({"alpha": np.empty(0)}, np.empty(0), -1)
        curves: dict[str, ValidationCurve] = {}
        for name in self.plan.problems:
            self._penalty = name
            followers = [self._searcher(train, "choosing alpha") for train, _ in parts]
            curves[name] = validation_curve(followers, [test for _, test in parts], shifts)
        self._penalty = min(curves, key=lambda name: self._lowest(name, curves[name]))
        # The best value lies between those of the grid.
        return curves[self._penalty].best() / total, record_of(curves, self._penalty, total)

    def _lowest(self, penalty: str, curve: ValidationCurve) -> float:
        """The lowest loss of a penalty, as it is compared."""
        first = next(iter(self.plan.problems))
        return float(curve.losses.min()) / (1.0 if penalty == first else MARGIN)

    def _learn_afresh(self, alpha: float) -> SolveResult:
        """Minimise at `alpha`; the solution is a ReducedPoint on all rows."""
        if self.is_large:
            return self._learn_large(alpha)
        end = self._learn_on(self.rows, alpha, self.plan.tol)
        return self._polish(end, self.problem.objective(self.rows, alpha))

    def _learn_plainly(self, alpha: float) -> SolveResult:
        """Algorithm 1 as printed, on all rows, every inner problem solved to full accuracy."""
        objective = self._objective(self.rows, alpha, tol=FINAL_TOL)
        return proximal_gradient(
            objective,
            objective.at(self.fresh if self.start is None else self.start),
            max_iter=self.plan.max_iter,
            tol=self.plan.tol,
            progress=self._stage("Algorithm 1"),
        )

    def _learn_from(self, W: FloatArray, alpha: float) -> SolveResult:
        """Minimise at `alpha` from given particles, as they are and revived, on all rows."""
        objective = self._objective(self.rows, alpha)
        end = self._better_end(objective, (W, revive(W, self.fresh)), AGAIN_ITER)
        rest = max(self.plan.max_iter - 2 * AGAIN_ITER, 0)
        return self._polish(self._go_on(objective, end, self.plan.tol, rest), objective)

    def _better_end(
        self, objective: ParticleObjective, starts: tuple[FloatArray, ...], n_iter: int
    ) -> SolveResult:
        """A few steps from every start, and the end with the lower objective."""
        return minimize_from_each(
            objective,
            starts,
            max_iter=min(n_iter, self.plan.max_iter),
            tol=self.plan.tol,
            progress=self._stage("comparing starts"),
        )

    def _go_on(
        self, objective: ParticleObjective, end: SolveResult, tol: float, max_iter: int
    ) -> SolveResult:
        """More steps from the better end, until `tol` or `max_iter`."""
        if end.status is Status.CONVERGED or max_iter == 0:
            return end
        return factored_lbfgs(
            objective,
            end.solution,
            max_iter=max_iter,
            tol=tol,
            progress=self._stage("learning directions"),
        )

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
            return self.fresh, self._middle_alpha()
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
        n = len(self.rows.X)
        if n <= FOLDS_MAX:
            folds = self.rows.folds(N_FOLDS, self.strata)
            return [(self.rows.take(train), self.rows.take(test)) for train, test in folds]
        # One fold of many is a sample of the rows that has every class.
        folds = self.rows.folds(max(2, round(n / SEARCH_ROWS)), self.strata)
        return [
            (self.rows.take(test), self.rows.take(np.flatnonzero(train)[:VALIDATION_ROWS]))
            for train, test in folds[:1]
        ]

    def _searcher(self, rows: CanonicalRows, stage: str) -> PathFollower:
        """A follower that takes few steps, and for other penalties than the first fewer still."""
        bar = self._stage(stage)
        first = self._penalty == next(iter(self.plan.problems))
        if first and not self.problem.on_axes:
            # With less, weak directions are missed, and alpha is chosen too large for them.
            return PathFollower(
                self.problem, rows, self.fresh, THOROUGH_ITER, self.plan.tol, THOROUGH_TOL,
                self._watch, bar, both=True,
            )  # fmt: skip
        fresh = self.fresh if self.problem.on_axes else self.fresh[:SEARCH_PARTICLES]
        tol = max(self.plan.tol, PART_TOL)
        return PathFollower(
            self.problem, rows, fresh, SEARCH_ITER, tol, SEARCH_TOL, self._watch, bar
        )

    def _learn_on(
        self, rows: CanonicalRows, alpha: float, tol: float, n_iter: int = APPROACH_ITER
    ) -> SolveResult:
        """Approach `alpha` from above and from fresh particles, then go on until `tol`."""
        inner_tol = PART_STEP_TOL if self.is_large else STEP_TOL
        most = min(n_iter, self.plan.max_iter)
        bar = self._stage("approaching alpha")
        follower = PathFollower(
            self.problem, rows, self.fresh, most, tol, inner_tol, self._watch, bar, both=True
        )
        for factor in (*APPROACH, 1.0):
            objective, point = follower.advance(factor * alpha)
        return factored_lbfgs(
            objective,
            point,
            max_iter=self.plan.max_iter,
            tol=tol,
            progress=self._stage("learning directions"),
        )

    def _learn_large(self, alpha: float) -> SolveResult:
        """Learn on a first and a second part, then move to all rows."""
        total, tol = float(self.rows.weights.sum()), max(self.plan.tol, PART_TOL)
        first = self.rows.take(slice(0, FIRST_PART))
        shift = alpha * total
        begun = self._learn_on(first, shift / float(first.weights.sum()), tol, PART_APPROACH_ITER)
        second = self.rows.take(slice(0, SECOND_PART))
        objective = self._objective(second, shift / float(second.weights.sum()), tol=LARGE_TOL)
        starts = (self.fresh, revive(begun.solution.W, self.fresh))
        end = factored_lbfgs(
            objective,
            self._better_end(objective, starts, SECOND_ITER).solution,
            max_iter=min(SECOND_MORE_ITER, self.plan.max_iter),
            tol=tol,
            progress=self._stage(f"refining on {len(second.X)} rows"),
        )
        # Steps on more rows are few on purpose: whether the fit has ended is said by the first.
        end = self._polish(replace(end, status=begun.status), objective)
        return end if len(self.rows.X) == len(second.X) else self._move_to_all_rows(end, alpha)

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
