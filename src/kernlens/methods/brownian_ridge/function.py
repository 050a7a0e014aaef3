"""The fitted function, ``f_t(x) = sum_j a_tj B(x, z_j) + c_t``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens.fits.nystrom_fit import evaluate
from kernlens.methods.brownian_ridge.kernel import BrownianBlocks, slopes_of_expansion


@dataclass(frozen=True)
class BrownianFunction:
    """An expansion in the Brownian kernel.

    Attributes
    ----------
    Z : ndarray of shape (n_centers, n_inputs)
    coefficients : ndarray of shape (n_targets, n_centers)
    intercept : ndarray of shape (n_targets,)
    n_jobs : int or None
    """

    kind: ClassVar[str] = "brownian"

    Z: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    n_jobs: int | None = None

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at rows (n_rows, n_inputs), (n_targets, n_rows)."""
        blocks = BrownianBlocks(X, self.Z, self.n_jobs)
        return evaluate(blocks, self.coefficients, self.intercept)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients, (n_targets, n_rows, n_inputs)."""
        blocks = BrownianBlocks(X, self.Z, self.n_jobs)
        parts = blocks.map(
            lambda block: slopes_of_expansion(block.images, self.Z, self.coefficients)
        )
        return np.concatenate(parts, axis=1)

    def arrays(self) -> dict[str, Any]:
        """Centres and coefficients, for inputs in the order of `inputs_`."""
        return {
            "centers_": self.Z,
            "dual_coef_": self.coefficients,
            "intercept_": self.intercept,
        }
