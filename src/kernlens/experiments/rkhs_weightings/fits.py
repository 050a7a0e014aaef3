"""Algorithms 1 and 4 with the settings of Table 14, and the exact kernel that they approach.

Everything is ridge regression without a constant and without a bias, as in the paper: on random
features in coordinates where the norm of the weight function is the plain one, or with the implicit
kernel. Lambda is that of the paper, of the objective (24) or (46); the features of this library are
divided by constants, so that a factor lies between lambda and what is added to the Gram matrix.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernlens._array import FloatArray, IntArray
from kernlens.experiments.contract import Measured
from kernlens.experiments.rkhs_weightings.printed import PrintedWeighting
from kernlens.experiments.rkhs_weightings.sets import Split, share_of_errors
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.methods.rkhs_weightings import (
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.methods.rkhs_weightings.bounds import gap_bound
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace, decision_in_blocks
from kernlens.methods.rkhs_weightings.function import FeatureFunction
from kernlens.methods.rkhs_weightings.instantiations import Instantiation, correlation_of

#: The paper's names, and ours.
NAMES = {
    "RWExpRelu": "exp_relu",
    "RWExpSign": "exp_sign",
    "RWRelu": "relu",
    "RWSign": "sign",
    "RWStumps": "stumps",
}
RKS, RW, PRINTED, EXACT = "RKS", "RW", "RW (printed features)", "RW (exact kernel)"
OURS, OURS_RKS = "RW (our defaults)", "RKS (our defaults)"
#: Lambda in decades: of ramps, of other weightings, and of kitchen sinks.
RAMPS, OTHERS, SINKS = (-14.0, 0.0), (-12.0, -4.0), (-8.0, 0.0)
#: Sigmas of the thresholds of kitchen sinks.
SIGMAS = (0.25, 0.5, 1.0, 2.0, 4.0)
#: Kernels of thresholds any narrower have no Gram matrix in double precision.
MOST_CORRELATION = 0.99
#: Confidence of the bounds.
DELTA = 0.05
#: Stumps of more columns have their exact kernel, a sum of one matrix per column, of fewer rows.
MANY_COLUMNS, FEW_ROWS = 40, 1000
#: Settings of the exact kernel, whose decomposition is of all these rows, are compared on so many.
EXACT_SEARCH_ROWS = 1200
#: Rows whose kernel with the training rows exists at once.
ROWS_AT_ONCE = 2000
#: Share of the mean diagonal of a kernel matrix that is rounding.
ROUNDING = 1e-13
#: What every experiment with these fits says of them.
NOTE = (
    "The ranges of Table 14 are searched on a grid, lambda by decades, where the paper draws 50 "
    "points, and scored by predictions of single training rows left out, by the error that the "
    "table shows. For ramps, of which sigma is but a unit, lambda / sigma^2 goes from 1e-14 to 1. "
    "Lambda of kitchen sinks goes from 1e-8 to 1: (25) is printed with another scale than (24), "
    "and neither explains all published errors with the range of Table 14. There is no constant "
    "and no bias, as in the paper."
)


@dataclass(frozen=True)
class Setting:
    """Random features, or the kernel of infinitely many, with lambda.

    Attributes
    ----------
    instantiation : Instantiation
    method : str
        RKS, RW, PRINTED or EXACT.
    lam : float
    """

    instantiation: Instantiation
    method: str
    lam: float

    def weights(self, n_weights: int, seed: int) -> FloatArray:
        """Draws from p, the same for all widths."""
        return self.instantiation.weighting().sample(n_weights, np.random.default_rng([2, seed]))

    def space(self, W: FloatArray) -> FeatureSpace:
        """Features of weights."""
        found = self.instantiation
        if self.method == RKS:
            return FeatureSpace.of_kitchen_sinks(found.weighting(), W)
        if self.method == PRINTED:
            printed = PrintedWeighting(
                found.ramp, found.exponential, found.n_inputs, found.correlation
            )
            return FeatureSpace.of_weighting(printed, W, "rkhs")
        return FeatureSpace.of_weighting(found.weighting(), W, "rkhs")

    def shift(self, space: FeatureSpace | None) -> float:
        """What lambda is for ridge regression on the features, or with the kernel."""
        if self.method == RKS:
            return self.lam
        log_factor = self.instantiation.log_unit()
        if space is not None:
            log_factor += 2.0 * space.log_scale
        # Where features vanish, nothing is left of them beside lambda.
        return float(np.exp(np.clip(np.log(self.lam) - log_factor, -600.0, 600.0)))


@dataclass(frozen=True)
class Fitted:
    """A fit on random features.

    Attributes
    ----------
    setting : Setting
    W : ndarray of shape (T, n_coordinates)
    space : FeatureSpace
    b : ndarray of shape (k,)
        Coefficients of the features in plain coordinates.
    """

    setting: Setting
    W: FloatArray
    space: FeatureSpace
    b: FloatArray

    @property
    def coefficients(self) -> FloatArray:
        """Of the features that are kept, (1, k)."""
        return self.space.coefficients(self.b[None])

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at rows."""
        return decision_in_blocks(self.space.features, X, self.coefficients, 1)[0]

    def log10_bounds(self, X: FloatArray, y: FloatArray) -> tuple[float, float]:
        """Logarithms of the bounds of Theorems 6.2 and 6.5 as printed, with the norms of the fit.

        Theta is that of Table 2, tau the exact sup_x E_w[phi(w, x)^2]^(1/2), and so is the norm of
        L2(p).
        """
        found = self.setting.instantiation
        log_norm = 0.5 * np.log(max(float(self.b @ self.b), 1e-300)) - self.space.log_scale
        function = FeatureFunction(
            *(found, False, self.W[self.space.kept], self.coefficients),
            *(np.zeros(1), np.array([log_norm]), "rkhs"),
        )
        radius = float(np.linalg.norm(X, axis=1).max())
        reaches = (
            0.5 * found.log_printed_theta_squared(radius) + log_norm,
            0.5 * np.log(found.tau_squared(radius)) + function.log_norm(0, "l2"),
        )
        most = float(np.abs(y).max())
        first, second = (
            float(np.log10(gap_bound(float(np.exp(one)), most, len(y), DELTA, "printed")))
            for one in reaches
        )
        return first, second


