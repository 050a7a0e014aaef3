"""The basis that makes norms and energies diagonal, against their definitions by loops."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import _execution as _blocks
from kernlens.features.fourier import FourierMap
from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS, make_derivatives
from kernlens.methods.kernel_laplacian import energy_basis
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis, KernelMap
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from reference import kernel_laplacian as oracle


def points(n=25, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.uniform(0.5, 2.0, n)


def make_map(name, X, n_features=6):
    if name == "fourier":
        return FourierMap.draw("gaussian", X.shape[1], n_features, np.random.RandomState(0))
    return KernelMap(make_derivatives(name), X[:n_features])


def definitions(name, feature_map, X, weights, frames):
    """Norm matrix G and energy matrix M, by loops."""
    if name == "fourier":
        G = np.eye(feature_map.n_features)
        _, gradients = oracle.waves(X, feature_map.frequencies, feature_map.phases)
    else:
        Z = feature_map.centers
        G = oracle.values(oracle.KERNELS[name], Z, Z)
        gradients = oracle.slopes(oracle.KERNELS[name], X, Z)
    return G, oracle.energy(gradients, weights / weights.sum(), frames)


@pytest.mark.parametrize("local", [None, 2, 5])
@pytest.mark.parametrize("name", ["gaussian", "matern32", "polynomial", "fourier"])
def test_norms_and_energies_are_diagonal(name, local):
    X, weights = points()
    frames = None if local is None else LocalFrames.of(X, weights, local, 1)
    feature_map = make_map(name, X)
    basis = EnergyBasis.of(feature_map, X, weights, frames, 1)
    written = None if local is None else oracle.local_frames(X, weights, local)
    G, M = definitions(name, feature_map, X, weights, written)
    R = basis.rotation
    assert R.shape == (6, 6)
    size = np.abs(M).max()
    np.testing.assert_allclose(R.T @ G @ R, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(R.T @ M @ R, np.diag(basis.energies), atol=1e-9 * size)
    assert np.all(np.diff(basis.energies) >= 0.0) and basis.energies[0] >= 0.0


@pytest.mark.parametrize("name", [*DIFFERENTIABLE_KERNELS, "fourier"])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1e3])
def test_damped_features_have_the_norm_of_both_penalties(name, ratio):
    X, weights = points()
    # The linear kernel of d centres: more of them span nothing new.
    feature_map = make_map(name, X, 3)
    basis = EnergyBasis.of(feature_map, X, weights, None, 1)
    G, M = definitions(name, feature_map, X, weights, None)
    P = feature_map.features(X)
    expected = P @ np.linalg.solve(G + ratio * M, P.T)
    damped = basis.features(X) * basis.damping(ratio)
    np.testing.assert_allclose(damped @ damped.T, expected, atol=1e-9 * np.abs(expected).max())


def test_directions_without_a_norm_are_left_out():
    X, weights = points()
    feature_map = make_map("linear", X, 6)
    basis = EnergyBasis.of(feature_map, X, weights, None, 1)
    assert basis.rotation.shape == (6, 3)
    # Linear functions: the gradient is the function, energies are 1 for every weighting.
    np.testing.assert_allclose(basis.energies, 1.0, rtol=1e-10)
    values = basis.features(X)
    np.testing.assert_allclose(values @ values.T, X @ X.T, atol=1e-10)


def test_a_repeated_center_changes_nothing():
    X, weights = points()
    once = KernelMap(make_derivatives("gaussian"), X[:5])
    twice = KernelMap(make_derivatives("gaussian"), X[[0, 1, 2, 3, 4, 2]])
    damped = []
    for feature_map in (once, twice):
        basis = EnergyBasis.of(feature_map, X, weights, None, 1)
        assert basis.rotation.shape[1] == 5
        damped.append(basis.features(X) * basis.damping(10.0))
    np.testing.assert_allclose(damped[0] @ damped[0].T, damped[1] @ damped[1].T, atol=1e-9)


@pytest.mark.parametrize("local", [None, 2, 5])
@pytest.mark.parametrize("name", ["gaussian", "fourier"])
def test_blocks_and_threads_change_nothing(monkeypatch, name, local):
    X, weights = points()
    frames = None if local is None else LocalFrames.of(X, weights, local, 1)
    feature_map = make_map(name, X)
    whole = EnergyBasis.of(feature_map, X, weights, frames, 1)
    monkeypatch.setattr(energy_basis, "BLOCK_ENTRIES", 40)
    monkeypatch.setattr(_blocks, "SERIAL_WORK", 0)
    one, two = (EnergyBasis.of(feature_map, X, weights, frames, n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.energies, two.energies)
    np.testing.assert_array_equal(one.rotation, two.rotation)
    np.testing.assert_allclose(one.energies, whole.energies, rtol=1e-9)
    for ratio in (0.0, 3.0):
        kernels = [
            (basis.features(X) * basis.damping(ratio) ** 2) @ basis.features(X).T
            for basis in (whole, one)
        ]
        np.testing.assert_allclose(*kernels, atol=1e-10)


def test_weights_are_repetitions_and_shares():
    X, _ = points()
    weights = np.ones(len(X))
    weights[:4] = 3.0
    feature_map = make_map("matern52", X)
    weighted = EnergyBasis.of(feature_map, X, 7.0 * weights, None, 1)
    repeated = np.vstack([X, X[:4], X[:4]])
    listed = EnergyBasis.of(feature_map, repeated, np.ones(len(repeated)), None, 1)
    np.testing.assert_allclose(weighted.energies, listed.energies, rtol=1e-10)


@pytest.mark.parametrize("name", ["matern52", "polynomial"])
def test_gradients_of_kernel_features(name):
    X, _ = points()
    feature_map = make_map(name, X)
    coefficients = np.random.default_rng(2).standard_normal((2, 6))
    slopes = oracle.slopes(oracle.KERNELS[name], X, feature_map.centers)
    expected = np.einsum("ndm,tm->tnd", slopes, coefficients)
    np.testing.assert_allclose(feature_map.gradient(X, coefficients), expected, atol=1e-11)


def test_inputs_are_left_alone():
    X, weights = points()
    kept, kept_weights = X.copy(), weights.copy()
    for frames in (None, LocalFrames.of(X, weights, 2, 1)):
        basis = EnergyBasis.of(make_map("gaussian", X), X, weights, frames, 1)
        basis.features(X)
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_array_equal(weights, kept_weights)
