"""Kernel ridge regression, or its like for another loss, on projected rows with a fixed map."""

from __future__ import annotations

from dataclasses import dataclass

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.fits.nystrom_fit import NystromFitter
from kernlens.kernels.radial import RadialKernel
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.losses import Loss


@dataclass(frozen=True)
class ProjectedRidge:
    """Kernel and loss of functions ``sum_j a_j k(B x, B z_j) + c`` with B given.

    Attributes
    ----------
    kernel : RadialKernel
        Of length scale 1: maps B are divided by the length scale.
    loss : Loss
    n_jobs : int or None
        Threads.
    """

    kernel: RadialKernel
    loss: Loss
    n_jobs: int | None = None

    def fitter(self, rows: CanonicalRows, alpha: float) -> NystromFitter:
        """Return the minimisation over the coefficients on `rows`."""
        return NystromFitter(self.loss, rows.y, rows.weights, alpha)

    def blocks(self, B: FloatArray, X: FloatArray, Z: FloatArray) -> KernelBlocks:
        """Return the kernel between ``B x`` and ``B z``, without its slopes."""
        return KernelBlocks(B, X, Z, self.kernel, self.n_jobs, slopes=False)

    def matrix(self, B: FloatArray, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the kernel between ``B x`` and ``B z`` as one matrix, (n_rows, n_centers)."""
        return self.kernel.matrix(X @ B.T, Z @ B.T)

    def function(
        self, rows: CanonicalRows, B: FloatArray, Z: FloatArray, alpha: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the best coefficients (n_targets, n_centers) and intercept (n_targets,)."""
        return self.fitter(rows, alpha).function(self.blocks(B, rows.X, Z))
