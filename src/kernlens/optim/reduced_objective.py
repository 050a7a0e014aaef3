"""The objective of BKerNN as a function of the particles alone.

    G(W) = min_{a, c} (1/Wt) sum_i w_i loss(y_i, (K_W a)_i + c) + (alpha/2) a^T K_W a

By the envelope theorem its gradient is ``-(alpha/2) d(a^T K_W a)/dW`` at the minimiser, for every
differentiable convex loss (Lemma 8 for the squared one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens.kernels.one_dimensional import OneDimensionalKernel
from kernlens.linalg.projected_kernel_operator import ProjectedKernelOperator
from kernlens.optim.kernel_fit import KernelFit, KernelFitter

FloatArray = NDArray[np.floating]


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
    """

    X: FloatArray
    kernel: OneDimensionalKernel
    fitter: KernelFitter
    n_jobs: int | None = None

    @property
    def penalty_strength(self) -> float:
        """The same alpha stands in front of the norm of the function and of the penalty on W."""
        return self.fitter.alpha

    def at(
        self, W: FloatArray, *, start: ReducedPoint | None = None, tol: float = 1e-8
    ) -> ReducedPoint:
        """Evaluate at particles `W`, warm-started from a nearby point."""
        operator = ProjectedKernelOperator(W, self.X, self.kernel, self.n_jobs)
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
