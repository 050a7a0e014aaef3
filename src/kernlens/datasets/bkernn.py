"""Generators of Experiments 1 to 5 of the BKerNN paper (section 5 and Appendix B).

With an integer ``random_state``, the draws come in the order of the published experiments, from
the same legacy generator: the seed of a repetition gives the data of that repetition, the targets
up to rounding. The noise is drawn even when its level is zero, as it was there, so that the level
changes neither the directions nor the inputs.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from kernlens._array import FloatArray
from kernlens._validation import check_choice, check_count
from kernlens.datasets._sampling import (
    RandomSource,
    check_noise,
    check_sizes,
    first_variables,
    orthogonal_by_qr,
    uniform_cube,
)
from kernlens.datasets._synthetic import Link, SyntheticData


def make_absolute_sum(
    n_samples: int = 214,
    n_features: int = 45,
    *,
    n_relevant: int = 5,
    noise: float = 0.5,
    n_test: int = 1024,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""Absolute value of one sum of hidden features: Experiment 1 of the BKerNN paper.

    .. math:: y = 2\pi \Big|\sum_{a=1}^k (P^\top x)_a\Big| + \text{noise},
        \quad x \sim \mathcal U([-1, 1]^d)

    P (d, k) is the first k columns of a uniform orthogonal matrix. The paper speaks of k = 5
    relevant features, but the target depends on a single direction, the normalised sum of the
    columns of P: that one is ``components``, (1, n_features), while ``projection`` is P^T. The
    test targets are noisy too. Order of the draws: P, X, noise, X_test, noise; published seed: 0.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set.
    n_relevant : int
        Number k of columns of P that are summed.
    noise : float
        Standard deviation of the Gaussian noise.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
    """
    n_samples, n_features, n_relevant, n_test = check_sizes(
        n_samples, n_features, n_relevant, n_test
    )
    noise = check_noise(noise)
    rng = check_random_state(random_state)
    projection = _hidden_features(rng, n_features, n_relevant)
    components = projection.sum(axis=0, keepdims=True) / np.sqrt(n_relevant)
    return _train_then_test(
        rng, (n_samples, n_test), projection, components, _scaled_absolute_sum, noise
    )


