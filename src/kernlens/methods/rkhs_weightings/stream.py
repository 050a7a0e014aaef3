"""Learning from batches of rows: normal equations, or a descent, that go on where they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import canonical_rows
from kernlens._validation import LARGEST_VALUE, check_memory
from kernlens._warnings import warn
from kernlens.base.columns import Columns
from kernlens.base.fit_data import FitData
from kernlens.base.targets import Targets
from kernlens.base.units import order_to_learn_in, rows_to_learn_from
from kernlens.losses import SquaredLoss
from kernlens.methods.rkhs_weightings.estimator import MANY_ROWS, BaseRandomFeatures
from kernlens.methods.rkhs_weightings.options import FunctionalGradient
from kernlens.methods.rkhs_weightings.plan import WeightingPlan
from kernlens.methods.rkhs_weightings.solvers import SOLVERS

STREAMING = ("auto", *(name for name, solver in SOLVERS.items() if solver.streams))
#: Largest ratio of the weights of two batches.
LARGEST_RATIO = 1e50


def can_stream(estimator: Any) -> bool:
    """Whether the solver learns from batches."""
    solver = estimator.solver
    if isinstance(solver, FunctionalGradient) or solver in STREAMING:
        return True
    raise AttributeError(
        f"partial_fit is for solver='least_squares' and 'sfgd', not {solver!r}; use fit instead."
    )


def check_batch_weights(ratio: float) -> None:
    """Refuse a batch beside which those before, or which beside those, are nothing at all."""
    if not 1.0 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        raise ValueError(
            f"sample_weight of this batch is {ratio:.3g} times that of the first one, and may be "
            f"{1.0 / LARGEST_RATIO:.0e} to {LARGEST_RATIO:.0e} times as large; give all batches "
            "weights of one scale."
        )


def check_batch_targets(y: FloatArray, targets: Targets) -> None:
    """Refuse targets (n_targets, n_samples) whose squares overflow in units of the first batch."""
    apart = np.abs(y - targets.mean[:, None])
    if np.any(apart / LARGEST_VALUE > targets.scale[:, None]):
        raise ValueError(
            f"y is up to {apart.max():.3g} away from the mean of the first batch, more than "
            f"{LARGEST_VALUE:.0e} of its standard deviations; give a first batch that is a fair "
            "sample."
        )


def warn_of_unused_columns(X: FloatArray, columns: Columns) -> None:
    """Say which columns vary now and did not in the first batch: they are not looked at."""
    varies = np.any(columns.mean != X, axis=0)
    varies[columns.used] = False
    unused = np.flatnonzero(varies)
    if len(unused):
        warn(
            f"Column {unused[0]} was constant in the first batch, and is not used although it "
            "varies now; begin again with a first batch that is a fair sample."
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
        plan = self._batch_plan(data)
        memory = self._memory(data, plan)
        check_memory(memory.n_bytes, memory.advice)
        # A batch that was interrupted can be given again, and is then learned as a whole.
        self._learn_planned(data, plan, calibrated=True)

    def _prepare_more(self, X: FloatArray, y: FloatArray, weights: FloatArray) -> FitData:
        """A batch in the units of the first one."""
        unit = self._stream["weight_unit"]
        batch = canonical_rows(X, y, weights)
        check_batch_weights(float(batch.weights.max()) / unit)
        batch = replace(batch, weights=batch.weights / unit)
        columns, targets = self._columns, Targets(self._target_mean, self._target_scale)
        check_batch_targets(batch.y, targets)
        warn_of_unused_columns(batch.X, columns)
        # As in a fit: neither the order of rows nor their last digits say anything of units.
        batch = batch.in_order(order_to_learn_in(batch, columns, targets).rows)
        rows = rows_to_learn_from(batch, columns, targets)
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
