"""HKRR: kernel ridge regression with one kernel k(Bx, Bx') whose linear map B is learned."""

from kernlens.methods.hkrr.alternating_gradient import AlternatingGradient
from kernlens.methods.hkrr.classifier import HKRRClassifier
from kernlens.methods.hkrr.options import Centers, Constraint, RandomMaps
from kernlens.methods.hkrr.regressor import HKRRRegressor
from kernlens.methods.hkrr.varpro import VarPro

__all__ = [
    "AlternatingGradient",
    "Centers",
    "Constraint",
    "HKRRClassifier",
    "HKRRRegressor",
    "RandomMaps",
    "VarPro",
]
