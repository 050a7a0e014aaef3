"""What the regressor and the classifier share: from parameters to a plan, and fitted attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._lazy import Kept
from kernlens._validation import check_choice, check_count, check_particles
from kernlens.base.estimates import FitShape
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.base.search import SearchRecord
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.methods.bkernn.function import RidgeFunctions
from kernlens.methods.bkernn.knot_function import KnotFunctions
from kernlens.methods.bkernn.learner import ParticleLearner
from kernlens.methods.bkernn.objective import ParticleProblem, target_scale
from kernlens.methods.bkernn.parameters import ADDITIVE
from kernlens.methods.bkernn.partial_functions import PartialFunctions, tabulate
from kernlens.methods.bkernn.plan import ParticlePlan
from kernlens.methods.bkernn.tabulated import TabulatedFunctions
from kernlens.penalties import Penalty, make_penalty

#: What ``penalty="auto"`` compares; the first is taken where nothing is searched.
COMPARED = ("feature", "variable", ADDITIVE)
#: Rows up to which a search of alpha makes several runs, and how many those are worth.
MANY_ROWS, RUNS_OF_A_SEARCH = 2000, 4
#: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
SECONDS_PER_OPERATION = 1.25e-6


class BaseBKerNN(FittingMixin):
    """Everything of BKerNN that does not depend on the kind of target."""

    _thrifty = ({"n_particles": 50}, {"n_particles": 20}, {"n_particles": 10})
    _learns_from_blocks = True
    #: A larger sample makes fewer passes over the blocks.
    _sample_rows = 20_000
    _optional = ("support_", "support_inputs_", "dual_coef_", "knots_", "knot_coef_")

    def _plan(self, data: FitData) -> ParticlePlan:
        scale = target_scale(data.loss, data.rows)
        smallest = self._problem("feature", data, scale).smallest_alpha(data.rows)
        alpha, search = self._given_alpha(data, smallest)
        return ParticlePlan(
            {name: self._problem(name, data, scale) for name in self._penalties(alpha)},
            compared=isinstance(self.penalty, str) and self.penalty == "auto",
            scale=scale,
            alpha=alpha,
            start=self._previous_particles(data),
            search=search,
            plain=self.optimizer == "plain",
            max_iter=int(self.max_iter),
            tol=float(self.tol),
        )

    def _penalties(self, alpha: float | None) -> tuple[str, ...]:
        """Names of the penalties to compare, the one given if there is no search."""
        if isinstance(self.penalty, Penalty):
            return ("given",)
        if self.penalty != "auto":
            return (self.penalty,)
        if self.warm_start and alpha is not None and hasattr(self, "penalty_"):
            return (self.penalty_,)
        searched = alpha is None and self.optimizer != "plain" and isinstance(self.init, str)
        return COMPARED if searched else COMPARED[:1]

    def _problem(self, name: str, data: FitData, scale: float) -> ParticleProblem:
        """The problem of a penalty by its name, with its concavity for targets of unit scale."""
        on_axes = name == ADDITIVE
        penalty = (
            self.penalty
            if name == "given"
            else make_penalty("basic_l1" if on_axes else name, s=1.0 / scale)
        )
        return ParticleProblem(make_kernel(self.kernel), data.loss, penalty, self.n_jobs, on_axes)

    def _given_alpha(
        self, data: FitData, smallest: float
    ) -> tuple[float | None, SearchRecord | None]:
        """The value of alpha, and how it was chosen if that was in an earlier fit."""
        # Alpha times the sum of the weights is the same for a sample and for all rows.
        share = 1.0 if data.table is None else data.table.total / float(data.rows.weights.sum())
        if self.alpha != "auto":
            named = self.alpha == "heuristic"
            alpha = self._heuristic_alpha(data) if named else share * float(self.alpha)
            _check_not_rounding(alpha, smallest)
            return alpha, None
        if self.warm_start and hasattr(self, "alpha_search_") and share * self.alpha_ >= smallest:
            record = SearchRecord.of_dict(self.alpha_search_)
            return share * float(self.alpha_), record.with_alpha_times(share)
        return None, None

    def _heuristic_alpha(self, data: FitData) -> float:
        """The paper's rule, for rows as they are used; without their mean if standardised."""
        inputs, columns = data.rows.X, data.columns
        if not self.standardize:
            inputs = columns.embed(inputs) + columns.mean
        largest = float(np.linalg.norm(inputs, axis=1).max()) or 1.0
        return 2.0 * largest / float(data.rows.weights.sum())

    def _fresh_particles(self, data: FitData, scale: float) -> FloatArray:
        n_inputs = data.rows.X.shape[1]
        if isinstance(self.init, str):
            check_choice("init", self.init, ("random",))
            random = check_random_state(self.random_state)
            W: FloatArray = random.normal(size=(self.n_particles, n_inputs)) / np.sqrt(n_inputs)
            W *= scale
        else:
            given = check_particles(self.init, self.n_particles, self.n_features_in_)
            W = data.columns.select(given)
        # Without a column that varies there is nothing to look at.
        return W if data.columns.n_varying else np.zeros_like(W)

    def _previous_particles(self, data: FitData) -> FloatArray | None:
        """Particles of the fit before, if it is to be continued and had the same columns."""
        if not self.warm_start or not hasattr(self, "particles_"):
            return None
        if self.particles_.shape[1] != self.n_features_in_:
            return None
        W = np.zeros((self.n_particles, data.rows.X.shape[1]))
        previous = data.columns.select(self.particles_[: self.n_particles] * data.columns.scale)
        W[: len(previous)] = previous
        return W

    def _memory_for(self, shape: FitShape) -> Memory:
        """Sorted projections, their order, and the tables of the fitted functions."""
        per_entry = 8 + 8 + 4 + 8 + 8 * shape.n_targets
        return Memory(
            float(shape.n_rows) * self._most_particles(shape) * per_entry,
            "lower n_particles or fit on fewer rows",
        )

    def _most_particles(self, shape: FitShape) -> int:
        """Particles of the largest model; an additive one has a particle for every column."""
        additive = ADDITIVE in self._penalties(None if self.alpha == "auto" else 0.0)
        return max(self.n_particles, shape.n_columns if additive else 0)

    def _seconds_for(self, shape: FitShape) -> float:
        n, d = shape.n_rows, shape.n_columns
        one = n > MANY_ROWS or self.alpha != "auto" or is_classifier(self)
        runs = 1 if one else RUNS_OF_A_SEARCH
        work = float(n) * self._most_particles(shape) * (d + float(np.log2(n + 1)))
        return 0.5 + SECONDS_PER_OPERATION * runs * work * (1.0 + 0.2 * (shape.n_targets - 1))

    def _learner(self, data: FitData, plan: ParticlePlan, stage: Stage | None) -> ParticleLearner:
        # Drawn here and not before: there may be too many particles for the memory.
        plan = replace(plan, fresh=self._fresh_particles(data, plan.scale))
        return ParticleLearner(plan, data.rows, data.strata, stage)

    def _store(self, data: FitData, plan: ParticlePlan, learned: Any) -> None:
        self.kernel_, self.penalty_ = self.kernel, learned.penalty
        self._tabulated: Kept[TabulatedFunctions] = Kept()
        if not np.isfinite(learned.function.tables).all():
            # Tables are no fitted attribute, of which there is none that is not finite.
            raise FloatingPointError("The tables of the fitted functions overflow.")
        # In the units of X; predictions divide by the same numbers again.
        self.particles_ = data.columns.embed(learned.function.particles) / data.columns.scale

    @property
    def _function(self) -> TabulatedFunctions:
        arrays = (self.particles_, self.scale_, self.inputs_, *self._parts_of_function)
        return self._tabulated.made_of((self.kernel_, *arrays, self.n_jobs), self._make_function)

    @property
    def _parts_of_function(self) -> tuple[Any, ...]:
        """What a function is made of beside its kernel and its particles."""
        if self._function_kind == KnotFunctions.kind:
            return self.knots_, self.knot_coef_, self.intercept_
        return self.support_, self.support_inputs_, self.dual_coef_, self.intercept_

    def _make_function(self) -> TabulatedFunctions:
        kind: Any = KnotFunctions if self._function_kind == KnotFunctions.kind else RidgeFunctions
        particles = self._columns.select(self.particles_ * self.scale_)
        parts = map(np.ascontiguousarray, self._parts_of_function)
        made: TabulatedFunctions = kind(make_kernel(self.kernel_), particles, *parts, self.n_jobs)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the tables, which are made again from the others."""
        state = super().__getstate__()
        state.pop("_tabulated", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes of a saved model; its tables are made when it first predicts."""
        super().__setstate__(state)
        self._tabulated = Kept()

    def partial_functions(self, n_points: int = 200) -> PartialFunctions:
        """Tabulate the one-dimensional functions that add up to the prediction.

        Parameters
        ----------
        n_points : int, default=200
            Points of each grid.

        Returns
        -------
        PartialFunctions
            Directions, grids and values, the functions with the largest spread first.
        """
        check_is_fitted(self)
        check_count("n_points", n_points)
        with self._blas():
            return tabulate(
                self._function, self.particles_, self._columns, self._targets, int(n_points)
            )


def _check_not_rounding(alpha: float, smallest: float) -> None:
    """Refuse an alpha whose systems are singular to the last digit, and their solutions noise."""
    if alpha < smallest:
        raise ValueError(
            f"alpha = {alpha:.3g} vanishes beside the kernel matrix of these data; choose at least "
            f"{smallest:.3g}, or standardize X and y."
        )
