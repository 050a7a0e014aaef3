"""The fit shared by the regressor and the classifier, from checked arrays to attributes."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlens._blocks import single_threaded_blas
from kernlens._progress import StageBars
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import (
    check_alpha,
    check_between,
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
from kernlens.base import FeatureLearnerMixin
from kernlens.estimators._fit_arrays import class_numbers
from kernlens.estimators._standardisation import Standardisation
from kernlens.estimators.regfeal._columns import HermiteColumns
from kernlens.estimators.regfeal._refit import (
    EstimatorRefit,
    FittedEstimator,
    check_refit_estimator,
    check_refit_weights,
    is_estimator,
)
from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import (
    DegreeSequence,
    GeometricSequence,
    TruncatedSequence,
    count_indices,
)
from kernlens.kernels.hermite import MEDIUM, HermiteKernel
from kernlens.kernels.radial import make_radial_kernel
from kernlens.losses import Loss, SquaredLoss
from kernlens.optim.held_out import Bounds, Split, clip_decision
from kernlens.optim.hermite_descent import DescentRule
from kernlens.optim.hermite_directions import Directions
from kernlens.optim.hermite_learning import HermiteLearner
from kernlens.optim.hermite_objective import (
    BestFirst,
    Enumerated,
    GroupSampling,
    HermiteFunction,
    IndexRule,
    KernelFunction,
    PolynomialFunction,
)
from kernlens.optim.hermite_plan import (
    HermitePlan,
    HermiteProblem,
    LearnedHermite,
    Refit,
    Setting,
)
from kernlens.optim.hyper_kernel_problem import HyperKernelProblem
from kernlens.optim.projected_kernel_refit import (
    ProjectedKernel,
    ProjectedKernelRefit,
    draw_centers,
)

FloatArray = NDArray[np.floating]

STRUCTURES = ("features", "variables", "none")
INDICES = ("auto", "exact", "enumerate", "best_first", "group_sampling")
#: The grid of the paper's Appendix B.
ALPHAS = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
RHOS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
#: Directions followed after the first fit; more of them fit noise while they are being learned.
MAX_DIRECTIONS = 10
#: Rows that settings are chosen on, and that directions are learned on with the exact kernel.
SEARCH_ROWS = 1250
LEARN_ROWS = 2000
#: Kernel of the refit on projected rows.
REFIT_KERNEL = "gaussian"
#: Centres of the refit while it is tuned, and at most in the end.
TUNE_CENTERS = 300
REFIT_CENTERS = 1000
#: Multi-indices of the last fit where there are more rows than the exact kernel takes.
LAST_INDICES = 1000
#: Of the logistic loss's penalty to that of the squared loss on indicators of classes.
CURVATURE_RATIO = 4.0
#: Logarithm of the largest unit of the penalties, well within double precision.
LARGEST_LOG_UNIT = 300.0


class BaseRegFeaL(FeatureLearnerMixin, BaseEstimator):
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
                    "The fit was interrupted; the directions reached are kept.", stacklevel=3
                )
                learned = learner.finish_interrupted()
        self._penalties = plan.penalties(learned.setting, rows.X.shape[1])
        self._store(learned, columns, targets, bounds)

    def _plan(
        self, rows: CanonicalRows, refit: Refit | None, seed: int, columns: HermiteColumns
    ) -> HermitePlan:
        n_rows, n_features = rows.X.shape
        goes_on = self._goes_on(n_features)
        alphas = _choices(self.alpha, ALPHAS, self.alpha_ if goes_on else None)
        rhos = _choices(self.rho, RHOS, self.rho_ if goes_on else None)
        sequences: list[DegreeSequence] = [GeometricSequence(rho) for rho in rhos]
        if self.max_degree is not None:
            sequences = [TruncatedSequence(int(self.max_degree))]
        settings = [Setting(sequence, alpha) for sequence in sequences for alpha in alphas]
        automatic = self.indices == "auto" and self.max_degree is None
        rule = self._index_rule(n_features, seed)
        many = automatic and n_rows > LEARN_ROWS
        widest = MAX_DIRECTIONS if self.max_directions == "auto" else int(self.max_directions)
        rotates = self.structure == "features"
        sampled = isinstance(rule, GroupSampling)
        descent = DescentRule(
            rotate=rotates,
            lengthen=self.accelerate and not sampled,
            turns=2 if self.accelerate and not sampled else 0,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            monotone=not sampled,
        )
        return HermitePlan(
            structure=self.structure,
            r=float(self.r),
            settings=tuple(settings),
            rule=rule,
            last_rule=BestFirst(min(LAST_INDICES, int(self.n_indices))) if many else rule,
            max_directions=widest if self.accelerate else n_features,
            descent=descent,
            learn_rows=LEARN_ROWS if many else None,
            refit=refit,
            own=self.refit is None or self.refit == "auto",
            start=self._given_directions(columns),
            previous=Directions(self.rotation_, self.shares_, float(self.r)) if goes_on else None,
        )

    def _matrix_rows(self, n_rows: int, plan: HermitePlan) -> int:
        """Rows of the largest kernel matrix; explicit indices have one if rows are fewer."""
        return min(n_rows, int(self.n_indices) if plan.rule else plan.learn_rows or n_rows)

    def _index_rule(self, n_features: int, seed: int) -> IndexRule | None:
        n_indices = int(self.n_indices)
        if self.indices == "best_first":
            return BestFirst(n_indices)
        if self.indices == "group_sampling":
            return GroupSampling(n_indices, seed)
        if self.max_degree is None:
            if self.indices in ("auto", "exact"):
                return None
            return Enumerated(_largest_degree(n_features, n_indices))
        if self.indices == "auto" and count_indices(n_features, self.max_degree) > n_indices:
            return BestFirst(n_indices)
        return Enumerated(int(self.max_degree))

    def _refit(self, loss: Loss, seed: int, bounds: Bounds | None, n_rows: int) -> Refit | None:
        if self.refit is None or self.structure == "none":
            return None
        if isinstance(self.refit, str):
            problem = _refit_problem(loss, self.n_jobs)
            return ProjectedKernelRefit(problem, min(n_rows, REFIT_CENTERS), seed, bounds)
        return EstimatorRefit(self.refit, loss)

    def _search_problem(self, problem: HermiteProblem) -> HermiteProblem:
        """Settings of a classifier are chosen with the squared loss on indicators of the classes.

        One solve then does where Newton's method takes many. Near even odds, log-odds are four
        times the difference of the probability from 1/2, and their loss is a quarter as curved:
        the same penalty then weighs four times as much.
        """
        if problem.loss.quadratic:
            return problem
        plan = problem.plan
        settings = tuple(
            replace(setting, alpha=CURVATURE_RATIO * setting.alpha) for setting in plan.settings
        )
        refit = plan.refit
        if isinstance(refit, ProjectedKernelRefit):
            refit = replace(refit, problem=_refit_problem(SquaredLoss(), self.n_jobs))
        return replace(
            problem, loss=SquaredLoss(), plan=replace(plan, settings=settings, refit=refit)
        )

    def _splits(
        self, rows: CanonicalRows, seed: int, strata: NDArray[np.integer] | None
    ) -> list[Split]:
        """Folds of the first rows, with the centres that a refit is tuned with."""
        part = rows.take(slice(0, SEARCH_ROWS))
        strata = None if strata is None else strata[:SEARCH_ROWS]
        masks = part.folds(int(self.n_folds), strata)
        if strata is not None:
            # A class of one row is in no training part of its fold.
            present = len(np.unique(strata))
            masks = [mask for mask in masks if len(np.unique(strata[mask[0]])) == present]
        everything = np.ones(len(part.X), dtype=bool)
        splits = []
        for train, test in masks or [(everything, everything)]:
            kept = part.take(train)
            splits.append(Split(kept, part.take(test), draw_centers(kept, TUNE_CENTERS, seed)))
        return splits

    def _given_directions(self, columns: HermiteColumns) -> Directions | None:
        """First directions that the user gives."""
        if isinstance(self.init, str):
            return None
        given = check_map(self.init, self.n_features_in_) * columns.scale
        if self.structure != "features":
            # Selected columns are unit vectors.
            return None
        R = np.linalg.qr(given[:, columns.varying].T)[0]
        return Directions(R, np.full(R.shape[1], 1.0 / R.shape[1]), float(self.r))

    def _goes_on(self, n_columns: int) -> bool:
        before = getattr(self, "_structure", None)
        return bool(
            self.warm_start and before == self.structure and len(self.rotation_) == n_columns
        )

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


def _refit_problem(loss: Loss, n_jobs: int | None) -> HyperKernelProblem:
    return HyperKernelProblem(make_radial_kernel(REFIT_KERNEL), loss, n_jobs=n_jobs)


def _choices(given: Any, grid: tuple[float, ...], before: float | None) -> list[float]:
    """Values to choose from: the ones given, that of the fit before, or the grid."""
    values = check_sequence("alpha or rho", given)
    if "auto" not in values:
        return list(dict.fromkeys(float(value) for value in values))
    return list(grid) if before is None else [before]


def _largest_degree(n_features: int, n_indices: int) -> int:
    """Largest degree all of whose indices are few enough, at least 1."""
    degree = 1
    while count_indices(n_features, degree + 1) <= n_indices and degree < n_indices:
        degree += 1
    return degree
