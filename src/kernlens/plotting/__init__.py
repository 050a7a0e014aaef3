"""Displays in scikit-learn's manner: numbers come from ``kernlens.inspection``, then are drawn."""

from kernlens.plotting.directions import DirectionsDisplay
from kernlens.plotting.weight_function import WeightFunctionDisplay

__all__ = ["DirectionsDisplay", "WeightFunctionDisplay"]
