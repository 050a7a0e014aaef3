"""What the kernel Laplacian estimators learn from, and how they may learn it.

Minimised over functions f and constants c is

    (1/Wl) sum_L w_i (f(x_i) + c - y_i)^2 + (mu/W) sum_i w_i |T_i grad f(x_i)|^2 + alpha |f|_H^2,

with labelled rows L in the first sum and all points in the second (kernel Laplacian, (7), with a
normalisation of its own for each sum). Lengths are those of the kernel here, whose length scale
is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.methods.kernel_laplacian.function import LaplacianFunction

#: Ratios mu / alpha that are compared, in units of the squared median distance over d: from plain
#: kernel ridge to functions that vary between clusters only.
RATIOS = (0.0, 1e2, 1e4, 1e6, 1e8, 1e10)
#: Alphas that are compared, relative to the spread of the kernel that mu leaves.
RELATIVE_ALPHAS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: Smaller ones leave nothing but rounding.
SMALLEST_ALPHA = 1e-20


@dataclass(frozen=True)
class LabelledPoints:
    """Distinct points, some of them with targets.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Distinct.
    weights : ndarray of shape (n,)
        Positive.
    labelled : ndarray of shape (n_labelled,)
        Number of the point of every labelled row; points may have several.
    y : ndarray of shape (n_targets, n_labelled)
    label_weights : ndarray of shape (n_labelled,)
        Positive.
    """

    points: FloatArray
    weights: FloatArray
    labelled: NDArray[np.integer]
    y: FloatArray
    label_weights: FloatArray

    @classmethod
    def of(cls, rows: CanonicalRows) -> LabelledPoints:
        """From rows whose targets are NaN where there is no label."""
        first = np.flatnonzero(np.diff(rows.group, prepend=-1))
        has_label = ~np.isnan(rows.y).any(axis=0)
        return cls(
            rows.X[first],
            np.bincount(rows.group, weights=rows.weights).astype(np.float64),
            rows.group[has_label],
            rows.y[:, has_label],
            rows.weights[has_label],
        )

    @property
    def labelled_points(self) -> FloatArray:
        """Points of the labelled rows, (n_labelled, d)."""
        return self.points[self.labelled]

    def on_points(self, a: FloatArray) -> FloatArray:
        """Sums (t, n) over the labelled rows of every point, of a (t, n_labelled)."""
        sums = np.zeros((len(a), len(self.points)))
        for row, values in zip(sums, a, strict=True):
            np.add.at(row, self.labelled, values)
        return sums

    def with_labels(self, rows: slice) -> LabelledPoints:
        """The same points with some of the labels only."""
        return replace(
            self,
            labelled=self.labelled[rows],
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
    """How to learn.

    Attributes
    ----------
    kernel : KernelDerivatives
    solver : {"exact", "cg", "nystrom", "random_features"}
    mus, alphas : tuple of float, or None
        Given values, None for the automatic ones.
    ratio_unit : float
        Unit of `RATIOS`.
    n_neighbors : int or None
        Neighbours that span the directions of gradients, None for all directions alike.
    n_components : int
        Centres or random features.
    fourier : str or None
        Name of the kernel whose features are drawn.
    max_iter, tol : int, float
        Of conjugate gradients.
    seed : int
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


@dataclass(frozen=True)
class Learned:
    """A fitted function and how it came about.

    Attributes
    ----------
    function : LaplacianFunction
    penalties : Penalties
    objective : float
    tried : list of Penalties
        Compared penalties, with their losses.
    status : Status
    n_iter : int
        Iterations of conjugate gradients, 1 for a direct solve.
    history : tuple of float
        Residuals of conjugate gradients.
    """

    function: LaplacianFunction
    penalties: Penalties
    objective: float
    tried: tuple[Penalties, ...] = ()
    status: Status = Status.CONVERGED
    n_iter: int = 1
    history: tuple[float, ...] = field(default=())
