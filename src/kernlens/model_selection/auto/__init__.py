"""The automatic mode: a portfolio of the families within a time budget, stacked."""

from kernlens._public import expose
from kernlens.model_selection.auto.agreement import FoldStability
from kernlens.model_selection.auto.classifier import AutoLensClassifier
from kernlens.model_selection.auto.leaderboard import Leaderboard, Row
from kernlens.model_selection.auto.regressor import AutoLensRegressor
from kernlens.model_selection.auto.transforms import ClippedColumns, LogTarget

#: All that fitted models are made of: their files name this module.
__all__ = [
    "AutoLensClassifier",
    "AutoLensRegressor",
    "ClippedColumns",
    "FoldStability",
    "Leaderboard",
    "LogTarget",
    "Row",
]

expose(__name__, __all__, globals())
