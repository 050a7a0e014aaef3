"""RegFeaL: Hermite polynomials, the kernel of all of them at once, and refits."""

from __future__ import annotations

import numpy as np

from kernlens.features.hermite import LARGEST_FEATURE
from kernlens.kernels._hermite_exponents import CUT_LOG
from kernlens.methods.regfeal.function import (
    LARGEST_DECISION,
    EstimatorFunction,
    KernelFunction,
    PolynomialFunction,
)
from kernlens.onnx_export.graph import Graph, Tensor


def hermite_kernel(graph: Graph, function: KernelFunction, x: Tensor) -> Tensor:
    """A sum over the nodes of the integral, each of them the exponential of one product."""
    kernel, Z = function.kernel, function.Z
    rows = x @ function.R
    squares = rows.square()
    r = kernel.rho * np.exp(-np.outer(kernel.times, kernel.rates))
    spread = 1.0 / (1.0 - r * r)
    pull = -0.5 * r * r * spread
    # L = left + own + other, in the order of the factors of the two sides.
    other = pull @ np.square(Z).T - 0.5 * np.log1p(-r * r).sum(axis=1)[:, None]
    other += np.log(kernel.weights)[:, None]
    own = squares @ pull.T
    parts = [
        ((rows * (r[q] * spread[q])) @ Z.T + own.column(q) + other[q]).at_most(CUT_LOG).exp()
        for q in range(len(r))
    ]
    values = graph.total(parts) - float(kernel.weights.sum())
    return _cut_off(values @ function.dual.T + function.intercept)


def polynomials(graph: Graph, function: PolynomialFunction, x: Tensor) -> Tensor:
    """Products of the entries of one table of polynomials, degree by degree."""
    indices = function.features.indices
    z = (x @ function.R).clip(-LARGEST_FEATURE, LARGEST_FEATURE)
    table = [1.0 + 0.0 * z, z]
    for k in range(1, int(indices.max(initial=0))):
        above = (z * table[k] - float(np.sqrt(k)) * table[k - 1]) / float(np.sqrt(k + 1.0))
        table.append(above.clip(-LARGEST_FEATURE, LARGEST_FEATURE))
    joined, width = graph.concatenated(table), indices.shape[1]
    n_factors = int(np.count_nonzero(indices, axis=1).max(initial=0))
    # The place of a polynomial in the table; those of degree 0 are all 1, and there is one at 0.
    places = np.zeros((len(indices), n_factors), dtype=np.int64)
    for row, alpha in enumerate(indices):
        axes = np.flatnonzero(alpha)
        places[row, : len(axes)] = alpha[axes] * width + axes
    values = joined.columns(places[:, 0])
    for factor in range(1, n_factors):
        product = values * joined.columns(places[:, factor])
        values = product.clip(-LARGEST_FEATURE, LARGEST_FEATURE)
    return _cut_off(values @ function.coefficients.T + function.intercept)


def refused_estimator(graph: Graph, function: EstimatorFunction, x: Tensor) -> Tensor:
    """A refit by an estimator of another package is not ours to write down."""
    raise ValueError(
        f"to_onnx cannot write down refit={type(function.estimator).__name__}; fit the model with "
        "refit=None or refit='kernel'."
    )


def _cut_off(values: Tensor) -> Tensor:
    return values.clip(-LARGEST_DECISION, LARGEST_DECISION)
