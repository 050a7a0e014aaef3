"""What may be fitted on projected rows: a Gaussian kernel, or an estimator that is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from kernlens._array import FloatArray
from kernlens._geometry import MEDIAN_ROWS, median_distance
from kernlens._rows import CanonicalRows
from kernlens.base.function import FittedFunction
from kernlens.features.nystrom_centers import distinct_rows, uniform_centers
from kernlens.fits.held_out import Bounds, Split, held_out_loss
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.fits.table_fit import AllRows, TableFit, fit_centers
from kernlens.fits.tuned_ridge import DECADES, Tuned, losses_along, tune_refit
from kernlens.losses import Loss, SquaredLoss
from kernlens.methods.regfeal.function import EstimatorFunction, RefittedKernelFunction

#: In the middle of the values of alpha that are tried.
MIDDLE_ALPHA = 1e-2
#: Rows of an estimator that takes no weights are repeated at most so many times.
MOST_REPEATS = 1000


class Refit(ABC):
    """A regressor or classifier on projected rows."""

    @abstractmethod
    def held_out(self, split: Split, B: FloatArray, *, quick: bool) -> float:
        """Loss on held-out rows through B (n_directions, n_inputs); `quick` for a first look."""

    @abstractmethod
    def through_one(self, splits: Sequence[Split], B: FloatArray, tuned: Any) -> float:
        """Mean loss on the held-out rows through one map, as the search has it."""

    @abstractmethod
    def tune(self, splits: Sequence[Split], maps: Sequence[FloatArray]) -> Any:
        """Settings of its own, tuned with maps that have not seen the rows they are scored on."""

    @abstractmethod
    def fit(self, rows: CanonicalRows, B: FloatArray, tuned: Any) -> FittedFunction:
        """The function on `rows` through B, with settings that were tuned."""

    def fit_all(self, rows: AllRows, function: Any, tuned: Any) -> FittedFunction:
        """The function of a sample with coefficients from all rows of a table."""
        raise NotImplementedError(f"{type(self).__name__} has no sums over blocks.")

    def for_search(self) -> Refit:
        """The same, if possible at less cost, for the choice among settings."""
        return self


@dataclass(frozen=True)
class ProjectedKernelRefit(Refit):
    """Kernel ridge, or kernel logistic regression, on a few directions.

    Attributes
    ----------
    ridge : ProjectedRidge
        Kernel and loss.
    n_centers : int
        Nystrom centres of the last fit.
    seed : int
        Seed that they are drawn with.
    bounds : tuple of ndarray, or None
        Bounds of the predictions that are scored.
    """

    ridge: ProjectedRidge
    n_centers: int
    seed: int
    bounds: Bounds | None = None

    def held_out(self, split: Split, B: FloatArray, *, quick: bool) -> float:
        """Loss on the held-out rows at the best alpha and, unless `quick`, length scale."""
        scaled = _with_unit_median(B, split.train.X)
        if quick:
            alphas = MIDDLE_ALPHA * 10.0**DECADES
            return float(np.min(losses_along(self.ridge, split, scaled, alphas, self.bounds)))
        return tune_refit(self.ridge, [split], [scaled], MIDDLE_ALPHA, self.bounds).loss

    def through_one(self, splits: Sequence[Split], B: FloatArray, tuned: Tuned) -> float:
        """At the best alpha, with the length scale that was tuned."""
        ridge, alphas = self.for_search().ridge, MIDDLE_ALPHA * 10.0**DECADES
        maps = [tuned.scale * _with_unit_median(B, split.train.X) for split in splits]
        losses = [
            losses_along(ridge, split, one, alphas, self.bounds)
            for split, one in zip(splits, maps, strict=True)
        ]
        return float(np.mean(losses, axis=0).min())

    def tune(self, splits: Sequence[Split], maps: Sequence[FloatArray]) -> Tuned:
        """Length scale and alpha; the length scale by squared errors, for which one solve does."""
        scaled = [
            _with_unit_median(W, split.train.X) for split, W in zip(splits, maps, strict=True)
        ]
        squared = self.for_search().ridge
        tuned = tune_refit(squared, splits, scaled, MIDDLE_ALPHA, self.bounds)
        if self.ridge.loss.quadratic:
            return tuned
        alphas = MIDDLE_ALPHA * 10.0**DECADES
        losses = np.mean(
            [
                losses_along(self.ridge, split, tuned.scale * B, alphas, self.bounds)
                for split, B in zip(splits, scaled, strict=True)
            ],
            axis=0,
        )
        best = int(np.argmin(losses))
        return Tuned(tuned.scale, float(alphas[best]), float(losses[best]))

    def fit(self, rows: CanonicalRows, B: FloatArray, tuned: Tuned) -> RefittedKernelFunction:
        """The kernel ridge function on `rows` through B."""
        B = tuned.scale * _with_unit_median(B, rows.X)
        Z = draw_centers(rows, self.n_centers, self.seed)
        coefficients, intercept = self.ridge.function(rows, B, Z, tuned.alpha)
        return RefittedKernelFunction(
            B, Z, coefficients, intercept, self.ridge.kernel, self.ridge.n_jobs
        )

    def fit_all(
        self, rows: AllRows, function: RefittedKernelFunction, tuned: Tuned
    ) -> RefittedKernelFunction:
        """The same map and centres, alpha chosen again."""
        start = TableFit(function.coefficients, function.intercept, tuned.alpha)
        found = fit_centers(rows, self.ridge, function.B, function.Z, start, choose=True)
        return replace(function, coefficients=found.coefficients, intercept=found.intercept)

    def for_search(self) -> ProjectedKernelRefit:
        """With the squared loss, for which one solve does."""
        return replace(self, ridge=replace(self.ridge, loss=SquaredLoss()))


@dataclass(frozen=True)
class EstimatorRefit(Refit):
    """Fits clones of an estimator.

    Attributes
    ----------
    estimator : object
        A regressor, or a classifier with ``predict_proba``.
    loss : Loss
        Loss that held-out rows are scored with.
    weight_unit : float
        What the user's weights were divided by: the estimator gets them as they were.
    """

    estimator: Any
    loss: Loss
    weight_unit: float = 1.0

    def held_out(self, split: Split, B: FloatArray, *, quick: bool) -> float:
        """Loss on the held-out rows through B."""
        function = self.fit(split.train, B, None)
        with self._named(len(split.train.X)):
            decision = function.decision(split.test.X)
        return held_out_loss(self.loss, split.test, decision, None)

    def through_one(self, splits: Sequence[Split], B: FloatArray, tuned: None) -> float:
        """Of fits to the other rows of every split."""
        return float(np.mean([self.held_out(split, B, quick=True) for split in splits]))

    def tune(self, splits: Sequence[Split], maps: Sequence[FloatArray]) -> None:
        """Nothing: the estimator is taken as it is given."""

    def fit(self, rows: CanonicalRows, B: FloatArray, tuned: None) -> EstimatorFunction:
        """A clone, fitted on the projected rows; those of a weight of 2 may come twice."""
        model = clone(self.estimator)
        y = rows.y[0] if len(rows.y) == 1 else rows.y.T
        if is_classifier(model):
            # One-hot rows, of which two classes have the second one only.
            y = rows.y[0].astype(np.intp) if len(rows.y) == 1 else rows.y.argmax(axis=0)
        X, options = rows.X @ B.T, {}
        weights = given_weights(rows, self.weight_unit)
        if has_fit_parameter(model, "sample_weight"):
            options["sample_weight"] = weights
        elif np.any(weights != weights[0]):
            repeats = weights.astype(np.intp)
            X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats, axis=0)
        n_classes = max(2, len(rows.y)) if is_classifier(model) else None
        with self._named(len(X)):
            return EstimatorFunction(B, model.fit(X, y, **options), n_classes)

    @contextmanager
    def _named(self, n_rows: int) -> Iterator[None]:
        """Say whose error it is: the user did not call that estimator."""
        try:
            yield
        except Exception as error:
            raise ValueError(
                f"refit={self.estimator!r} failed on {n_rows} rows: {error} Choose another one, or "
                "refit=None."
            ) from error


@runtime_checkable
class CanBeFitted(Protocol):
    """Anything with a method `fit`, the way scikit-learn means it."""

    def fit(self, X: Any, y: Any) -> Any: ...


def check_refit_estimator(estimator: Any, classifier: bool) -> None:
    """Refuse an estimator for the other kind of target, or one without predictions."""
    if not hasattr(estimator, "predict"):
        raise ValueError(f"refit must be an estimator with predict, got {estimator!r}.")
    fitting = is_classifier(estimator) == classifier
    if classifier and not (fitting and hasattr(estimator, "predict_proba")):
        raise ValueError(f"refit must be a classifier with predict_proba, got {estimator!r}.")
    if not fitting:
        raise ValueError(f"refit must be a regressor, got {estimator!r}.")


def given_weights(rows: CanonicalRows, unit: float) -> FloatArray:
    """The weights as the user gave them; what is an integer to ten digits was one."""
    weights = rows.weights * unit
    whole = np.round(weights)
    return np.where(np.abs(weights - whole) <= 1e-9 * whole, whole, weights)


def check_refit_weights(estimator: Any, weights: FloatArray) -> None:
    """Refuse weights that can neither be handed on nor be replaced by repeated rows."""
    if has_fit_parameter(estimator, "sample_weight") or np.all(weights == weights[0]):
        return
    if np.any(weights != np.round(weights)) or weights.max() > MOST_REPEATS:
        raise ValueError(
            f"refit={estimator!r} does not take sample_weight; use weights that are integers of at "
            f"most {MOST_REPEATS}, for which rows are repeated, or another refit."
        )


def draw_centers(rows: CanonicalRows, n_centers: int, seed: int) -> FloatArray:
    """Nystrom centres among `rows`, uniformly, (n_centers, n_inputs)."""
    random = np.random.RandomState([seed, 0])
    return rows.X[uniform_centers(distinct_rows(rows.group), n_centers, random)]


def _with_unit_median(B: FloatArray, X: FloatArray) -> FloatArray:
    return B / median_distance(X[:MEDIAN_ROWS] @ B.T)
