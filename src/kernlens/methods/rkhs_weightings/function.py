"""The two kinds of fitted functions: of random features, and of the implicit kernel.

Both are values of ``f(x) = intercept + E_w[alpha(w) phi(w, x)]``, and know its weight function
alpha with its norms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens.features.random_maps import FeatureMap, StumpMap
from kernlens.features.weightings import Weighting
from kernlens.kernels.implicit import ImplicitKernel, StumpKernel
from kernlens.methods.rkhs_weightings.feature_space import (
    LARGEST_SINGLE,
    decision_in_blocks,
    fits_single_precision,
)
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation, Instantiation

#: Sums of the sizes of terms for which single precision leaves four digits of a prediction.
LARGEST_TERMS = 1000.0
#: Rows that the sizes of terms are measured on.
TERM_ROWS = 100
#: Entries of the kernel between training rows and new ones, or of slopes of features, that exist at
#: once.
BLOCK_ENTRIES = 4_000_000


class WeightedFunction(ABC):
    """What the two kinds share; see their attributes."""

    kind: ClassVar[str]

    instantiation: AnyInstantiation
    intercept: FloatArray
    log_norms: FloatArray
    penalty: str

    @abstractmethod
    def decision(self, X: FloatArray) -> FloatArray:
        """Values at inputs, (n_targets, n_samples)."""

    @abstractmethod
    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients at inputs, (n_targets, n_samples, n_inputs), exact almost everywhere."""

    def smoothed_gradient(self, X: FloatArray) -> FloatArray:
        """Gradients that directions are measured with: steps, which have no slope, are smoothed."""
        return self.gradient(X)

    @abstractmethod
    def column_functions(self, X: FloatArray) -> FloatArray:
        """Parts of a sum of functions of single inputs, (n_targets, n_samples, n_inputs)."""

    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """What it is made of, by the names of fitted attributes."""

    def for_precision_of(self, X: FloatArray) -> Self:
        """The same function, computed in the precision of rows X where that is good enough."""
        return self

    @abstractmethod
    def weight_values(self, W: FloatArray) -> tuple[FloatArray, float]:
        """alpha at weights up to a constant, (n_targets, n_weights), and the constant's logarithm.

        The constant, in which the factors of high dimensions are, does not depend on W.
        """

    def log_norm(self, target: int, kind: str) -> float:
        """Logarithm of the norm of alpha, in units of the kernel.

        Parameters
        ----------
        target : int
        kind : {"rkhs", "l2"}
            The norm of the RKHS, or that of L2(p).
        """
        if kind == self.penalty:
            return float(self.log_norms[target])
        return self._other_log_norm(target, kind)

    @abstractmethod
    def _other_log_norm(self, target: int, kind: str) -> float:
        """The norm that was not penalised."""

    @property
    def _weighting(self) -> Weighting:
        return self.instantiation.weighting()


@dataclass(frozen=True)
class FeatureFunction(WeightedFunction):
    """``f(x) = intercept + sum_t c_t F_t(x)``.

    Attributes
    ----------
    instantiation : Instantiation or CustomInstantiation
    kitchen_sinks : bool
        Whether the features are the base predictors themselves.
    weights : ndarray of shape (T, n_coordinates)
    coefficients : ndarray of shape (n_targets, T)
        c, of the features without their factors.
    intercept : ndarray of shape (n_targets,)
    log_norms : ndarray of shape (n_targets,)
        Logarithms of the norm of alpha in units of the kernel; -inf for alpha = 0.
    penalty : {"rkhs", "l2"}
        Which norm that is.
    single : bool
        Whether rows of single precision are computed with in it.
    n_jobs : int or None
        Threads.
    """

    kind: ClassVar[str] = "features"

    instantiation: AnyInstantiation
    kitchen_sinks: bool
    weights: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    log_norms: FloatArray
    penalty: str
    single: bool = False
    n_jobs: int | None = None

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at inputs, (n_targets, n_samples)."""
        inputs = X if self.single else X.astype(np.float64, copy=False)
        values = decision_in_blocks(self._features, inputs, self.coefficients, self.n_jobs)
        return values + self.intercept[:, None]

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients at inputs, (n_targets, n_samples, n_inputs); zero between steps."""
        if self.kitchen_sinks and self.instantiation.jumps:
            return np.zeros((len(self.intercept), *X.shape))
        return self.smoothed_gradient(X)

    def smoothed_gradient(self, X: FloatArray) -> FloatArray:
        """Gradients that directions are measured with: steps, which have no slope, are smoothed."""
        features, c = self._features, self.coefficients
        return _in_blocks(lambda rows: features.gradient(rows, c), X, c.shape[1])

    def column_functions(self, X: FloatArray) -> FloatArray:
        """Parts of a function of stumps, one per input, (n_targets, n_samples, n_inputs)."""
        return cast(StumpMap, self._features).column_functions(X, self.coefficients)

    def arrays(self) -> dict[str, Any]:
        """What it is made of, by the names of fitted attributes."""
        return {
            "weights_": self.weights,
            "coef_": self.coefficients,
            "intercept_": self.intercept,
            "_log_norms": self.log_norms,
            "_single": self.single,
        }

    def for_precision_of(self, X: FloatArray) -> FeatureFunction:
        """In single precision if rows X are, and if terms are not much above their sum."""
        if not fits_single_precision(X):
            return self
        features = self._features.evaluate(X[:TERM_ROWS].astype(np.float64))
        terms = np.abs(self.coefficients) @ np.abs(features).T
        # Targets have unit variance.
        small = np.max(np.abs(self.coefficients)) < LARGEST_SINGLE
        return replace(self, single=bool(np.max(terms) < LARGEST_TERMS and small))

    def weight_values(self, W: FloatArray) -> tuple[FloatArray, float]:
        """alpha at weights up to a constant, (n_targets, n_weights), and the constant's logarithm.

        The constant, in which the factors of high dimensions are, does not depend on W.
        """
        weighting = self._weighting
        logarithms = weighting.expectation(self.weights)[1]
        smallest = float(logarithms.min())
        own = self.coefficients * np.exp(smallest - logarithms)
        values: FloatArray = own @ weighting.gram(self.weights, W)
        values = values * np.exp(weighting.log_rescaling(W))
        return values, -0.5 * weighting.log_unit - smallest

    def _other_log_norm(self, target: int, kind: str) -> float:
        weighting, W = self._weighting, self.weights
        logarithms = weighting.expectation(W)[1]
        shift = float(logarithms.min())
        own = self.coefficients[target] * np.exp(shift - logarithms)
        if kind == "rkhs":
            return _log_root(own @ weighting.gram(W, W) @ own) - shift
        log_products = weighting.log_square_gram(W)
        extra = float(np.max(np.diagonal(log_products)))
        return _log_root(own @ np.exp(log_products - extra) @ own) - shift + 0.5 * extra

    @property
    def _features(self) -> FeatureMap:
        weighting = self._weighting
        if self.kitchen_sinks:
            return weighting.base(self.weights)
        return weighting.expectation(self.weights)[0]


