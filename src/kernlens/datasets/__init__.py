"""Synthetic data of the papers, returned with the truth: target function and directions."""

from kernlens._public import expose
from kernlens.datasets._synthetic import SyntheticData
from kernlens.datasets._toy_objective import ToyObjective, make_alternating_toy
from kernlens.datasets.bkernn import (
    make_absolute_sum,
    make_absolute_sum_of_sines,
    make_one_dimensional,
    make_sum_of_absolutes,
    make_sum_of_sines,
)
from kernlens.datasets.hkrr import make_oscillating_products, make_rising_sines
from kernlens.datasets.regfeal import make_quartic, make_two_sines

__all__ = [
    "SyntheticData",
    "ToyObjective",
    "make_absolute_sum",
    "make_absolute_sum_of_sines",
    "make_alternating_toy",
    "make_one_dimensional",
    "make_oscillating_products",
    "make_quartic",
    "make_rising_sines",
    "make_sum_of_absolutes",
    "make_sum_of_sines",
    "make_two_sines",
]

expose(__name__, __all__, globals())
