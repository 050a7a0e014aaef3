"""Kernel Laplacian: penalise the gradient on labelled and unlabelled points."""

from kernlens.estimators.kernel_laplacian.classifier import KernelLaplacianClassifier
from kernlens.estimators.kernel_laplacian.clustering import KernelLaplacianClustering
from kernlens.estimators.kernel_laplacian.embedding import KernelLaplacianEmbedding
from kernlens.estimators.kernel_laplacian.regressor import KernelLaplacianRegressor

__all__ = [
    "KernelLaplacianClassifier",
    "KernelLaplacianClustering",
    "KernelLaplacianEmbedding",
    "KernelLaplacianRegressor",
]
