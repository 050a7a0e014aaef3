"""Sufficient dimension reduction: the classical methods."""

from kernlens.methods.sdr.dimension_tests import DimensionTest
from kernlens.methods.sdr.directional_regression import DirectionalRegression
from kernlens.methods.sdr.mave import MAVE
from kernlens.methods.sdr.opg import OPG
from kernlens.methods.sdr.phd import PHD
from kernlens.methods.sdr.save import SAVE
from kernlens.methods.sdr.sir import SIR

__all__ = ["MAVE", "OPG", "PHD", "SAVE", "SIR", "DimensionTest", "DirectionalRegression"]
