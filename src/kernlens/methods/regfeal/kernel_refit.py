"""A Gaussian kernel on projected rows, with length scale and alpha tuned on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._geometry import MEDIAN_ROWS, median_distance
from kernlens._rows import CanonicalRows
from kernlens.features.nystrom_centers import distinct_rows, uniform_centers
from kernlens.fits.held_out import Bounds, Split
from kernlens.fits.nystrom_fit import evaluate
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.fits.tuned_ridge import DECADES, losses_along, tune_refit
from kernlens.kernels.radial import RadialKernel
from kernlens.linalg.kernel_blocks import KernelBlocks

#: In the middle of the values of alpha that are tried.
MIDDLE_ALPHA = 1e-2


@dataclass(frozen=True)
class ProjectedKernel:
    """A fitted function ``sum_j coefficients_tj k(B x, B z_j) + intercept_t``."""

    B: FloatArray
    Z: FloatArray
    coefficients: FloatArray
    intercept: FloatArray

    def decision(
        self, X: FloatArray, kernel: RadialKernel, n_jobs: int | None = None
    ) -> FloatArray:
        """Values at the rows of X, (n_targets, n_rows)."""
        blocks = KernelBlocks(self.B, X, self.Z, kernel, n_jobs, slopes=False)
        return evaluate(blocks, self.coefficients, self.intercept)


@dataclass(frozen=True)
class ProjectedKernelRefit:
    """Kernel ridge, or kernel logistic regression, on a few directions.

    Attributes
    ----------
    ridge : ProjectedRidge
        Kernel and loss.
    n_centers : int
        Nystrom centres of the last fit.
    seed : int
        They are drawn with.
    bounds : tuple of ndarray, or None
        Of the predictions that are scored.
    """

    ridge: ProjectedRidge
    n_centers: int
    seed: int
    bounds: Bounds | None = None

    def held_out(self, split: Split, B: FloatArray, *, quick: bool) -> float:
        """Loss on the held-out rows at the best alpha and, unless `quick`, length scale."""
        scaled = _with_unit_median(B, split.train.X)
        if quick:
            alphas = MIDDLE_ALPHA * 10.0**DECADES
            return float(np.min(losses_along(self.ridge, split, scaled, alphas, self.bounds)))
        return tune_refit(self.ridge, [split], [scaled], MIDDLE_ALPHA, self.bounds).loss

    def fit(
        self,
        rows: CanonicalRows,
        B: FloatArray,
        splits: Sequence[Split],
        maps: Sequence[FloatArray],
    ) -> ProjectedKernel:
        """Tune with maps that have not seen the scored rows, then fit through B on all rows."""
        scaled = [
            _with_unit_median(W, split.train.X) for split, W in zip(splits, maps, strict=True)
        ]
        tuned = tune_refit(self.ridge, splits, scaled, MIDDLE_ALPHA, self.bounds)
        B = tuned.scale * _with_unit_median(B, rows.X)
        Z = draw_centers(rows, self.n_centers, self.seed)
        return ProjectedKernel(B, Z, *self.ridge.function(rows, B, Z, tuned.alpha))


def draw_centers(rows: CanonicalRows, n_centers: int, seed: int) -> FloatArray:
    """Nystrom centres among `rows`, uniformly, (n_centers, n_features)."""
    random = np.random.RandomState([seed, 0])
    return rows.X[uniform_centers(distinct_rows(rows.group), n_centers, random)]


def _with_unit_median(B: FloatArray, X: FloatArray) -> FloatArray:
    return B / median_distance(X[:MEDIAN_ROWS] @ B.T)
