"""Functions that ONNX has not, or not in double precision, and the interpolation along lines.

Runtimes have the error function and the arc sine for single precision only. Here they are Chebyshev
series of smooth functions, whose coefficients are computed when a graph is written; errors are of
the size of rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate
from scipy.special import erfcx

from kernlens._array import FloatArray
from kernlens.onnx_export.graph import Graph, Tensor

#: Terms of the series: the next ones are below rounding.
ERFC_TERMS = 40
ARC_TERMS = 24
#: Beyond this many standard deviations the distribution function of a normal variable is 0 or 1.
LIMIT = 37.0


def chebyshev(u: Tensor, function: Callable[[Any], Any], n_terms: int) -> Tensor:
    """A smooth function of u in [-1, 1] as a Chebyshev series, summed by Clenshaw's recursion."""
    coefficients = chebinterpolate(function, n_terms)
    double = 2.0 * u
    above, current = 0.0 * u, 0.0 * u + float(coefficients[-1])
    for coefficient in coefficients[-2:0:-1]:
        above, current = current, double * current - above + float(coefficient)
    return u * current - above + float(coefficients[0])


def normal_distribution(z: Tensor) -> Tensor:
    """Phi(z), exact in the lower tail to its own digits.

    ``Phi(-|z|) = exp(-z^2 / 2) erfcx(|z| / sqrt 2) / 2``, where erfcx falls so slowly that its
    product with 2 + x is a short series in the fraction (x - 2) / (x + 2).
    """
    size = z.abs().at_most(LIMIT)
    x = size * float(np.sqrt(0.5))

    def scaled(u: FloatArray) -> FloatArray:
        # At u = 1, x is infinite; the limit of the product is 1 / sqrt(pi).
        x = 2.0 * (1.0 + u) / np.maximum(1.0 - u, 1e-300)
        values: FloatArray = np.where(
            x < 1e8, erfcx(np.minimum(x, 1e8)) * (np.minimum(x, 1e8) + 2.0), 1.0 / np.sqrt(np.pi)
        )
        return values

    series = chebyshev((x - 2.0) / (x + 2.0), scaled, ERFC_TERMS)
    tail = 0.5 * (-0.5 * size.square()).exp() * series / (x + 2.0)
    return (z > 0.0).where(1.0 - tail, tail)


def smooth_step(z: Tensor) -> Tensor:
    """``erf(z / sqrt 2) = 2 Phi(z) - 1``."""
    return 2.0 * normal_distribution(z) - 1.0


def smooth_ramp(z: Tensor) -> Tensor:
    """``phi(z) + z Phi(z)``."""
    density = (-0.5 * z.clip(-LIMIT, LIMIT).square()).exp() * float(1.0 / np.sqrt(2.0 * np.pi))
    return density + z.at_least(-LIMIT) * normal_distribution(z)


def arc_cosine(x: Tensor) -> Tensor:
    """arccos of numbers in [-1, 1].

    ``arccos(|x|) = sqrt(1 - |x|) P(|x|)`` with a smooth P.
    """

    def smooth(u: FloatArray) -> FloatArray:
        gap = 0.5 * (1.0 - u)
        # arccos(1 - g) = 2 arcsin(sqrt(g / 2)), which keeps its digits near g = 0.
        values: FloatArray = 2.0 * np.arcsin(np.sqrt(0.5 * gap)) / np.sqrt(gap)
        return values

    size = x.abs()
    angle = (1.0 - size).sqrt() * chebyshev(2.0 * size - 1.0, smooth, ARC_TERMS)
    return (x > 0.0).where(angle, float(np.pi) - angle)


def interpolated(x: Tensor, knots: FloatArray, values: FloatArray) -> Tensor:
    """Piecewise linear functions of columns (n, d), constant beyond their knots (n_knots, d).

    A sum of rises, each of which is taken as far as x has come: nothing cancels.
    """
    steps, rises = np.diff(knots, axis=0), np.diff(values, axis=0)
    # Repeated knots rise by nothing.
    steps = np.where(steps > 0.0, steps, 1.0)
    covered = ((x.with_axis(1) - knots[:-1]) / steps).clip(0.0, 1.0)
    return (covered * rises).sum(axis=1, keep=False) + values[:1]


def unit_rows(graph: Graph, x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows divided by their lengths, and the lengths (n, 1); a row of zeros stays."""
    lengths = x.square().sum().sqrt()
    return x / (lengths > 0.0).where(lengths, 1.0), lengths
