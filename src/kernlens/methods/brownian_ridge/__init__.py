"""Kernel ridge regression with the Brownian kernel of whole rows, which needs no length scale."""

from kernlens.methods.brownian_ridge.regressor import BrownianKernelRidge

__all__ = ["BrownianKernelRidge"]
