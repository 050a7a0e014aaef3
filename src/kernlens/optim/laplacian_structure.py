"""Whether points lie on clusters, curves or surfaces, as seen by the functions of a kernel.

If gradients are forbidden ever more strictly, functions become constant on clusters and along
curves, should there be any, so that values at different points go together; in a cloud without such
parts all that remains of them is a spike at every point. The mean squared correlation of values at
two points, the coherence, tells one from the other: it rises again at the end, or its odds are much
larger than those of a normal law with the same covariance. No labels are asked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernlens.features.local_frames import LocalFrames
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.linalg.energy_basis import EnergyBasis, KernelMap

FloatArray = NDArray[np.floating]

#: Points that are looked at.
SAMPLE = 500
#: By which the coherence must have risen from its least value to count as rising.
RISE = 1.02
#: How many times those of a normal law its odds must be.
ABOVE_NORMAL = 5.0


def coherences(
    kernel: KernelDerivatives,
    points: FloatArray,
    n_neighbors: int | None,
    ratios: tuple[float, ...],
) -> list[float]:
    """Mean squared correlation of centred function values at two points, for several mu / alpha.

    Parameters
    ----------
    kernel : KernelDerivatives
    points : ndarray of shape (n, d)
        Distinct; O(n^3).
    n_neighbors : int or None
        Of the frames; None for all directions alike.
    ratios : tuple of float
    """
    weights = np.ones(len(points))
    frames = None if n_neighbors is None else LocalFrames.of(points, weights, n_neighbors, 1)
    basis = EnergyBasis.of(KernelMap(kernel, points), points, weights, frames, 1)
    features = basis.features(points)
    found = []
    for ratio in ratios:
        damped = features * basis.damping(ratio)
        damped -= damped.mean(axis=0)
        lengths = np.sqrt(np.square(damped).sum(axis=1))
        damped /= np.maximum(lengths, np.finfo(np.float64).tiny)[:, None]
        correlations = damped @ damped.T
        np.fill_diagonal(correlations, 0.0)
        found.append(float(np.square(correlations).sum()) / (len(points) * (len(points) - 1)))
    return found


def has_structure(
    kernel: KernelDerivatives,
    points: FloatArray,
    n_neighbors: int | None,
    ratios: tuple[float, ...],
    seed: int,
) -> bool:
    """Whether functions with small gradients go together on these points.

    Parameters
    ----------
    kernel : KernelDerivatives
    points : ndarray of shape (n, d)
        Distinct.
    n_neighbors : int or None
    ratios : tuple of float
        mu / alpha, positive, increasing.
    seed : int
        For the normal law.
    """
    few = points[:SAMPLE]
    if len(few) < 3:
        return False
    path = coherences(kernel, few, n_neighbors, ratios)
    if path[-1] > RISE * min(path):
        return True
    centred = few - few.mean(axis=0)
    mixing = np.random.RandomState(seed).standard_normal((len(few), len(few)))
    normal = mixing @ centred / np.sqrt(len(few))
    (expected,) = coherences(kernel, normal, n_neighbors, ratios[-1:])
    return path[-1] / (1.0 - path[-1]) > ABOVE_NORMAL * expected / (1.0 - expected)
