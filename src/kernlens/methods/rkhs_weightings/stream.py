"""Learning from batches of rows: normal equations, or a descent, that go on where they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import canonical_rows
from kernlens.base.fitting import FitData
from kernlens.base.targets import Targets
from kernlens.losses import SquaredLoss
from kernlens.methods.rkhs_weightings.estimator import BaseRandomFeatures
from kernlens.methods.rkhs_weightings.options import FunctionalGradient
from kernlens.methods.rkhs_weightings.plan import WeightingPlan
from kernlens.methods.rkhs_weightings.solvers import SOLVERS

STREAMING = ("auto", *(name for name, solver in SOLVERS.items() if solver.streams))
#: More than the exact kernel is chosen for.
MANY_ROWS = 2**60


def can_stream(estimator: Any) -> bool:
    """Whether the solver learns from batches."""
    solver = estimator.solver
    if isinstance(solver, FunctionalGradient) or solver in STREAMING:
        return True
    raise AttributeError(
        f"partial_fit is for solver='least_squares' and 'sfgd', not {solver!r}; use fit instead."
    )


class StreamMixin(BaseRandomFeatures):
    """`partial_fit` of random features.

    The units of columns and targets, the instantiation and the weights are those of the first
    batch. Sums of least squares are kept in two parts, of which the smaller one chooses alpha.
    """

    @property
    def _going_on(self) -> bool:
        """Whether there were batches before; a fit of all rows forgets them."""
        return getattr(self, "_stream", None) is not None

    def _partial_fit_encoded(self, X: FloatArray, y: FloatArray, weights: FloatArray) -> None:
        """Learn from a batch; `y` is (n_targets, n_samples)."""
        if self._going_on:
            data = self._prepare_more(X, y, weights)
        else:
            data = self._prepare(X, y, weights, SquaredLoss())
        self._learn_planned(data, self._batch_plan(data))

    def _prepare_more(self, X: FloatArray, y: FloatArray, weights: FloatArray) -> FitData:
        """A batch in the units of the first one."""
        unit = self._stream["weight_unit"]
        batch = canonical_rows(X, y, weights / unit)
        columns, targets = self._columns, Targets(self._target_mean, self._target_scale)
        rows = replace(batch, X=columns.apply(batch.X), y=targets.apply(batch.y))
        before = [targets.restore(end[:, None])[:, 0] for end in (self._seen.low, self._seen.high)]
        targets = self._bounded(
            targets,
            np.minimum(before[0], batch.y.min(axis=1)),
            np.maximum(before[1], batch.y.max(axis=1)),
        )
        loss = SquaredLoss()
        return FitData(rows, columns, targets, loss, None, unit, self.random_state, self._seed)

    def _bounded(self, targets: Targets, low: FloatArray, high: FloatArray) -> Targets:
        """Keep predictions within the range of targets, if that is wanted."""
        return targets

    def _batch_plan(self, data: FitData) -> WeightingPlan:
        # Many rows are to come: "auto" cannot be the exact kernel.
        solver = self._solver_for(MANY_ROWS)
        plan = replace(self._plan_with(data, solver), batch=True)
        if not self._going_on:
            return plan
        return replace(
            plan,
            candidates=(self._instantiation,),
            alphas=(self.alpha_,) if solver.descends else plan.alphas,
            n_weights=self._stream["n_weights"],
            intercept=self._stream["intercept"],
            sums=self._stream["sums"],
        )
