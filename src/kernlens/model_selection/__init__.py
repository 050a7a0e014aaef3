"""Choosing hyper-parameters: paths in alpha and their cross-validation."""

from kernlens._public import expose
from kernlens.model_selection.path import RegularizationPath, regularization_path

__all__ = ["RegularizationPath", "regularization_path"]

expose(__name__, __all__, globals())
