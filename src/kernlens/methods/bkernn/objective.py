"""The objective of BKerNN as a function of the particles alone.

    G(W) = min_{a, c} (1/Wt) sum_i w_i loss(y_i, (K_W a)_i + c) + (alpha/2) a^T K_W a

By the envelope theorem its gradient is ``-(alpha/2) d(a^T K_W a)/dW`` at the minimiser, for every
differentiable convex loss (Lemma 8 for the squared one).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.fits.kernel_fit import KernelFit, KernelFitter
from kernlens.kernels.one_dimensional import OneDimensionalKernel
from kernlens.linalg.projected_kernel_operator import (
    AxisKernelOperator,
    ProjectedKernelOperator,
)
from kernlens.losses import LogisticLoss, Loss, MultinomialLoss, SquaredLoss
from kernlens.optim.composite_objective import CompositeObjective
from kernlens.penalties.contract import Penalty

#: Share of a matrix that is lost when it is added to it.
ROUNDING = 1e-16


@dataclass(frozen=True)
class ReducedPoint:
    """Particles and the kernel fit that belongs to them."""

    W: FloatArray
    operator: ProjectedKernelOperator
    fit: KernelFit

    @property
    def value(self) -> float:
        """G(W)."""
        return self.fit.value


@dataclass(frozen=True)
class ReducedObjective:
    """G and its gradient on given rows.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    kernel : OneDimensionalKernel
        Kernel on the projections.
    fitter : KernelFitter
        The minimisation over the coefficients.
    n_jobs : int or None
        Threads.
    on_axes : bool
        Whether there is one particle along every axis; W (n_features, 1) has their lengths.
    """

    X: FloatArray
    kernel: OneDimensionalKernel
    fitter: KernelFitter
    n_jobs: int | None = None
    on_axes: bool = False

    @property
    def penalty_strength(self) -> float:
        """The same alpha stands in front of the norm of the function and of the penalty on W."""
        return self.fitter.alpha

    def at(
        self, W: FloatArray, *, start: ReducedPoint | None = None, tol: float = 1e-8
    ) -> ReducedPoint:
        """Evaluate at particles `W`, warm-started from a nearby point."""
        kind = AxisKernelOperator if self.on_axes else ProjectedKernelOperator
        operator = kind(W, self.X, self.kernel, self.n_jobs)
        fit = self.fitter(operator, start=None if start is None else start.fit, tol=tol)
        return ReducedPoint(W, operator, fit)

    def refit(self, point: ReducedPoint, *, tol: float) -> ReducedPoint:
        """Solve again at the same particles, keeping what is sorted already."""
        return ReducedPoint(
            point.W, point.operator, self.fitter(point.operator, start=point.fit, tol=tol)
        )

    def gradient(self, point: ReducedPoint) -> FloatArray:
        """Gradient of G at an evaluated point, (n_particles, n_features)."""
        return -self.fitter.alpha * point.operator.weighted_slopes(point.fit.dual)


@dataclass
class ParticleObjective(CompositeObjective[ReducedPoint]):
    """Objective (10) of BKerNN on given rows."""

    smooth: ReducedObjective

    def kept(self, point: ReducedPoint) -> ReducedPoint:
        """The point without its sorted projections, which are most of the memory of a fit."""
        return replace(point, operator=point.operator.unsorted())

    def refine(self, point: ReducedPoint) -> ReducedPoint:
        """Solve again for the coefficients of `point`, to this objective's tolerance."""
        return self.smooth.refit(point, tol=self.tol)


@dataclass(frozen=True)
class ParticleProblem:
    """Kernel, loss and penalty of BKerNN; objective (10) once rows and alpha are given.

    With `on_axes` every particle stays on the axis of a column: an additive model. Its objective is
    convex for the Brownian kernel, which grows in proportion to a particle: K is linear in lengths.
    """

    kernel: OneDimensionalKernel
    loss: Loss
    penalty: Penalty
    n_jobs: int | None = None
    on_axes: bool = False

    @property
    def of_classes(self) -> bool:
        """Whether the loss is one of classes."""
        return isinstance(self.loss, LogisticLoss | MultinomialLoss)

    @property
    def learning(self) -> ParticleProblem:
        """What the particles are learned by: squares of one-hot targets for a loss of classes."""
        return replace(self, loss=SquaredLoss()) if self.of_classes else self

    def objective(
        self, rows: CanonicalRows, alpha: float, *, tol: float = 1e-7
    ) -> ParticleObjective:
        """Return the objective on `rows`, its linear solves carried to a residual of `tol`."""
        fitter = KernelFitter(self.loss, rows.y, rows.weights, alpha)
        smooth = ReducedObjective(rows.X, self.kernel, fitter, self.n_jobs, self.on_axes)
        return ParticleObjective(smooth, self.penalty, tol)

    def reference_alpha(self, rows: CanonicalRows) -> float:
        """Scale of alpha: target scale times the root mean square norm of a row, over n."""
        square_norm = np.average(np.sum(rows.X**2, axis=1), weights=rows.weights)
        norm = float(np.sqrt(square_norm)) or 1.0
        return target_scale(self.loss, rows) * norm / float(rows.weights.sum())

    def smallest_alpha(self, rows: CanonicalRows) -> float:
        """What is lost, times n, when it is added to the kernel matrix of first particles."""
        if self.kernel.bounded:
            return ROUNDING / float(rows.weights.sum())
        return ROUNDING * self.reference_alpha(rows)


def target_scale(loss: Loss, rows: CanonicalRows) -> float:
    """Root mean square of the loss's gradient at the best constant; 1 for constant targets.

    The standard deviation of y for the squared loss. Particles, alpha and the concavity of a
    penalty are measured in it, so that a fit of ``10 y`` is ten times the fit of y.
    """
    if np.all(rows.y == rows.y[:, :1]):
        # The average of equal numbers may round to another, whose distance is no scale.
        return 1.0
    constant = loss.best_constant(rows.y, rows.weights)
    slopes = loss.gradient(rows.y, np.broadcast_to(constant[:, None], rows.y.shape))
    # In units of a power of two, which costs no digit: squares of slopes below 1e-162 vanish.
    unit = 2.0 ** float(np.frexp(np.abs(slopes).max())[1])
    square = np.average(np.sum((slopes / unit) ** 2, axis=0), weights=rows.weights)
    return unit * float(np.sqrt(square)) or 1.0
