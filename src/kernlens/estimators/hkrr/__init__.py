"""HKRR: kernel ridge regression with one kernel k(Bx, Bx') whose linear map B is learned."""

from kernlens.estimators.hkrr.classifier import HKRRClassifier
from kernlens.estimators.hkrr.regressor import HKRRRegressor

__all__ = ["HKRRClassifier", "HKRRRegressor"]
