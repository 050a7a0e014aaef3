"""Figures 1 to 6 of the HKRR paper."""

from kernlens.experiments.hkrr import descents, dimensions, sizes, toy

EXPERIMENTS = tuple(module.EXPERIMENT for module in (descents, dimensions, sizes, toy))
