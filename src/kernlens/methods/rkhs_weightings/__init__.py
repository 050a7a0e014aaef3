"""RKHS weightings and random kitchen sinks."""

from kernlens.methods.rkhs_weightings.kitchen_sinks_classifier import (
    RandomKitchenSinksClassifier,
)
from kernlens.methods.rkhs_weightings.kitchen_sinks_regressor import RandomKitchenSinksRegressor
from kernlens.methods.rkhs_weightings.weighting_classifier import RKHSWeightingClassifier
from kernlens.methods.rkhs_weightings.weighting_regressor import RKHSWeightingRegressor

__all__ = [
    "RKHSWeightingClassifier",
    "RKHSWeightingRegressor",
    "RandomKitchenSinksClassifier",
    "RandomKitchenSinksRegressor",
]
