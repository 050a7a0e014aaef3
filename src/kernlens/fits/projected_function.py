"""A function of projected rows, given by coefficients of centres: what a projected fit ends with.

f_t(x) = sum_j coefficients_tj phi(|B (x - z_j)|^2) + intercept_t
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens.fits.nystrom_fit import evaluate
from kernlens.kernels.radial import RadialKernel
from kernlens.linalg.kernel_blocks import KernelBlock, KernelBlocks


@dataclass(frozen=True)
class ProjectedKernelFunction:
    """A kernel expansion behind a linear map.

    Attributes
    ----------
    B : ndarray of shape (n_components, n_inputs)
        The map, divided by the length scale.
    Z : ndarray of shape (n_centers, n_inputs)
        Centres.
    coefficients : ndarray of shape (n_targets, n_centers)
        What the centres are multiplied by.
    intercept : ndarray of shape (n_targets,)
        Constants.
    kernel : RadialKernel
        Mother kernel, of length scale 1.
    n_jobs : int or None
        Threads.
    """

    kind: ClassVar[str] = "projected_kernel"

    B: FloatArray
    Z: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    kernel: RadialKernel
    n_jobs: int | None = None

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at the rows of X (n_rows, n_inputs), (n_targets, n_rows)."""
        return evaluate(self._blocks(X, slopes=False), self.coefficients, self.intercept)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients ``2 sum_j a_tj phi'(|B (x - z_j)|^2) B^T B (x - z_j)``.

        The shape is (n_targets, n_rows, n_inputs). A centre where the kernel has a kink adds
        nothing to the gradient at its own place.
        """
        blocks = self._blocks(X, slopes=True)
        V = blocks.center_images

        def pulled(block: KernelBlock) -> FloatArray:
            out = np.empty((len(self.coefficients), len(block.images), X.shape[1]))
            for target, a in enumerate(self.coefficients):
                C = block.slopes * a
                g = C.sum(axis=1)[:, None] * block.images - C @ V
                np.matmul(2.0 * g, self.B, out=out[target])
            return out

        return np.concatenate(blocks.map(pulled), axis=1)

    def arrays(self) -> dict[str, Any]:
        """Nothing: estimators keep the parts in the units of the user, under their own names."""
        return {}

    def _blocks(self, X: FloatArray, *, slopes: bool) -> KernelBlocks:
        return KernelBlocks(self.B, X, self.Z, self.kernel, self.n_jobs, slopes=slopes)
