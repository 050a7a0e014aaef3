"""The fitted function, ``f_t(x) = sum_j a_tj k(x, z_j) + c_t``, with the mixed kernel k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range
from kernlens.fits.nystrom_fit import evaluate
from kernlens.linalg.kernel_blocks import BLOCK_ENTRIES, WORK_PER_ENTRY
from kernlens.methods.rfm.kernel import MixedBlocks, MixedKernel


@dataclass(frozen=True)
class FeatureMachineFunction:
    """An expansion in a mixed kernel.

    Attributes
    ----------
    kernel : MixedKernel
    Z : ndarray of shape (n_centers, n_inputs)
    coefficients : ndarray of shape (n_targets, n_centers)
    intercept : ndarray of shape (n_targets,)
    n_jobs : int or None
    """

    kind: ClassVar[str] = "feature_machine"

    kernel: MixedKernel
    Z: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    n_jobs: int | None = None

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at rows (n_rows, n_inputs), (n_targets, n_rows)."""
        blocks = MixedBlocks(self.kernel, X, self.Z, self.n_jobs)
        return evaluate(blocks, self.coefficients, self.intercept)

    def gradient(self, X: FloatArray, reach: FloatArray | None = None) -> FloatArray:
        """Gradients, (n_targets, n_rows, n_inputs), with chords of ranks if there is a reach."""
        others = self.kernel.images(self.Z)
        parts = map_blocks(
            lambda rows: self.kernel.gradient(X[rows], others, self.coefficients, reach),
            split_range(len(X), max(64, BLOCK_ENTRIES // len(self.Z))),
            n_jobs=self.n_jobs,
            work=float(WORK_PER_ENTRY * len(X) * len(self.Z)),
        )
        return np.concatenate(parts, axis=1)

    def arrays(self) -> dict[str, Any]:
        """Centres, coefficients and maps, for inputs in the order of `inputs_`."""
        ranks = self.kernel.ranks
        return {
            "centers_": self.Z,
            "dual_coef_": self.coefficients,
            "intercept_": self.intercept,
            "maps_": [term.map for term in self.kernel.terms],
            "machine_weights_": np.array([term.weight for term in self.kernel.terms]),
            "_rank_knots": None if ranks is None else ranks.knots,
            "_rank_values": None if ranks is None else ranks.values,
        }
