"""The features of RWExpSign and RWExpRelu as Table 3 prints them, which are not the expectations.

With u the weight over sigma, x^ = x / |x| and r = sigma^2 / (2 gamma^2), the expectations are, up
to a factor that depends on u alone, erf(r <u, x^> / sqrt 2) and sigma |x| psi(r <u, x^>). The table
has sqrt(8 pi) for sqrt 8 in the first, which divides the argument of erf by sqrt pi, and in the
second u for u' and a factor of 1 / sigma, which leaves |x| psi(<u, x^>): a ramp that is as steep as
that of kitchen sinks however small r is. The factor is left out here, so that sigma is a unit as it
is of the expectation; with it no lambda of Table 14 is large enough for small sets. The Gram matrix
of the weights stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens.features.random_maps import RidgeMap
from kernlens.features.weightings import RidgeWeighting

PRINTED_WRONG = ("exp_sign", "exp_relu")


@dataclass(frozen=True)
class PrintedWeighting(RidgeWeighting):
    """An instantiation with the exponential kernel and the printed features, for sigma = 1."""

    def expectation(self, W: FloatArray) -> tuple[RidgeMap, FloatArray]:
        """Features and the logarithms of their factors, (n_weights,)."""
        features, log_factors = super().expectation(W)
        steepness = 1.0 if self.ramp else self.correlation / np.sqrt(np.pi)
        return replace(features, directions=steepness * W), log_factors
