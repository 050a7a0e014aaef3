"""From the rows of the user to the decision values of one fitted learner, and to its outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kernlens.base.calibration import CalibratedMixin, Calibration
from kernlens.base.columns import LARGEST_INPUT, Columns
from kernlens.base.linear_part import LinearPart
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.methods.bkernn.function import RidgeFunctions
from kernlens.methods.bkernn.knot_function import KnotFunctions
from kernlens.methods.brownian_ridge.function import BrownianFunction
from kernlens.methods.kernel_laplacian import function as laplacian
from kernlens.methods.mars.function import SplineFunction
from kernlens.methods.regfeal import function as regfeal
from kernlens.methods.rfm.function import FeatureMachineFunction
from kernlens.methods.rkhs_weightings import function as weightings
from kernlens.onnx_export.bkernn import knot_functions, ridge_functions
from kernlens.onnx_export.brownian_ridge import brownian_function
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.kernel_laplacian import fourier_features, kernel_atoms
from kernlens.onnx_export.mars import spline_function
from kernlens.onnx_export.radial import projected_kernel
from kernlens.onnx_export.regfeal import hermite_kernel, polynomials, refused_estimator
from kernlens.onnx_export.rfm import feature_machine
from kernlens.onnx_export.rkhs_weightings import implicit_kernel, random_features

#: Writes a fitted function of inputs (n, n_inputs) as values (n, n_targets).
Writer = Callable[[Graph, Any, Tensor], Tensor]

#: Who writes which fitted function; a family of its own kind of function adds a line.
WRITERS: dict[type, Writer] = {
    RidgeFunctions: ridge_functions,
    KnotFunctions: knot_functions,
    BrownianFunction: brownian_function,
    ProjectedKernelFunction: projected_kernel,
    FeatureMachineFunction: feature_machine,
    SplineFunction: spline_function,
    laplacian.KernelFunction: kernel_atoms,
    laplacian.AtomFunction: kernel_atoms,
    laplacian.FourierFunction: fourier_features,
    regfeal.KernelFunction: hermite_kernel,
    regfeal.PolynomialFunction: polynomials,
    regfeal.RefittedKernelFunction: projected_kernel,
    regfeal.EstimatorFunction: refused_estimator,
    weightings.FeatureFunction: random_features,
    weightings.KernelFunction: implicit_kernel,
}


def decision_values(graph: Graph, model: Any, rows: Tensor) -> Tensor:
    """Decision values (n, n_targets) of a fitted learner at rows in the units of the user."""
    columns, linear, function = model._columns, model._linear, model._function
    inputs = _inputs(graph, columns, rows)
    if linear is not None:
        low, high = linear._kernel_range
        # A bias comes last, and is within any bounds.
        beyond = columns.n_inputs - len(low)
        low, high = (
            np.pad(low, (0, beyond), constant_values=-np.inf),
            np.pad(high, (0, beyond), constant_values=np.inf),
        )
        inputs = inputs.clip(low, high)
    values = WRITERS[type(function)](graph, function, inputs)
    targets = model._targets
    values = values * targets.scale + targets.mean
    if targets.bounds is not None:
        values = values.clip(*targets.bounds)
    if linear is not None:
        plain = replace(columns, limit=None, bias=0.0)
        values = values + _linear_values(linear, _inputs(graph, plain, rows))
    return _log_odds(graph, model._calibration, values) if calibrated(model) else values


def calibrated(model: Any) -> bool:
    """Whether decision values are log-odds of scores."""
    return isinstance(model, CalibratedMixin)


def _inputs(graph: Graph, columns: Columns, rows: Tensor) -> Tensor:
    """The inputs of the learner; see :meth:`Columns.apply`."""
    largest = LARGEST_INPUT[np.float64]
    bias = 0.0 * rows.column(0) + min(columns.bias, largest)
    if not columns.n_varying:
        return bias
    used = columns.used
    scaled = (rows.columns(used) - columns.mean[used]) / columns.scale[used]
    limit = np.full(len(used), largest) if columns.limit is None else columns.limit[used]
    scaled = scaled.clip(-limit, limit)
    return graph.concatenated([scaled, bias]) if columns.bias != 0.0 else scaled


def _linear_values(part: LinearPart, plain: Tensor) -> Tensor:
    """What a line adds; see :meth:`LinearPart.values`."""
    reached = plain.clip(*part._reached)
    under, over = (reached - part.low).at_most(0.0), (reached - part.high).at_least(0.0)
    return reached @ part.slopes.T + under @ part.below.T + over @ part.above.T


def _log_odds(graph: Graph, calibration: Calibration, scores: Tensor) -> Tensor:
    """What :meth:`Calibration.log_odds` computes."""
    trusted = calibration.trusted

    def log_probability(values: Tensor) -> Tensor:
        inside = values.at_least(-trusted)
        beyond = (1.0 + (inside - values) / (1.0 - trusted)).log()
        return (1.0 + inside).log() - float(np.log(2.0)) - beyond

    values = log_probability(scores)
    if len(calibration.shift) == 1:
        values = values - log_probability(-scores)
    return calibration.stretch * values + calibration.shift
