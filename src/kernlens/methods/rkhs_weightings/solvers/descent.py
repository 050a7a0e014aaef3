"""Stochastic functional gradient descent as a learner: Algorithm 3."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import Choice, FeatureFunction, Learned
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import Descent
from kernlens.methods.rkhs_weightings.solvers.solver import (
    WeightingSolver,
    feature_decision,
    log_norms,
)

#: Steps of a descent whose setting is compared with others.
SEARCH_STEPS = 300
#: Batches of rows that as many weights are drawn for as in one fit.
BATCH_SHARE = 10


class StochasticDescent(WeightingSolver):
    """A step for every weight, or for a few of them."""

    alphas = tuple(10.0 ** np.arange(0.0, -4.0, -0.5))

    def losses(
        self, candidate: AnyInstantiation, rows: CanonicalRows, alphas: tuple[float, ...]
    ) -> list[float]:
        """Losses on held-out rows of short descents on the others."""
        if len(rows.X) == 1:
            return [0.0] * len(alphas)
        cut = self._cut(len(rows.X))
        plan = replace(self.plan, n_weights=min(self.plan.n_weights, SEARCH_STEPS))
        learner = StochasticDescent(plan, rows.take(slice(cut, None)), self.n_jobs)
        test, weighting = rows.take(slice(0, cut)), candidate.weighting()
        losses = []
        for alpha in alphas:
            learned = learner.fit(candidate, (alpha,))
            if learned.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            function = learned.function
            assert isinstance(function, FeatureFunction)
            decision = feature_decision(function, weighting, test.X, False, self.n_jobs)
            errors = np.square(decision - test.y).sum(axis=0)
            loss = float(np.average(errors, weights=test.weights))
            losses.append(loss if np.isfinite(loss) else np.inf)
        return losses

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Learned:
        """Fit with an instantiation and one alpha."""
        n_steps = -(-self.plan.n_weights // self.plan.descent.features_per_step)
        learned, _ = self._descend(candidate, alphas[0], n_steps, None)
        return learned

    def learn_batch(
        self,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        state: dict[str, Any] | None,
    ) -> tuple[Learned, dict[str, Any]]:
        """A tenth of the steps of a fit, on top of those before."""
        per_step = BATCH_SHARE * self.plan.descent.features_per_step
        n_steps = max(1, -(-self.plan.n_weights // per_step))
        return self._descend(candidate, alphas[0], n_steps, state)

    def _descend(
        self,
        candidate: AnyInstantiation,
        alpha: float,
        n_steps: int,
        state: dict[str, Any] | None,
    ) -> tuple[Learned, dict[str, Any]]:
        """Go down from the start, or on from a state."""
        rows = self.rows
        X = rows.X.astype(np.float64, copy=False)
        log_factor = candidate.log_unit("rkhs")
        if state is None:
            shares = rows.weights / rows.weights.sum()
            mean = rows.y @ shares if self.plan.intercept else np.zeros(len(rows.y))
            unit = float(shares @ candidate.kernel("rkhs").diagonal(X)) or 1.0
            spread = float(np.max(np.square(rows.y - mean[:, None]) @ shares)) or 1.0
        else:
            unit, mean, spread = state["unit"], state["mean"], state["spread"]
        shift = self._shift(alpha, unit, log_factor)
        rule = self.plan.descent
        if rule.max_norm == "auto":
            # At the best function the penalty is below the loss of the constant.
            rule = replace(rule, max_norm=float(np.sqrt(spread / shift)))
        descent = Descent(candidate.weighting(), rule, shift, len(rows.y), self.plan.seed)
        if state is not None:
            descent.go_on(state["descent"])
        history: list[float] = []
        shown = self.stage("descending") if self.stage is not None else None

        def report(step: int, loss: float) -> None:
            history.append(loss)
            if shown is not None:
                shown(step, loss)

        status = Status.CONVERGED
        try:
            descent.run(X, rows.y - mean[:, None], rows.weights, n_steps, report)
        except KeyboardInterrupt:
            if descent.n_steps == 0:
                raise
            status = Status.INTERRUPTED
        function, objective = self._described(descent, mean, shift)
        choice = Choice.given(candidate, alpha)
        learned = self._learned(choice, function, unit, log_factor, objective)
        learned = replace(
            learned,
            status=status,
            n_iter=descent.n_steps,
            history=(*history, objective),
            largest_norms=descent.largest_norm,
            half_steps=self.plan.descent.step == "half",
        )
        return learned, {
            "unit": unit,
            "mean": mean,
            "spread": spread,
            "descent": descent.state(),
        }

    def _described(
        self, descent: Descent, mean: FloatArray, shift: float
    ) -> tuple[FeatureFunction, float]:
        """The average iterate of a descent as a function, with its objective."""
        rows, average = self.rows, descent.average
        _, log_factors = descent.weighting.expectation(descent.W)
        squares = np.einsum(
            "ij,jk,ik->i", average, descent.weighting.gram(descent.W, descent.W), average
        )
        function = FeatureFunction(
            descent.W,
            average * np.exp(log_factors),
            mean,
            log_norms(np.maximum(squares, 0.0), 0.0),
        )
        decision = feature_decision(function, descent.weighting, rows.X, False, self.n_jobs)
        offset = np.zeros(len(mean))
        if self.plan.intercept:
            # The constant is not penalised: the best one for these rows.
            offset = (rows.y - decision) @ rows.weights / rows.weights.sum()
        losses = np.square(decision + offset[:, None] - rows.y).sum(axis=0)
        objective = float(np.average(losses, weights=rows.weights) + shift * squares.sum())
        return replace(function, intercept=mean + offset), objective
