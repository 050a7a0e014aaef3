"""Find the few hidden linear features a target depends on, and predict with them, using kernels."""

from kernlens.estimators.bkernn import BKerNNClassifier, BKerNNRegressor
from kernlens.estimators.hkrr import HKRRClassifier, HKRRRegressor
from kernlens.estimators.regfeal import RegFeaLClassifier, RegFeaLRegressor
from kernlens.model_selection import regularization_path

__version__ = "0.1.0"

__all__ = [
    "BKerNNClassifier",
    "BKerNNRegressor",
    "HKRRClassifier",
    "HKRRRegressor",
    "RegFeaLClassifier",
    "RegFeaLRegressor",
    "__version__",
    "regularization_path",
]
