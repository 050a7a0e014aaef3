"""RegFeaL: Hermite polynomials with a penalty on derivatives along learned directions."""

from kernlens.methods.regfeal.classifier import RegFeaLClassifier
from kernlens.methods.regfeal.regressor import RegFeaLRegressor

__all__ = ["RegFeaLClassifier", "RegFeaLRegressor"]
