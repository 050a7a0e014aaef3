"""What the regressor and the classifier share: from parameters to a plan, and fitted attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from kernlens._array import FloatArray
from kernlens._reports import Listener
from kernlens._result import Status
from kernlens._rows import has_target
from kernlens._validation import (
    check_magnitude,
    check_sequence,
    check_spread,
    plain_complaints,
)
from kernlens._warnings import warn
from kernlens.base.estimates import FitShape
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.blocks.table import BlockTable
from kernlens.kernels.derivatives import RadialDerivatives
from kernlens.losses import SquaredLoss
from kernlens.methods.kernel_laplacian.learner import SOLVERS, LaplacianLearner
from kernlens.methods.kernel_laplacian.plan import (
    LARGEST_MU,
    LabeledPoints,
    LaplacianPlan,
    LearnedLaplacian,
)
from kernlens.methods.kernel_laplacian.relevance import RELEVANCE_ROWS, learned_relevance
from kernlens.methods.kernel_laplacian.space import PARTS_OF_FUNCTIONS, KernelSpace

#: Number of derivatives up to which ``solver="auto"`` is exact; more cost seconds and gain little.
EXACT_DERIVATIVES = 1000
#: Residual of conjugate gradients, relative to the targets, above which there is no solution.
LARGEST_RESIDUAL = 1e-3
#: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
SECONDS_PER_OPERATION, SECONDS_OF_EXACT = 8e-10, 5e-10


class BaseKernelLaplacian(KernelSpace, FittingMixin):
    """Everything of the kernel Laplacian that does not depend on the kind of target."""

    _thrifty = (
        {"solver": "nystrom"},
        {"solver": "nystrom", "n_centers": 500},
        {"solver": "nystrom", "n_centers": 200},
        {"solver": "nystrom", "n_centers": 100},
    )
    _learns_from_blocks = True
    _takes_gaps = True
    # The matrices are large enough for the threads of BLAS; blocks on our own threads limit them.
    _single_threaded_blas = False
    _optional = PARTS_OF_FUNCTIONS
    _search_unit = 1.0

    def __init__(
        self,
        *,
        mu: Any = "auto",
        alpha: Any = "auto",
        kernel: Any = "matern52",
        length_scale: float | str = "auto",
        metric: str = "local",
        n_neighbors: int = 7,
        solver: str = "auto",
        n_centers: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-8,
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.mu = mu
        self.alpha = alpha
        self.kernel = kernel
        self.length_scale = length_scale
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.n_centers = n_centers
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _fit_with_gaps(
        self, X: FloatArray, y: FloatArray, weights: FloatArray, X_unlabeled: ArrayLike | None
    ) -> None:
        """Fit on checked arrays, with more points of weight 1 that have no target.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_targets, n_samples)
            NaN for rows without a label; +1 and -1 for a classifier.
        weights : ndarray of shape (n_samples,)
        X_unlabeled : array-like of shape (n_unlabeled, n_features) or None
            As given by the user.
        """
        more = self._check_unlabeled(X_unlabeled, X.shape[1])
        points = np.vstack([X, more])
        # A column may vary between the labelled rows and the others only.
        check_spread(points, "X with X_unlabeled")
        self._fit_encoded(
            points,
            np.hstack([y, np.full((len(y), len(more)), np.nan)]),
            np.concatenate([weights, np.ones(len(more))]),
            SquaredLoss(),
        )

    def _open_all_points(
        self, X: Any, y: Any, sample_weight: Any, X_unlabeled: ArrayLike | None
    ) -> BlockTable:
        """A table in blocks, which has the points without a target among its rows."""
        if X_unlabeled is not None:
            raise ValueError(
                "X_unlabeled goes with arrays; give blocks with all rows, and NaN (or the label of "
                "rows that have none) as targets of those without one."
            )
        return self._open_blocks(X, y, sample_weight)

    def _check_unlabeled(self, X_unlabeled: ArrayLike | None, n_features: int) -> FloatArray:
        """More points without a target, (n_unlabeled, n_features)."""
        if X_unlabeled is None:
            return np.empty((0, n_features))
        with plain_complaints("X_unlabeled"):
            more: FloatArray = check_array(
                X_unlabeled, dtype=np.float64, ensure_min_samples=0, input_name="X_unlabeled"
            )
        if more.shape[1] != n_features:
            raise ValueError(f"X_unlabeled has {more.shape[1]} features, and X has {n_features}.")
        # Names, if there are any.
        validate_data(self, X_unlabeled, reset=False, skip_check_array=True)
        check_magnitude(more, "X_unlabeled")
        return more

    def _plan(self, data: FitData) -> LaplacianPlan:
        rows = LabeledPoints.of(data.rows)
        n, d = rows.points.shape
        length = self._length(rows.points)
        mus, alphas = _given_values("mu", self.mu), _given_values("alpha", self.alpha)
        if mus is not None:
            # Gradients are taken in units of the length scale from here on.
            mus = tuple(min(mu / length**2, LARGEST_MU) for mu in mus)
        n_components = self._centers(len(rows.labeled))
        if self._fourier is None:
            # No more centres than points.
            n_components = min(n_components, n)
        return LaplacianPlan(
            kernel=self._derivatives,
            solver=self._solver_for(n, d) if data.found is None else self._solver_of_blocks(),
            mus=mus,
            alphas=alphas,
            ratio_unit=(self._typical_length(rows.points) / length) ** 2 / d,
            n_neighbors=self._neighbors,
            n_components=n_components,
            fourier=self._fourier,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            seed=data.seed,
            length=length,
        )

    def _memory(self, data: FitData, plan: LaplacianPlan) -> Memory:
        n_points, n_columns = int(data.rows.group[-1]) + 1, len(data.columns.mean)
        rank = self._rank(data.rows.X.shape[1])
        return self._memory_with(plan.solver, n_points, n_columns, rank, plan.n_components)

    def _memory_for(self, shape: FitShape) -> Memory:
        n, d = shape.n_rows, shape.n_columns
        rank, n_components = self._rank(d), self._centers(n)
        if self._fourier is None:
            n_components = min(n_components, n)
        return self._memory_with(self._solver_for(n, d), n, d, rank, n_components)

    def _memory_with(
        self, solver: str, n_points: int, n_columns: int, rank: int, n_components: int
    ) -> Memory:
        held = SOLVERS[solver].numbers_held(float(n_points) * (rank + 1))
        if self._searches or is_classifier(self):
            # Slopes of functions at rows that are left out.
            held += 200.0 * n_components * rank
        if self._learns_relevance:
            held = max(held, 10.0 * float(min(n_points, RELEVANCE_ROWS)) ** 2)
        return self._memory_of(n_points, n_columns, n_components, held)

    def _seconds_for(self, shape: FitShape) -> float:
        n, d = float(shape.n_rows), shape.n_columns
        rank, solver = self._rank(d), self._solver_for(shape.n_rows, d)
        if solver == "exact":
            return 0.2 + SECONDS_OF_EXACT * (n * rank) ** 3
        m = float(self._centers(shape.n_rows))
        if self._fourier is None:
            m = min(m, n)
        return 0.5 + SECONDS_PER_OPERATION * (n * m**2 * rank + m**3)

    def _solver_for(self, n_points: int, n_inputs: int) -> str:
        if self.solver != "auto":
            return str(self.solver)
        return "exact" if n_points * self._rank(n_inputs) <= EXACT_DERIVATIVES else "nystrom"

    def _solver_of_blocks(self) -> str:
        """The solver of a table in blocks, whose sums are those of a few features."""
        if self.solver in ("exact", "cg"):
            raise ValueError(
                f"solver={self.solver!r} needs all rows at once; choose solver='nystrom' or "
                "'random_features' for blocks of rows."
            )
        return "nystrom" if self.solver == "auto" else str(self.solver)

    def _learner(self, data: FitData, plan: LaplacianPlan, stage: Stage | None) -> LaplacianLearner:
        rows = LabeledPoints.of(data.rows)
        plan = self._with_relevance(plan, rows)
        return LaplacianLearner(plan, rows.in_units_of(plan.lengths), self.n_jobs, stage)

    @property
    def _learns_relevance(self) -> bool:
        given = (_given_values("mu", self.mu), _given_values("alpha", self.alpha))
        automatic = given == (None, None) and isinstance(self.length_scale, str)
        return automatic and isinstance(self._derivatives, RadialDerivatives)

    @property
    def _searches(self) -> bool:
        """Whether penalties are compared."""
        mus, alphas = _given_values("mu", self.mu), _given_values("alpha", self.alpha)
        return mus is None or alphas is None or len(mus) * len(alphas) > 1

    def _with_relevance(self, plan: LaplacianPlan, rows: LabeledPoints) -> LaplacianPlan:
        """The plan with a length scale for every column, where all that scales is automatic."""
        relevance = None
        if self._learns_relevance:
            relevance = learned_relevance(plan.kernel, rows, self._length)
        if relevance is None:
            return plan
        points = rows.points * relevance
        length = self._length(points)
        unit = (self._typical_length(points) / length) ** 2 / points.shape[1]
        return replace(plan, length=length, relevance=relevance, ratio_unit=unit)

    def _store(self, data: FitData, plan: LaplacianPlan, learned: LearnedLaplacian) -> None:
        self.mu_ = learned.mu
        self.solver_, self._kernel = plan.solver, self.kernel
        self.n_labeled_ = int(np.count_nonzero(has_target(data.rows.y)))
        if data.found is not None:
            self.n_labeled_ = data.found.survey.n_labeled
        if learned.status is not Status.INTERRUPTED and not learned.residual <= LARGEST_RESIDUAL:
            warn(
                f"Conjugate gradients ended at a residual of {learned.residual:.2g} of the "
                "targets; raise alpha or max_iter, or choose solver='exact' or 'nystrom'.",
                ConvergenceWarning,
            )


def _given_values(name: str, value: Any) -> tuple[float, ...] | None:
    """Values of an argument to choose from, None for the automatic ones."""
    values = check_sequence(name, value)
    # The word may come as an array without axes.
    if isinstance(values[0], str):
        return None
    return tuple(float(one) for one in values)
