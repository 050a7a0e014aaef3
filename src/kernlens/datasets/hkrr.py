"""Generators of the two synthetic data sets of the HKRR paper (Appendix D.1).

The paper draws B with entries uniform on [0, 1] and says that it lies in the unit ball of the
operator norm, which such a matrix does not: here it is divided by its operator norm whenever that
exceeds 1. The noise has variance Var(z) / 100, z being the noiseless training targets.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from kernlens._array import FloatArray
from kernlens._validation import check_choice
from kernlens.datasets._sampling import (
    RandomSource,
    check_noise,
    check_sizes,
    first_variables,
    uniform_cube,
)
from kernlens.datasets._synthetic import Link, SyntheticData


def make_rising_sines(
    n_samples: int = 600,
    n_features: int = 50,
    *,
    structure: str = "features",
    n_relevant: int = 3,
    noise: float | Literal["auto"] = "auto",
    n_test: int = 4800,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""Sum of sines of rising frequency: the first data set of the HKRR paper, equation (51).

    .. math:: y = \sum_{j=1}^d \sin\big((1 + j/d)\,\pi\,(Bx)_j\big) + \varepsilon,
        \quad x \sim \mathcal U([-1, 1]^D)

    B (d, D) has entries uniform on [0, 1], scaled into the unit ball of the operator norm (the
    paper omits the scaling), or selects the first d variables. Figure 1a is
    ``make_rising_sines(300, 300, structure="variables", n_relevant=2)``. Order of the draws: B, X,
    noise, X_test, test noise; the paper gives no seeds.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set; n_features is the paper's D.
    structure : {"features", "variables"}
        Whether B is random or selects the first variables.
    n_relevant : int
        Number of rows of B, the paper's d.
    noise : float or "auto"
        Standard deviation of the Gaussian noise; "auto" is a tenth of the standard deviation of
        the noiseless training targets.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
        ``projection`` is B, ``components`` an orthonormal basis of its rows.
    """
    sizes = (n_samples, n_features, n_relevant, n_test)
    return _make(sizes, structure, noise, random_state, _rising_sines, half_width=1.0)


def make_oscillating_products(
    n_samples: int = 600,
    n_features: int = 50,
    *,
    structure: str = "features",
    n_relevant: int = 3,
    noise: float | Literal["auto"] = "auto",
    n_test: int = 4800,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""Sines and modulated features: the second data set of the HKRR paper, equation (52).

    .. math:: y = \sum_{j=1}^d \sin(0.5\,(Bx)_j - j)
        + \tfrac12 (Bx)_{j+1} \cos(0.4\,(Bx)_{j+2} - j + 1) + \varepsilon,
        \quad x \sim \mathcal U([-10, 10]^D)

    The printed formula uses entries d + 1 and d + 2 of Bx, which do not exist: the indices are
    taken modulo d, so that the target depends on d directions. B is drawn as in
    :func:`make_rising_sines`, and the draws come in the same order.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set; n_features is the paper's D.
    structure : {"features", "variables"}
        Whether B is random or selects the first variables.
    n_relevant : int
        Number of rows of B, the paper's d.
    noise : float or "auto"
        Standard deviation of the Gaussian noise; "auto" is a tenth of the standard deviation of
        the noiseless training targets.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
        ``projection`` is B, ``components`` an orthonormal basis of its rows.
    """
    sizes = (n_samples, n_features, n_relevant, n_test)
    return _make(sizes, structure, noise, random_state, _oscillating_products, half_width=10.0)


def _make(
    sizes: tuple[int, int, int, int],
    structure: str,
    noise: float | Literal["auto"],
    random_state: RandomSource,
    link: Link,
    half_width: float,
) -> SyntheticData:
    check_choice("structure", structure, ("features", "variables"))
    n_samples, n_features, n_relevant, n_test = check_sizes(*sizes)
    rng = check_random_state(random_state)
    if structure == "features":
        projection = _random_matrix_in_unit_ball(rng, n_relevant, n_features)
    else:
        projection = first_variables(n_relevant, n_features)
    X = uniform_cube(rng, n_samples, n_features, half_width)
    y = link(X @ projection.T)
    level = 0.1 * float(np.std(y)) if noise == "auto" else check_noise(noise)
    y += level * rng.standard_normal(n_samples)
    X_test = uniform_cube(rng, n_test, n_features, half_width)
    y_test = link(X_test @ projection.T) + level * rng.standard_normal(n_test)
    components = np.linalg.qr(projection.T)[0].T
    return SyntheticData(X, y, X_test, y_test, components, projection, link, level, half_width)


def _random_matrix_in_unit_ball(
    rng: np.random.RandomState, n_rows: int, n_columns: int
) -> FloatArray:
    matrix = rng.random_sample((n_rows, n_columns))
    return matrix / max(1.0, float(np.linalg.norm(matrix, ord=2)))


def _rising_sines(Z: FloatArray) -> FloatArray:
    n_relevant = Z.shape[1]
    frequencies = np.pi * (1.0 + np.arange(1, n_relevant + 1) / n_relevant)
    return np.sin(frequencies * Z).sum(axis=1)


def _oscillating_products(Z: FloatArray) -> FloatArray:
    index = np.arange(1, Z.shape[1] + 1)
    following, second_following = np.roll(Z, -1, axis=1), np.roll(Z, -2, axis=1)
    waves = np.sin(0.5 * Z - index)
    modulated = 0.5 * following * np.cos(0.4 * second_following - index + 1)
    return (waves + modulated).sum(axis=1)
