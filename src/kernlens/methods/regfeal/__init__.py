"""RegFeaL: Hermite polynomials with a penalty on derivatives along learned directions."""

from kernlens.methods.regfeal.classifier import RegFeaLClassifier
from kernlens.methods.regfeal.options import (
    AllPolynomials,
    BestFirst,
    Enumerated,
    GroupSampling,
    Reweighting,
    UpToDegree,
)
from kernlens.methods.regfeal.regressor import RegFeaLRegressor

__all__ = [
    "AllPolynomials",
    "BestFirst",
    "Enumerated",
    "GroupSampling",
    "RegFeaLClassifier",
    "RegFeaLRegressor",
    "Reweighting",
    "UpToDegree",
]
