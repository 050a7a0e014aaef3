"""Products with the system of values and derivatives, against its matrix written out by loops."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import _execution as _blocks
from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS, make_derivatives
from kernlens.methods.kernel_laplacian import derivative_system
from kernlens.methods.kernel_laplacian.derivative_system import DerivativeSystem
from reference import kernel_laplacian as oracle

N, D = 9, 3


def points(seed=0):
    return 0.7 * np.random.default_rng(seed).standard_normal((N, D))


def make_frames(rank, seed=1):
    """Factors of identities, or frames of some rank."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2.0, N) if rank is None else rng.standard_normal((N, rank, D))


def written(frames):
    return frames[:, None, None] * np.eye(D) if frames.ndim == 1 else frames


def dense(name, X, frames):
    """K (n, n), D (n, n r) and Q (n r, n r)."""
    pair, T = oracle.KERNELS[name], written(frames)
    r = T.shape[1]
    K = oracle.values(pair, X, X)
    slopes = oracle.slopes(pair, X, X)
    derivatives = np.einsum("jrd,jdi->ijr", T, slopes).reshape(N, N * r)
    Q = np.einsum("ird,idje,jqe->irjq", T, oracle.mixed(pair, X, X), T).reshape(N * r, N * r)
    return K, derivatives, Q


every_frame = pytest.mark.parametrize("rank", [None, 1, 2, 3, 5])


@every_frame
@pytest.mark.parametrize("name", DIFFERENTIABLE_KERNELS)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_products_are_those_of_the_matrix(name, rank, n_targets):
    X, frames = points(), make_frames(rank)
    system = DerivativeSystem(make_derivatives(name), X, frames, 1)
    r = D if rank is None else rank
    assert system.n_directions == r
    rng = np.random.default_rng(2)
    c, b = rng.standard_normal((n_targets, N)), rng.standard_normal((n_targets, N, r))
    values, slopes = system.products(c, b)
    K, along, Q = dense(name, X, frames)
    flat = b.reshape(n_targets, -1)
    expected = c @ K + flat @ along.T
    np.testing.assert_allclose(values, expected, atol=1e-12 * np.abs(expected).max())
    expected = c @ along + flat @ Q
    found = slopes.reshape(n_targets, -1)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@every_frame
@pytest.mark.parametrize("name", DIFFERENTIABLE_KERNELS)
def test_parts_of_the_matrix(name, rank):
    X, frames = points(), make_frames(rank)
    system = DerivativeSystem(make_derivatives(name), X, frames, 1)
    r = system.n_directions
    _, along, Q = dense(name, X, frames)
    np.testing.assert_allclose(system.full_gram(), Q, atol=1e-12 * np.abs(Q).max())
    np.testing.assert_allclose(system.derivatives_at(X, slice(None)), along, atol=1e-12)
    chosen, others = np.array([4, 1, 7]), slice(2, 6)
    rows = (chosen[:, None] * r + np.arange(r)).ravel()
    columns = np.arange(2 * r, 6 * r)
    expected = Q[np.ix_(rows, columns)]
    np.testing.assert_allclose(system.gram(chosen, others), expected, atol=1e-12 * abs(Q).max())
    found = system.derivatives_at(X[:5], chosen)
    np.testing.assert_allclose(found, along[:5, rows], atol=1e-12)


@every_frame
def test_spreading_is_the_transpose_of_measuring_along(rank):
    X, frames = points(), make_frames(rank)
    system = DerivativeSystem(make_derivatives("gaussian"), X, frames, 1)
    rng = np.random.default_rng(2)
    b = rng.standard_normal((2, N, system.n_directions))
    gradients = rng.standard_normal((2, N, D))
    T = written(frames)
    np.testing.assert_array_equal(system.frames_of(slice(None)), T)
    np.testing.assert_array_equal(system.frames_of(np.array([3, 0])), T[[3, 0]])
    expected = [[T[i].T @ row[i] for i in range(N)] for row in b]
    np.testing.assert_allclose(system.spread(b), expected, atol=1e-14)
    measured = system.along(gradients, slice(0, N))
    assert np.vdot(measured, b) == pytest.approx(np.vdot(gradients, system.spread(b)), rel=1e-12)
    np.testing.assert_array_equal(system.along(gradients[:, 2:5], slice(2, 5)), measured[:, 2:5])


@pytest.mark.parametrize("rank", [None, 2])
def test_blocks_and_threads_change_nothing(monkeypatch, rank):
    X, frames = points(), make_frames(rank)
    system = DerivativeSystem(make_derivatives("matern32"), X, frames, 1)
    rng = np.random.default_rng(2)
    c, b = rng.standard_normal((2, N)), rng.standard_normal((2, N, system.n_directions))
    whole, gram = system.products(c, b), system.full_gram()
    # Two rows of kernel values at a time; for the matrix, fewer than one point: at least one.
    monkeypatch.setattr(derivative_system, "BLOCK_ENTRIES", 2 * N)
    monkeypatch.setattr(_blocks, "SERIAL_WORK", 0)
    np.testing.assert_allclose(system.full_gram(), gram, rtol=1e-13, atol=1e-14)
    parts = [DerivativeSystem(system.kernel, X, frames, jobs).products(c, b) for jobs in (1, 2)]
    for one, two, both in zip(*parts, whole, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, both, rtol=1e-12, atol=1e-13)


def test_inputs_are_left_alone():
    X, frames = points(), make_frames(2)
    b, c = np.ones((1, N, 2)), np.ones((1, N))
    given = [X, frames, b, c]
    kept = [array.copy() for array in given]
    system = DerivativeSystem(make_derivatives("gaussian"), X, frames, 1)
    system.products(c, b)
    system.full_gram()
    system.derivatives_at(X, slice(None))
    for array, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(array, before)
