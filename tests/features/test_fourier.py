"""Random Fourier features: their kernel in the mean, gradients, energies."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.features.fourier import FOURIER_KERNELS, FourierMap
from reference import kernel_laplacian as oracle


def drawn(n_features=6, d=3, seed=0, kernel="matern52"):
    return FourierMap.draw(kernel, d, n_features, np.random.RandomState(seed))


def points(n=8, d=3, seed=1):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("kernel", FOURIER_KERNELS)
def test_products_of_features_are_the_kernel_in_the_mean(kernel):
    n_features = 200_000
    P = drawn(n_features, kernel=kernel).features(points(6))
    expected = oracle.values(oracle.KERNELS[kernel], points(6), points(6))
    for i in range(6):
        for j in range(i + 1):
            # Every feature is one draw of a mean; sqrt(2 / D) is in both factors.
            draws = n_features * P[i] * P[j]
            error = draws.std() / np.sqrt(n_features)
            assert abs(draws.mean() - expected[i, j]) < 5 * error
            assert error < 0.005


@pytest.mark.parametrize("kernel", FOURIER_KERNELS)
def test_the_samples_tell_the_kernels_apart(kernel):
    n_features, x, z = 200_000, np.zeros((1, 1)), np.ones((1, 1))
    features = drawn(n_features, d=1, kernel=kernel)
    draws = n_features * features.features(x)[0] * features.features(z)[0]
    error = draws.std() / np.sqrt(n_features)
    for other in FOURIER_KERNELS:
        apart = abs(draws.mean() - oracle.KERNELS[other].value(x[0], z[0]))
        assert (apart < 5 * error) == (other == kernel)


def test_features_are_cosines():
    features = drawn()
    expected, _ = oracle.waves(points(), features.frequencies, features.phases)
    np.testing.assert_allclose(features.features(points()), expected, atol=1e-14)
    assert features.n_features == 6
    np.testing.assert_array_equal(features.norms(), np.eye(6))


def test_gradients_are_differences_of_values():
    features, X = drawn(), points()
    coefficients = np.random.default_rng(2).standard_normal((2, 6))
    found = features.gradient(X, coefficients)
    assert found.shape == (2, *X.shape)
    h = 1e-5
    for k in range(3):
        step = h * np.eye(3)[k]
        change = features.features(X + step) - features.features(X - step)
        np.testing.assert_allclose(found[:, :, k], coefficients @ change.T / (2 * h), atol=1e-8)


@pytest.mark.parametrize("rank", [None, 2, 3])
def test_energy_is_the_sum_over_points(rank):
    features, X = drawn(), points()
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.2, 2.0, len(X))
    frames = None if rank is None else rng.standard_normal((len(X), rank, 3))
    _, gradients = oracle.waves(X, features.frequencies, features.phases)
    expected = oracle.energy(gradients, weights, frames)
    np.testing.assert_allclose(features.energy(X, weights, frames), expected, atol=1e-13)


def test_energy_is_that_of_the_gradients():
    features, X = drawn(), points()
    weights = np.random.default_rng(3).uniform(0.2, 2.0, len(X))
    coefficients = np.random.default_rng(4).standard_normal((1, 6))
    squares = np.square(features.gradient(X, coefficients)[0]).sum(axis=1)
    found = coefficients[0] @ features.energy(X, weights, None) @ coefficients[0]
    assert found == pytest.approx(weights @ squares, rel=1e-12)


def test_the_seed_decides():
    first, second, other = drawn(seed=0), drawn(seed=0), drawn(seed=1)
    np.testing.assert_array_equal(first.frequencies, second.frequencies)
    np.testing.assert_array_equal(first.phases, second.phases)
    assert np.all(first.frequencies != other.frequencies)


def test_inputs_are_left_alone():
    features, X = drawn(), points()
    weights, frames = np.ones(len(X)), np.ones((len(X), 2, 3))
    given = [X, weights, frames, features.frequencies, features.phases]
    kept = [array.copy() for array in given]
    features.features(X)
    features.energy(X, weights, frames)
    features.energy(X, weights, None)
    features.gradient(X, np.ones((1, 6)))
    for array, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(array, before)
