"""RKHS weightings and random kitchen sinks."""

from kernlens.methods.rkhs_weightings.classifier import (
    RandomKitchenSinksClassifier,
    RKHSWeightingClassifier,
)
from kernlens.methods.rkhs_weightings.options import FunctionalGradient, PaperAlpha, PaperWidth
from kernlens.methods.rkhs_weightings.regressor import (
    RandomKitchenSinksRegressor,
    RKHSWeightingRegressor,
)

__all__ = [
    "FunctionalGradient",
    "PaperAlpha",
    "PaperWidth",
    "RKHSWeightingClassifier",
    "RKHSWeightingRegressor",
    "RandomKitchenSinksClassifier",
    "RandomKitchenSinksRegressor",
]
