"""Experiments 1 to 3 of the RegFeaL paper."""

from kernlens.experiments.regfeal import experiment1, experiment2, experiment3

EXPERIMENTS = tuple(module.EXPERIMENT for module in (experiment1, experiment2, experiment3))
