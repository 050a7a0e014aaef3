"""Find the few hidden linear features a target depends on, and predict with them, using kernels."""

from kernlens._version import __version__
from kernlens.methods.bkernn import BKerNNClassifier, BKerNNRegressor
from kernlens.methods.hkrr import HKRRClassifier, HKRRRegressor
from kernlens.methods.kernel_laplacian import (
    KernelLaplacianClassifier,
    KernelLaplacianClustering,
    KernelLaplacianEmbedding,
    KernelLaplacianRegressor,
)
from kernlens.methods.regfeal import (
    AllPolynomials,
    BestFirst,
    Enumerated,
    GroupSampling,
    RegFeaLClassifier,
    RegFeaLRegressor,
    Reweighting,
    UpToDegree,
)
from kernlens.methods.rkhs_weightings import (
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.methods.rkhs_weightings.instantiations import implicit_kernel
from kernlens.model_selection import regularization_path

__all__ = [
    "AllPolynomials",
    "BKerNNClassifier",
    "BKerNNRegressor",
    "BestFirst",
    "Enumerated",
    "GroupSampling",
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
    "Reweighting",
    "UpToDegree",
    "__version__",
    "implicit_kernel",
    "regularization_path",
]