@dataclass(frozen=True)
class KernelFunction(WeightedFunction):
    """``f(x) = intercept + sum_i dual_i k(x_i, x)`` with the implicit kernel.

    Attributes
    ----------
    instantiation : Instantiation or CustomInstantiation
    support : ndarray of shape (n_support, n_inputs)
    dual : ndarray of shape (n_targets, n_support)
    intercept : ndarray of shape (n_targets,)
    log_norms : ndarray of shape (n_targets,)
        Logarithms of the norm of alpha in units of the kernel; -inf for alpha = 0.
    penalty : {"rkhs", "l2"}
        Which norm that is.
    """

    kind: ClassVar[str] = "kernel"

    instantiation: AnyInstantiation
    support: FloatArray
    dual: FloatArray
    intercept: FloatArray
    log_norms: FloatArray
    penalty: str

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at inputs, (n_targets, n_samples)."""
        kernel, support = self._kernel, self.support
        values = _in_blocks(
            lambda rows: self.dual @ kernel.matrix(support, rows),
            X.astype(np.float64, copy=False),
            len(support),
        )
        return values + self.intercept[:, None]

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients at inputs, (n_targets, n_samples, n_inputs), exact but at kinks."""
        kernel, support = self._kernel, self.support
        return _in_blocks(lambda rows: kernel.gradient(rows, support, self.dual), X, len(support))

    def column_functions(self, X: FloatArray) -> FloatArray:
        """Parts of a function of stumps, one per input, (n_targets, n_samples, n_inputs)."""
        return cast(StumpKernel, self._kernel).column_functions(X, self.support, self.dual)

    def arrays(self) -> dict[str, Any]:
        """What it is made of, by the names of fitted attributes."""
        return {
            "support_": self.support,
            "dual_coef_": self.dual,
            "intercept_": self.intercept,
            "_log_norms": self.log_norms,
        }

    def weight_values(self, W: FloatArray) -> tuple[FloatArray, float]:
        """alpha at weights up to a constant, (n_targets, n_weights), and the constant's logarithm.

        The constant, in which the factors of high dimensions are, does not depend on W.
        """
        weighting = self._weighting
        if self.penalty == "l2":
            return self.dual @ weighting.base(W).evaluate(self.support), 0.0
        features, log_factors = weighting.expectation(W)
        values = (self.dual @ features.evaluate(self.support)) * np.exp(log_factors)
        return values * np.exp(weighting.log_rescaling(W)), -0.5 * weighting.log_unit

    def _other_log_norm(self, target: int, kind: str) -> float:
        if kind == "rkhs":
            # A fit in L2(p) is in general not in the RKHS.
            return np.inf
        assert isinstance(self.instantiation, Instantiation)
        composed = self.instantiation.square_kernel()
        if composed is None:
            return np.inf
        kernel, log_factor = composed
        dual = self.dual[target]
        square = dual @ kernel.matrix(self.support, self.support) @ dual
        return _log_root(square) + 0.5 * log_factor

    @property
    def _kernel(self) -> ImplicitKernel:
        return self.instantiation.kernel(self.penalty)


def _in_blocks(
    function: Callable[[FloatArray], FloatArray], X: FloatArray, width: int
) -> FloatArray:
    """Values (n_targets, n_samples, ...) of a function of rows that has `width` numbers a row."""
    blocks = split_range(len(X), max(1, BLOCK_ENTRIES // max(1, width)))
    return np.concatenate([function(X[rows]) for rows in blocks], axis=1)


def _log_root(square: Any) -> float:
    """Logarithm of a square root, -inf at zero."""
    return 0.5 * float(np.log(square)) if square > 0.0 else -np.inf
