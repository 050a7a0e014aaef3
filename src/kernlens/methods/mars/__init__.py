"""Multivariate adaptive regression splines (MARS): sums of products of hinges, read as text."""

from kernlens.methods.mars.regressor import MARSRegressor

__all__ = ["MARSRegressor"]
