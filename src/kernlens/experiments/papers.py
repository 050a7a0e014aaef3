"""The five papers."""

from __future__ import annotations

from kernlens.experiments.contract import Paper

BKERNN = Paper(
    "BKerNN",
    "B. Follain, F. Bach, Enhanced feature learning via regularisation: integrating neural "
    "networks and kernel methods, Journal of Machine Learning Research.",
)
HKRR = Paper(
    "HKRR",
    "Learning multi-index models with hyper-kernel ridge regression (anonymous at the time).",
)
REGFEAL = Paper(
    "RegFeaL",
    "B. Follain, U. Simsekli, F. Bach, Nonparametric linear feature learning in regression through "
    "regularisation, Electronic Journal of Statistics, 2024.",
)
RKHS_WEIGHTINGS = Paper(
    "RKHS weightings",
    "Using RKHS weight functions in random feature models (anonymous at the time).",
)
KERNEL_LAPLACIAN = Paper(
    "Kernel Laplacian",
    "V. Cabannes, Kernel ridge regression with kernel Laplacian regularization, 2024.",
)
