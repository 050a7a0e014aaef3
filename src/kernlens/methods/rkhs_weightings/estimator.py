"""What all four estimators share: from parameters to a plan, and fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths
from kernlens._rows import CanonicalRows
from kernlens.base.columns import Columns
from kernlens.base.estimates import FitShape
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.blocks.block import Block
from kernlens.methods.rkhs_weightings.function import (
    FeatureFunction,
    KernelFunction,
    WeightedFunction,
)
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.learner import BatchLearner, WeightingLearner
from kernlens.methods.rkhs_weightings.options import FunctionalGradient, PaperAlpha, alphas_of
from kernlens.methods.rkhs_weightings.plan import LearnedWeighting, Limits, WeightingPlan
from kernlens.methods.rkhs_weightings.solvers import SOLVERS, WeightingSolver

#: More than the exact kernel is chosen for.
MANY_ROWS = 2**60
#: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
SECONDS_PER_OPERATION = 4.5e-10


@dataclass(frozen=True)
class SeenRows:
    """Sizes of the rows learned from, for bounds.

    Attributes
    ----------
    low, high : ndarray of shape (n_targets,)
        Range of the standardised targets.
    radius : float
        Length of the longest row of inputs.
    total : float
        Sum of the weights.
    """

    low: FloatArray
    high: FloatArray
    radius: float
    total: float

    @classmethod
    def of_fit(cls, data: FitData) -> SeenRows:
        """Measure all rows of a fit."""
        if data.table is None:
            return cls.of(data.rows)
        seen = data.table.table.fold_present(cls.of, cls.merged)
        assert seen is not None
        return seen

    @classmethod
    def of(cls, rows: CanonicalRows | Block) -> SeenRows:
        """Measure rows of inputs."""
        radius = float(np.sqrt(squared_lengths(rows.X).max(initial=0.0)))
        return cls(rows.y.min(axis=1), rows.y.max(axis=1), radius, float(rows.weights.sum()))

    def merged(self, other: SeenRows) -> SeenRows:
        """Sizes of the rows of both."""
        return SeenRows(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            max(self.radius, other.radius),
            self.total + other.total,
        )

    def arrays(self) -> tuple[FloatArray, FloatArray, float, float]:
        """Plain arrays and numbers, for a fitted model to keep."""
        return self.low, self.high, self.radius, self.total


class BaseRandomFeatures(FittingMixin):
    """Everything that depends neither on the kind of target nor on that of the features."""

    _precisions: ClassVar[list[type]] = [np.float64, np.float32]
    _single_threaded_blas = False
    _learns_from_blocks = True
    _order = "F"
    _search_unit = 1.0
    _optional = ("support_", "dual_coef_", "weights_", "coef_", "_single", "_stream")

    #: What the batches of a stream have left, of plain arrays and numbers.
    _stream: dict[str, Any]

    #: Whether the features are the base predictors themselves.
    _kitchen_sinks: ClassVar[bool]
    _limits: ClassVar[Limits] = Limits()

    # From parameters to a plan

    @abstractmethod
    def _solver_for(self, n_rows: int) -> type[WeightingSolver]:
        """The solver that is asked for, or that is best for so many rows."""

    @abstractmethod
    def _candidates(
        self, n_inputs: int, seed: int, solver: type[WeightingSolver]
    ) -> tuple[AnyInstantiation, ...]:
        """Instantiations to choose from."""

    @property
    @abstractmethod
    def _instantiation(self) -> AnyInstantiation:
        """The instantiation of the fitted function."""

    @property
    def _penalized_norm(self) -> str:
        """Norm of the weight function that is penalised."""
        return "l2"

    @property
    def _descent(self) -> FunctionalGradient:
        """How stochastic descent goes."""
        return FunctionalGradient()

    def _measure_columns(self, rows: CanonicalRows) -> Columns:
        return Columns.of(
            rows.X,
            rows.weights,
            bool(self.standardize),
            bias=float(self.bias),
            order=self._order,
        )

    def _plan(self, data: FitData) -> WeightingPlan:
        # Where there is a table, "auto" cannot be the exact kernel.
        solver = self._solver_for(len(data.rows.X) if data.found is None else MANY_ROWS)
        if data.found is not None and not solver.sums_blocks:
            raise ValueError(
                f"solver={solver.name!r} needs all rows at once; choose solver='least_squares' or "
                "'lasso' for blocks of rows."
            )
        return self._plan_with(data, solver)

    def _plan_with(self, data: FitData, solver: type[WeightingSolver]) -> WeightingPlan:
        return WeightingPlan(
            candidates=self._candidates(data.columns.n_inputs, data.seed, solver),
            alphas=alphas_of(self.alpha),
            mixed=bool(self.mix_alphas),
            solver=solver.name,
            penalty=self._penalized_norm,
            kitchen_sinks=self._kitchen_sinks,
            paper_units=isinstance(self.alpha, PaperAlpha),
            intercept=bool(self.fit_intercept),
            n_weights=int(self.n_random_features),
            descent=self._descent,
            seed=data.seed,
            of_classes=is_classifier(self),
            n_columns=data.columns.n_varying,
            limits=self._limits,
        )

    def _memory(self, data: FitData, plan: WeightingPlan) -> Memory:
        # Batches of a stream have another solver than as many rows at once.
        return self._memory_with(SOLVERS[plan.solver], FitShape.of(data))

    def _memory_for(self, shape: FitShape) -> Memory:
        return self._memory_with(self._solver_for(shape.n_rows), shape)

    def _memory_with(self, solver: type[WeightingSolver], shape: FitShape) -> Memory:
        return Memory(
            solver.n_bytes(shape.n_rows, shape.n_columns, int(self.n_random_features)),
            "lower n_random_features, choose solver='least_squares', or fit on fewer rows",
        )

    def _n_inputs(self, n_features: int) -> int:
        return n_features + (self.bias != 0.0)

    def _seconds_for(self, shape: FitShape) -> float:
        n, d = float(shape.n_rows), shape.n_columns
        if not self._solver_for(shape.n_rows).draws:
            return 0.2 + SECONDS_PER_OPERATION * n**2 * (n + d)
        weights = float(min(self.n_random_features, 2**62))
        return 0.2 + SECONDS_PER_OPERATION * (n * weights * (d + weights) + weights**3)

    def _learner(self, data: FitData, plan: WeightingPlan, stage: Stage | None) -> WeightingLearner:
        make = BatchLearner if plan.batch else WeightingLearner
        return make(plan, data.rows, self.n_jobs, stage)

    # Fitted attributes

    def _store(self, data: FitData, plan: WeightingPlan, learned: LearnedWeighting) -> None:
        solution = learned.solution
        used, mixture = solution.setting.instantiation, solution.mixture
        self.solver_, self._penalty, self._seed = plan.solver, plan.kernel_penalty, plan.seed
        self.alpha_mixture_ = {
            "alpha": np.array(mixture.alphas),
            "weight": np.array(mixture.weights),
        }
        self.instantiation_, self._sigma = used.name, float(used.sigma)
        self.log_alpha_unit_ = solution.log_unit
        self._largest_norms, self._half_steps = solution.largest_norms, solution.half_steps
        self.bounds_ = data.targets.bounds
        seen = SeenRows.of_fit(data)
        if plan.sums is not None:
            seen = seen.merged(self._seen)
        self._seen_rows = seen.arrays()
        if plan.batch:
            self._stream = {
                "sums": solution.sums,
                "n_weights": plan.n_weights,
                "intercept": plan.intercept,
                "weight_unit": data.weight_unit,
            }
        self._store_instantiation(used)

    def _store_instantiation(self, used: AnyInstantiation) -> None:
        """Keep what is needed to make the instantiation again, beside its name and sigma."""

    @property
    def _seen(self) -> SeenRows:
        return SeenRows(*self._seen_rows)

    @property
    def _function(self) -> WeightedFunction:
        return _FUNCTIONS[self._function_kind](self)


def _feature_function(model: Any) -> FeatureFunction:
    return FeatureFunction(
        model._instantiation,
        model._kitchen_sinks,
        model.weights_,
        model.coef_,
        model.intercept_,
        model._log_norms,
        model._penalty,
        model._single,
        model.n_jobs,
    )


def _kernel_function(model: Any) -> KernelFunction:
    return KernelFunction(
        model._instantiation,
        model.support_,
        model.dual_coef_,
        model.intercept_,
        model._log_norms,
        model._penalty,
    )


#: How a fitted model makes its function, by the kind of function.
_FUNCTIONS = {FeatureFunction.kind: _feature_function, KernelFunction.kind: _kernel_function}
