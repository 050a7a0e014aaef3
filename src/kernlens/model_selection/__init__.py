"""Choosing and trusting fits: paths in alpha with their scores, and how sure directions are."""

from kernlens._public import expose
from kernlens.model_selection.path import RegularizationPath, regularization_path
from kernlens.model_selection.stability import SubspaceStability

__all__ = ["RegularizationPath", "SubspaceStability", "regularization_path"]

expose(__name__, __all__, globals())
