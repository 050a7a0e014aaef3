"""What a fit of the kernel Laplacian learns from, what it is asked for, and what comes of it.

The objective, over functions f and constants c, is

    (1/Wl) sum_L w_i (f(x_i) + c - y_i)^2 + (mu/W) sum_i w_i |T_i grad f(x_i)|^2 + alpha |f|_H^2,

with labelled rows L in the first sum and all points in the second (kernel Laplacian, (7), with a
normalisation of its own for each sum). Points are measured in units of the length scale of the
kernel here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._result import Status
from kernlens._rows import CanonicalRows, has_target
from kernlens.base.learner import Learned
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.methods.kernel_laplacian.function import LaplacianFunction

#: Ratios mu / alpha that are compared, in units of the squared median distance over d: from plain
#: kernel ridge to functions that vary between clusters only.
RATIOS = (0.0, 1e2, 1e4, 1e6, 1e8, 1e10)
#: Alphas that are compared, relative to the spread of the kernel that mu leaves.
RELATIVE_ALPHAS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: Smaller alphas leave nothing but rounding.
SMALLEST_ALPHA = 1e-20
#: Smallest positive ratio mu / alpha in use; the coefficients of derivatives are then rounding.
SMALLEST_RATIO = 1e-14
#: Larger ones leave nothing but the mean.
LARGEST_ALPHA = 1e20
#: A larger mu in units of the length scale counts as this: functions are as flat as can be.
LARGEST_MU = 1e20


@dataclass(frozen=True)
class LabeledPoints:
    """Distinct points, some of them with targets.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Distinct.
    weights : ndarray of shape (n,)
        Positive.
    labeled : ndarray of shape (n_labeled,)
        Number of the point of every labelled row; points may have several.
    y : ndarray of shape (n_targets, n_labeled)
    label_weights : ndarray of shape (n_labeled,)
        Positive.
    """

    points: FloatArray
    weights: FloatArray
    labeled: IntArray
    y: FloatArray
    label_weights: FloatArray

    @classmethod
    def of(cls, rows: CanonicalRows) -> LabeledPoints:
        """Take apart rows whose targets are NaN where there is no label."""
        first = np.flatnonzero(np.diff(rows.group, prepend=-1))
        known = has_target(rows.y)
        return cls(
            rows.X[first],
            np.bincount(rows.group, weights=rows.weights).astype(np.float64),
            rows.group[known],
            rows.y[:, known],
            rows.weights[known],
        )

    @property
    def labeled_points(self) -> FloatArray:
        """Points of the labelled rows, (n_labeled, d)."""
        return self.points[self.labeled]

    def in_units_of(self, length: float | FloatArray) -> LabeledPoints:
        """The same with points divided by a length, or by one for every column."""
        return replace(self, points=self.points / length)

    def on_points(self, a: FloatArray) -> FloatArray:
        """Sums (t, n) over the labelled rows of every point, of a (t, n_labeled)."""
        sums = np.zeros((len(a), len(self.points)))
        for row, values in zip(sums, a, strict=True):
            np.add.at(row, self.labeled, values)
        return sums

    def with_labels(self, rows: slice) -> LabeledPoints:
        """The same points with some of the labels only."""
        return replace(
            self,
            labeled=self.labeled[rows],
            y=self.y[:, rows],
            label_weights=self.label_weights[rows],
        )


@dataclass(frozen=True)
class Penalties:
    """Strengths of the two penalties.

    Attributes
    ----------
    ratio : float
        mu / alpha.
    alpha : float
    loss : float
        Mean squared error on rows left out, if measured.
    relative : float
        alpha in units of the spread of the deformed kernel, if chosen there.
    """

    ratio: float
    alpha: float
    loss: float = np.inf
    relative: float = np.nan

    @property
    def mu(self) -> float:
        """Strength of the penalty on gradients."""
        return self.ratio * self.alpha


@dataclass(frozen=True)
class LaplacianPlan:
    """What is given and what is to be chosen.

    Attributes
    ----------
    kernel : KernelDerivatives
    solver : {"exact", "cg", "nystrom", "random_features"}
    mus, alphas : tuple of float, or None
        Given values, None for the automatic ones; mu in units of the length scale.
    ratio_unit : float
        Unit of `RATIOS`.
    n_neighbors : int or None
        Neighbours that span the directions of gradients, None for all directions alike.
    n_components : int
        Number of centres or of random features.
    fourier : str or None
        Name of the kernel whose features are drawn, if they are.
    max_iter, tol : int, float
        When conjugate gradients stop.
    seed : int
        All that is drawn follows from it.
    length : float
        The length scale, in units of the inputs; the shortest, if columns have their own.
    relevance : ndarray of shape (d,) or None
        Factors of the inputs, the largest of which is 1; None for inputs as they are.
    """

    kernel: KernelDerivatives
    solver: str
    mus: tuple[float, ...] | None
    alphas: tuple[float, ...] | None
    ratio_unit: float
    n_neighbors: int | None
    n_components: int
    fourier: str | None
    max_iter: int
    tol: float
    seed: int
    length: float = 1.0
    relevance: FloatArray | None = None

    @property
    def lengths(self) -> float | FloatArray:
        """The length scale, or that of every column."""
        return self.length if self.relevance is None else self.length / self.relevance

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ratios that the automatic choice compares."""
        return tuple(ratio * self.ratio_unit for ratio in RATIOS)

    @property
    def given(self) -> Penalties | None:
        """The penalties, if there is nothing to choose."""
        if self.mus is None or self.alphas is None or len(self.mus) * len(self.alphas) > 1:
            return None
        return Penalties(self.mus[0] / self.alphas[0], self.alphas[0])

    def mu_of(self, penalties: Penalties) -> float:
        """Strength of the penalty on gradients in the inputs, times their relevance."""
        mu = penalties.mu
        if self.mus is not None:
            # The product of ratio and alpha is the given value but for rounding.
            mu = min(self.mus, key=lambda given: abs(given - penalties.mu))
        return mu * self.length**2


@dataclass(frozen=True)
class Solution:
    """The function of given penalties.

    Attributes
    ----------
    function : LaplacianFunction
        Of points in units of the length scale.
    objective : float
    status : Status
    n_iter : int
        Iterations of conjugate gradients, 1 for a direct solve.
    residuals : tuple of float
        Residuals of conjugate gradients, relative to the targets.
    """

    function: LaplacianFunction
    objective: float
    status: Status = Status.CONVERGED
    n_iter: int = 1
    residuals: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LearnedLaplacian(Learned):
    """A fitted function and its penalties.

    Attributes
    ----------
    function : LaplacianFunction
        Of inputs.
    penalties : Penalties
        In units of the length scale.
    mu : float
        The strength of the penalty on gradients in the inputs.
    residual : float
        Last residual of conjugate gradients, relative to the targets; 0 for a direct solve.
    """

    function: LaplacianFunction
    penalties: Penalties
    mu: float
    residual: float = 0.0
