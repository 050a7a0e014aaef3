"""Whether points lie on clusters, curves or surfaces, as seen by the functions of a kernel.

A strong penalty on gradients makes functions constant on clusters and along curves, if there are
any, so that values at different points are correlated. In a cloud without such parts functions
shrink to a spike at every point. The mean squared correlation of values at two points, the
coherence, tells the two cases apart: on clusters and curves its odds are much larger than on a
normal sample of the same covariance. Labels are not used.
"""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens._geometry import unit_rows
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis, KernelMap
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames

#: Number of points that are looked at.
SAMPLE = 500
#: The odds of the coherence must be this many times those of a normal sample.
ABOVE_NORMAL = 3.0


def coherence(
    kernel: KernelDerivatives, points: FloatArray, n_neighbors: int | None, ratio: float
) -> float:
    """Mean squared correlation of centered function values at two points.

    Parameters
    ----------
    kernel : KernelDerivatives
    points : ndarray of shape (n, d)
        Distinct; O(n^3).
    n_neighbors : int or None
        Neighbours of the frames; None for all directions alike.
    ratio : float
        mu / alpha.
    """
    n = len(points)
    weights = np.ones(n)
    frames = LocalFrames.of(points, weights, n_neighbors, 1)
    basis = EnergyBasis.of(KernelMap(kernel, points), points, weights, frames, 1, ratio)
    values = basis.features(points) * basis.damping(ratio)
    values -= values.mean(axis=0)
    units, _ = unit_rows(values)
    correlations = units @ units.T
    np.fill_diagonal(correlations, 0.0)
    return float(np.square(correlations).sum()) / (n * (n - 1))


def has_structure(
    kernel: KernelDerivatives,
    points: FloatArray,
    n_neighbors: int | None,
    ratio: float,
    seed: int,
) -> bool:
    """Whether functions with small gradients have correlated values at these points.

    Parameters
    ----------
    kernel : KernelDerivatives
    points : ndarray of shape (n, d)
        Distinct; the first `SAMPLE` of them are looked at.
    n_neighbors : int or None
    ratio : float
        mu / alpha, large.
    seed : int
        For the normal sample.
    """
    few = points[:SAMPLE]
    if len(few) < 3:
        return False
    centered = few - few.mean(axis=0)
    mixing = np.random.RandomState(seed).standard_normal((len(few), len(few)))
    normal = mixing @ centered / np.sqrt(len(few))
    seen = coherence(kernel, few, n_neighbors, ratio)
    expected = coherence(kernel, normal, n_neighbors, ratio)
    return seen * (1.0 - expected) > ABOVE_NORMAL * expected * (1.0 - seen)
