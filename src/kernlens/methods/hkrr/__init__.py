"""HKRR: kernel ridge regression with one kernel k(Bx, Bx') whose linear map B is learned."""

from kernlens.methods.hkrr.classifier import HKRRClassifier
from kernlens.methods.hkrr.regressor import HKRRRegressor

__all__ = ["HKRRClassifier", "HKRRRegressor"]
