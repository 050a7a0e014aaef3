"""The fit shared by the regressor and the classifier, from checked arrays to attributes."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlens._array import FloatArray
from kernlens._execution import single_threaded_blas
from kernlens._progress import StageBars
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import (
    check_alpha,
    check_choice,
    check_count,
    check_enough_rows,
    check_flag,
    check_map,
    check_memory,
    check_n_jobs,
    check_non_negative,
    check_positive,
    check_sequence,
)
from kernlens.base.arrays import class_numbers
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.standardisation import Standardisation
from kernlens.features.nystrom_centers import CENTER_CHOICES
from kernlens.fits.held_out import Bounds, clip_decision
from kernlens.fits.nystrom_fit import evaluate
from kernlens.fits.tuned_ridge import Tuned
from kernlens.kernels.radial import (
    RADIAL_KERNELS,
    RadialKernel,
    check_radial_kernel,
    make_radial_kernel,
)
from kernlens.linalg.kernel_blocks import BLOCK_ENTRIES, HELD_ENTRIES, KernelBlocks
from kernlens.losses import Loss
from kernlens.methods.hkrr.learner import HyperKernelLearner
from kernlens.methods.hkrr.plan import LearnedKernel, LearningPlan
from kernlens.methods.hkrr.problem import (
    OPTIMIZERS,
    AlternatingGradient,
    HyperKernelProblem,
    MapOptimizer,
    VarPro,
)
from kernlens.methods.hkrr.rows import StageRows
from kernlens.methods.hkrr.search import SHARE
from kernlens.subspace import estimate_n_directions

#: Smaller values of alpha leave the linear systems without a correct digit.
SMALLEST_ALPHA = 1e-15
#: Centres of the last fit by default: as many as keep its cost n * centres^2 near this, within
#: bounds. More than the upper bound hardly predict better, fewer than the lower one save nothing.
REFIT_WORK = 2.0e10
REFIT_BOUNDS = (300, 1000)


class BaseHKRR(FeatureLearnerMixin, BaseEstimator):
    """Everything of HKRR that does not depend on the kind of target."""

    def _check_parameters(self) -> None:
        for alpha in check_sequence("alpha", self.alpha):
            check_alpha(alpha, ("auto",), smallest=SMALLEST_ALPHA)
        for number in check_sequence("n_components", self.n_components):
            check_count("n_components", number, words=("auto",))
        check_count("n_centers", self.n_centers)
        check_count("n_directions", self.n_directions, words=("auto",))
        check_count("n_init", self.n_init)
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)
        check_non_negative("trace_norm", self.trace_norm)
        if self.max_norm is not None:
            check_positive("max_norm", self.max_norm)
        if self.refit is not None:
            check_count("refit", self.refit, words=("auto", "exact"), other="None")
        check_choice("centers", self.centers, CENTER_CHOICES)
        check_flag("standardize", self.standardize)
        check_flag("warm_start", self.warm_start)
        check_n_jobs(self.n_jobs)
        if isinstance(self.kernel, RadialKernel):
            check_radial_kernel(self.kernel)
        else:
            check_choice(
                "kernel", self.kernel, tuple(RADIAL_KERNELS), other="an instance of RadialKernel"
            )
        if not isinstance(self.optimizer, VarPro | AlternatingGradient):
            check_choice(
                "optimizer",
                self.optimizer,
                tuple(OPTIMIZERS),
                other="a VarPro or AlternatingGradient",
            )
        if isinstance(self.init, str) or self.init is None:
            check_choice("init", self.init, ("auto", "random", "subspace"), other="a matrix")

    def _fit_encoded(
        self,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        loss: Loss,
    ) -> None:
        """Fit on checked arrays; `y` is (n_targets, n_samples), one-hot for a classifier."""
        check_enough_rows(int(np.count_nonzero(weights)), type(self).__name__)
        rows = canonical_rows(X, y, weights)
        units = Standardisation.of(rows.X, rows.weights, self.standardize)
        targets = self._target_units(rows)
        rows = replace(rows, X=units.apply(rows.X), y=targets.apply(rows.y.T).T)
        plan = self._plan(rows, self._bounds(rows.y, targets))
        most_centers = max(plan.n_centers, plan.refit_centers or 0)
        check_memory(
            fit_bytes(len(X), X.shape[1], min(most_centers, len(X)), held=not loss.quadratic),
            "lower refit or n_centers, or fit on fewer rows",
        )
        problem = HyperKernelProblem(
            make_radial_kernel(self.kernel),
            loss,
            trace_norm=float(self.trace_norm),
            optimizer=self._optimizer(),
            n_jobs=self.n_jobs,
        )
        bars = StageBars(type(self).__name__) if self.verbose else nullcontext()
        with bars as stage, single_threaded_blas():
            strata = None if loss.quadratic else class_numbers(rows.y)
            stages = StageRows(problem, rows, plan, self._seed(), strata)
            unit = 1.0
            if self.max_norm is not None:
                # A first map of zero: all columns are constant, and any radius will do.
                radius = 2.0 * (float(np.linalg.norm(stages.first_map(), ord=2)) or 1.0)
                stages = replace(stages, problem=replace(problem, radius=radius))
                unit = float(self.max_norm) / radius
            learned = self._learn(stages, units, stage)
        self._store(learned, units, targets, unit, plan.bounds)

    def _plan(self, rows: CanonicalRows, bounds: Bounds | None) -> LearningPlan:
        n_rows, n_features = rows.X.shape
        init: Any = self.init
        if not isinstance(init, str):
            init = check_map(init, n_features)
        components = check_sequence("n_components", self.n_components)
        if not isinstance(init, str):
            if components not in (["auto"], [len(init)]):
                raise ValueError(
                    f"init has {len(init)} rows and n_components is {self.n_components!r}; give "
                    'both the same number, or leave n_components="auto".'
                )
            components = [len(init)]
        return LearningPlan(
            n_components=None
            if "auto" in components
            else tuple(dict.fromkeys(int(k) for k in components)),
            alphas=_numbers(check_sequence("alpha", self.alpha)),
            n_centers=int(self.n_centers),
            centers=self.centers,
            refit_centers=self._refit_centers(n_rows),
            init=init,
            n_init=int(self.n_init),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            bounds=bounds,
        )

    def _refit_centers(self, n_rows: int) -> int | None:
        if self.refit is None:
            return None
        if self.refit == "exact":
            return n_rows
        if self.refit == "auto":
            affordable = int(np.sqrt(REFIT_WORK / n_rows))
            return max(int(self.n_centers), int(np.clip(affordable, *REFIT_BOUNDS)))
        return int(self.refit)

    def _optimizer(self) -> MapOptimizer:
        if isinstance(self.optimizer, str):
            return OPTIMIZERS[self.optimizer]
        chosen: MapOptimizer = self.optimizer
        return chosen

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _learn(self, stages: StageRows, units: Standardisation, report: Any) -> LearnedKernel:
        previous = self._previous_map(units)
        plan = stages.plan
        if previous is not None and plan.alphas is not None:
            plan = replace(plan, n_components=(len(previous),), start=previous)
        learner = HyperKernelLearner(replace(stages, plan=plan), report)
        try:
            if previous is None or plan.start is not None:
                return learner.learn()
            tuned = Tuned(self._refit_scale, self.refit_alpha_, np.nan)
            return learner.go_on(previous, tuned, self.alpha_)
        except KeyboardInterrupt:
            warnings.warn(
                "The fit was interrupted; the best map found so far is kept.", stacklevel=6
            )
            return learner.finish_interrupted()

    def _previous_map(self, units: Standardisation) -> FloatArray | None:
        """Map of the fit before, if it is to be continued and had the same columns."""
        if not self.warm_start or not hasattr(self, "projection_"):
            return None
        if self.projection_.shape[1] != self.n_features_in_:
            return None
        learned_scale = self.length_scale_ * self._refit_scale
        W: FloatArray = self.projection_ * units.scale / learned_scale
        return W

    def _store(
        self,
        learned: LearnedKernel,
        units: Standardisation,
        targets: Standardisation,
        unit: float,
        bounds: Bounds | None,
    ) -> None:
        self.kernel_ = self.kernel
        self.mean_ = units.mean
        self.projection_ = unit * learned.W / units.scale
        self.length_scale_ = unit / learned.scale
        self._refit_scale = learned.scale
        self.centers_ = learned.Z * units.scale + units.mean
        self.dual_coef_ = learned.coefficients * targets.scale[:, None]
        self.intercept_ = learned.intercept * targets.scale + targets.mean
        self.bounds_ = None
        if bounds is not None:
            low, high = (bound * targets.scale + targets.mean for bound in bounds)
            self.bounds_ = (low, high)
        self.alpha_ = learned.alpha
        self.refit_alpha_ = learned.refit_alpha
        self.n_components_ = len(learned.W)
        self._store_search(learned)
        self.objective_ = learned.value
        self.objective_history_ = np.asarray([*learned.result.history])
        self.n_iter_ = learned.result.n_iter
        self.status_ = learned.result.status.value
        sizes = np.linalg.norm(learned.slopes[:, None] * learned.directions, axis=0)
        n_directions = self.n_directions
        if n_directions == "auto":
            n_directions = estimate_n_directions(learned.slopes, self.n_features_in_, SHARE)
        self._store_directions(learned.directions, learned.slopes, sizes, n_directions, units.scale)

    def _store_search(self, learned: LearnedKernel) -> None:
        self.__dict__.pop("alpha_search_", None)
        if learned.visited:
            self.alpha_search_ = {
                "n_components": np.array([setting.n_components for setting in learned.visited]),
                "alpha": np.array([setting.alpha for setting in learned.visited]),
                "loss": np.array([setting.loss for setting in learned.visited]),
            }

    def _decision(self, X: ArrayLike) -> FloatArray:
        """Decision values, (n_targets, n_samples)."""
        check_is_fitted(self)
        rows: FloatArray = validate_data(self, X, reset=False, dtype=np.float64)
        blocks = KernelBlocks(
            self.projection_ / self.length_scale_,
            rows - self.mean_,
            self.centers_ - self.mean_,
            make_radial_kernel(self.kernel_),
            self.n_jobs,
            slopes=False,
        )
        with single_threaded_blas():
            decision = evaluate(blocks, self.dual_coef_, self.intercept_)
        return clip_decision(decision, self.bounds_)

    def _target_units(self, rows: CanonicalRows) -> Standardisation:
        """How targets are used; as they are unless the estimator says otherwise."""
        return Standardisation(np.zeros(len(rows.y)), np.ones(len(rows.y)))

    def _bounds(self, y: FloatArray, targets: Standardisation) -> Bounds | None:
        """Lowest and highest decision value of every target, in those units; here none."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def fit_bytes(n_samples: int, n_features: int, n_centers: int, *, held: bool) -> float:
    """Memory of a fit, the formula of the docstrings; `held` if the features are kept whole."""
    entries = 3.0 * n_samples * n_features + 14.0 * n_centers**2
    entries += min(2.0 * n_samples * n_centers, 2.0 * HELD_ENTRIES) + 20.0 * BLOCK_ENTRIES
    if held:
        entries += 3.0 * n_samples * n_centers
    return 8.0 * entries


def _numbers(values: list[Any]) -> tuple[float, ...] | None:
    return None if "auto" in values else tuple(dict.fromkeys(float(value) for value in values))
