"""Stochastic functional gradient descent as a solver: Algorithm 3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.base.learner import LeftOut
from kernlens.methods.rkhs_weightings.function import FeatureFunction
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import Choice, Solution
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import Descent, Diverged
from kernlens.methods.rkhs_weightings.solvers.solver import WeightingSolver, log_norms

#: Steps of a descent whose setting is compared with others.
SEARCH_STEPS = 300
#: A batch of a stream has the steps of a fit divided by this number.
BATCH_SHARE = 10
#: Smallest radius of a ball, and the inverse of the largest one: numbers whose squares exist.
SMALLEST_RADIUS = 1e-150
#: Norm of an iterate that has run away, over what the best function has at most.
RUN_AWAY = 1e10


@dataclass
class Run:
    """A descent on its way, and the units that it goes in.

    Attributes
    ----------
    descent : Descent
    choice : Choice
        Instantiation and alpha.
    shift : float
        alpha in units of the kernel.
    unit, log_factor : float
        Mean of the kernel of a row with itself, and logarithm of the paper's unit over the kernel.
    mean : ndarray of shape (n_targets,)
        Mean of the targets, which is taken off.
    spread : float
        Largest variance of a target.
    history : list of float
        Losses on the batches so far.
    """

    descent: Descent
    choice: Choice
    shift: float
    unit: float
    log_factor: float
    mean: FloatArray
    spread: float
    history: list[float] = field(default_factory=list)

    @property
    def sums(self) -> dict[str, Any]:
        """What a next batch goes on from, as plain arrays."""
        return {
            "unit": self.unit,
            "mean": self.mean,
            "spread": self.spread,
            "descent": self.descent.state(),
        }

    def report_to(self, shown: Callable[[int, float], None] | None) -> Callable[[int, float], None]:
        """A callback that keeps the history, and shows it if there is something to show it."""

        def report(step: int, loss: float) -> None:
            self.history.append(loss)
            if shown is not None:
                shown(step, loss)

        return report


class StochasticDescent(WeightingSolver):
    """A step for every weight, or for a few of them."""

    name = "sfgd"
    alphas = tuple(10.0 ** np.arange(0.0, -4.0, -0.5))
    penalties = ("rkhs",)
    streams = True
    descends = True

    _run: Run | None = None

    @property
    def mixes(self) -> bool:
        """There is one alpha."""
        return False

    def losses(
        self, candidate: AnyInstantiation, rows: CanonicalRows, alphas: tuple[float, ...]
    ) -> list[float]:
        """Losses on held-out rows of short descents on the others."""
        if len(rows.X) == 1:
            return [0.0] * len(alphas)
        cut = self._cut(len(rows.X))
        plan = replace(self.plan, n_weights=min(self.plan.n_weights, SEARCH_STEPS))
        solver = StochasticDescent(plan, rows.take(slice(cut, None)), self.n_jobs)
        test, losses = rows.take(slice(0, cut)), []
        for alpha in alphas:
            try:
                decision = solver.descend(candidate, alpha).function.decision(test.X)
            except Diverged:
                losses.append(np.inf)
                continue
            errors = np.square(decision - test.y).sum(axis=0)
            losses.append(float(np.average(errors, weights=test.weights)))
        return losses

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Solution:
        """Fit with an instantiation and one alpha."""
        try:
            return self.descend(candidate, alphas[0])
        except Diverged:
            raise ValueError(_too_long(alphas[0])) from None

    def descend(self, candidate: AnyInstantiation, alpha: float) -> Solution:
        """A descent with as many steps as there are weights to draw."""
        n_steps = -(-self.plan.n_weights // self.plan.descent.features_per_step)
        return self._descend(candidate, alpha, n_steps, None)

    def learn_batch(
        self,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        sums: dict[str, Any] | None,
    ) -> Solution:
        """A tenth of the steps of a fit, on top of those before."""
        per_step = BATCH_SHARE * self.plan.descent.features_per_step
        n_steps = max(1, -(-self.plan.n_weights // per_step))
        try:
            return self._descend(candidate, alphas[0], n_steps, sums)
        except Diverged:
            raise ValueError(_too_long(alphas[0])) from None

    def left_out(self, solution: Solution) -> LeftOut:
        """Predictions of a fifth of the rows by a descent without it."""
        return self._left_out_of_one_fit(solution)

    def finish_interrupted(self) -> Solution:
        """The average of the iterates so far; without a step, interrupt again."""
        if self._run is None or self._run.descent.n_steps == 0:
            raise KeyboardInterrupt
        return self._solution(self._run)

    def _descend(
        self,
        candidate: AnyInstantiation,
        alpha: float,
        n_steps: int,
        sums: dict[str, Any] | None,
    ) -> Solution:
        """Go down from the start, or on from what other batches have left."""
        rows = self.rows
        X = rows.X.astype(np.float64, copy=False)
        run = self._run = self._begin(candidate, alpha, X, sums)
        report = run.report_to(self.stage("descending") if self.stage is not None else None)
        run.descent.run(X, rows.y - run.mean[:, None], rows.weights, n_steps, report)
        return self._solution(run)

    def _begin(
        self,
        candidate: AnyInstantiation,
        alpha: float,
        X: FloatArray,
        sums: dict[str, Any] | None,
    ) -> Run:
        rows, log_factor = self.rows, candidate.log_unit("rkhs")
        if sums is None:
            shares = rows.weights / rows.weights.sum()
            mean = rows.y @ shares if self.plan.intercept else np.zeros(len(rows.y))
            unit = float(shares @ candidate.kernel("rkhs").diagonal(X)) or 1.0
            spread = float(np.max(np.square(rows.y - mean[:, None]) @ shares)) or 1.0
        else:
            unit, mean, spread = sums["unit"], sums["mean"], sums["spread"]
        shift = self._shift(alpha, unit, log_factor)
        # At the best function the penalty is below the loss of the constant.
        most = float(np.clip(np.sqrt(spread / shift), SMALLEST_RADIUS, 1.0 / SMALLEST_RADIUS))
        rule = self.plan.descent
        radius = most if rule.max_norm == "auto" else rule.max_norm
        if radius is not None:
            radius = float(np.clip(float(radius), SMALLEST_RADIUS, 1.0 / SMALLEST_RADIUS))
            rule = replace(rule, max_norm=radius)
        descent = Descent(
            candidate.weighting(), rule, shift, len(rows.y), self.plan.seed, RUN_AWAY * most
        )
        if sums is not None:
            descent.go_on(sums["descent"])
        choice = Choice.given(candidate, alpha)
        return Run(descent, choice, shift, unit, log_factor, mean, spread)

    def _solution(self, run: Run) -> Solution:
        function, objective = self._described(run)
        return Solution(
            run.choice.best,
            run.choice.mixture,
            function,
            self._log_unit(run.unit, run.log_factor),
            objective,
            n_iter=run.descent.n_steps,
            history=(*run.history, objective),
            largest_norms=run.descent.largest_norm,
            half_steps=self.plan.descent.step == "half",
            sums=run.sums if self.plan.batch else None,
        )

    def _described(self, run: Run) -> tuple[FeatureFunction, float]:
        """The average iterate of a descent as a function, with its objective."""
        rows, descent, mean = self.rows, run.descent, run.mean
        average, W = descent.average, descent.W
        _, log_factors = descent.weighting.expectation(W)
        squares = np.einsum("ij,jk,ik->i", average, descent.weighting.gram(W, W), average)
        function = self._function(
            run.choice.best.instantiation,
            W,
            average * np.exp(log_factors),
            mean,
            log_norms(np.maximum(squares, 0.0), 0.0),
        )
        decision = function.decision(rows.X)
        offset = np.zeros(len(mean))
        if self.plan.intercept:
            # The constant is not penalised: the best one for these rows.
            offset = (rows.y - decision) @ rows.weights / rows.weights.sum()
        losses = np.square(decision + offset[:, None] - rows.y).sum(axis=0)
        objective = float(np.average(losses, weights=rows.weights) + run.shift * squares.sum())
        return replace(function, intercept=mean + offset), objective


def _too_long(alpha: float) -> str:
    return (
        f"The steps of the stochastic descent are too long for alpha = {alpha:.3g}, and it "
        "diverges; choose a larger alpha or batch_size, a correlation around 1 / n_features, or "
        "max_norm='auto'."
    )
