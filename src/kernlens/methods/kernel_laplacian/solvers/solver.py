"""What the ways to solve share: the deformed kernel, and how penalties are judged by it.

For given mu and alpha the fit is kernel ridge regression on the labelled rows alone, with the
kernel of the space whose squared norm is |f|^2 + (mu / alpha) E(f); it depends on the ratio only.
All unlabelled points are in that kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.learner import LeftOut
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.plan import (
    LabeledPoints,
    LaplacianPlan,
    Penalties,
    Solution,
)
from kernlens.methods.kernel_laplacian.rows_left_out import RowsLeftOut

#: Number of labelled rows up to which penalties are judged by leaving one out.
LEAVE_ONE_OUT_ROWS = 1000
#: Number of points that the spread of the deformed kernel is measured on.
SAMPLE = 500


class LaplacianSolver(ABC):
    """One way to solve, for some points.

    Parameters
    ----------
    plan : LaplacianPlan
    rows : LabeledPoints
    frames : LocalFrames or None
        Directions in which gradients are measured.
    n_jobs : int or None

    Attributes
    ----------
    report : callable or None
        Iterations of a long solve are reported to it.
    """

    def __init__(
        self,
        plan: LaplacianPlan,
        rows: LabeledPoints,
        frames: LocalFrames | None,
        n_jobs: int | None,
    ) -> None:
        self.plan = plan
        self.rows = rows
        self.frames = frames
        self.n_jobs = n_jobs
        self.report: Callable[[int, float], None] | None = None

    @abstractmethod
    def sample_kernel(self, ratio: float) -> FloatArray:
        """Deformed kernel of the first `SAMPLE` points."""

    @abstractmethod
    def spectrum(self, ratio: float) -> RidgeSpectrum:
        """Spectrum of the deformed kernel of the first `LEAVE_ONE_OUT_ROWS` labelled rows."""

    @abstractmethod
    def rows_left_out(self, ratio: float, spectrum: RidgeSpectrum) -> RowsLeftOut:
        """The same rows, to be left out with their gradients; the ratio is positive."""

    @abstractmethod
    def fit(self, penalties: Penalties, *, searched: bool = False) -> Solution:
        """Solve for given penalties.

        Parameters
        ----------
        penalties : Penalties
        searched : bool
            Whether they were chosen by :meth:`losses`, so that what was computed there for all
            penalties is at hand.
        """

    @staticmethod
    def numbers_held(n_atoms: float) -> float:
        """Numbers held beside features and blocks; atoms are points times (directions + 1)."""
        return 0.0

    def losses(self, ratio: float, alphas: list[float]) -> list[float]:
        """Mean squared errors on rows left out, for some alphas."""
        return [self._loss(left) for left in self._left_out(ratio, alphas)]

    def left_out(self, penalties: Penalties) -> LeftOut:
        """Predictions of the first `LEAVE_ONE_OUT_ROWS` labelled rows, each by a fit without it."""
        return self._left_out(penalties.ratio, [penalties.alpha])[0]

    def _left_out(self, ratio: float, alphas: list[float]) -> list[LeftOut]:
        spectrum = self.spectrum(ratio)
        if ratio == 0.0:
            found = [spectrum.predictions(alpha) for alpha in alphas]
        else:
            found = self.rows_left_out(ratio, spectrum).predictions(alphas)
        n = found[0].shape[1]
        part = self.rows.with_labels(slice(0, n))
        return [LeftOut(predictions, part.y, part.label_weights) for predictions in found]

    @staticmethod
    def _loss(left: LeftOut) -> float:
        errors = np.square(left.decision - left.y).sum(axis=0)
        return float(np.average(errors, weights=left.weights))

    @property
    def _shares(self) -> FloatArray:
        """Share of the first labelled rows in the weights of their points."""
        part = self.rows.with_labels(slice(0, LEAVE_ONE_OUT_ROWS))
        shares: FloatArray = part.label_weights / part.weights[part.labeled]
        return np.minimum(shares, 1.0)

    def unit(self, ratio: float) -> float:
        """Mean of the diagonal of the centred deformed kernel: its spread over the points."""
        shares = self.rows.weights[:SAMPLE] / self.rows.weights[:SAMPLE].sum()
        K = self.sample_kernel(ratio)
        spread = float(shares @ np.diagonal(K) - shares @ K @ shares)
        return spread if spread > 0.0 else 1.0
