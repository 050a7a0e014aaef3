"""Probabilities of classifiers that are fitted to labels +1 and -1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernlens.optim.calibration import calibrate, log_odds
from kernlens.optim.weighting_learning import WeightingLearner
from kernlens.optim.weighting_plan import Learned

FloatArray = NDArray[np.floating]


class CalibratedMixin:
    """Turns scores into log-odds, as far as rows that were left out bear them out."""

    trusted_score_: float

    def _calibrate(self, learner: WeightingLearner, learned: Learned) -> None:
        scores, rows = learner.left_out(learned)
        self.trusted_score_ = calibrate(scores, rows.y, rows.weights)

    def _decision(self, X: ArrayLike) -> FloatArray:
        scores: FloatArray = super()._decision(X)  # type: ignore[misc]
        return log_odds(scores, self.trusted_score_)
