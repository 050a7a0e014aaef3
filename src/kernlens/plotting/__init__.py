"""Displays in scikit-learn's manner: numbers come from ``kernlens.inspection``, then are drawn."""

from kernlens.plotting.directions import DirectionsDisplay

__all__ = ["DirectionsDisplay"]
