"""Find the few hidden linear features a target depends on, and predict with them, using kernels."""

from kernlens.estimators.bkernn import BKerNNClassifier, BKerNNRegressor
from kernlens.estimators.hkrr import HKRRClassifier, HKRRRegressor
from kernlens.estimators.kernel_laplacian import (
    KernelLaplacianClassifier,
    KernelLaplacianClustering,
    KernelLaplacianEmbedding,
    KernelLaplacianRegressor,
)
from kernlens.estimators.regfeal import RegFeaLClassifier, RegFeaLRegressor
from kernlens.estimators.rkhs_weightings import (
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.model_selection import regularization_path
from kernlens.optim.instantiations import implicit_kernel

__version__ = "0.1.0"

__all__ = [
    "BKerNNClassifier",
    "BKerNNRegressor",
    "HKRRClassifier",
    "HKRRRegressor",
    "KernelLaplacianClassifier",
    "KernelLaplacianClustering",
    "KernelLaplacianEmbedding",
    "KernelLaplacianRegressor",
    "RKHSWeightingClassifier",
    "RKHSWeightingRegressor",
    "RandomKitchenSinksClassifier",
    "RandomKitchenSinksRegressor",
    "RegFeaLClassifier",
    "RegFeaLRegressor",
    "__version__",
    "implicit_kernel",
    "regularization_path",
]
