"""HKRR's objective: one kernel k(B x, B x') on Nyström centres, as a function of B.

    L(B, a, c) = (1/Wt) sum_i w_i loss(y_i, (K_B a)_i + c) + (alpha/2) a^T (K_zz,B + jitter) a

is half of the paper's (5) for the squared loss; H(B) = min_{a, c} L(B, a, c) is half of (7). By the
envelope theorem the gradient of H is that of L in B at the minimising coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.fits.nystrom_fit import NystromFit, NystromFitter
from kernlens.kernels.radial import RadialKernel
from kernlens.linalg.kernel_blocks import (
    KernelBlock,
    KernelBlocks,
    weighted_squared_distance_gradient,
)
from kernlens.losses import Loss


@dataclass(frozen=True)
class HyperKernelPoint:
    """A map B, called W among the optimisers, with coefficients that may be optimal for it."""

    W: FloatArray
    blocks: KernelBlocks
    fit: NystromFit

    @property
    def value(self) -> float:
        """The objective at these coefficients."""
        return self.fit.value


@dataclass(frozen=True)
class HyperKernelObjective:
    """L and H on given rows and centres.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    Z : ndarray of shape (n_centers, n_features)
        Centres.
    kernel : RadialKernel
        Mother kernel, of length scale 1.
    fitter : NystromFitter
        The minimisation over the coefficients.
    penalty_strength : float
        What stands in front of a penalty on B, if there is one.
    n_jobs : int or None
        Threads.
    """

    X: FloatArray
    Z: FloatArray
    kernel: RadialKernel
    fitter: NystromFitter
    penalty_strength: float = 0.0
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        rows: CanonicalRows,
        Z: FloatArray,
        kernel: RadialKernel,
        loss: Loss,
        alpha: float,
        *,
        penalty_strength: float = 0.0,
        n_jobs: int | None = None,
    ) -> HyperKernelObjective:
        """Return the objective on `rows`."""
        fitter = NystromFitter(loss, rows.y, rows.weights, alpha)
        return cls(rows.X, Z, kernel, fitter, penalty_strength, n_jobs)

    def at(
        self, W: FloatArray, *, start: HyperKernelPoint | None = None, tol: float = 1e-8
    ) -> HyperKernelPoint:
        """Evaluate H at the map `W`: the coefficients are minimised over."""
        blocks = self._blocks(W)
        fit = self.fitter(blocks, start=None if start is None else start.fit, tol=tol)
        return HyperKernelPoint(W, blocks, fit)

    def compared(self, maps: Iterable[FloatArray], tol: float = 1e-8) -> list[HyperKernelPoint]:
        """Evaluate H at several maps; none of the points holds its kernel."""
        points = []
        for W in maps:
            points.append(self.at(W, tol=tol))
            points[-1].blocks.release()
        return points

    def with_coefficients(
        self, W: FloatArray, coefficients: FloatArray, intercept: FloatArray
    ) -> HyperKernelPoint:
        """Evaluate L at the map `W` and given coefficients."""
        blocks = self._blocks(W)
        return HyperKernelPoint(W, blocks, self.fitter.at(blocks, coefficients, intercept))

    def move_coefficients(
        self, point: HyperKernelPoint, coefficients: FloatArray, intercept: FloatArray
    ) -> HyperKernelPoint:
        """Evaluate L at the map of `point` and other coefficients."""
        fit = self.fitter.at(point.blocks, coefficients, intercept)
        return HyperKernelPoint(point.W, point.blocks, fit)

    def gradient(self, point: HyperKernelPoint) -> FloatArray:
        """Gradient of L in B at fixed coefficients, (n_components, n_features).

        It is the gradient of H where the coefficients are optimal.
        """
        a = point.fit.coefficients
        slopes = self.fitter.loss_slopes(point.fit)

        def row_weights(block: KernelBlock) -> FloatArray:
            weights = slopes[:, block.rows].T @ a
            weights *= block.slopes
            return weights

        among_centers = (0.5 * self.fitter.alpha) * (a.T @ a) * point.blocks.center_kernel[1]
        return weighted_squared_distance_gradient(point.blocks, row_weights, among_centers)

    def coefficient_gradients(self, point: HyperKernelPoint) -> tuple[FloatArray, FloatArray]:
        """Gradient of L in the coefficients (n_targets, n_centers) and the intercept."""
        return self.fitter.coefficient_gradients(point.blocks, point.fit)

    def _blocks(self, W: FloatArray) -> KernelBlocks:
        return KernelBlocks(W, self.X, self.Z, self.kernel, self.n_jobs)
