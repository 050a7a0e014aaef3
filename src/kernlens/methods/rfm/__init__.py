"""Recursive feature machines: kernel ridge and the average gradient outer product in turn."""

from kernlens.methods.rfm.classifier import RFMClassifier
from kernlens.methods.rfm.regressor import RFMRegressor

__all__ = ["RFMClassifier", "RFMRegressor"]
