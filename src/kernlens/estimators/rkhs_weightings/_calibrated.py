"""Probabilities of classifiers that are fitted to labels +1 and -1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernlens.optim.calibration import Calibration, calibrate
from kernlens.optim.weighting_learning import WeightingLearner
from kernlens.optim.weighting_plan import Learned

FloatArray = NDArray[np.floating]


class CalibratedMixin:
    """Turns scores into log-odds, by what rows that were left out say of them."""

    trusted_score_: float
    stretch_: float

    def _calibrate(self, learner: WeightingLearner, learned: Learned) -> None:
        scores, rows = learner.left_out(learned)
        found = calibrate(scores, rows.y, rows.weights)
        self.trusted_score_, self.stretch_ = found.trusted, found.stretch

    def _decision(self, X: ArrayLike) -> FloatArray:
        scores: FloatArray = super()._decision(X)  # type: ignore[misc]
        return Calibration(self.trusted_score_, self.stretch_).log_odds(scores)
