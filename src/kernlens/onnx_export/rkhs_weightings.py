"""RKHS weightings and random kitchen sinks: random features, and the implicit kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from kernlens._array import FloatArray
from kernlens._geometry import unit_rows as unit_rows_of
from kernlens.features.profiles import Profile, Ramp, SmoothRamp, SmoothStep, Step
from kernlens.features.random_maps import RidgeMap, StumpMap
from kernlens.kernels.implicit import LARGEST_ARGUMENT, RampKernel, SignKernel, StumpKernel
from kernlens.methods.rkhs_weightings.function import FeatureFunction, KernelFunction
from kernlens.methods.rkhs_weightings.instantiations import CustomInstantiation
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.special import (
    arc_cosine,
    normal_distribution,
    smooth_ramp,
    smooth_step,
    unit_rows,
)

_PROFILES: dict[type[Profile], Callable[[Tensor], Tensor]] = {
    Step: Tensor.sign,
    Ramp: lambda z: z.at_least(0.0),
    SmoothStep: smooth_step,
    SmoothRamp: smooth_ramp,
}


def random_features(graph: Graph, function: FeatureFunction, x: Tensor) -> Tensor:
    """Features of rows, always in double precision."""
    _refuse_custom(function)
    features = function._features
    if isinstance(features, StumpMap):
        shifted = (x.columns(features.columns) - features.thresholds) * (1.0 / features.width)
        values = _PROFILES[type(features.profile)](shifted)
    else:
        assert isinstance(features, RidgeMap)
        unit, lengths = unit_rows(graph, x)
        values = _PROFILES[type(features.profile)](unit @ features.directions.T)
        if features.degree:
            values = values * lengths
    return values @ function.coefficients.T + function.intercept


def implicit_kernel(graph: Graph, function: KernelFunction, x: Tensor) -> Tensor:
    """An expansion in the kernel of infinitely many features."""
    _refuse_custom(function)
    kernel = function._kernel
    if isinstance(kernel, StumpKernel):
        return _stump_sum(graph, kernel, function, x) + function.intercept
    unit, lengths = unit_rows(graph, x)
    others, other_lengths = unit_rows_of(function.support)
    assert isinstance(kernel, SignKernel | RampKernel)
    r = kernel.correlation
    rho = r * (unit @ others.T).clip(-1.0, 1.0)
    angle = arc_cosine(rho)
    if isinstance(kernel, SignKernel):
        values = (2.0 / np.pi) * (float(0.5 * np.pi) - angle)
    else:
        angular = (1.0 - rho.square()).at_least(0.0).sqrt() + rho * (float(np.pi) - angle)
        values = angular * (lengths * float(1.0 / (2.0 * np.pi))) * other_lengths
    return values @ function.dual.T + function.intercept


def _stump_sum(graph: Graph, kernel: StumpKernel, function: KernelFunction, x: Tensor) -> Tensor:
    """A sum of functions of single columns, whose factors are summed over the rows beforehand."""
    n_columns = function.support.shape[1]
    h = (x / kernel.scale).clip(-LARGEST_ARGUMENT, LARGEST_ARGUMENT)
    support = (function.support / kernel.scale).clip(-LARGEST_ARGUMENT, LARGEST_ARGUMENT)
    parts = [
        _column_sum(kernel, h.column(j), support[:, j], function.dual) for j in range(n_columns)
    ]
    return graph.total(parts) * (1.0 / n_columns)


def _column_sum(kernel: StumpKernel, h: Tensor, k: FloatArray, dual: FloatArray) -> Tensor:
    r, points = kernel.correlation, kernel._points
    if r >= 1.0:
        values = 1.0 - 2.0 * (normal_distribution(h) - ndtr(k)).abs()
        return values @ dual.T
    if not np.any(points):
        raise ValueError(
            f"to_onnx cannot write down stumps of the correlation {r:.4g}, so near 1; fit the "
            "model with a smaller correlation, or with solver='least_squares'."
        )
    shares = np.exp(-0.5 * points**2) / np.sqrt(2.0 * np.pi) * (points[1] - points[0])
    steps = smooth_step((h - np.sqrt(r) * points) * float(1.0 / np.sqrt(1.0 - r)))
    return steps @ (np.sqrt(shares)[:, None] * (kernel._factors(k).T @ dual.T))


def _refuse_custom(function: FeatureFunction | KernelFunction) -> None:
    if isinstance(function.instantiation, CustomInstantiation):
        raise ValueError(
            "to_onnx cannot write down a CustomWeighting, which is made of your own functions; "
            "choose an instantiation by its name."
        )
