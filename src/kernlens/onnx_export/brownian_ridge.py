"""Brownian kernel ridge: ``(|x| + |z| - |x - z|) / 2`` at centres."""

from __future__ import annotations

import numpy as np

from kernlens._geometry import squared_lengths
from kernlens.methods.brownian_ridge.function import BrownianFunction
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.radial import added_up, finite_squares


def brownian_function(graph: Graph, function: BrownianFunction, x: Tensor) -> Tensor:
    """An expansion in the Brownian kernel, in the form that keeps its digits far out."""
    x, squares = finite_squares(x), squared_lengths(function.Z)
    total = added_up(x, function.Z, Tensor.square).sqrt() + x.square().sum().sqrt()
    ahead = (x @ (2.0 * function.Z.T) - squares) / (total > 0.0).where(total, 1.0)
    values = 0.5 * (ahead + np.sqrt(squares))
    return values @ function.coefficients.T + function.intercept
