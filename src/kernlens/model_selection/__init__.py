"""Choosing hyper-parameters: paths in alpha and their cross-validation."""

from kernlens.model_selection.path import RegularizationPath, regularization_path

__all__ = ["RegularizationPath", "regularization_path"]
