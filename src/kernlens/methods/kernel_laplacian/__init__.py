"""Kernel Laplacian: penalise the gradient on labelled and unlabelled points."""

from kernlens.methods.kernel_laplacian.classifier import KernelLaplacianClassifier
from kernlens.methods.kernel_laplacian.clustering import KernelLaplacianClustering
from kernlens.methods.kernel_laplacian.embedding import KernelLaplacianEmbedding
from kernlens.methods.kernel_laplacian.regressor import KernelLaplacianRegressor

__all__ = [
    "KernelLaplacianClassifier",
    "KernelLaplacianClustering",
    "KernelLaplacianEmbedding",
    "KernelLaplacianRegressor",
]
