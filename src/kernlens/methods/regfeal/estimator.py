"""The fit shared by the regressor and the classifier, from checked arrays to attributes."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlens._array import FloatArray
from kernlens._execution import single_threaded_blas
from kernlens._progress import StageBars
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import (
    check_alpha,
    check_between,
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
from kernlens.base.arrays import class_numbers
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.standardisation import Standardisation
from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import (
    DegreeSequence,
    GeometricSequence,
    TruncatedSequence,
)
from kernlens.fits.held_out import Bounds, clip_decision
from kernlens.kernels.hermite import MEDIUM, HermiteKernel
from kernlens.kernels.radial import make_radial_kernel
from kernlens.losses import Loss
from kernlens.methods.regfeal.columns import HermiteColumns
from kernlens.methods.regfeal.estimator_refit import (
    FittedEstimator,
    check_refit_estimator,
    check_refit_weights,
    is_estimator,
)
from kernlens.methods.regfeal.kernel_refit import (
    ProjectedKernel,
)
from kernlens.methods.regfeal.learner import HermiteLearner
from kernlens.methods.regfeal.objective import (
    HermiteFunction,
    KernelFunction,
    PolynomialFunction,
)
from kernlens.methods.regfeal.plan import (
    HermiteProblem,
    LearnedHermite,
)
from kernlens.methods.regfeal.planning import REFIT_KERNEL, PlansRegFeaL

STRUCTURES = ("features", "variables", "none")
INDICES = ("auto", "exact", "enumerate", "best_first", "group_sampling")
#: Logarithm of the largest unit of the penalties, well within double precision.
LARGEST_LOG_UNIT = 300.0


class BaseRegFeaL(FeatureLearnerMixin, PlansRegFeaL):
    """Everything of RegFeaL that does not depend on the kind of target."""

    def _check_parameters(self) -> None:
        for alpha in check_sequence("alpha", self.alpha):
            check_alpha(alpha, ("auto",))
        for rho in check_sequence("rho", self.rho):
            if not (isinstance(rho, str) and rho == "auto"):
                check_between("rho", rho, 0.0, 1.0, "; or 'auto'")
        if self.max_degree is not None:
            check_count("max_degree", self.max_degree, other="None")
        check_between("r", self.r, 0.0, 2.0, "; the paper has 0.33")
        check_choice("structure", self.structure, STRUCTURES)
        check_choice("indices", self.indices, INDICES)
        if self.indices == "exact" and self.max_degree is not None:
            raise ValueError(
                "indices='exact' needs the weights rho^k; set max_degree=None, or choose "
                "indices='enumerate'."
            )
        check_count("n_indices", self.n_indices)
        check_count("max_directions", self.max_directions, words=("auto",))
        check_count("n_directions", self.n_directions, words=("auto",))
        check_count("n_folds", self.n_folds)
        if self.n_folds < 2:
            raise ValueError(f"n_folds must be at least 2, got {self.n_folds!r}.")
        if self.refit is not None and not is_estimator(self.refit):
            check_choice("refit", self.refit, ("auto", "kernel"), other="None or an estimator")
        elif self.refit is not None:
            check_refit_estimator(self.refit, is_classifier(self))
        if self.structure == "none" and self.refit not in (None, "auto"):
            raise ValueError(
                "structure='none' learns no directions to refit on; set refit=None or 'auto'."
            )
        if isinstance(self.init, str) or self.init is None:
            check_choice("init", self.init, ("auto",), other="a matrix of directions")
        if self.clip is not None:
            check_positive("clip", self.clip, other="None")
        check_flag("accelerate", self.accelerate)
        check_flag("standardize", self.standardize)
        check_flag("warm_start", self.warm_start)
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)
        check_n_jobs(self.n_jobs)

    def _fit_encoded(self, X: FloatArray, y: FloatArray, weights: FloatArray, loss: Loss) -> None:
        """Fit on checked arrays; `y` is (n_targets, n_samples), one-hot for a classifier."""
        check_enough_rows(int(np.count_nonzero(weights)), type(self).__name__)
        check_power(float(self.r), X.shape[1])
        rows = canonical_rows(X, y, weights)
        if is_estimator(self.refit):
            check_refit_weights(self.refit, rows.weights)
        columns = HermiteColumns.of(rows.X, rows.weights, self.clip, self.standardize)
        targets = self._target_units(rows)
        rows = replace(rows, X=columns.apply(rows.X), y=targets.apply(rows.y.T).T)
        bounds = self._bounds(rows.y)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        refit = self._refit(loss, seed, bounds, len(rows.X))
        plan = self._plan(rows, refit, seed, columns)
        check_memory(
            fit_bytes(len(X), X.shape[1], self._matrix_rows(len(X), plan), int(self.n_indices)),
            "lower n_indices, choose indices='best_first', or fit on fewer rows",
        )
        bars = StageBars(type(self).__name__) if self.verbose else nullcontext()
        with bars as stage, single_threaded_blas():
            strata = None if loss.quadratic else class_numbers(rows.y)
            splits = self._splits(rows, seed, strata)
            problem = HermiteProblem(loss, plan, self.n_jobs)
            learner = HermiteLearner(
                problem, self._search_problem(problem), rows, splits, bounds, stage
            )
            try:
                learned = learner.learn()
            except KeyboardInterrupt:
                warnings.warn(
                    "The fit was interrupted; the directions reached are kept.", stacklevel=4
                )
                learned = learner.finish_interrupted()
        self._penalties = plan.penalties(learned.setting, rows.X.shape[1])
        self._store(learned, columns, targets, bounds)

    def _store(
        self,
        learned: LearnedHermite,
        columns: HermiteColumns,
        targets: Standardisation,
        bounds: Bounds | None,
    ) -> None:
        directions, setting = learned.directions, learned.setting
        self._structure = self.structure
        self.rotation_ = directions.R
        self.shares_ = directions.shares
        self.eta_ = directions.eta
        self.alpha_ = setting.alpha
        self.rho_: Any = getattr(setting.sequence, "rho", None)
        self.max_degree_ = setting.sequence.largest
        self.mean_, self.scale_ = columns.mean, columns.scale
        self._clip, self._varying = columns.limit, columns.varying
        self._target_mean, self._target_scale = targets.mean, targets.scale
        self.bounds_ = None
        if bounds is not None:
            low, high = (bound * targets.scale + targets.mean for bound in bounds)
            self.bounds_ = (low, high)
        self._store_function(learned)
        self._store_search(learned)
        self.objective_ = float(learned.result.history[-1])
        self.objective_history_ = np.asarray(learned.result.history)
        self.n_iter_ = max(1, learned.result.n_iter)
        self.status_ = learned.result.status.value
        n_features = len(directions.R)
        # M_f is R Diag(D) R^T with D proportional to this power of the shares.
        slopes = directions.R * directions.shares ** (1.0 / directions.r)
        importances = columns.embed(np.linalg.norm(slopes, axis=1)[None])[0]
        kept = self.n_directions
        if kept == "auto":
            kept = directions.relevant(n_features)
        self._store_directions(
            columns.embed(directions.R.T), directions.shares, importances, kept, columns.scale
        )

    def _store_function(self, learned: LearnedHermite) -> None:
        """Arrays of the function that predictions use, and what kind it is."""
        for name in ("support_", "dual_coef_", "indices_", "coef_", "projection_", "refit_"):
            self.__dict__.pop(name, None)
        refitted, function = learned.refitted, learned.function
        self.intercept_: FloatArray = np.zeros(1)
        if isinstance(refitted, FittedEstimator):
            self.projection_, self.refit_ = refitted.B, refitted.estimator
            return
        if isinstance(refitted, ProjectedKernel):
            self.projection_, self.support_ = refitted.B, refitted.Z
            self.dual_coef_, self.intercept_ = refitted.coefficients, refitted.intercept
            return
        self.intercept_ = function.intercept
        if isinstance(function, KernelFunction):
            self.support_, self.dual_coef_ = function.Z, function.dual
            return
        self.indices_, self.coef_ = function.features.indices, function.coefficients

    def _store_search(self, learned: LearnedHermite) -> None:
        self.__dict__.pop("alpha_search_", None)
        if learned.tried:
            self.alpha_search_ = {
                "alpha": np.array([one.setting.alpha for one in learned.tried]),
                "loss": np.array([one.loss for one in learned.tried]),
                "own_loss": np.array([one.own_loss for one in learned.tried]),
                "refit_loss": np.array([one.refit_loss for one in learned.tried]),
                "n_folds": np.array([len(one.directions) for one in learned.tried]),
            }
            rhos = [getattr(one.setting.sequence, "rho", None) for one in learned.tried]
            if None not in rhos:
                self.alpha_search_["rho"] = np.array(rhos)

    def _decision(self, X: ArrayLike) -> FloatArray:
        """Decision values, (n_targets, n_samples)."""
        check_is_fitted(self)
        raw: FloatArray = validate_data(self, X, reset=False, dtype=np.float64)
        rows = HermiteColumns(self.mean_, self.scale_, self._clip, self._varying).apply(raw)
        with single_threaded_blas():
            decision = self._function_values(rows)
        decision = decision * self._target_scale[:, None] + self._target_mean[:, None]
        return clip_decision(decision, self.bounds_)

    def _function_values(self, rows: FloatArray) -> FloatArray:
        if hasattr(self, "refit_"):
            return FittedEstimator(self.projection_, self.refit_).decision(rows)
        if hasattr(self, "projection_"):
            fitted = ProjectedKernel(
                self.projection_, self.support_, self.dual_coef_, self.intercept_
            )
            return fitted.decision(rows, make_radial_kernel(REFIT_KERNEL), self.n_jobs)
        return self._own_function().decision(rows @ self.rotation_)

    def _own_function(self) -> HermiteFunction:
        if not hasattr(self, "support_"):
            features = HermiteFeatures(self.indices_, self.n_jobs)
            return PolynomialFunction(features, self.coef_, self.intercept_, self._sequence)
        lam, mu = self._penalties
        kernel = HermiteKernel.of(self.eta_, lam, mu, self.rho_, MEDIUM, self.n_jobs)
        return KernelFunction(kernel, self.support_, self.dual_coef_, self.intercept_)

    @property
    def _sequence(self) -> DegreeSequence:
        """c_k of the fitted function."""
        if self.max_degree_ is not None:
            return TruncatedSequence(self.max_degree_)
        return GeometricSequence(self.rho_)

    def _target_units(self, rows: CanonicalRows) -> Standardisation:
        """How targets are used; as they are unless the estimator says otherwise."""
        return Standardisation(np.zeros(len(rows.y)), np.ones(len(rows.y)))

    def _bounds(self, y: FloatArray) -> Bounds | None:
        """Lowest and highest decision value of every target; here none."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_power(r: float, n_features: int) -> None:
    """Refuse an r so small that ``d^((2-r)/r)``, the unit of the penalties, is out of range."""
    if (2.0 - r) / r * np.log(n_features) > LARGEST_LOG_UNIT:
        raise ValueError(
            f"r is too small for {n_features} columns, got {r!r}; raise it (the paper has 0.33)."
        )


def fit_bytes(n_samples: int, n_features: int, matrix_rows: int, n_indices: int) -> float:
    """Memory of a fit, the formula of the docstrings."""
    square = float(matrix_rows) ** 2
    return 8.0 * (4.0 * n_samples * n_features + 8.0 * square + 4.0 * n_indices**2)
