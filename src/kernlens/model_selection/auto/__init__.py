"""The automatic mode: a portfolio of the families within a time budget, stacked."""

from kernlens.model_selection.auto.classifier import AutoLensClassifier
from kernlens.model_selection.auto.regressor import AutoLensRegressor

__all__ = ["AutoLensClassifier", "AutoLensRegressor"]
