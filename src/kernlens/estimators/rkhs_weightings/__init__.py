"""RKHS weightings and random kitchen sinks."""

from kernlens.estimators.rkhs_weightings.kitchen_sinks_classifier import (
    RandomKitchenSinksClassifier,
)
from kernlens.estimators.rkhs_weightings.kitchen_sinks_regressor import RandomKitchenSinksRegressor
from kernlens.estimators.rkhs_weightings.weighting_classifier import RKHSWeightingClassifier
from kernlens.estimators.rkhs_weightings.weighting_regressor import RKHSWeightingRegressor

__all__ = [
    "RKHSWeightingClassifier",
    "RKHSWeightingRegressor",
    "RandomKitchenSinksClassifier",
    "RandomKitchenSinksRegressor",
]
