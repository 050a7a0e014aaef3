"""Displays in scikit-learn's manner: numbers come from ``kernlens.inspection``, then are drawn."""

from kernlens._public import expose
from kernlens.plotting.directions import DirectionsDisplay
from kernlens.plotting.embedding import EmbeddingDisplay
from kernlens.plotting.link import LinkDisplay, SurfaceDisplay
from kernlens.plotting.numbers import (
    AlphaSearchDisplay,
    ConvergenceDisplay,
    ImportancesDisplay,
    SpectrumDisplay,
)
from kernlens.plotting.regularization_path import RegularizationPathDisplay
from kernlens.plotting.sensitivity import SensitivityDisplay
from kernlens.plotting.subspace_comparison import SubspaceComparisonDisplay
from kernlens.plotting.subspace_stability import SubspaceStabilityDisplay
from kernlens.plotting.weight_function import WeightFunctionDisplay

__all__ = [
    "AlphaSearchDisplay",
    "ConvergenceDisplay",
    "DirectionsDisplay",
    "EmbeddingDisplay",
    "ImportancesDisplay",
    "LinkDisplay",
    "RegularizationPathDisplay",
    "SensitivityDisplay",
    "SpectrumDisplay",
    "SubspaceComparisonDisplay",
    "SubspaceStabilityDisplay",
    "SurfaceDisplay",
    "WeightFunctionDisplay",
]

expose(__name__, __all__, globals())
