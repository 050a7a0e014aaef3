"""The logarithm of positive targets, as an object that can be saved: functions cannot."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from kernlens._array import FloatArray


class LogTargets(TransformerMixin, BaseEstimator):
    """Logarithms, and back; there is nothing to learn."""

    def fit(self, X: FloatArray, y: Any = None) -> Self:
        """Keep the number of columns, as estimators do."""
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Logarithms of positive numbers."""
        logarithms: FloatArray = np.log(X)
        return logarithms

    def inverse_transform(self, X: FloatArray) -> FloatArray:
        """Numbers of these logarithms."""
        numbers: FloatArray = np.exp(X)
        return numbers
