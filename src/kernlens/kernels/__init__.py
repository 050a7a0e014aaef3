"""Kernels: names are enough for most, and these are for parameters and for kernels of one's own.

An instance can be given as ``kernel=`` to HKRR, to recursive feature machines and to the kernel
Laplacian. A kernel of your own is a subclass of :class:`RadialKernel`, a function of the squared
distance, or, for the kernel Laplacian, of :class:`DotProductKernel`, a function of the inner
product.
"""

from kernlens._public import expose
from kernlens.kernels.dot_product import (
    DotProductKernel,
    ExponentialDotKernel,
    LinearKernel,
    PolynomialKernel,
)
from kernlens.kernels.radial import (
    GaussianKernel,
    GeneralizedLaplaceKernel,
    LaplaceKernel,
    Matern32Kernel,
    Matern52Kernel,
    RadialKernel,
    RationalQuadraticKernel,
)

__all__ = [
    "DotProductKernel",
    "ExponentialDotKernel",
    "GaussianKernel",
    "GeneralizedLaplaceKernel",
    "LaplaceKernel",
    "LinearKernel",
    "Matern32Kernel",
    "Matern52Kernel",
    "PolynomialKernel",
    "RadialKernel",
    "RationalQuadraticKernel",
]

expose(__name__, __all__, globals())
