"""Recursive feature machines: kernels of several maps, of columns and their ranks."""

from __future__ import annotations

from kernlens._array import FloatArray
from kernlens.methods.rfm.forms import FAR, RadialForm
from kernlens.methods.rfm.function import FeatureMachineFunction
from kernlens.methods.rfm.kernel import Term
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.radial import added_up, finite_squares, radial_matrix
from kernlens.onnx_export.special import interpolated


def feature_machine(graph: Graph, function: FeatureMachineFunction, x: Tensor) -> Tensor:
    """An expansion in a mixture of kernels."""
    kernel = function.kernel
    beside = x
    if kernel.ranks is not None:
        ranks = interpolated(x, kernel.ranks.knots, kernel.ranks.values)
        beside = graph.concatenated([x, ranks])
    images = kernel.images(function.Z)
    parts = [
        term.weight * _matrix(term, beside if term.ranked else x, V)
        for term, V in zip(kernel.terms, images, strict=True)
    ]
    return graph.total(parts) @ function.coefficients.T + function.intercept


def _matrix(term: Term, x: Tensor, V: FloatArray) -> Tensor:
    U = finite_squares(x * term.map if term.map.ndim == 1 else x @ term.map.T)
    if isinstance(term.form, RadialForm):
        return radial_matrix(term.form.kernel, U, V)
    return (-(added_up(U, V, Tensor.abs).at_most(FAR))).exp()
