"""MARS: a sum of products of hinges."""

from __future__ import annotations

import numpy as np

from kernlens.methods.mars.function import SplineFunction
from kernlens.methods.mars.terms import LARGEST
from kernlens.onnx_export.graph import Graph, Tensor


def spline_function(graph: Graph, function: SplineFunction, x: Tensor) -> Tensor:
    """All terms at once, one factor after the other; what is no factor is 1."""
    terms = function.terms
    x = x.clip(-LARGEST, LARGEST)
    values = 0.0 * x.column(0) + np.ones((1, len(terms)))
    for place in range(terms.inputs.shape[1]):
        inputs, signs = terms.inputs[:, place], terms.signs[:, place]
        distance = x.columns(np.maximum(inputs, 0)) - terms.knots[:, place]
        hinged = (distance * np.where(signs == 0, 1.0, signs)).at_least(
            np.where(signs == 0, -np.inf, 0.0)
        )
        values = values * graph.constant(inputs >= 0).where(hinged, 1.0)
    return values @ function.coef.T