def make_sum_of_absolutes(
    n_samples: int = 412,
    n_features: int = 20,
    *,
    n_relevant: int = 5,
    noise: float = 0.1,
    n_test: int = 1024,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""Sum of absolute values of a few variables: Experiment 2 of the BKerNN paper.

    .. math:: y = \sum_{a=1}^k |2\pi x_a| + \text{noise}, \quad x \sim \mathcal U([-1, 1]^d)

    The test targets are noisy too. Order of the draws: X, noise, X_test, noise; published seed: 1.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set.
    n_relevant : int
        Number k of relevant variables, the first ones.
    noise : float
        Standard deviation of the Gaussian noise.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
    """
    n_samples, n_features, n_relevant, n_test = check_sizes(
        n_samples, n_features, n_relevant, n_test
    )
    noise = check_noise(noise)
    rng = check_random_state(random_state)
    projection = first_variables(n_relevant, n_features)
    return _train_then_test(
        rng, (n_samples, n_test), projection, projection, _scaled_sum_of_absolutes, noise
    )


def make_sum_of_sines(
    n_samples: int = 214,
    n_features: int = 20,
    *,
    structure: str = "features",
    n_relevant: int = 5,
    noise: float = 0.5,
    n_test: int = 1024,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""Sum of sines under three mechanisms: Experiment 3 of the BKerNN paper.

    .. math:: y = \sum_a \sin(z_a) + \text{noise}, \quad x \sim \mathcal U([-1, 1]^d)

    where z is all of x (``structure="none"``), its first k entries (``"variables"``), or P^T x
    with P (d, k) the first k columns of a uniform orthogonal matrix (``"features"``).

    The test targets are noisy too. Order of the draws: P, X, X_test, noise, test noise, so that
    the training noise changes with ``n_test``; published seeds: 1 to 20. The text gives a noise
    of 0.5 for the three mechanisms; the published figures of ``"none"`` were made with 1.0.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set.
    structure : {"features", "variables", "none"}
        The mechanism.
    n_relevant : int
        Number k of relevant features or variables; unused with ``structure="none"``.
    noise : float
        Standard deviation of the Gaussian noise.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
        ``components`` is None with ``structure="none"``.
    """
    check_choice("structure", structure, ("features", "variables", "none"))
    if structure == "none":
        n_relevant = n_features
    n_samples, n_features, n_relevant, n_test = check_sizes(
        n_samples, n_features, n_relevant, n_test
    )
    noise = check_noise(noise)
    rng = check_random_state(random_state)
    if structure == "features":
        projection = _hidden_features(rng, n_features, n_relevant)
    else:
        projection = first_variables(n_relevant, n_features)
    X, X_test = (uniform_cube(rng, n, n_features) for n in (n_samples, n_test))
    y, y_test = (
        _sum_of_sines(points @ projection.T) + noise * rng.standard_normal(len(points))
        for points in (X, X_test)
    )
    components = None if structure == "none" else projection
    return SyntheticData(X, y, X_test, y_test, components, projection, _sum_of_sines, noise, 1.0)


def make_one_dimensional(
    n_samples: int = 128,
    *,
    shape: str = "sine",
    noise: float = 0.2,
    n_test: int = 1024,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""One-dimensional curves: Experiment 4 of the BKerNN paper (Appendix B.3).

    With x uniform on [-1, 1], plus Gaussian noise,

    - ``"sine"``: :math:`\sin(2\pi x)`;
    - ``"square"``: :math:`\mathrm{sign}(\sin(2\pi x))`;
    - ``"triangle"``: :math:`4\,|x + 0.75 - \lfloor x + 0.75\rfloor - 0.5| - 1`.

    The test set is the noiseless curve on n_test equally spaced points of [-1, 1].
    Order of the draws: X, noise.

    Parameters
    ----------
    n_samples : int
        Number of training points.
    shape : {"sine", "square", "triangle"}
        The curve.
    noise : float
        Standard deviation of the Gaussian noise of the training targets.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
    """
    check_choice("shape", shape, tuple(_CURVES))
    check_count("n_samples", n_samples)
    check_count("n_test", n_test, least=0)
    link = _CURVES[shape]
    noise = check_noise(noise)
    rng = check_random_state(random_state)
    X = uniform_cube(rng, n_samples, 1)
    y = link(X) + noise * rng.standard_normal(n_samples)
    X_test = np.linspace(-1.0, 1.0, n_test).reshape(-1, 1)
    axis = np.ones((1, 1))
    return SyntheticData(X, y, X_test, link(X_test), axis, axis, link, noise, 1.0)


def make_absolute_sum_of_sines(
    n_samples: int = 212,
    n_features: int = 15,
    *,
    n_relevant: int = 3,
    noise: float = 0.0,
    n_test: int = 201,
    random_state: RandomSource = None,
) -> SyntheticData:
    r"""Absolute value of a sum of sines of hidden features: Experiment 5 of the BKerNN paper.

    .. math:: y = \Big|\sum_{a=1}^k \sin((P^\top x)_a)\Big| + \text{noise},
        \quad x \sim \mathcal U([-1, 1]^d)

    P (d, k) is the first k columns of a uniform orthogonal matrix; no noise in the paper.

    With an integer ``random_state`` the published data are reproduced: numpy's legacy generator,
    then in this order P (``scipy.stats.ortho_group``), X, the noise (drawn, then multiplied by
    its level, zero), X_test, the test noise. The ten repetitions used the seeds 0 to 9.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the training set.
    n_relevant : int
        Number k of relevant features.
    noise : float
        Standard deviation of the Gaussian noise.
    n_test : int
        Number of test points.
    random_state : int, RandomState instance or None

    Returns
    -------
    SyntheticData
    """
    n_samples, n_features, n_relevant, n_test = check_sizes(
        n_samples, n_features, n_relevant, n_test
    )
    noise = check_noise(noise)
    rng = check_random_state(random_state)
    projection = _hidden_features(rng, n_features, n_relevant)
    return _train_then_test(
        rng, (n_samples, n_test), projection, projection, _absolute_sum_of_sines, noise
    )


def _hidden_features(rng: np.random.RandomState, n_features: int, n_relevant: int) -> FloatArray:
    return orthogonal_by_qr(rng, n_features)[:, :n_relevant].T


def _train_then_test(
    rng: np.random.RandomState,
    sizes: tuple[int, int],
    projection: FloatArray,
    components: FloatArray,
    link: Link,
    noise: float,
) -> SyntheticData:
    """Draw X, its noise, then X_test, its noise, on the cube [-1, 1]^n_features."""
    arrays: list[FloatArray] = []
    for n_points in sizes:
        points = uniform_cube(rng, n_points, projection.shape[1])
        targets = link(points @ projection.T) + noise * rng.standard_normal(n_points)
        arrays += [points, targets]
    X, y, X_test, y_test = arrays
    return SyntheticData(X, y, X_test, y_test, components, projection, link, noise, 1.0)


def _scaled_absolute_sum(Z: FloatArray) -> FloatArray:
    return 2 * np.pi * np.abs(Z.sum(axis=1))


def _scaled_sum_of_absolutes(Z: FloatArray) -> FloatArray:
    return 2 * np.pi * np.abs(Z).sum(axis=1)


def _sum_of_sines(Z: FloatArray) -> FloatArray:
    return np.sin(Z).sum(axis=1)


def _absolute_sum_of_sines(Z: FloatArray) -> FloatArray:
    return np.abs(np.sin(Z).sum(axis=1))


def _sine(Z: FloatArray) -> FloatArray:
    return np.sin(2 * np.pi * Z[:, 0])


def _square(Z: FloatArray) -> FloatArray:
    return np.sign(np.sin(2 * np.pi * Z[:, 0]))


def _triangle(Z: FloatArray) -> FloatArray:
    shifted = Z[:, 0] + 0.75
    return 4 * np.abs(shifted - np.floor(shifted) - 0.5) - 1


_CURVES: dict[str, Link] = {"sine": _sine, "square": _square, "triangle": _triangle}
