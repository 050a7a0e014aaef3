"""Draws and checks shared by the generators.

The generators use numpy's legacy ``RandomState``: it is what the published experiments used, and
its streams are frozen, so that a seed gives the published data with any version of numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.stats import ortho_group

from kernlens._array import FloatArray
from kernlens._validation import check_count, check_non_negative

RandomSource = int | RandomState | None


def uniform_cube(
    rng: RandomState, n_samples: int, n_features: int, half_width: float = 1.0
) -> FloatArray:
    """Points uniform on [-half_width, half_width]^n_features, (n_samples, n_features)."""
    return half_width * (2.0 * rng.random_sample((n_samples, n_features)) - 1.0)


def orthogonal_by_qr(rng: RandomState, n_features: int) -> FloatArray:
    """Haar orthogonal matrix, (n_features, n_features), as ``scipy.stats.ortho_group`` draws it."""
    return np.asarray(ortho_group.rvs(n_features, random_state=rng)).reshape(n_features, n_features)


def orthogonal_by_reflections(rng: RandomState, n_features: int) -> FloatArray:
    """Haar orthogonal matrix, (n_features, n_features), as a product of random reflections.

    Same law as :func:`orthogonal_by_qr` from another use of the random stream (Stewart, 1980;
    Mezzadri, 2007): step i applies, to the last n_features - i columns, the signed reflection that
    sends the first axis to a Gaussian direction. scipy drew its matrices in this way when the
    RegFeaL experiments were run.
    """
    matrix = np.eye(n_features)
    for start in range(n_features):
        normal = rng.standard_normal(n_features - start)
        sign = 1.0 if normal[0] >= 0 else -1.0
        normal[0] += sign * np.linalg.norm(normal)
        tail = matrix[:, start:]
        reflected = tail - np.outer(tail @ normal, 2.0 * normal / (normal @ normal))
        matrix[:, start:] = -sign * reflected
    return matrix


def first_variables(n_relevant: int, n_features: int) -> FloatArray:
    """Projection on the first n_relevant variables, (n_relevant, n_features)."""
    return np.eye(n_relevant, n_features)


def check_sizes(
    n_samples: int, n_features: int, n_relevant: int, n_test: int
) -> tuple[int, int, int, int]:
    """Return the sizes of a problem as plain integers, or refuse them."""
    check_count("n_features", n_features)
    check_count("n_relevant", n_relevant)
    if n_relevant > n_features:
        raise ValueError(
            f"The target needs {n_relevant} relevant directions but n_features = {n_features}: "
            f"raise n_features to at least {n_relevant} or ask for fewer relevant directions."
        )
    check_count("n_samples", n_samples)
    check_count("n_test", n_test, least=0)
    return int(n_samples), int(n_features), int(n_relevant), int(n_test)


def check_noise(noise: Any) -> float:
    """Return the standard deviation of the noise as a plain number, or refuse it."""
    check_non_negative("noise", noise)
    return float(noise)
