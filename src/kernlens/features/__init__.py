"""Feature maps; users bring random features of their own as a :class:`CustomWeighting`."""

from kernlens._public import expose
from kernlens.features.random_maps import FeatureMap
from kernlens.features.weightings import CustomWeighting

__all__ = ["CustomWeighting", "FeatureMap"]

expose(__name__, __all__, globals())
