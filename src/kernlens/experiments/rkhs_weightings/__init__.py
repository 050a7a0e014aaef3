"""Tables 10 to 13 and Figures 1 to 10 of the RKHS weightings paper."""

from kernlens.experiments.rkhs_weightings import (
    algorithms,
    batches,
    breakdown,
    errata,
    few_features,
    gamma,
    rates,
    rivals,
    sparse,
    tables,
)

EXPERIMENTS = (
    *(algorithms.EXPERIMENT, breakdown.EXPERIMENT, gamma.EXPERIMENT),
    *(*tables.EXPERIMENTS, *rivals.EXPERIMENTS, errata.EXPERIMENT),
    *(few_features.EXPERIMENT, batches.EXPERIMENT, sparse.EXPERIMENT, rates.EXPERIMENT),
)
