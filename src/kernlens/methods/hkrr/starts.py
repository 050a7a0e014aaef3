"""First maps B for HKRR: random ones, or a cheap estimate of the subspace."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens._geometry import median_distance
from kernlens.linalg.kernel_blocks import KernelBlock
from kernlens.methods.hkrr.objective import HyperKernelObjective, HyperKernelPoint


def random_map(n_components: int, n_features: int, random: np.random.RandomState) -> FloatArray:
    """A map with independent normal entries and operator norm 1."""
    B: FloatArray = random.normal(size=(n_components, n_features))
    return B / np.linalg.norm(B, ord=2)


def gradient_outer_product(point: HyperKernelPoint, weights: FloatArray) -> FloatArray:
    """Average outer product of the gradients of the fitted function, in the coordinates of B.

    The gradient at a row x is ``B^T g(x)``, ``g = 2 sum_j a_j phi'(|B(x - z_j)|^2) B(x - z_j)``.
    The result is ``M = sum_i w_i g_i g_i^T / sum w``, summed over targets, (n_components,
    n_components), so that the average gradient outer product is ``B^T M B``.
    """
    V = point.blocks.center_images

    def part(block: KernelBlock) -> tuple[FloatArray]:
        total = np.zeros((V.shape[1], V.shape[1]))
        for a in point.fit.coefficients:
            C = block.slopes * a
            g = 2.0 * (C.sum(axis=1)[:, None] * block.images - C @ V)
            total += (g * weights[block.rows, None]).T @ g
        return (total,)

    (summed,) = point.blocks.sum(part)
    return summed / weights.sum()


def subspace_map(
    objective: HyperKernelObjective, n_components: int, weights: FloatArray
) -> FloatArray:
    """Leading directions of a plain kernel ridge fit, scaled by how fast it varies along them.

    The square root of the average gradient outer product of the fit with B the identity, as in one
    step of a recursive feature machine, cut to `n_components` rows; operator norm 1.
    """
    n_features = objective.X.shape[1]
    plain = np.eye(n_features) / median_distance(objective.X)
    point = objective.at(plain)
    values, vectors = np.linalg.eigh(plain.T @ gradient_outer_product(point, weights) @ plain)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    if not values[0] > 0.0:
        return np.eye(n_components, n_features)
    return np.sqrt(np.maximum(values, 0.0) / values[0])[:, None] * vectors.T
