"""What the four learners of random features share: weights, features, units of alpha."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile
from kernlens._rows import CanonicalRows
from kernlens.fits.mixture import AlphaMixture, around
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace, decision_in_blocks
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import (
    Choice,
    FeatureFunction,
    Learned,
    Setting,
    WeightingPlan,
    best_of,
)

Stage = Callable[[str], Callable[[int, float], None]]

#: Alphas that are compared, relative to the spread of the features.
ALPHAS = tuple(10.0 ** np.arange(-8.0, 1.5, 0.5))
#: Rows up to which alpha is chosen by leaving one out, and that probabilities are calibrated on.
LEAVE_ONE_OUT_ROWS = 2000
#: Rows beyond those are held out in this share.
HELD_OUT_SHARE = 0.2
#: Of the weight of all rows: those of small weight have it.
SMALL_SHARE = 0.05
#: Of a sum, what may remain of it by rounding.
ROUNDING = 1e-13


class WeightingSolver:
    """One way to learn the weight function, for some rows.

    Parameters
    ----------
    plan : WeightingPlan
    rows : CanonicalRows
        Standardised, X with the column of the bias.
    n_jobs : int or None
    stage : callable, optional
        Returns the callback that the iterations of a stage report to.
    """

    #: Alphas of ``alpha="auto"``.
    alphas: tuple[float, ...] = ALPHAS

    def __init__(
        self,
        plan: WeightingPlan,
        rows: CanonicalRows,
        n_jobs: int | None,
        stage: Stage | None = None,
    ) -> None:
        self.plan = plan
        self.rows = rows
        self.n_jobs = n_jobs
        self.stage = stage

    def losses(
        self, candidate: AnyInstantiation, rows: CanonicalRows, alphas: tuple[float, ...]
    ) -> list[float]:
        """Loss of every alpha on single rows left out of `rows`."""
        spectrum, log_factor = self._spectrum_of(candidate, rows)
        return [spectrum.loss(shift) for shift in self._shifts(alphas, spectrum.unit, log_factor)]

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Learned:
        """Fit with an instantiation, at the best of some alphas."""
        raise NotImplementedError

    def learn_batch(
        self,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        state: dict[str, Any] | None,
    ) -> tuple[Learned, dict[str, Any]]:
        """Fit on the rows on top of those that `state`, of plain arrays, has summed up."""
        raise NotImplementedError

    def left_out(self, learned: Learned) -> tuple[FloatArray, CanonicalRows]:
        """Predictions of some rows by a fit without them, and the rows.

        Here by a fit without a fifth of the rows; a single row by the fit with it.
        """
        cut = self._cut(len(self.rows.X))
        candidate, part = learned.setting.instantiation, self.rows.take(slice(0, cut))
        function = learned.function
        if len(self.rows.X) > 1:
            others = type(self)(self.plan, self.rows.take(slice(cut, None)), self.n_jobs)
            function = others.fit(candidate, (learned.setting.alpha,)).function
        assert isinstance(function, FeatureFunction)
        weighting, sinks = candidate.weighting(), self.plan.kitchen_sinks
        return feature_decision(function, weighting, part.X, sinks, self.n_jobs), part

    @staticmethod
    def _cut(n_rows: int) -> int:
        """How many of some rows are held out."""
        return max(1, int(HELD_OUT_SHARE * n_rows))

    def _spectrum_of(
        self, candidate: AnyInstantiation, rows: CanonicalRows
    ) -> tuple[RidgeSpectrum, float]:
        """Eigenvectors of the kernel matrix of some rows, and log of the paper's unit of alpha."""
        X = rows.X.astype(np.float64, copy=False)
        space = self._space(candidate)
        P, intercept = space.matrix(X), self.plan.intercept
        spectrum = RidgeSpectrum.of_features(P, rows.y, rows.weights, intercept)
        return spectrum, self._log_factor(candidate, space)

    def _log_factor(self, candidate: AnyInstantiation, space: FeatureSpace) -> float:
        return 2.0 * space.log_scale + candidate.log_unit(self.plan.kernel_penalty)

    def _shift(self, alpha: float, unit: float, log_factor: float) -> float:
        """alpha in the units of the features."""
        if not self.plan.paper_units:
            return alpha * unit
        return float(np.exp(np.clip(np.log(alpha) - log_factor, -700.0, 700.0)))

    def _shifts(self, alphas: tuple[float, ...], unit: float, log_factor: float) -> list[float]:
        return [self._shift(alpha, unit, log_factor) for alpha in alphas]

    def _weights(self, candidate: AnyInstantiation) -> FloatArray:
        """T weights; the same numbers for every correlation."""
        rng = np.random.default_rng(self.plan.seed)
        return candidate.weighting().sample(self.plan.n_weights, rng)

    def _space(self, candidate: AnyInstantiation) -> FeatureSpace:
        weighting, W = candidate.weighting(), self._weights(candidate)
        if self.plan.kitchen_sinks:
            return FeatureSpace.of_kitchen_sinks(weighting, W)
        return FeatureSpace.of_weighting(weighting, W, self.plan.penalty)

    def _sum(
        self,
        space: FeatureSpace,
        part: slice,
        precision: type[np.floating] = np.float64,
        smallest: float = 1.0,
    ) -> RidgeSystem:
        """Normal equations of some rows, for regularisations from `smallest` on, relative."""
        X, y, weights = self.rows.X[part], self.rows.y[:, part], self.rows.weights[part]
        intercept = self.plan.intercept
        return space.system(X, y, weights, intercept, self.n_jobs, precision, smallest)

    def _choice_by_single_rows(
        self,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        spectrum: RidgeSpectrum,
        log_factor: float,
    ) -> Choice:
        """Of the alphas, by the errors on single rows left out."""
        unit = spectrum.unit
        shifts = self._shifts(alphas, unit, log_factor)
        tried = [
            Setting(candidate, alpha, spectrum.loss(shift))
            for alpha, shift in zip(alphas, shifts, strict=True)
        ]
        return self._choice(
            tried, lambda some: spectrum.error_products(self._shifts(some, unit, log_factor))
        )

    def _choice(
        self, tried: list[Setting], products: Callable[[tuple[float, ...]], FloatArray]
    ) -> Choice:
        """The best setting, and a mixture with alphas around it by the products of their errors."""
        best = best_of(tried)
        mixture = AlphaMixture.of_one(best.alpha)
        near = around(best.alpha, tuple(one.alpha for one in tried))
        if self.plan.mixed and len(near) > 1:
            mixture = AlphaMixture.of_errors(near, products(near))
        return Choice(best, mixture, tuple(tried))

    def _learned(
        self, choice: Choice, function: Any, unit: float, log_factor: float, objective: float
    ) -> Learned:
        log_unit = 0.0 if self.plan.paper_units else float(np.log(unit)) + log_factor
        return Learned(
            choice.best,
            choice.mixture,
            function,
            log_unit,
            objective,
            history=(objective,),
            tried=choice.tried,
        )


