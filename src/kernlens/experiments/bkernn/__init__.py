"""Experiments 1 to 6 of the BKerNN paper."""

from kernlens.experiments.bkernn import (
    experiment1,
    experiment2,
    experiment3,
    experiment4,
    experiment5,
    experiment6,
)

EXPERIMENTS = tuple(
    module.EXPERIMENT
    for module in (
        *(experiment1, experiment2, experiment3),
        *(experiment4, experiment5, experiment6),
    )
)
