"""Alpha of a last fit by the loss of classes, on a map that was learned by squares.

Squares choose the map and about its length scale: all classes share one linear solve. They cannot
choose alpha, because a loss of classes curves less where classes are apart: there smaller values
predict better. Newton's method is needed for a path of alphas, each fit started from the one
before, and for a few around the best at neighbouring length scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.fits.held_out import Split, held_out_loss
from kernlens.fits.nystrom_fit import NystromFit, NystromFitter
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.fits.tuned_ridge import MAX_SCALE_STEPS, SCALE_STEP, Tuned
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.losses import Loss

#: Alphas, tried downwards while predictions improve.
ALPHAS = tuple(10.0 ** np.arange(0.0, -16.0, -1.0))
#: The path ends after this many alphas in a row that are worse than the best.
PATIENCE = 2
#: Multiples of the best alpha that are tried with another length scale.
AROUND = (10.0, 1.0, 0.1)
#: Share by which another length scale must lower the held-out loss.
SCALE_GAIN = 0.02
#: Accuracy of the fits that are compared.
PATH_TOL = 1e-4
#: Labels in doubt, among all of them.
DOUBTS = 0.5


class FixedKernelRidge(Protocol):
    """Fits by one loss, for one kernel after another; a kernel is given by what it depends on."""

    @property
    def loss(self) -> Loss:
        """The loss."""

    def fitter(self, rows: CanonicalRows, alpha: float) -> NystromFitter:
        """The minimisation over the coefficients on `rows`."""

    def blocks(self, kernel: Any, X: FloatArray, Z: FloatArray) -> KernelBlocks:
        """The kernel between rows and centres, in blocks."""

    def matrix(self, kernel: Any, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The same as one matrix, (n_rows, n_centers)."""


def tune_alpha(
    ridge: FixedKernelRidge,
    splits: Sequence[Split],
    maps: Sequence[Any],
    alphas: Sequence[float] = ALPHAS,
) -> tuple[float, float]:
    """The alpha with the lowest held-out loss, and that loss.

    Parameters
    ----------
    ridge : FixedKernelRidge
        With the loss of classes.
    splits : sequence of Split
        With the centres of the last fit.
    maps : sequence
        What the kernel of every split depends on, as the last fit uses it; for a
        :class:`ProjectedRidge`, maps of shape (n_components, n_features).
    alphas : sequence of float
        What is tried, largest first.
    """
    paths = [_Path.of(ridge, split, B) for split, B in zip(splits, maps, strict=True)]
    best, lowest, worse = alphas[0], np.inf, 0
    for alpha in alphas:
        loss = float(np.mean([path.loss_at(alpha) for path in paths]))
        worse = worse + 1 if loss >= lowest else 0
        if loss < lowest:
            best, lowest = alpha, loss
        if worse == PATIENCE:
            break
    return best, lowest


def tune_scale(
    ridge: ProjectedRidge, splits: Sequence[Split], maps: Sequence[FloatArray], tuned: Tuned
) -> Tuned:
    """Factors of the maps around a good one, and alphas around its own, while they help."""
    best = tuned
    for direction in (SCALE_STEP, 1.0 / SCALE_STEP):
        for step in range(1, MAX_SCALE_STEPS + 1):
            scale = tuned.scale * direction**step
            alphas = [best.alpha * factor for factor in AROUND]
            alpha, loss = tune_alpha(ridge, splits, [scale * B for B in maps], alphas)
            if loss >= (1.0 - SCALE_GAIN) * best.loss:
                break
            best = Tuned(scale, alpha, loss)
    return best


def doubted(test: CanonicalRows, n_labels: float) -> CanonicalRows:
    """The rows with labels that hold almost surely only, after Laplace's rule of succession.

    Rows held out of well separated classes are often predicted without a mistake. Their loss is
    then lower the surer a function is of itself, without end, until the first mistake on other
    rows costs more than was ever gained.

    Parameters
    ----------
    test : CanonicalRows
        With one-hot targets, of which two classes have one row only.
    n_labels : float
        How many labels speak against a mistake.
    """
    doubt = DOUBTS / (n_labels + 1.0)
    others = (1.0 - test.y) / max(1, len(test.y) - 1)
    return replace(test, y=(1.0 - doubt) * test.y + doubt * others)


class _Path:
    """Fits of one split for one alpha after another."""

    def __init__(
        self, ridge: FixedKernelRidge, split: Split, blocks: KernelBlocks, at_test: FloatArray
    ) -> None:
        self.ridge, self.train, self.blocks, self.at_test = ridge, split.train, blocks, at_test
        self.test = doubted(split.test, split.train.weights.sum() + split.test.weights.sum())
        self.fit: NystromFit | None = None

    @classmethod
    def of(cls, ridge: FixedKernelRidge, split: Split, B: Any) -> _Path:
        blocks = ridge.blocks(B, split.train.X, split.Z)
        return cls(ridge, split, blocks, ridge.matrix(B, split.test.X, split.Z))

    def loss_at(self, alpha: float) -> float:
        fitter = self.ridge.fitter(self.train, alpha)
        self.fit = fitter(self.blocks, start=self.fit, tol=PATH_TOL)
        decision = self.fit.coefficients @ self.at_test.T + self.fit.intercept[:, None]
        return held_out_loss(self.ridge.loss, self.test, decision, None)
