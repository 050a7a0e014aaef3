"""Estimators with one planted fault each, which a worker of the fuzz harness can import."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.utils import check_array


class Sound(RegressorMixin, BaseEstimator):
    """Predicts the mean, and has no fault."""

    def __init__(self, alpha=1.0, beta=1.0, values=None):
        self.alpha = alpha
        self.beta = beta
        self.values = values

    def fit(self, X, y, sample_weight=None):
        if np.abs(X).max() > 1e100:
            raise ValueError("X has values that are too large.")
        self.n_features_in_ = np.shape(X)[1]
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Crashes(Sound):
    def fit(self, X, y, sample_weight=None):
        os.kill(os.getpid(), signal.SIGSEGV)


class CrashesLater(Sound):
    def predict(self, X):
        os.kill(os.getpid(), signal.SIGSEGV)


class Sleeps(Sound):
    def fit(self, X, y, sample_weight=None):
        time.sleep(60.0)


class RaisesLinAlgError(Sound):
    def fit(self, X, y, sample_weight=None):
        raise np.linalg.LinAlgError("Eigenvalues did not converge.")


class CallsMin(Sound):
    def fit(self, X, y, sample_weight=None):
        return min([])


class CallsNumpy(Sound):
    def fit(self, X, y, sample_weight=None):
        return np.broadcast_to(np.ones(3), (2,))


class CallsOtherEstimator(Sound):
    """Another estimator is given NaN by us, and says what we should not have done."""

    def fit(self, X, y, sample_weight=None):
        return LinearRegression().fit(np.full_like(X, np.nan), y)


class ChecksX(Sound):
    def fit(self, X, y, sample_weight=None):
        return check_array(np.full_like(X, np.nan))


class SaysNoSentence(Sound):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("bad input")


class Refuses(Sound):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("alpha must be another one.")


class RefusesRows(Sound):
    def predict(self, X):
        if np.abs(X).max() > 1e100:
            raise ValueError("X has values that are too large.")
        return super().predict(X)


class ReturnsNaN(Sound):
    def predict(self, X):
        return np.full(len(X), np.nan)


class ReturnsColumn(Sound):
    def predict(self, X):
        return super().predict(X)[:, None]


class IsNotOrthonormal(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.loadings_, self.n_directions_ = np.ones((2, X.shape[1])), 2
        return self


class ChangesX(Sound):
    def fit(self, X, y, sample_weight=None):
        X[0, 0] += 1.0
        return super().fit(X, y)


class ChangesParameter(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.alpha = 2.0 * self.alpha
        return self


class ChangesList(Sound):
    def fit(self, X, y, sample_weight=None):
        self.values.append(1.0)
        return super().fit(X, y)


class KeepsHalfAFit(Sound):
    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = np.shape(X)[1]
        return super().fit(X, y)


class Rises(Sound):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.objective_history_ = np.array([1.0, 0.5, 0.6])
        return self


class Warns(Sound):
    def predict(self, X):
        return super().predict(X) + np.exp(np.log(np.zeros(1)))


class FailsRarely(Sound):
    """Fails only for a large alpha and a large entry in X."""

    def fit(self, X, y, sample_weight=None):
        if self.alpha > 5.0 and np.max(X) > 100.0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge.")
        return super().fit(X, y)


class LosesItsMeanInBatches(Sound):
    """A fit is sound, and so is the first batch; the second leaves NaN."""

    def partial_fit(self, X, y, sample_weight=None):
        again = hasattr(self, "mean_")
        self.fit(X, y)
        self.mean_ = np.nan if again else self.mean_
        return self


class RaisesInBatches(Sound):
    def partial_fit(self, X, y, sample_weight=None):
        return max([])
