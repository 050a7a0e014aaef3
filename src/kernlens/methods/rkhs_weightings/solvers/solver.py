"""What the four ways to learn a weight function share: weights, features, units of alpha."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.fit_data import Stage
from kernlens.base.learner import LeftOut
from kernlens.fits.mixture import AlphaMixture, around
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace
from kernlens.methods.rkhs_weightings.function import FeatureFunction
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import (
    Choice,
    Setting,
    Solution,
    WeightingPlan,
    best_of,
)

#: Alphas that are compared, relative to the spread of the features.
ALPHAS = tuple(10.0 ** np.arange(-8.0, 1.5, 0.5))
#: Share of rows that are held out where single rows are not left out.
HELD_OUT_SHARE = 0.2
#: Share of the weight of all rows that the rows of small weight have.
SMALL_SHARE = 0.05
#: Logarithm of the largest lambda of the paper, relative to the features, and of the inverse of the
#: smallest: beyond it nothing changes but that numbers overflow.
LARGEST_LOG_ALPHA = 46.0
#: Share of a sum that may remain of it by rounding.
ROUNDING = 1e-13


class WeightingSolver(ABC):
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

    name: ClassVar[str]
    #: Alphas of ``alpha="auto"``.
    alphas: ClassVar[tuple[float, ...]] = ALPHAS
    #: Norms of the weight function that can be penalised.
    penalties: ClassVar[tuple[str, ...]] = ("rkhs", "l2")
    #: Whether it learns from batches.
    streams: ClassVar[bool] = False
    #: Whether it learns from sums over blocks of rows.
    sums_blocks: ClassVar[bool] = False
    #: Whether it is a descent: a fit then takes one alpha, which the search has to choose.
    descends: ClassVar[bool] = False
    #: Whether its losses on few rows tell alphas apart, and not only instantiations.
    tells_alphas_apart: ClassVar[bool] = True
    #: Whether features are drawn; without that, fits in L2(p) do not depend on the correlation.
    draws: ClassVar[bool] = True

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

    @classmethod
    def n_bytes(cls, n_samples: int, n_inputs: int, n_weights: int) -> float:
        """Memory of a fit, the formula of the documentation."""
        # Counts may be of any size, and only their floats overflow.
        n_squares = float(min(n_weights, 2**62)) ** 2
        return 8.0 * (4.0 * n_samples * n_inputs + 12.0 * n_squares + 1.6e7)

    @property
    def mixes(self) -> bool:
        """Whether the fit compares the alphas of its instantiation in any case, to mix them."""
        return self.plan.mixed

    @property
    def chooses_alpha_in_search(self) -> bool:
        """Whether the search is where alpha is chosen, and not the fit."""
        if self.descends:
            return True
        return self.tells_alphas_apart and len(self.rows.X) <= self.plan.limits.search

    @property
    def compares_kinds_on_all_rows(self) -> bool:
        """Whether rows held out of many decide among the best instantiations of every kind."""
        return False

    def losses(
        self, candidate: AnyInstantiation, rows: CanonicalRows, alphas: tuple[float, ...]
    ) -> list[float]:
        """Loss of every alpha on single rows left out of `rows`."""
        spectrum, log_factor = self._spectrum_of(candidate, rows)
        return [spectrum.loss(shift) for shift in self._shifts(alphas, spectrum.unit, log_factor)]

    @abstractmethod
    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Solution:
        """Fit with an instantiation, at the best of some alphas."""

    def learn_batch(
        self,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        sums: dict[str, Any] | None,
    ) -> Solution:
        """Fit on the rows on top of those that `sums`, of plain arrays, has summed up."""
        raise NotImplementedError(f"{type(self).__name__} does not learn from batches.")

    def fit_all(self, table: FitTable, solution: Solution, alphas: tuple[float, ...]) -> Solution:
        """Fit all rows of a table with the instantiation found, at the best of some alphas."""
        raise NotImplementedError(f"{type(self).__name__} has no sums over blocks.")

    def _systems_of(
        self, table: FitTable, space: FeatureSpace, smallest: float
    ) -> tuple[RidgeSystem, RidgeSystem]:
        """Normal equations of rows to learn from, and of those held out to choose by."""
        train, test = (
            space.system_of_table(table.part(held_out=held_out), self.plan.intercept, smallest)
            for held_out in (False, True)
        )
        if train is None or test is None:
            raise ValueError(
                "The rows of this table are too few different ones to hold some out; give a number "
                "as alpha."
            )
        return train, test

    def finish_interrupted(self) -> Solution:
        """Return what an interrupted fit has reached; without anything, interrupt again."""
        raise KeyboardInterrupt

    @abstractmethod
    def left_out(self, solution: Solution) -> LeftOut:
        """Predictions of some rows by fits without them."""

    def _left_out_of_one_fit(self, solution: Solution) -> LeftOut:
        """Predictions of a fifth of the rows by a fit without it; a single row by the fit to it."""
        cut = self._cut(len(self.rows.X))
        part, function = self.rows.take(slice(0, cut)), solution.function
        if len(self.rows.X) > 1:
            others = type(self)(self.plan, self.rows.take(slice(cut, None)), self.n_jobs)
            setting = solution.setting
            function = others.fit(setting.instantiation, (setting.alpha,)).function
        return LeftOut(function.decision(part.X), part.y, part.weights)

    @property
    def _small_weights(self) -> FloatArray:
        """What is left out of every row at most, (n_rows,): the weight of single rows.

        Classes may count more than others, and have single rows of their own weight.
        """
        weights = self.rows.weights
        if not self.plan.of_classes:
            return np.full(len(weights), small_weight(weights))
        y = self.rows.y
        numbers = (y[0] > 0.0).astype(np.intp) if len(y) == 1 else y.argmax(axis=0)
        small = np.empty_like(weights)
        for number in np.unique(numbers):
            members = numbers == number
            small[members] = small_weight(weights[members])
        return small

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
        relative = np.log(alpha) - log_factor - np.log(unit)
        return unit * float(np.exp(np.clip(relative, -LARGEST_LOG_ALPHA, LARGEST_LOG_ALPHA)))

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
        """Choose among the alphas by the errors on single rows left out."""
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
        if self.mixes and len(near) > 1:
            mixture = AlphaMixture.of_errors(near, products(near))
        return Choice(best, mixture, tuple(tried))

    def _function(
        self,
        candidate: AnyInstantiation,
        weights: FloatArray,
        coefficients: FloatArray,
        intercept: FloatArray,
        norms: FloatArray,
    ) -> FeatureFunction:
        """A function of random features, with logarithms of its norms."""
        return FeatureFunction(
            candidate,
            self.plan.kitchen_sinks,
            weights,
            coefficients,
            intercept,
            norms,
            self.plan.kernel_penalty,
            n_jobs=self.n_jobs,
        )

    def _log_unit(self, unit: float, log_factor: float) -> float:
        """Logarithm of the paper's lambda over alpha."""
        return 0.0 if self.plan.paper_units else float(np.log(unit)) + log_factor


def small_weight(weights: FloatArray) -> float:
    """The weight up to which rows have a twentieth of the total; 1 where most rows are single."""
    return float(weighted_quantile(weights, weights, SMALL_SHARE))


def feature_unit(system: RidgeSystem) -> float:
    """Mean squared length of the features, centred if there is a constant; 1 if that is zero."""
    centered = float(np.trace(system.gram)) / system.total
    return _unit(centered, centered + float(np.square(system.feature_mean).sum()))


def kernel_unit(K: FloatArray, weights: FloatArray, intercept: bool) -> float:
    """Weighted mean of the diagonal of a kernel matrix, centred if there is a constant; not 0."""
    shares = weights / weights.sum()
    whole = float(shares @ np.diagonal(K))
    return _unit(whole - intercept * float(shares @ K @ shares), whole)


def _unit(centered: float, whole: float) -> float:
    """What is left after centring, unless that is rounding."""
    return centered if centered > ROUNDING * whole else 1.0


def log_norms(squares: FloatArray, log_scale: float) -> FloatArray:
    """Logarithms of norms from squares in scaled features."""
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(squares) - log_scale
