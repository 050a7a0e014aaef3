"""Losses: value, gradient, and the weighted least-squares problem that Newton's method solves.

Shapes: targets `y` and decision values `f` are (n_targets, n_samples). Every loss is written for
one row as ``loss(y_i, f_i)``; sample weights enter only in :meth:`Loss.working_system`.

Newton's method around `f` replaces the weighted loss by ``1/2 (f' - z)^T H (f' - z)`` with one
block H_i = L_i L_i^T per row. A solver needs ``L``, ``L^T`` and the right-hand side ``L^T z``; both
stay finite when the curvature vanishes, which `z` itself does not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from kernlens._array import FloatArray
from kernlens._quantiles import weighted_quantile

#: A Newton step needs some curvature in every row. A row on the wrong side has a steep slope and
#: hardly any curvature: it gets this share of its slope, and the line search that follows corrects
#: a step that trusted it too much.
CURVATURE_OF_SLOPE = 1e-6
#: The least curvature of a row on the right side, where slope and curvature vanish together.
LEAST_CURVATURE = 1e-14

#: An error of a probability that nobody can see: the slope of the losses of classifiers.
NEGLIGIBLE_PROBABILITY = 1e-4

#: The share of a class that is absent from a part of the rows, for its first log-odds.
SMALLEST_SHARE = 1e-6


#: What users may give as ``loss=``.
__all__ = ["HuberLoss", "LogisticLoss", "Loss", "MultinomialLoss", "SquaredLoss"]


class CurvatureRoot(ABC):
    """A factor L of the curvature H = L L^T of a weighted loss, one block per row."""

    @abstractmethod
    def apply(self, b: FloatArray) -> FloatArray:
        """Return ``L b``, (n_targets, n_samples)."""

    @abstractmethod
    def adjoint(self, u: FloatArray) -> FloatArray:
        """Return ``L^T u``, (n_targets, n_samples)."""

    @abstractmethod
    def total(self, n_targets: int) -> FloatArray:
        """Return ``sum_i H_i``, (n_targets, n_targets)."""

    @property
    @abstractmethod
    def diagonals(self) -> FloatArray | None:
        """What L multiplies targets by, (1 or n_targets, n_samples); None if it couples them."""

    @property
    def shared_by_targets(self) -> bool:
        """Whether L is the same diagonal for every target."""
        return self.diagonals is not None and len(self.diagonals) == 1

    @abstractmethod
    def mean_diagonal(self, n_targets: int) -> FloatArray:
        """Return the mean of the diagonal of every H_i, (n_samples,)."""

    @abstractmethod
    def entries(self, t: int, s: int) -> FloatArray:
        """Return the entry of every H_i that couples targets `t` and `s`, (n_samples,)."""


@dataclass(frozen=True)
class DiagonalRoot(CurvatureRoot):
    """Uncoupled targets: L multiplies by `root`, (1 or n_targets, n_samples)."""

    root: FloatArray

    def apply(self, b: FloatArray) -> FloatArray:
        return self.root * b

    def adjoint(self, u: FloatArray) -> FloatArray:
        return self.root * u

    @property
    def diagonals(self) -> FloatArray:
        return self.root

    def total(self, n_targets: int) -> FloatArray:
        return np.diag(np.broadcast_to(np.sum(self.root**2, axis=1), (n_targets,)))

    def mean_diagonal(self, n_targets: int) -> FloatArray:
        return np.mean(self.root**2, axis=0)

    def entries(self, t: int, s: int) -> FloatArray:
        one = self.root[t if len(self.root) > 1 else 0]
        return one**2 if t == s else np.zeros_like(one)


@dataclass(frozen=True)
class SoftmaxRoot(CurvatureRoot):
    """Curvature ``w (diag(p) - p p^T)`` of the multinomial loss.

    ``L = sqrt(w) (diag(sqrt p) - p sqrt(p)^T)`` satisfies ``L L^T = H`` because p sums to one.
    """

    probabilities: FloatArray
    root_weights: FloatArray

    def apply(self, b: FloatArray) -> FloatArray:
        root = np.sqrt(self.probabilities)
        inner = np.sum(root * b, axis=0)
        return self.root_weights * (root * b - self.probabilities * inner)

    def adjoint(self, u: FloatArray) -> FloatArray:
        inner = np.sum(self.probabilities * u, axis=0)
        return self.root_weights * np.sqrt(self.probabilities) * (u - inner)

    @property
    def diagonals(self) -> None:
        return None

    def total(self, n_targets: int) -> FloatArray:
        weighted = self.root_weights**2 * self.probabilities
        return np.diag(weighted.sum(axis=1)) - weighted @ self.probabilities.T

    def mean_diagonal(self, n_targets: int) -> FloatArray:
        p = self.probabilities
        return self.root_weights**2 * np.mean(p * (1.0 - p), axis=0)

    def entries(self, t: int, s: int) -> FloatArray:
        p = self.probabilities
        # What is left of 1 after p_t is the sum of the others, which keeps its digits near 1.
        others = np.delete(p, t, axis=0).sum(axis=0) if t == s else -p[s]
        return self.root_weights**2 * p[t] * others


class Loss(ABC):
    """A convex loss of decision values.

    Attributes
    ----------
    quadratic : bool
        True if one linear solve gives the minimiser.
    negligible_slope : float
        A derivative of this size is as good as none. Optimality is measured against it where the
        derivatives of all rows are smaller, as they are for classes that can be separated.
    """

    quadratic: bool = False
    negligible_slope: float = 0.0

    @abstractmethod
    def values(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """Loss of every row, (n_samples,)."""

    @abstractmethod
    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """Derivative of the loss of every row with respect to `f`, (n_targets, n_samples)."""

    @abstractmethod
    def working_system(
        self, y: FloatArray, f: FloatArray, weights: FloatArray
    ) -> tuple[CurvatureRoot, FloatArray]:
        """Return ``(L, L^T z)`` of the quadratic model around `f` with sample weights (n,)."""

    @abstractmethod
    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """The constant of lowest weighted loss, or close to it, (n_targets,)."""

    def in_units_of(self, unit: float) -> Loss:
        """The same loss for targets divided by `unit`, up to a factor."""
        return self


class SquaredLoss(Loss):
    """``1/2 |y - f|^2`` (BKerNN, Section 3.1)."""

    quadratic = True

    def values(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return 0.5 * np.sum(np.square(y - f), axis=0)

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return f - y

    def working_system(
        self, y: FloatArray, f: FloatArray, weights: FloatArray
    ) -> tuple[CurvatureRoot, FloatArray]:
        root = np.sqrt(weights)[None, :]
        return DiagonalRoot(root), root * y

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        return np.average(y, axis=1, weights=weights)


@dataclass(frozen=True)
class HuberLoss(Loss):
    """``r^2 / 2`` for ``|r| <= delta`` and ``delta |r| - delta^2 / 2`` beyond, r = y - f."""

    delta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.delta < np.inf:
            raise ValueError(f"delta must be a positive finite number, got {self.delta!r}.")

    def values(self, y: FloatArray, f: FloatArray) -> FloatArray:
        size = np.abs(y - f)
        near = np.minimum(size, self.delta)
        return np.sum(near * (size - 0.5 * near), axis=0)

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.clip(f - y, -self.delta, self.delta)

    def working_system(
        self, y: FloatArray, f: FloatArray, weights: FloatArray
    ) -> tuple[CurvatureRoot, FloatArray]:
        # Beyond delta the curvature is 0, which no Newton step can use, and delta / |r| majorises
        # the loss; a hundredth of that converges nearly as fast as 0 and keeps the scales close.
        size = np.maximum(np.abs(y - f), self.delta)
        curvature = np.where(size > self.delta, 0.01 * self.delta / size, 1.0)
        return _diagonal_system(curvature, self.gradient(y, f), f, weights)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        return weighted_quantile(y.T, weights, 0.5)

    def in_units_of(self, unit: float) -> HuberLoss:
        """A bend at the same residual."""
        return HuberLoss(self.delta / unit)


class LogisticLoss(Loss):
    """``log(1 + e^f) - y f`` with y in {0, 1}, one row of decision values."""

    negligible_slope = NEGLIGIBLE_PROBABILITY

    def values(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.sum(np.logaddexp(0.0, f) - y * f, axis=0)

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return expit(f) - y

    def working_system(
        self, y: FloatArray, f: FloatArray, weights: FloatArray
    ) -> tuple[CurvatureRoot, FloatArray]:
        slope = self.gradient(y, f)
        curvature = np.maximum(expit(f) * expit(-f), _curvature_floor(slope))
        return _diagonal_system(curvature, slope, f, weights)

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        share = _inner_share(np.average(y, axis=1, weights=weights))
        return np.log(share) - np.log1p(-share)


class MultinomialLoss(Loss):
    """``logsumexp(f) - f_y`` with `y` one-hot, one row of decision values per class."""

    negligible_slope = NEGLIGIBLE_PROBABILITY

    def values(self, y: FloatArray, f: FloatArray) -> FloatArray:
        top = f.max(axis=0)
        return np.log(np.exp(f - top).sum(axis=0)) + top - np.sum(y * f, axis=0)

    def gradient(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return _softmax(f) - y

    def working_system(
        self, y: FloatArray, f: FloatArray, weights: FloatArray
    ) -> tuple[CurvatureRoot, FloatArray]:
        slope = self.gradient(y, f)
        p = np.maximum(_softmax(f), _curvature_floor(slope).max(axis=0))
        p /= p.sum(axis=0)
        root = SoftmaxRoot(p, np.sqrt(weights))
        # slope / sqrt(p) is the pseudo-inverse of L applied to the slope, as both sum to 0.
        return root, root.adjoint(f) - np.sqrt(weights) * (slope / np.sqrt(p))

    def best_constant(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        logs = np.log(_inner_share(np.average(y, axis=1, weights=weights)))
        return logs - logs.mean()


def _diagonal_system(
    curvature: FloatArray, gradient: FloatArray, f: FloatArray, weights: FloatArray
) -> tuple[CurvatureRoot, FloatArray]:
    root = np.sqrt(curvature)
    scale = np.sqrt(weights)
    return DiagonalRoot(scale * root), scale * (root * f - gradient / root)


def _curvature_floor(slope: FloatArray) -> FloatArray:
    return np.maximum(CURVATURE_OF_SLOPE * np.abs(slope), LEAST_CURVATURE)


def _softmax(f: FloatArray) -> FloatArray:
    """Probabilities, (n_classes, n_samples); plain NumPy, this is called on small arrays often."""
    powers = np.exp(f - f.max(axis=0))
    return powers / powers.sum(axis=0)


def _inner_share(share: FloatArray) -> FloatArray:
    """A class may be absent from a part of the rows: its best log-odds are then only large."""
    return np.clip(share, SMALLEST_SHARE, 1.0 - SMALLEST_SHARE)
