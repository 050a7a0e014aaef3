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
from kernlens._result import SolveResult, Status
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
    check_particles,
)
from kernlens.base.arrays import class_numbers
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.standardisation import Standardisation
from kernlens.kernels.one_dimensional import KERNELS, make_kernel
from kernlens.losses import Loss
from kernlens.methods.bkernn.function import RidgeFunctions
from kernlens.methods.bkernn.learner import ParticleLearner
from kernlens.methods.bkernn.objective import ParticleProblem, ReducedPoint, target_scale
from kernlens.methods.bkernn.partial_functions import PartialFunctions, tabulate
from kernlens.penalties import PENALTIES, Penalty, make_penalty

OPTIMIZERS = ("auto", "lbfgs", "plain")


class BaseBKerNN(FeatureLearnerMixin, BaseEstimator):
    """Everything of BKerNN that does not depend on the kind of target."""

    def _check_parameters(self) -> None:
        check_alpha(self.alpha, ("auto", "heuristic"))
        check_count("n_particles", self.n_particles)
        check_count("n_directions", self.n_directions, words=("auto",))
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)
        check_choice("kernel", self.kernel, tuple(KERNELS))
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_flag("standardize", self.standardize)
        check_flag("warm_start", self.warm_start)
        check_n_jobs(self.n_jobs)
        # The class itself has all the methods of the protocol, too.
        if not isinstance(self.penalty, Penalty) or isinstance(self.penalty, type):
            check_choice("penalty", self.penalty, tuple(PENALTIES))

    def _fit_encoded(
        self,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        loss: Loss,
        *,
        stratify: bool = False,
    ) -> None:
        """Fit on checked arrays; `y` is (n_targets, n_samples), one-hot if `stratify`."""
        check_enough_rows(int(np.count_nonzero(weights)), _name(self))
        self._check_memory(len(X), len(y))
        rows = canonical_rows(X, y, weights)
        units = Standardisation.of(rows.X, rows.weights, self.standardize)
        rows = replace(rows, X=units.apply(rows.X))
        scale = target_scale(loss, rows)
        problem = ParticleProblem(
            make_kernel(self.kernel), loss, self._make_penalty(scale), self.n_jobs
        )
        bars = StageBars(_name(self)) if self.verbose else nullcontext()
        with bars as progress, single_threaded_blas():
            learner = ParticleLearner(
                problem,
                rows,
                self._fresh_particles(rows, scale),
                self.max_iter,
                self.tol,
                class_numbers(rows.y) if stratify else None,
                progress,
            )
            alpha, result = self._learn(learner, units)
            point = learner.solve_at(result.solution, alpha)
        self._store(problem, point, alpha, result, units)

    def _learn(self, learner: ParticleLearner, units: Standardisation) -> tuple[float, SolveResult]:
        """Choose alpha and the particles; interrupted, give back the best of both so far."""
        alpha = None
        previous = self._previous_particles(units)
        try:
            alpha = self._resolve_alpha(learner, units)
            if self.optimizer == "plain":
                return alpha, learner.learn_plainly(alpha, previous)
            if previous is not None:
                return alpha, learner.learn_from(previous, alpha)
            return alpha, learner.learn(alpha)
        except KeyboardInterrupt:
            warnings.warn(
                "The fit was interrupted; the best particles found so far are kept.", stacklevel=5
            )
            W, reached = learner.best_so_far()
            return alpha or reached, SolveResult(W, Status.INTERRUPTED, 0)

    def _resolve_alpha(self, learner: ParticleLearner, units: Standardisation) -> float:
        searched = self.__dict__.pop("alpha_search_", None)
        if self.alpha == "heuristic":
            rows = learner.rows.X if self.standardize else learner.rows.X + units.mean
            largest = float(np.linalg.norm(rows, axis=1).max()) or 1.0
            return 2.0 * largest / float(learner.rows.weights.sum())
        if self.alpha == "auto":
            if self.warm_start and searched is not None:
                self.alpha_search_ = searched
                return float(self.alpha_)
            alpha, curve = learner.choose_alpha()
            total = float(learner.rows.weights.sum())
            self.alpha_search_ = {"alpha": curve.shifts / total, "loss": curve.losses}
            return alpha
        return float(self.alpha)

    def _make_penalty(self, scale: float) -> Penalty:
        """The named penalty, its concavity for targets of unit scale; or the one given."""
        if isinstance(self.penalty, Penalty):
            return self.penalty
        return make_penalty(self.penalty, s=1.0 / scale)

    def _fresh_particles(self, rows: CanonicalRows, scale: float) -> FloatArray:
        n_features = rows.X.shape[1]
        if isinstance(self.init, str):
            check_choice("init", self.init, ("random",))
            random = check_random_state(self.random_state)
            W = random.normal(size=(self.n_particles, n_features)) / np.sqrt(n_features)
            W *= scale
        else:
            W = check_particles(self.init, self.n_particles, n_features)
        # A constant column cannot matter: no particle looks at it.
        return np.where(np.ptp(rows.X, axis=0) > 0.0, W, 0.0)

    def _previous_particles(self, units: Standardisation) -> FloatArray | None:
        """Particles of the fit before, if it is to be continued and had the same columns."""
        if not self.warm_start or not hasattr(self, "particles_"):
            return None
        if self.particles_.shape[1] != self.n_features_in_:
            return None
        W = np.zeros((self.n_particles, self.n_features_in_))
        previous = self.particles_[: self.n_particles] * units.scale
        W[: len(previous)] = previous
        return W

    def _check_memory(self, n_samples: int, n_targets: int) -> None:
        """Sorted projections, their order, and the tables of the fitted functions."""
        per_entry = 8 + 8 + 4 + 8 + 8 * n_targets
        check_memory(
            float(n_samples) * self.n_particles * per_entry,
            "lower n_particles or fit on fewer rows",
        )

    def _store(
        self,
        problem: ParticleProblem,
        point: ReducedPoint,
        alpha: float,
        result: SolveResult,
        units: Standardisation,
    ) -> None:
        functions = RidgeFunctions.of(point)
        self.alpha_ = alpha
        self.kernel_ = problem.kernel.name
        self.mean_ = units.mean
        self.particles_ = functions.particles / units.scale
        self.knots_ = functions.knots
        self.tables_ = functions.tables
        self.intercept_ = functions.intercept
        self.objective_ = point.value + alpha * problem.penalty.value(point.W)
        self.objective_history_ = np.asarray([*result.history])
        self.n_iter_ = result.n_iter
        self.status_ = result.status.value
        components, importances = problem.penalty.directions(point.W)
        column_norms = np.linalg.norm(point.W, axis=0)
        self._store_directions(
            components, importances, column_norms, self.n_directions, units.scale
        )

    def _functions(self) -> RidgeFunctions:
        return RidgeFunctions(
            make_kernel(self.kernel_), self.particles_, self.knots_, self.tables_, self.intercept_
        )

    def _decision(self, X: ArrayLike) -> FloatArray:
        """Decision values, (n_targets, n_samples)."""
        check_is_fitted(self)
        rows: FloatArray = validate_data(self, X, reset=False, dtype=np.float64)
        return self._functions().decision(rows - self.mean_, self.n_jobs)

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
        return tabulate(self._functions(), self.mean_, n_points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _name(estimator: BaseEstimator) -> str:
    return type(estimator).__name__
