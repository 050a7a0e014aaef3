"""xrfm as an estimator of scikit-learn: a fifth of the rows is its validation set."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split

from benchmarks.rfm_against_xrfm import _default, _fit_xrfm


class XRFM(BaseEstimator):
    """Fits again for every prediction, which is what the function of that benchmark does."""

    def __init__(self, classes: bool = False, settings: dict[str, Any] | None = None) -> None:
        self.classes, self.settings = classes, settings

    def fit(self, X: np.ndarray, y: np.ndarray) -> XRFM:
        """Keep the rows, in two parts."""
        strata = y if self.classes else None
        self.parts_ = train_test_split(X, y, test_size=0.2, random_state=0, stratify=strata)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Numbers, or the most probable classes."""
        found = _fit_xrfm(self.settings or _default(), self.parts_, X, self.classes)[1]
        return found.argmax(axis=1) if self.classes else found

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Probabilities of the classes."""
        return _fit_xrfm(self.settings or _default(), self.parts_, X, True)[1]
