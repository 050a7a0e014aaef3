"""Numbers about fitted models, as plain functions that return frozen dataclasses."""

from kernlens._public import expose
from kernlens.inspection.alpha_search import AlphaSearch, alpha_search
from kernlens.inspection.average_derivatives import AverageDerivatives, average_derivatives
from kernlens.inspection.column_profile import ColumnProfile, column_profile
from kernlens.inspection.convergence import Convergence, convergence
from kernlens.inspection.direction_profile import DirectionProfile, direction_profile
from kernlens.inspection.direction_summary import DirectionSummary, summarize_directions
from kernlens.inspection.score_comparison import ScoreComparison, compare_scores
from kernlens.inspection.spectrum import Spectrum, spectrum
from kernlens.inspection.subspace_comparison import SubspaceComparison, compare_subspaces
from kernlens.inspection.surface_profile import SurfaceProfile, surface_profile
from kernlens.inspection.weight_profile import WeightProfile, weight_profile

__all__ = [
    "AlphaSearch",
    "AverageDerivatives",
    "ColumnProfile",
    "Convergence",
    "DirectionProfile",
    "DirectionSummary",
    "ScoreComparison",
    "Spectrum",
    "SubspaceComparison",
    "SurfaceProfile",
    "WeightProfile",
    "alpha_search",
    "average_derivatives",
    "column_profile",
    "compare_scores",
    "compare_subspaces",
    "convergence",
    "direction_profile",
    "spectrum",
    "summarize_directions",
    "surface_profile",
    "weight_profile",
]

expose(__name__, __all__, globals())
