"""Find the few hidden linear features a target depends on, and predict with them, using kernels."""

from kernlens._public import expose
from kernlens._reports import FitProgress
from kernlens._version import __version__
from kernlens.blocks import RowBlocks, checkpoint
from kernlens.methods.bkernn import BKerNNClassifier, BKerNNRegressor
from kernlens.methods.brownian_ridge import BrownianKernelRidge
from kernlens.methods.hkrr import (
    AlternatingGradient,
    Centers,
    Constraint,
    HKRRClassifier,
    HKRRRegressor,
    RandomMaps,
    VarPro,
)
from kernlens.methods.kernel_laplacian import (
    KernelLaplacianClassifier,
    KernelLaplacianClustering,
    KernelLaplacianEmbedding,
    KernelLaplacianRegressor,
)
from kernlens.methods.mars import MARSRegressor
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
from kernlens.methods.rfm import RFMClassifier, RFMRegressor
from kernlens.methods.rkhs_weightings import (
    FunctionalGradient,
    PaperAlpha,
    PaperWidth,
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.methods.rkhs_weightings.instantiations import implicit_kernel
from kernlens.methods.sdr import MAVE, OPG, PHD, SAVE, SIR, DirectionalRegression
from kernlens.model_selection import regularization_path
from kernlens.model_selection.auto import AutoLensClassifier, AutoLensRegressor
from kernlens.onnx_export import to_onnx
from kernlens.optim.backtracking import StepRule
from kernlens.persistence import ModelFileError, load, save
from kernlens.reporting import report
from kernlens.tables import TablePreprocessor

__all__ = [
    "MAVE",
    "OPG",
    "PHD",
    "SAVE",
    "SIR",
    "AllPolynomials",
    "AlternatingGradient",
    "AutoLensClassifier",
    "AutoLensRegressor",
    "BKerNNClassifier",
    "BKerNNRegressor",
    "BestFirst",
    "BrownianKernelRidge",
    "Centers",
    "Constraint",
    "DirectionalRegression",
    "Enumerated",
    "FitProgress",
    "FunctionalGradient",
    "GroupSampling",
    "HKRRClassifier",
    "HKRRRegressor",
    "KernelLaplacianClassifier",
    "KernelLaplacianClustering",
    "KernelLaplacianEmbedding",
    "KernelLaplacianRegressor",
    "MARSRegressor",
    "ModelFileError",
    "PaperAlpha",
    "PaperWidth",
    "RFMClassifier",
    "RFMRegressor",
    "RKHSWeightingClassifier",
    "RKHSWeightingRegressor",
    "RandomKitchenSinksClassifier",
    "RandomKitchenSinksRegressor",
    "RandomMaps",
    "RegFeaLClassifier",
    "RegFeaLRegressor",
    "Reweighting",
    "RowBlocks",
    "StepRule",
    "TablePreprocessor",
    "UpToDegree",
    "VarPro",
    "__version__",
    "checkpoint",
    "implicit_kernel",
    "load",
    "regularization_path",
    "report",
    "save",
    "to_onnx",
]

expose(__name__, __all__, globals())