def feature_decision(
    function: FeatureFunction,
    weighting: Any,
    X: FloatArray,
    kitchen_sinks: bool,
    n_jobs: int | None,
) -> FloatArray:
    """Values of a function of random features at rows, (n_targets, n_samples)."""
    W = function.weights
    features = weighting.base(W) if kitchen_sinks else weighting.expectation(W)[0]
    decision = decision_in_blocks(features, X, function.coefficients, n_jobs)
    return decision + function.intercept[:, None]


def small_weight(weights: FloatArray) -> float:
    """The weight up to which rows have a twentieth of the total; 1 where most rows are single."""
    return float(weighted_quantile(weights, weights, SMALL_SHARE))


def feature_unit(system: RidgeSystem) -> float:
    """Mean squared length of the features, centred if there is a constant; 1 if that is zero."""
    centred = float(np.trace(system.gram)) / system.total
    return _unit(centred, centred + float(np.square(system.feature_mean).sum()))


def kernel_unit(K: FloatArray, weights: FloatArray, intercept: bool) -> float:
    """Weighted mean of the diagonal of a kernel matrix, centred if there is a constant; not 0."""
    shares = weights / weights.sum()
    whole = float(shares @ np.diagonal(K))
    return _unit(whole - intercept * float(shares @ K @ shares), whole)


def _unit(centred: float, whole: float) -> float:
    """What is left after centring, unless that is rounding."""
    return centred if centred > ROUNDING * whole else 1.0


def log_norms(squares: FloatArray, log_scale: float) -> FloatArray:
    """Logarithms of norms from squares in scaled features."""
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(squares) - log_scale
