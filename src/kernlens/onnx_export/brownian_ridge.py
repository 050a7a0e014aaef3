"""Brownian kernel ridge: ``(|x| + |z| - |x - z|) / 2`` at centres."""

from __future__ import annotations

import numpy as np

from kernlens._geometry import squared_lengths
from kernlens.methods.brownian_ridge.function import BrownianFunction
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.radial import added_up, finite_squares


def brownian_function(graph: Graph, function: BrownianFunction, x: Tensor) -> Tensor:
    """An expansion in the Brownian kernel."""
    x = finite_squares(x)
    distances = added_up(x, function.Z, Tensor.square).sqrt()
    lengths = x.square().sum().sqrt()
    values = 0.5 * (lengths + np.sqrt(squared_lengths(function.Z)) - distances)
    return values @ function.coefficients.T + function.intercept
