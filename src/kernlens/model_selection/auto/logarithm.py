"""The logarithm of a target, as a transformer that can be saved."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from kernlens._array import FloatArray


class LogarithmTransformer(TransformerMixin, BaseEstimator):
    """Logarithms there, exponentials back; a FunctionTransformer would put functions into files."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn nothing but the number of columns."""
        self.n_features_in_ = np.asarray(X).shape[1]
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Logarithms of positive numbers (n_samples, n_columns)."""
        found: FloatArray = np.log(np.asarray(X))
        return found

    def inverse_transform(self, X: ArrayLike) -> FloatArray:
        """Exponentials of numbers (n_samples, n_columns)."""
        found: FloatArray = np.exp(np.asarray(X))
        return found
