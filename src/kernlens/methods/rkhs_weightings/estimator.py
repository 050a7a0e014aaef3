"""The fit that all four estimators share, from checked arrays to attributes."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths
from kernlens._progress import StageBars
from kernlens._result import Status
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import (
    check_alpha,
    check_choice,
    check_count,
    check_enough_rows,
    check_flag,
    check_memory,
    check_n_jobs,
    check_non_negative,
    check_positive,
    check_sequence,
)
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.standardisation import InputColumns, Standardisation
from kernlens.features.weightings import Weighting
from kernlens.fits.held_out import Bounds, clip_decision
from kernlens.kernels.implicit import ImplicitKernel, StumpKernel
from kernlens.methods.rkhs_weightings.feature_space import decision_in_blocks
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.learner import WeightingLearner
from kernlens.methods.rkhs_weightings.plan import DualFunction, Learned, WeightingPlan
from kernlens.subspace import average_outer_product

ALPHA_UNITS = ("relative", "paper")
#: Less, relative to the features, is rounding.
SMALLEST_ALPHA = 1e-15
#: Up to this many rows ``solver="auto"`` is the exact kernel.
EXACT_ROWS = 2000
#: Rows that gradients are averaged over.
GRADIENT_ROWS = 1000
#: Sums of the sizes of terms for which single precision leaves four digits of a prediction.
LARGEST_TERMS = 1000.0
#: Rows of the kernel between training rows and new ones that exist at once.
KERNEL_ENTRIES = 4_000_000


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
    def of(cls, rows: CanonicalRows) -> SeenRows:
        """Measure rows of inputs."""
        radius = float(np.sqrt(squared_lengths(rows.X).max(initial=0.0)))
        return cls(rows.y.min(axis=1), rows.y.max(axis=1), radius, float(rows.weights.sum()))

    def merged(self, other: SeenRows) -> SeenRows:
        """Of both."""
        return SeenRows(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            max(self.radius, other.radius),
            self.total + other.total,
        )

    def arrays(self) -> tuple[FloatArray, FloatArray, float, float]:
        """As plain values."""
        return self.low, self.high, self.radius, self.total


class BaseRandomFeatures(FeatureLearnerMixin, BaseEstimator):
    """What does not depend on the kind of target or of feature."""

    _kitchen_sinks: bool

    def _check_shared_parameters(self) -> None:
        check_choice("alpha_unit", self.alpha_unit, ALPHA_UNITS)
        # That of the paper can be of any size, with the constants of high dimensions.
        smallest = SMALLEST_ALPHA if self.alpha_unit == "relative" else 0.0
        for alpha in check_sequence("alpha", self.alpha):
            check_alpha(alpha, ("auto",), smallest=smallest)
        if self.alpha_unit == "paper" and isinstance(self.alpha, str):
            raise ValueError(
                "alpha_unit='paper' needs alpha as a number or a list of numbers; for alpha='auto' "
                "set alpha_unit='relative'."
            )
        check_flag("mix_alphas", self.mix_alphas)
        check_positive("sigma", self.sigma)
        check_count("n_random_features", self.n_random_features)
        check_non_negative("bias", self.bias)
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        check_count("n_directions", self.n_directions, words=("auto",))
        check_n_jobs(self.n_jobs)

    @property
    def _given_alphas(self) -> tuple[float, ...] | None:
        """Alphas to choose from, None for the grid of the solver."""
        if isinstance(self.alpha, str):
            return None
        alphas = check_sequence("alpha", self.alpha)
        return tuple(dict.fromkeys(float(alpha) for alpha in alphas))

    def _plan(self, n_rows: int, n_inputs: int, seed: int) -> WeightingPlan:
        raise NotImplementedError

    def _fit_encoded(self, X: FloatArray, y: FloatArray, weights: FloatArray) -> None:
        """Fit on checked arrays; `y` is (n_targets, n_samples), +1 and -1 for a classifier."""
        check_enough_rows(int(np.count_nonzero(weights)), type(self).__name__)
        rows = canonical_rows(X, y, weights)
        columns = InputColumns.of(rows.X, rows.weights, bool(self.standardize), float(self.bias))
        targets = self._target_units(rows.y, rows.weights)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        plan = self._plan(len(rows.X), columns.n_inputs, seed)
        check_memory(
            fit_bytes(len(X), X.shape[1], plan),
            "lower n_random_features, choose solver='least_squares', or fit on fewer rows",
        )
        rows = replace(rows, X=columns.apply(rows.X), y=targets.apply(rows.y.T).T)
        bars = StageBars(type(self).__name__) if self.verbose else nullcontext()
        with bars as stage:
            learner = WeightingLearner(plan, rows, self.n_jobs, stage)
            learned = learner.learn()
        self._warn_if_interrupted(learned)
        self._calibrate(learner, learned)
        self._forget()
        self._store(learned, plan, columns, targets, rows, SeenRows.of(rows))

    @staticmethod
    def _warn_if_interrupted(learned: Learned) -> None:
        if learned.status is Status.INTERRUPTED:
            # In the caller's file: this, the fit of encoded targets and the public one, which is
            # wrapped, are between.
            warnings.warn("The fit was interrupted; the best so far is kept.", stacklevel=5)

    def _forget(self) -> None:
        """Drop what only some settings leave, and what a stream has summed up."""
        for name in (
            "support_",
            "dual_coef_",
            "weights_",
            "coef_",
            "alpha_search_",
            "_stream",
            "_n_weights",
            "_has_intercept",
        ):
            self.__dict__.pop(name, None)

    def _store(
        self,
        learned: Learned,
        plan: WeightingPlan,
        columns: InputColumns,
        targets: Standardisation,
        rows: CanonicalRows,
        seen: SeenRows,
    ) -> None:
        self.solver_, self._penalty = plan.solver, plan.kernel_penalty
        self.mean_, self.scale_ = columns.mean, columns.scale
        self._varying, self._bias = columns.varying, columns.bias
        self._target_mean, self._target_scale = targets.mean, targets.scale
        self._seed, self._seen_rows = plan.seed, seen.arrays()
        self.bounds_ = None
        bounds = self._bounds((seen.low, seen.high))
        if bounds is not None:
            low, high = (bound * targets.scale + targets.mean for bound in bounds)
            self.bounds_ = (low, high)
        self._store_function(learned)
        self._single = rows.X.dtype == np.float32 and self._cancels_little(rows)
        if learned.tried:
            self.alpha_search_ = {
                "alpha": np.array([one.alpha for one in learned.tried]),
                "loss": np.array([one.loss for one in learned.tried]),
                "instantiation": np.array([one.instantiation.name for one in learned.tried]),
            }
            if not self._kitchen_sinks:
                tried = [one.instantiation.correlation for one in learned.tried]
                self.alpha_search_["correlation"] = np.array(tried)
        self._store_gradients(columns, rows.take(slice(0, GRADIENT_ROWS)))

    def _store_function(self, learned: Learned) -> None:
        setting, function = learned.setting, learned.function
        self.alpha_ = setting.alpha
        self.alpha_mixture_ = {
            "alpha": np.array(learned.mixture.alphas),
            "weight": np.array(learned.mixture.weights),
        }
        self.instantiation_ = setting.instantiation.name
        if not self._kitchen_sinks:
            self.correlation_ = setting.instantiation.correlation
        self._custom = getattr(setting.instantiation, "prepared", None)
        self._sigma = float(setting.instantiation.sigma)
        self.log_alpha_unit_ = learned.log_unit
        self._largest_norms, self._half_steps = learned.largest_norms, learned.half_steps
        self.intercept_ = function.intercept
        self._log_norms = function.log_norms
        if isinstance(function, DualFunction):
            self.support_, self.dual_coef_ = function.support, function.dual
        else:
            self.weights_, self.coef_ = function.weights, function.coefficients
        self.objective_ = learned.objective
        self.objective_history_ = np.asarray(learned.history)
        self.n_iter_ = learned.n_iter
        self.status_ = learned.status.value

    def _cancels_little(self, rows: CanonicalRows) -> bool:
        """Whether single precision suffices for predictions: terms are not much above their sum."""
        if not hasattr(self, "coef_"):
            return False
        features = self._feature_map().evaluate(rows.X[:100].astype(np.float64))
        terms = np.abs(self.coef_) @ np.abs(features).T
        # Targets have unit variance.
        return bool(np.max(terms) < LARGEST_TERMS)

    def _store_gradients(self, columns: InputColumns, rows: CanonicalRows) -> None:
        """Directions from the average outer product of gradients."""
        X = rows.X.astype(np.float64, copy=False)
        gradients = self._gradients(X)
        # Several targets count alike: they have unit variance here.
        product = average_outer_product(gradients, rows.weights)
        directions, values = columns.directions(product)
        n_varying = int(columns.varying.sum())
        shares = np.zeros(len(columns.varying))
        if n_varying:
            shares[columns.varying] = self._column_shares(X, rows.weights, product)[:n_varying]
        self._store_directions(directions, values, shares, self.n_directions, columns.scale)

    def _column_shares(self, X: FloatArray, weights: FloatArray, product: FloatArray) -> FloatArray:
        """Importance of every input: the root of its mean squared slope.

        Stumps are functions of single columns, whose spread over the rows says it directly.
        """
        if self.instantiation_ != "stumps":
            return np.sqrt(np.maximum(np.diagonal(product), 0.0))
        if hasattr(self, "coef_"):
            values = self._feature_map().column_functions(X, self.coef_)
        else:
            kernel = cast(StumpKernel, self._kernel())
            values = kernel.column_functions(X, self.support_, self.dual_coef_)
        centred = values - np.average(values, axis=1, weights=weights)[:, None]
        spread: FloatArray = np.sqrt(np.average(centred**2, axis=1, weights=weights).sum(axis=0))
        return spread

    def _calibrate(self, learner: WeightingLearner, learned: Learned) -> None:
        """What a classifier learns from rows that were left out; here nothing."""

    # The fitted function

    @property
    def _instantiation(self) -> AnyInstantiation:
        """The instantiation of the fitted function."""
        raise NotImplementedError

    def _weighting(self) -> Weighting:
        return self._instantiation.weighting()

    def _kernel(self) -> ImplicitKernel:
        return self._instantiation.kernel(self._penalty)

    def _feature_map(self) -> Any:
        weighting = self._weighting()
        if self._kitchen_sinks:
            return weighting.base(self.weights_)
        return weighting.expectation(self.weights_)[0]

    def _function_values(self, inputs: FloatArray) -> FloatArray:
        """Values for standardised targets, (n_targets, n_samples)."""
        if hasattr(self, "coef_"):
            if not self._single:
                inputs = inputs.astype(np.float64, copy=False)
            values = decision_in_blocks(self._feature_map(), inputs, self.coef_, self.n_jobs)
            return values + self.intercept_[:, None]
        kernel, inputs = self._kernel(), inputs.astype(np.float64, copy=False)
        size = max(1, KERNEL_ENTRIES // len(self.support_))
        parts = [
            self.dual_coef_ @ kernel.matrix(self.support_, inputs[low : low + size])
            for low in range(0, len(inputs), size)
        ]
        return np.concatenate(parts, axis=1) + self.intercept_[:, None]

    def _gradients(self, inputs: FloatArray) -> FloatArray:
        """Gradients in the inputs, (n_targets, n_samples, n_inputs)."""
        if hasattr(self, "coef_"):
            gradients: FloatArray = self._feature_map().gradient(inputs, self.coef_)
            return gradients
        return self._kernel().gradient(inputs, self.support_, self.dual_coef_)

    @property
    def _seen(self) -> SeenRows:
        return SeenRows(*self._seen_rows)

    @property
    def _columns(self) -> InputColumns:
        return InputColumns(self.mean_, self.scale_, self._varying, self._bias)

    def _decision(self, X: ArrayLike) -> FloatArray:
        """Decision values, (n_targets, n_samples)."""
        check_is_fitted(self)
        raw: FloatArray = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        values = self._function_values(self._columns.apply(raw))
        values = values * self._target_scale[:, None] + self._target_mean[:, None]
        return clip_decision(values, self.bounds_)

    def _target_units(self, y: FloatArray, weights: FloatArray) -> Standardisation:
        """How targets are used; as they are unless the estimator says otherwise."""
        return Standardisation(np.zeros(len(y)), np.ones(len(y)))

    def _bounds(self, seen: Bounds) -> Bounds | None:
        """Lowest and highest value of every target, if predictions are kept within; here none."""
        return None


def fit_bytes(n_samples: int, n_features: int, plan: WeightingPlan) -> float:
    """Memory of a fit, the formula of the docstrings."""
    size = 4.0 * n_samples * n_features
    if plan.solver == "exact":
        return 8.0 * (size + 4.0 * float(n_samples) ** 2)
    return 8.0 * (size + 12.0 * float(plan.n_weights) ** 2 + 1.6e7)
