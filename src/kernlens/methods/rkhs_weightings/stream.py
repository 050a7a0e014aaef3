"""Learning from batches of rows: normal equations, or a descent, that go on where they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import check_enough_rows
from kernlens.base.standardisation import InputColumns, Standardisation
from kernlens.methods.rkhs_weightings.estimator import BaseRandomFeatures, SeenRows
from kernlens.methods.rkhs_weightings.learner import WeightingLearner
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import FunctionalGradient

STREAMING = ("auto", "least_squares", "sfgd")
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


class StreamingRandomFeatures(BaseRandomFeatures):
    """`partial_fit` of random features.

    The units of columns and targets, the instantiation and the weights are those of the first
    batch. Sums of least squares are kept in two parts, of which the smaller one chooses alpha.
    """

    @property
    def _going_on(self) -> bool:
        return hasattr(self, "_stream")

    _n_weights: int
    _has_intercept: bool

    def _partial_fit_encoded(self, X: FloatArray, y: FloatArray, weights: FloatArray) -> None:
        """Learn from a batch; `y` is (n_targets, n_samples)."""
        state: dict[str, Any] | None = getattr(self, "_stream", None)
        if state is None:
            check_enough_rows(int(np.count_nonzero(weights)), type(self).__name__)
        batch = canonical_rows(X, y, weights)
        if state is None:
            columns = InputColumns.of(
                batch.X, batch.weights, bool(self.standardize), float(self.bias)
            )
            targets = self._target_units(batch.y, batch.weights)
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        else:
            columns = self._columns
            targets = Standardisation(self._target_mean, self._target_scale)
            seed = self._seed
        rows = CanonicalRows(
            columns.apply(batch.X), targets.apply(batch.y.T).T, batch.weights, batch.group
        )
        # Many rows are to come: "auto" cannot be the exact kernel.
        plan = self._plan(MANY_ROWS, columns.n_inputs, seed)
        seen = SeenRows.of(rows)
        if state is not None:
            plan = replace(
                plan,
                candidates=(self._instantiation,),
                n_weights=self._n_weights,
                intercept=self._has_intercept,
            )
            if plan.solver == "sfgd":
                plan = replace(plan, alphas=(self.alpha_,))
            seen = seen.merged(self._seen)
        learner = WeightingLearner(plan, rows, self.n_jobs)
        learned, state = learner.learn_batch(state)
        self._warn_if_interrupted(learned)
        self._calibrate(learner, learned)
        self._forget()
        self._store(learned, plan, columns, targets, rows, seen)
        self._stream, self._n_weights = state, plan.n_weights
        self._has_intercept = plan.intercept
