"""BKerNN: an average of one-dimensional Brownian kernels on learned projections."""

from kernlens.estimators.bkernn.classifier import BKerNNClassifier
from kernlens.estimators.bkernn.partial_functions import PartialFunctions
from kernlens.estimators.bkernn.regressor import BKerNNRegressor

__all__ = ["BKerNNClassifier", "BKerNNRegressor", "PartialFunctions"]
