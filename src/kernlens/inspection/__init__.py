"""Numbers about fitted models, as plain functions that return frozen dataclasses."""

from kernlens.inspection.alpha_search import AlphaSearch, alpha_search
from kernlens.inspection.column_profile import ColumnProfile, column_profile
from kernlens.inspection.direction_profile import DirectionProfile, direction_profile
from kernlens.inspection.direction_summary import DirectionSummary, summarize_directions
from kernlens.inspection.score_comparison import ScoreComparison, compare_scores
from kernlens.inspection.weight_profile import WeightProfile, weight_profile

__all__ = [
    "AlphaSearch",
    "ColumnProfile",
    "DirectionProfile",
    "DirectionSummary",
    "ScoreComparison",
    "WeightProfile",
    "alpha_search",
    "column_profile",
    "compare_scores",
    "direction_profile",
    "summarize_directions",
    "weight_profile",
]
