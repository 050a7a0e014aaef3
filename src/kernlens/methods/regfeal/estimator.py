"""What the regressor and the classifier share: from parameters to a plan, and fitted attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from kernlens._reports import Listener
from kernlens._rows import CanonicalRows
from kernlens._validation import check_map, check_sequence
from kernlens.base.columns import Columns
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.base.function import FittedFunction
from kernlens.blocks.survey import Survey
from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import (
    DegreeSequence,
    GeometricSequence,
    TruncatedSequence,
)
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.kernels.hermite import MEDIUM, HermiteKernel
from kernlens.kernels.radial import make_radial_kernel
from kernlens.methods.regfeal.columns import measure_columns
from kernlens.methods.regfeal.descent import DescentRule
from kernlens.methods.regfeal.directions import LARGEST_LOG_UNIT, WeightedDirections
from kernlens.methods.regfeal.function import (
    EstimatorFunction,
    KernelFunction,
    PolynomialFunction,
    RefittedKernelFunction,
)
from kernlens.methods.regfeal.learner import HermiteLearner
from kernlens.methods.regfeal.options import (
    NAMED_BASES,
    NAMED_DESCENTS,
    Basis,
    IndexRule,
    Reweighting,
)
from kernlens.methods.regfeal.plan import HermitePlan, HermiteProblem, Setting
from kernlens.methods.regfeal.refits import (
    EstimatorRefit,
    ProjectedKernelRefit,
    Refit,
    check_refit_estimator,
    check_refit_weights,
    given_weights,
)
from kernlens.methods.regfeal.search import split_rows

#: The grid of the paper's Appendix B.
ALPHAS = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
RHOS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
#: Kernel of the refit on projected rows, and its largest number of centres.
REFIT_KERNEL = "gaussian"
REFIT_CENTERS = 1000
#: More rows than the kernel of all polynomials is taken for.
MANY_ROWS = 2**60
#: More polynomials than any memory holds.
MOST_INDICES = 10**12
#: Turning steps after every reweighting of an accelerated descent.
TURNS = 2


class BaseRegFeaL(FittingMixin):
    """Everything of RegFeaL that does not depend on the kind of target."""

    _order = "F"
    _learns_from_blocks = True

    _optional: ClassVar[tuple[str, ...]] = (
        "support_",
        "dual_coef_",
        "indices_",
        "coef_",
        "projection_",
        "refit_",
    )

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        rho: Any = "auto",
        r: float = 0.33,
        structure: str = "features",
        basis: Any = "auto",
        init: Any = "auto",
        n_directions: int | str = "auto",
        refit: Any = "auto",
        n_folds: int = 5,
        clip: float | None = 4.0,
        descent: Any = "auto",
        standardize: bool = True,
        max_iter: int = 30,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.alpha = alpha
        self.rho = rho
        self.r = r
        self.structure = structure
        self.basis = basis
        self.init = init
        self.n_directions = n_directions
        self.refit = refit
        self.n_folds = n_folds
        self.clip = clip
        self.descent = descent
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._refits_an_estimator:
            check_refit_estimator(self.refit, is_classifier(self))
        if self.structure == "none" and self.refit not in (None, "auto"):
            raise ValueError(
                "structure='none' learns no directions to refit on; set refit=None or 'auto'."
            )

    # From parameters to a plan

    def _measure_columns(self, rows: CanonicalRows) -> Columns:
        columns = measure_columns(rows.X, rows.weights, self.clip, bool(self.standardize))
        return replace(columns, order=self._order)

    def _columns_of(self, columns: Columns, found: Survey) -> Columns:
        """Those of the sample, whose tails were drawn in; limits without any are those of all."""
        if self.clip is not None:
            return columns
        columns = super()._columns_of(columns, found)
        ends = np.array([found.columns.low, found.columns.high])
        return replace(columns, limit=np.abs((ends - columns.mean) / columns.scale).max(axis=0))

    def _plan(self, data: FitData) -> HermitePlan:
        check_power(float(self.r), self.n_features_in_)
        if self._refits_an_estimator:
            check_refit_weights(self.refit, given_weights(data.rows, data.weight_unit))
        n_rows, n_inputs = data.rows.X.shape
        basis, previous = self._basis, self._previous_directions(n_inputs)
        last_rule = basis.last_rule(n_rows if data.found is None else MANY_ROWS)
        if data.found is not None:
            self._check_sums(last_rule)
        plan = HermitePlan(
            structure=self.structure,
            r=float(self.r),
            settings=self._settings(basis, goes_on=previous is not None),
            rule=basis.rule,
            last_rule=last_rule,
            max_directions=self._reweighting.followed(n_inputs),
            descent=self._descent_rule(basis),
            learn_rows=basis.learning_rows(n_rows),
            refit=self._refit(data),
            own=self.refit is None or self.refit == "auto",
            start=self._given_directions(data.columns),
            previous=previous,
            seed=data.seed,
        )
        return plan.within_reach(data.rows.X)

    def _check_sums(self, last_rule: IndexRule | None) -> None:
        """Refuse what cannot be fitted by sums over the blocks of a table."""
        if self._refits_an_estimator:
            raise ValueError(
                f"refit={self.refit!r} needs all rows at once; choose refit='kernel' or None for "
                "blocks of rows."
            )
        if last_rule is None:
            raise ValueError(
                f"basis={self.basis!r} has the kernel of all rows; choose basis='auto' for blocks "
                "of rows."
            )

    @property
    def _basis(self) -> Basis:
        return NAMED_BASES[self.basis] if isinstance(self.basis, str) else self.basis

    @property
    def _reweighting(self) -> Reweighting:
        return NAMED_DESCENTS[self.descent] if isinstance(self.descent, str) else self.descent

    @property
    def _refits_an_estimator(self) -> bool:
        return not (self.refit is None or isinstance(self.refit, str))

    def _settings(self, basis: Basis, *, goes_on: bool) -> tuple[Setting, ...]:
        alphas = _choices(self.alpha, ALPHAS, self.alpha_ if goes_on else None)
        rhos = _choices(self.rho, RHOS, self.rho_ if goes_on else None)
        sequences = basis.sequences(rhos)
        return tuple(Setting(sequence, alpha) for sequence in sequences for alpha in alphas)

    def _descent_rule(self, basis: Basis) -> DescentRule:
        # The objective of sampled polynomials is another one at every step.
        sampled = basis.rule is not None and basis.rule.sampled
        accelerated = bool(self._reweighting.accelerate) and not sampled
        return DescentRule(
            rotate=self.structure == "features",
            lengthen=accelerated,
            turns=TURNS if accelerated else 0,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            monotone=not sampled,
        )

    def _refit(self, data: FitData) -> Refit | None:
        if self.refit is None or self.structure == "none":
            return None
        if self._refits_an_estimator:
            return EstimatorRefit(self.refit, data.loss, data.weight_unit)
        ridge = ProjectedRidge(make_radial_kernel(REFIT_KERNEL), data.loss, n_jobs=self.n_jobs)
        n_centers = min(len(data.rows.X), REFIT_CENTERS)
        return ProjectedKernelRefit(ridge, n_centers, data.seed, data.targets.inner_bounds)

    def _given_directions(self, columns: Columns) -> WeightedDirections | None:
        """First directions that the user gives."""
        if isinstance(self.init, str):
            return None
        given = check_map(self.init, self.n_features_in_) * columns.scale
        if self.structure != "features":
            # Selected columns are unit vectors.
            return None
        R = np.linalg.qr(columns.select(given).T)[0]
        return WeightedDirections(R, np.full(R.shape[1], 1.0 / R.shape[1]), float(self.r))

    def _previous_directions(self, n_inputs: int) -> WeightedDirections | None:
        """Directions of the fit before, if it is to be continued and was of the same kind."""
        before = getattr(self, "_structure", None)
        if not self.warm_start or before != self.structure or len(self.rotation_) != n_inputs:
            return None
        return WeightedDirections(self.rotation_, self.shares_, float(self.r))

    def _memory(self, data: FitData, plan: HermitePlan) -> Memory:
        (n_rows, n_inputs), basis = data.rows.X.shape, self._basis
        return Memory(
            fit_bytes(
                n_rows,
                n_inputs,
                basis.matrix_rows(n_inputs, n_rows),
                basis.most_indices(n_inputs, n_rows if data.found is None else MANY_ROWS),
                held=not data.loss.quadratic,
            ),
            "choose basis=BestFirst(n_indices) with few indices, or fit on fewer rows",
        )

    def _learner(self, data: FitData, plan: HermitePlan, stage: Stage | None) -> HermiteLearner:
        return HermiteLearner(
            HermiteProblem(data.loss, plan, self.n_jobs),
            data.rows,
            split_rows(data.rows, int(self.n_folds), data.seed, data.strata),
            data.targets.inner_bounds,
            stage,
        )

    # The fitted model

    def _store(self, data: FitData, plan: HermitePlan, learned: Any) -> None:
        weighted, setting = learned.weighted, learned.setting
        self._structure = self.structure
        self._penalties = plan.penalties(setting.alpha, data.rows.X.shape[1])
        self.rotation_ = weighted.R
        self.shares_ = weighted.shares
        self.eta_ = weighted.eta
        self.rho_: float | None = setting.rho
        self.max_degree_: int | None = setting.sequence.largest
        self.bounds_ = data.targets.bounds

    @property
    def _function(self) -> FittedFunction:
        makers = {
            KernelFunction.kind: self._kernel_function,
            PolynomialFunction.kind: self._polynomial_function,
            RefittedKernelFunction.kind: self._refitted_kernel_function,
            EstimatorFunction.kind: self._estimator_function,
        }
        return makers[self._function_kind]()

    def _kernel_function(self) -> FittedFunction:
        assert self.rho_ is not None
        kernel = HermiteKernel.of(self.eta_, *self._penalties, self.rho_, MEDIUM, self.n_jobs)
        return KernelFunction(
            kernel, self.rotation_, self.support_, self.dual_coef_, self.intercept_
        )

    def _polynomial_function(self) -> FittedFunction:
        features = HermiteFeatures(self.indices_, self.n_jobs)
        return PolynomialFunction(
            features, self.rotation_, self.coef_, self.intercept_, self._sequence
        )

    def _refitted_kernel_function(self) -> FittedFunction:
        return RefittedKernelFunction(
            self.projection_,
            self.support_,
            self.dual_coef_,
            self.intercept_,
            make_radial_kernel(REFIT_KERNEL),
            self.n_jobs,
        )

    def _estimator_function(self) -> FittedFunction:
        # A class whose rows all have weight zero is one that the refit has not seen.
        n_classes = len(self.classes_) if is_classifier(self) else None
        return EstimatorFunction(self.projection_, self.refit_, n_classes)

    @property
    def _sequence(self) -> DegreeSequence:
        """c_k of the fitted function."""
        if self.rho_ is None:
            assert self.max_degree_ is not None
            return TruncatedSequence(self.max_degree_)
        return GeometricSequence(self.rho_)


def check_power(r: float, n_features: int) -> None:
    """Refuse an r so small that ``d^((2-r)/r)``, the unit of the penalties, is out of range."""
    if (2.0 - r) / r * np.log(n_features) > LARGEST_LOG_UNIT:
        raise ValueError(
            f"r is too small for {n_features} columns, got {r!r}; raise it (the paper has 0.33)."
        )


def fit_bytes(
    n_samples: int, n_features: int, matrix_rows: int, n_indices: int, *, held: bool = False
) -> float:
    """Memory of a fit, the formula of the docstrings; `held` if Newton steps hold the features."""
    # Counts of polynomials may have hundreds of digits.
    m = float(min(n_indices, MOST_INDICES))
    square = float(matrix_rows) ** 2
    listed = m * min(m, float(n_samples + n_features))
    features = 2.0 * n_samples * m if held else 0.0
    return 8.0 * (4.0 * n_samples * n_features + 8.0 * square + 4.0 * listed + features)


def _choices(given: Any, grid: tuple[float, ...], before: float | None) -> list[float]:
    """Values to choose from: the ones given, that of the fit before, or the grid."""
    values = check_sequence("alpha or rho", given)
    if "auto" not in values:
        return list(dict.fromkeys(float(value) for value in values))
    return list(grid) if before is None else [before]
