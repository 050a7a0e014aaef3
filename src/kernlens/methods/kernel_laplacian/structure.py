"""Whether points lie on clusters, curves or surfaces, as seen by the functions of a kernel.

If gradients are forbidden strictly, functions become constant on clusters and along curves, should
there be any, so that values at different points go together; in a cloud without such parts all that
remains of them is a spike at every point. The mean squared correlation of values at two points, the
coherence, tells one from the other: its odds are much larger than those of a normal law with the
same covariance. No labels are asked.
"""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens._geometry import unit_rows
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis, KernelMap
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames

#: Points that are looked at.
SAMPLE = 500
#: How many times those of a normal law its odds must be.
ABOVE_NORMAL = 3.0


def coherence(
    kernel: KernelDerivatives, points: FloatArray, n_neighbors: int | None, ratio: float
) -> float:
    """Mean squared correlation of centred function values at two points.

    Parameters
    ----------
    kernel : KernelDerivatives
    points : ndarray of shape (n, d)
        Distinct; O(n^3).
    n_neighbors : int or None
        Of the frames; None for all directions alike.
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
    """Whether values of functions with small gradients go together on these points.

    Parameters
    ----------
    kernel : KernelDerivatives
    points : ndarray of shape (n, d)
        Distinct; the first `SAMPLE` of them are looked at.
    n_neighbors : int or None
    ratio : float
        mu / alpha, large.
    seed : int
        For the normal law.
    """
    few = points[:SAMPLE]
    if len(few) < 3:
        return False
    centred = few - few.mean(axis=0)
    mixing = np.random.RandomState(seed).standard_normal((len(few), len(few)))
    normal = mixing @ centred / np.sqrt(len(few))
    seen = coherence(kernel, few, n_neighbors, ratio)
    expected = coherence(kernel, normal, n_neighbors, ratio)
    return seen * (1.0 - expected) > ABOVE_NORMAL * expected * (1.0 - seen)
