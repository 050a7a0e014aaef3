"""BKerNN: an average of one-dimensional Brownian kernels on learned projections."""

from kernlens.methods.bkernn.classifier import BKerNNClassifier
from kernlens.methods.bkernn.partial_functions import PartialFunctions
from kernlens.methods.bkernn.regressor import BKerNNRegressor

__all__ = ["BKerNNClassifier", "BKerNNRegressor", "PartialFunctions"]
