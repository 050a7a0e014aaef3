"""BKerNN: functions of one projection each, as kernels of the projections of the training rows."""

from __future__ import annotations

import numpy as np

from kernlens.kernels.one_dimensional import BrownianKernel, ExponentialKernel, OneDimensionalKernel
from kernlens.methods.bkernn.function import RidgeFunctions
from kernlens.methods.bkernn.knot_function import KnotFunctions
from kernlens.onnx_export.graph import Graph, Tensor

#: Farther apart, a Gaussian kernel is zero, and farther still squares overflow.
FAR = 40.0


def ridge_functions(graph: Graph, function: RidgeFunctions, x: Tensor) -> Tensor:
    """One product of (n, n_rows) a particle: the projections of rows are computed when loaded.

    The rows and coefficients are much smaller than the tables that kernlens predicts from.
    """
    if not len(function.particles):
        return 0.0 * x.column(0) + function.intercept[None]
    queries = x @ function.particles.T
    if len(function.seen):
        knots = graph.constant(function.particles[:, function.seen]) @ function.support.T
    else:
        knots = graph.constant(np.ascontiguousarray(function.support.T))
    if isinstance(function.kernel, BrownianKernel):
        # Coefficients sum to zero, so that functions are constant beyond their knots.
        low = graph.apply("ReduceMin", knots, np.array([1], dtype=np.int64), keepdims=0)
        high = graph.apply("ReduceMax", knots, np.array([1], dtype=np.int64), keepdims=0)
        queries = queries.clip(low, high)
    weights = graph.constant(function.dual.T)
    parts = [
        _profile(function.kernel, queries.column(j) - knots.row(j)) @ weights
        for j in range(len(function.particles))
    ]
    return graph.total(parts) + function.intercept


def knot_functions(graph: Graph, function: KnotFunctions, x: Tensor) -> Tensor:
    """One product of (n, n_knots) a particle."""
    if not len(function.particles):
        return 0.0 * x.column(0) + function.intercept[None]
    queries = x @ function.particles.T
    knots = function.knots
    if isinstance(function.kernel, BrownianKernel):
        queries = queries.clip(knots[:, 0], knots[:, -1])
    parts = [
        _profile(function.kernel, queries.column(j) - knots[j]) @ function.coefficients[:, j].T
        for j in range(len(function.particles))
    ]
    return graph.total(parts) + function.intercept


def _profile(kernel: OneDimensionalKernel, difference: Tensor) -> Tensor:
    if isinstance(kernel, BrownianKernel):
        return -0.5 * difference.abs()
    if isinstance(kernel, ExponentialKernel):
        return (-0.5 * difference.abs()).exp()
    return (-0.5 * difference.clip(-FAR, FAR).square()).exp()
