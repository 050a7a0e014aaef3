"""Displays in scikit-learn's manner: numbers come from ``kernlens.inspection``, then are drawn."""

from kernlens._public import expose
from kernlens.plotting.directions import DirectionsDisplay
from kernlens.plotting.subspace_comparison import SubspaceComparisonDisplay
from kernlens.plotting.subspace_stability import SubspaceStabilityDisplay
from kernlens.plotting.weight_function import WeightFunctionDisplay

__all__ = [
    "DirectionsDisplay",
    "SubspaceComparisonDisplay",
    "SubspaceStabilityDisplay",
    "WeightFunctionDisplay",
]

expose(__name__, __all__, globals())
