"""Generators of the RegFeaL paper (section 5.1): two hidden features, unit-variance inputs.

With an integer ``random_state``, the draws come in the order of the published experiments, from
the same legacy generator: X, X_test, P, noise, test noise. Experiment 1 used the seeds 36 to 40,
n_test = 5000, and one draw of 1000 training points whose first n rows were the training set of
size n; P, drawn after the inputs, therefore depends on n_samples and n_test.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from kernlens._array import FloatArray
from kernlens._validation import check_choice
from kernlens.datasets._sampling import (
    RandomSource,
    check_noise,
    check_sizes,
    first_variables,
    orthogonal_by_reflections,
    uniform_cube,
)
from kernlens.datasets._synthetic import Link, SyntheticData

# Uniform on [-sqrt(3), sqrt(3)]: mean 0 and variance 1.
_HALF_WIDTH = float(np.sqrt(3.0))
_N_RELEVANT = 2


def make_two_sines(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    structure: str = "features",
    noise: float = 0.5,
    n_test: int = 5000,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""The "sinus dataset" of the RegFeaL paper (section 5.1; Experiments 1, 2 and 3).

    .. math:: y = \sin(2 z_1) + \sin(2 z_2) + \sigma\varepsilon, \quad z = P^\top x,
        \quad x \sim \mathcal U([-\sqrt 3, \sqrt 3]^d)

    P is the first two columns of a uniform orthogonal matrix (``structure="features"``) or of the
    identity (``"variables"``). Experiment 1 has sigma = 0.5, Experiments 2 and 3 have sigma = 0.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set.
    structure : {"features", "variables"}
        Whether the two relevant directions are random or are the first two variables.
    noise : float
        Standard deviation sigma of the Gaussian noise, on the test targets too.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
    """
    return _make(n_samples, n_features, structure, noise, n_test, random_state, _two_sines)


def make_quartic(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    structure: str = "features",
    noise: float = 2.5,
    n_test: int = 5000,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""The "polynomial dataset" of the RegFeaL paper (section 5.1; Experiment 1).

    .. math:: y = z_1 + z_2 - z_1^2 - z_2^2 + 2 z_1 z_2^3 - 4 + \sigma\varepsilon,
        \quad z = P^\top x, \quad x \sim \mathcal U([-\sqrt 3, \sqrt 3]^d)

    P is the first two columns of a uniform orthogonal matrix (``structure="features"``) or of the
    identity (``"variables"``).

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set.
    structure : {"features", "variables"}
        Whether the two relevant directions are random or are the first two variables.
    noise : float
        Standard deviation sigma of the Gaussian noise, on the test targets too.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
    """
    return _make(n_samples, n_features, structure, noise, n_test, random_state, _quartic)


def _make(
    n_samples: int,
    n_features: int,
    structure: str,
    noise: float,
    n_test: int,
    random_state: RandomSource,
    link: Link,
) -> SyntheticData:
    check_choice("structure", structure, ("features", "variables"))
    n_samples, n_features, _, n_test = check_sizes(n_samples, n_features, _N_RELEVANT, n_test)
    noise = check_noise(noise)
    rng = check_random_state(random_state)
    X, X_test = (uniform_cube(rng, n, n_features, _HALF_WIDTH) for n in (n_samples, n_test))
    if structure == "features":
        projection = orthogonal_by_reflections(rng, n_features)[:, :_N_RELEVANT].T
    else:
        projection = first_variables(_N_RELEVANT, n_features)
    y, y_test = (
        link(points @ projection.T) + noise * rng.standard_normal(len(points))
        for points in (X, X_test)
    )
    return SyntheticData(X, y, X_test, y_test, projection, projection, link, noise, _HALF_WIDTH)


def _two_sines(Z: FloatArray) -> FloatArray:
    return np.sin(2 * Z).sum(axis=1)


def _quartic(Z: FloatArray) -> FloatArray:
    first, second = Z[:, 0], Z[:, 1]
    return first + second - first**2 - second**2 + 2 * first * second**3 - 4
