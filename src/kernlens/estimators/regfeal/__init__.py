"""RegFeaL: Hermite polynomials with a penalty on derivatives along learned directions."""

from kernlens.estimators.regfeal.classifier import RegFeaLClassifier
from kernlens.estimators.regfeal.regressor import RegFeaLRegressor

__all__ = ["RegFeaLClassifier", "RegFeaLRegressor"]
