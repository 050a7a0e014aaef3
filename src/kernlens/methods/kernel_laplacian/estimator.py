"""The fit that regressor and classifier share, from checked arrays to attributes."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from kernlens._array import FloatArray
from kernlens._progress import StageBars
from kernlens._result import Status
from kernlens._rows import canonical_rows
from kernlens._validation import (
    check_alpha,
    check_choice,
    check_count,
    check_enough_rows,
    check_magnitude,
    check_non_negative,
    check_positive,
    check_sequence,
)
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.standardisation import InputColumns, Standardisation
from kernlens.methods.kernel_laplacian.learner import SOLVERS, LaplacianLearner
from kernlens.methods.kernel_laplacian.plan import (
    SMALLEST_ALPHA,
    LabelledPoints,
    LaplacianPlan,
    Learned,
)
from kernlens.methods.kernel_laplacian.space import KernelSpace, check_fit_memory
from kernlens.subspace import average_outer_product

#: Derivatives up to which ``solver="auto"`` is exact; more cost seconds, and gain little.
EXACT_DERIVATIVES = 1000
#: Of conjugate gradients, relative to the targets; what is larger is no solution.
LARGEST_RESIDUAL = 1e-3
#: Points that gradients are averaged over.
GRADIENT_POINTS = 1000


class BaseKernelLaplacian(FeatureLearnerMixin, KernelSpace):
    """What does not depend on the kind of target."""

    def _check_parameters(self) -> None:
        self._check_space()
        for mu in check_sequence("mu", self.mu):
            if not isinstance(mu, str) or mu != "auto":
                check_non_negative("mu", mu)
        for alpha in check_sequence("alpha", self.alpha):
            check_alpha(alpha, ("auto",), smallest=SMALLEST_ALPHA)
        check_choice("solver", self.solver, ("auto", *SOLVERS))
        self._check_fourier()
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        check_count("n_directions", self.n_directions, words=("auto",))

    def _check_unlabeled(self, X_unlabeled: ArrayLike | None, n_features: int) -> FloatArray:
        """More points without a target, (n_unlabeled, n_features)."""
        if X_unlabeled is None:
            return np.empty((0, n_features))
        more: FloatArray = check_array(
            X_unlabeled, dtype=np.float64, ensure_min_samples=0, input_name="X_unlabeled"
        )
        if more.shape[1] != n_features:
            raise ValueError(f"X_unlabeled has {more.shape[1]} features, and X has {n_features}.")
        # Names, if there are any.
        validate_data(self, X_unlabeled, reset=False, skip_check_array=True)
        check_magnitude(more, "X_unlabeled")
        return more

    def _fit_encoded(
        self, X: FloatArray, y: FloatArray, weights: FloatArray, more: FloatArray
    ) -> None:
        """Fit on checked arrays.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_targets, n_samples)
            NaN for rows without a label; +1 and -1 for a classifier.
        weights : ndarray of shape (n_samples,)
        more : ndarray of shape (n_unlabeled, n_features)
            Further points without a label, of weight 1.
        """
        check_enough_rows(int(np.count_nonzero(weights)) + len(more), type(self).__name__)
        X = np.vstack([X, more])
        y = np.hstack([y, np.full((len(y), len(more)), np.nan)])
        rows = canonical_rows(X, y, np.concatenate([weights, np.ones(len(more))]))
        columns = InputColumns.of(rows.X, rows.weights, bool(self.standardize), 0.0)
        points = LabelledPoints.of(replace(rows, X=columns.apply(rows.X)))
        targets = self._target_units(points.y, points.label_weights)
        length = self._length(points.points)
        plan = self._plan(points.points, length, len(points.labelled))
        n_directions = points.points.shape[1]
        if plan.n_neighbors is not None:
            n_directions = min(n_directions, plan.n_neighbors)
        check_fit_memory(
            plan.solver, len(points.points), X.shape[1], n_directions, plan.n_components
        )
        points = replace(points, points=points.points / length, y=targets.apply(points.y.T).T)
        bars = StageBars(type(self).__name__) if self.verbose else nullcontext()
        with bars as stage:
            learner = LaplacianLearner(plan, points, self.n_jobs, stage)
            learned = learner.learn()
        if learned.status is Status.INTERRUPTED:
            # In the caller's file: this and the public fit, wrapped, are between.
            warnings.warn("The fit was interrupted; the best so far is kept.", stacklevel=4)
        elif learned.history and not learned.history[-1] <= LARGEST_RESIDUAL:
            warnings.warn(
                f"Conjugate gradients ended at a residual of {learned.history[-1]:.2g} of the "
                "targets; raise alpha or max_iter, or choose solver='exact' or 'nystrom'.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self._calibrate(learner, learned)
        self._store(learned, plan, columns, targets, points, length)

    def _plan(self, points: FloatArray, length: float, n_labelled: int) -> LaplacianPlan:
        n, d = points.shape
        solver = self.solver
        if solver == "auto":
            rank = d if self._neighbors is None else min(self._neighbors, d)
            solver = "exact" if n * rank <= EXACT_DERIVATIVES else "nystrom"
        mus, alphas = (
            None
            if isinstance(given, str)
            else tuple(float(value) for value in check_sequence(name, given))
            for name, given in (("mu", self.mu), ("alpha", self.alpha))
        )
        if mus is not None:
            # Gradients are taken in units of the length scale from here on.
            mus = tuple(mu / length**2 for mu in mus)
        return LaplacianPlan(
            kernel=self._derivatives,
            solver=solver,
            mus=mus,
            alphas=alphas,
            ratio_unit=(self._typical_length(points) / length) ** 2 / d,
            n_neighbors=self._neighbors,
            n_components=self._centers(n_labelled),
            fourier=self._fourier,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
        )

    def _store(
        self,
        learned: Learned,
        plan: LaplacianPlan,
        columns: InputColumns,
        targets: Standardisation,
        points: LabelledPoints,
        length: float,
    ) -> None:
        self.__dict__.pop("alpha_search_", None)
        self.solver_ = plan.solver
        self._target_mean, self._target_scale = targets.mean, targets.scale
        penalties = learned.penalties
        self.alpha_, self.mu_ = penalties.alpha, penalties.mu * length**2
        if learned.tried:
            self.alpha_search_ = {
                "alpha": np.array([one.alpha for one in learned.tried]),
                "mu": np.array([one.mu for one in learned.tried]) * length**2,
                "loss": np.array([one.loss for one in learned.tried]),
            }
        self._store_function(learned.function, columns, length)
        self.objective_ = learned.objective
        self.objective_history_ = np.array([*learned.history, learned.objective])
        self.n_iter_, self.status_ = learned.n_iter, learned.status.value
        self.n_labeled_ = len(points.labelled)
        self._store_gradients(columns, points)

    def _store_gradients(self, columns: InputColumns, points: LabelledPoints) -> None:
        """Directions from the average outer product of gradients at labelled and other points."""
        few = slice(0, GRADIENT_POINTS)
        gradients = self._function.gradients(points.points[few], self.n_jobs)
        product = average_outer_product(gradients, points.weights[few])
        directions, values = columns.directions(product)
        shares = np.zeros(len(columns.varying))
        slopes = np.sqrt(np.maximum(np.diagonal(product), 0.0))
        shares[columns.varying] = slopes[: np.count_nonzero(columns.varying)]
        self._store_directions(directions, values, shares, self.n_directions, columns.scale)

    def _calibrate(self, learner: LaplacianLearner, learned: Learned) -> None:
        """What a classifier learns from rows that were left out; here nothing."""

    def _target_units(self, y: FloatArray, weights: FloatArray) -> Standardisation:
        """How targets are used; as they are unless the estimator says otherwise."""
        return Standardisation(np.zeros(len(y)), np.ones(len(y)))

    # The fitted function

    def _decision(self, X: ArrayLike) -> FloatArray:
        """Decision values, (n_targets, n_samples)."""
        points = self._points(X)
        values = self._function.values(points, self.n_jobs)
        return values * self._target_scale[:, None] + self._target_mean[:, None]

    def _all_gradients(self, X: ArrayLike) -> FloatArray:
        """Gradients in the units of the user, (n_targets, n_samples, n_features)."""
        points = self._points(X)
        inner = self._function.gradients(points, self.n_jobs)
        gradients = np.zeros((*inner.shape[:2], self.n_features_in_))
        if self._varying.any():
            units = self.scale_[self._varying] * self.length_scale_
            gradients[..., self._varying] = inner / units
        return gradients * self._target_scale[:, None, None]

    def gradient(self, X: ArrayLike) -> Any:
        """Gradient of the fitted function, in closed form.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_targets, n_features)
            Of the prediction of a regressor; of the score of a classifier, which is fitted to
            labels +1 and -1 (of the second class if there are two, else one per class).
        """
        gradients = self._all_gradients(X)
        if self._one_function:
            return gradients[0]
        return np.ascontiguousarray(gradients.transpose(1, 0, 2))

    def sensitivity(self, X: ArrayLike) -> FloatArray:
        """Mean squared partial derivatives: how much the function varies along every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to average over.

        Returns
        -------
        ndarray of shape (n_features,), or (n_targets, n_features)
            ``(1/n) sum_i (d f(x_i) / d x_j)^2``, in the units of the target and of X.
        """
        squares = np.mean(np.square(self._all_gradients(X)), axis=1)
        return squares[0] if self._one_function else squares

    @property
    def _one_function(self) -> bool:
        raise NotImplementedError