def fit(setting: Setting, X: FloatArray, y: FloatArray, n_weights: int, seed: int) -> Fitted:
    """Algorithm 1 or 4."""
    W = setting.weights(n_weights, seed)
    space = setting.space(W)
    system = space.system(X, y[None], np.ones(len(X)), False, 1, smallest=0.0)
    return Fitted(setting, W, space, system.solve(setting.shift(space))[0][0])


def warm_up(setting: Setting, split: Split) -> None:
    """A fit of a few rows, so that what is compiled at its first use is no part of any seconds."""
    fit(setting, split.X[:20], split.y[:20], 5, 0).decision(split.X[:2])


@dataclass(frozen=True)
class FittedKernel:
    """A fit with the exact kernel."""

    setting: Setting
    X: FloatArray
    dual: FloatArray

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at rows."""
        kernel = self.setting.instantiation.kernel()
        parts = [
            kernel.matrix(X[first : first + ROWS_AT_ONCE], self.X) @ self.dual
            for first in range(0, len(X), ROWS_AT_ONCE)
        ]
        return np.concatenate(parts)


def fit_kernel(setting: Setting, X: FloatArray, y: FloatArray) -> FittedKernel:
    """Kernel ridge regression with the implicit kernel, the limit of Algorithm 4."""
    K = setting.instantiation.kernel().matrix(X, X)
    # What is added is kept above the rounding of the matrix.
    shift = max(setting.shift(None), ROUNDING * float(np.trace(K)) / len(X))
    K.flat[:: len(K) + 1] += len(X) * shift
    return FittedKernel(setting, X, cho_solve(cho_factor(K, overwrite_a=True), y))


def rows_for_exact(n_rows: int, setting: Setting, split: Split) -> IntArray:
    """Some of the training rows; fewer for the kernel of stumps, which is a sum over columns."""
    found = setting.instantiation
    if found.additive and found.n_inputs > MANY_COLUMNS:
        n_rows = min(n_rows, FEW_ROWS)
    return np.random.default_rng(0).permutation(len(split.X))[:n_rows]


def default_fit(split: Split, kitchen_sinks: bool, seed: int) -> Measured:
    """The estimators of this library as they come."""
    if split.regression:
        make: Any = RandomKitchenSinksRegressor if kitchen_sinks else RKHSWeightingRegressor
    else:
        make = RandomKitchenSinksClassifier if kitchen_sinks else RKHSWeightingClassifier
    model = make(n_directions=1, random_state=seed)
    _, seconds = cpu_seconds(lambda: model.fit(split.X, split.y))
    scores = split.scores(model.predict(split.X), model.predict(split.test_X))
    if not split.regression:
        # Predictions are classes here.
        scores = {name: value for name, value in scores.items() if name.endswith("error")}
    return Measured(scores, {"seconds": [seconds]}, {"fit": seconds})


def choose(
    settings: list[Setting],
    split: Split,
    n_weights: int,
    n_rows: int,
    n_seeds: int,
) -> Setting:
    """The setting of least error on single training rows left out, mean over a few seeds.

    One decomposition serves all lambdas of an instantiation.
    """
    errors = np.zeros(len(settings))
    for seed in range(n_seeds):
        exact = settings[0].method == EXACT
        most = min(n_rows, EXACT_SEARCH_ROWS) if exact else n_rows
        rows = np.random.default_rng([1, seed]).permutation(len(split.X))[:most]
        X, y = split.X[rows], split.y[rows]
        known: Instantiation | None = None
        for place, setting in enumerate(settings):
            if setting.instantiation != known:
                known = setting.instantiation
                space, spectrum = _spectrum(setting, X, y, n_weights, seed)
            decision = spectrum.predictions(setting.shift(space))[0]
            errors[place] += (
                float(np.mean(np.square(decision - y)))
                if split.regression
                else share_of_errors(decision, y)
            )
    return settings[int(np.argmin(errors))]


def _spectrum(
    setting: Setting, X: FloatArray, y: FloatArray, n_weights: int, seed: int
) -> tuple[FeatureSpace | None, RidgeSpectrum]:
    ones = np.ones(len(X))
    if setting.method == EXACT:
        K = setting.instantiation.kernel().matrix(X, X)
        return None, RidgeSpectrum.of_kernel(K, y[None], ones, False)
    space = setting.space(setting.weights(n_weights, seed))
    return space, RidgeSpectrum.of_features(space.matrix(X), y[None], ones, False)


def settings_of(name: str, method: str, n_columns: int, n_widths: int) -> list[Setting]:
    """What Table 14 lets vary, for an instantiation of the paper, lambdas of a width together."""
    key = NAMES[name].removeprefix("exp_") if method == RKS else NAMES[name]
    pairs = _pairs(key, method, n_columns, n_widths)
    lowest, highest = decades_of(key, method)
    return [
        Setting(Instantiation(key, n_columns, float(r), float(sigma)), method, float(10.0**power))
        for sigma, r in pairs
        for power in np.arange(lowest, highest + 0.5)
    ]


def decades_of(key: str, method: str) -> tuple[float, float]:
    if method == RKS:
        return SINKS
    return RAMPS if key.endswith("relu") else OTHERS


def _pairs(key: str, method: str, n_columns: int, n_widths: int) -> list[tuple[float, float]]:
    """Sigmas and correlations."""
    if method == RKS:
        return [(sigma, 0.5) for sigma in (SIGMAS if key == "stumps" else (1.0,))]
    if key == "stumps":
        drawn = 10.0 ** np.random.default_rng(0).uniform(-2, 1, (2 * n_widths, 2))
        found = [
            (sigma, correlation_of(key, n_columns, sigma, gamma, None, None))
            for sigma, gamma in drawn
        ]
        return [(sigma, min(r, MOST_CORRELATION)) for sigma, r in found]
    if key.startswith("exp_"):
        kappas = np.linspace(1.5, 100.0 if key == "exp_relu" else 50.0, n_widths)
        return [(1.0, correlation_of(key, n_columns, 1.0, None, None, k)) for k in kappas]
    thetas = np.linspace(0.01, 0.9, n_widths)
    return [(1.0, correlation_of(key, n_columns, 1.0, None, t, None)) for t in thetas]


def cpu_seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its seconds of the processor, which other programs do not add to."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start
