"""Learning the particles: how settings are chosen, and on how many rows which steps are taken.

Up to ``SMALL`` rows everything happens on all rows. Beyond, the particles are learned on a part of
at most 10,000 rows, because the directions settle long before the functions of them do, then the
coefficients (and with up to 50,000 rows a few more steps on the particles) on all. On both
``alpha * sum of weights`` is the same. So many rows need no approach from larger alphas: from
random particles alone, fits of six tables predicted other rows as well or better.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray, IntArray
from kernlens._result import SolveResult, Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.methods.bkernn.all_rows import functions_of_all_rows
from kernlens.methods.bkernn.classes import stretched
from kernlens.methods.bkernn.function import RidgeFunctions
from kernlens.methods.bkernn.objective import ParticleObjective, ParticleProblem, ReducedPoint
from kernlens.methods.bkernn.path import (
    PathFollower,
    ValidationCurve,
    go_on,
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
PART_ROWS = 10_000
REFINE_ALL_MAX = 50_000
N_FOLDS = 3
#: With more rows, settings are compared on one part of about `SEARCH_ROWS` instead of three folds,
#: and scored on at most `VALIDATION_ROWS` others.
FOLDS_MAX = 1200
SEARCH_ROWS = 2000
VALIDATION_ROWS = 4000
#: Multiples of the reference alpha that ``alpha="auto"`` tries, in units of 1/n.
GRID = 20.0 * 10.0 ** (-0.5 * np.arange(8))
#: Relative residual of the solves inside a step, and in a comparison: of other penalties, and of
#: alphas of the first one.
STEP_TOL = 1e-7
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
#: The same for classes, whose particles squares have to begin only, the share of them after which
#: the better start goes on alone, the steps by squares at the wanted alpha, and those of the loss
#: of classes from there.
CLASS_APPROACH_ITER = 20
CLASS_TRIED = 0.4
CLASS_SQUARES_ITER = 40
CLASS_ITER = 30
#: Relative residual of the solves inside these last steps: six generated sets of classes had the
#: same loss on other rows as with 1e-7 (.4740 and .4745), in a little less time.
CLASS_TOL = 1e-5
#: Iterations from particles of an earlier fit, as they are and revived, before one goes on.
AGAIN_ITER = 4
#: Relative decrease of the objective below which a stage on a part of the rows stops.
PART_TOL = 1e-5
#: Rows up to which the directions of a part are learned as those of all rows are.
COUNTED_IN_FULL = 700
#: Proximal steps at the end, which make exact zeros of what is nearly zero.
POLISH_ITER = 3
#: Quasi-Newton steps on a part of many rows, and on all rows after it. On six tables of 3000 to
#: 12,000 rows fits with 70 steps predicted other rows as well as much longer ones (R2 within .002);
#: with 50, one of them lost .009.
PART_ITER = 70
ALL_ROWS_ITER = 3
#: What another penalty must bring the loss down to, relative to that of the first: the steps of a
#: comparison are few, and those of the first penalty need the most to come to their end.
MARGIN = 0.8
#: The same for classes, whose particles come to their end sooner by squares.
CLASS_MARGIN = 0.93
#: Folds of which classes are scored on, if there are more than `COUNTED_IN_FULL` rows.
CLASS_FOLDS = 2
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
        alpha = self._alpha or reached
        if self._watched is not None and self._watched.smooth.fitter.loss is not self.problem.loss:
            W = stretched(self.problem, self.rows, W, alpha, tol=SEARCH_TOL).W
        return self._finish(SolveResult(W, Status.INTERRUPTED, 0), alpha)

    def fit_all(self, table: FitTable, learned: LearnedParticles) -> LearnedParticles:
        """Fit functions with few knots to all rows, with the particles of those here."""
        problem = self.plan.problems[learned.penalty]
        report = self._stage("functions of all rows")
        return functions_of_all_rows(table, learned, problem, len(self.fresh), self.rows, report)

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

        By squares, as the particles themselves: directions do not need the loss of classes. Many
        rows are learned from by a short path, which finds strong directions only.
        """
        part, alpha = self._on(rows, learned)
        if self.problem.of_classes and len(rows.X) <= COUNTED_IN_FULL and not self.plan.plain:
            # As many steps as the particles of the fit took by squares.
            return part._directions(part._approach(alpha).solution)
        part = replace(part, plan=part.plan.by_squares())
        if len(rows.X) <= COUNTED_IN_FULL:
            return part._finish(part.minimize(alpha), alpha).directions
        follower = replace(part._searcher(rows, "counting directions"), inner_tol=SEARCH_TOL)
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
        margin = CLASS_MARGIN if self.problem.of_classes else MARGIN
        return float(curve.losses.min()) / (1.0 if penalty == first else margin)

    def _learn_afresh(self, alpha: float) -> SolveResult:
        """Minimise at `alpha`; the solution is a ReducedPoint on all rows."""
        if self.is_large:
            return self._learn_large(alpha)
        end = self._approach(alpha)
        objective = self._objective(self.rows, alpha)
        return self._polish(self._end_with_classes(end, self.rows, objective), objective)

    def _end_with_classes(
        self, end: SolveResult, rows: CanonicalRows, objective: ParticleObjective
    ) -> SolveResult:
        """A few steps of the loss of classes, from where squares of one-hot targets ended."""
        if not self.problem.of_classes:
            return end
        alpha, tol = objective.strength, max(objective.tol, CLASS_TOL)
        steps = factored_lbfgs(
            self._objective(rows, alpha, tol),
            stretched(self.problem, rows, end.solution.W, alpha, tol=tol),
            max_iter=min(CLASS_ITER, self.plan.max_iter),
            tol=self.plan.tol,
            progress=self._stage("ending with the loss of classes"),
        )
        return self._ended_on_purpose(steps, CLASS_ITER)

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
        end = go_on(
            objective, end, max_iter=rest, tol=self.plan.tol,
            progress=self._stage("learning directions"),
        )  # fmt: skip
        return self._polish(end, objective)

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
            if self.problem.of_classes and n > COUNTED_IN_FULL:
                folds = folds[:CLASS_FOLDS]
            return [(self.rows.take(train), self.rows.take(test)) for train, test in folds]
        # One fold of many is a sample of the rows that has every class.
        folds = self.rows.folds(max(2, round(n / SEARCH_ROWS)), self.strata)
        return [
            (self.rows.take(test), self.rows.take(np.flatnonzero(train)[:VALIDATION_ROWS]))
            for train, test in folds[:1]
        ]

    def _searcher(self, rows: CanonicalRows, stage: str) -> PathFollower:
        """A follower that takes few steps, and for other penalties than the first fewer still."""
        bar, last = self._stage(stage), self.problem if self.problem.of_classes else None
        first = self._penalty == next(iter(self.plan.problems))
        of_classes = self.problem.of_classes
        if first and not self.problem.on_axes:
            # With less, weak directions are missed, and alpha is chosen too large for them.
            return PathFollower(
                self.problem.learning, rows, self.fresh,
                SEARCH_ITER if of_classes else THOROUGH_ITER, self.plan.tol,
                SEARCH_TOL if of_classes else THOROUGH_TOL, self._watch, bar,
                both=not of_classes, last=last,
            )  # fmt: skip
        fresh = self.fresh if self.problem.on_axes else self.fresh[:SEARCH_PARTICLES]
        tol = max(self.plan.tol, PART_TOL)
        return PathFollower(
            self.problem.learning, rows, fresh, SEARCH_ITER, tol, SEARCH_TOL, self._watch, bar,
            last=last,
        )  # fmt: skip

    def _approach(self, alpha: float) -> SolveResult:
        """Approach `alpha` from above and from fresh particles, then go on until `tol`."""
        of_classes = self.problem.of_classes
        # What squares learn of classes is a start.
        tol = max(self.plan.tol, PART_TOL) if of_classes else self.plan.tol
        n_iter = CLASS_APPROACH_ITER if of_classes else APPROACH_ITER
        most = CLASS_SQUARES_ITER if of_classes else self.plan.max_iter
        problem, bar = self.problem.learning, self._stage("approaching alpha")
        follower = PathFollower(
            problem, self.rows, self.fresh, min(n_iter, self.plan.max_iter), tol,
            SEARCH_TOL if of_classes else STEP_TOL, self._watch, bar, both=True,
            tried=CLASS_TRIED if of_classes else 1.0,
        )  # fmt: skip
        for factor in (*APPROACH, 1.0):
            objective, point = follower.advance(factor * alpha)
        end = factored_lbfgs(
            objective,
            point,
            max_iter=min(most, self.plan.max_iter),
            tol=tol,
            progress=self._stage("learning directions"),
        )
        return self._ended_on_purpose(end, most) if of_classes else end

    def _ended_on_purpose(self, end: SolveResult, most: int) -> SolveResult:
        """The end of steps that are few on purpose: only a smaller `max_iter` ends them early."""
        if end.status is Status.MAX_ITER and self.plan.max_iter >= most:
            return replace(end, status=Status.CONVERGED)
        return end

    def _learn_large(self, alpha: float) -> SolveResult:
        """Learn on a part of the rows, then move to all of them."""
        part = self.rows.take(slice(0, PART_ROWS))
        strength = alpha * float(self.rows.weights.sum()) / float(part.weights.sum())
        squares = self._watch(self.problem.learning.objective(part, strength, tol=LARGE_TOL))
        end = factored_lbfgs(
            squares,
            squares.at(self.fresh),
            max_iter=min(PART_ITER, self.plan.max_iter),
            tol=max(self.plan.tol, PART_TOL),
            progress=self._stage(f"learning directions on {len(part.X)} rows"),
        )
        end = self._ended_on_purpose(end, PART_ITER)
        objective = self._objective(part, strength, tol=LARGE_TOL)
        end = self._polish(self._end_with_classes(end, part, objective), objective)
        return end if len(self.rows.X) == len(part.X) else self._move_to_all_rows(end, alpha)

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
