"""Hermite features: values, orthonormality, derivatives and the matrix M_f."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.features import hermite
from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import enumerate_indices
from reference import regfeal


def geometric(k):
    return 0.6**k


def random_function(d, degree, seed=0, keep=1.0):
    """A random polynomial as a dictionary, its indices and coefficients."""
    rng = np.random.default_rng(seed)
    indices = [alpha for alpha in regfeal.all_indices(d, degree) if rng.random() < keep]
    coefficients = rng.standard_normal(len(indices))
    return dict(zip(indices, coefficients, strict=True)), np.array(indices), coefficients


def c_of(indices, c):
    return np.array([c(k) for k in np.sum(indices, axis=1)])


@pytest.mark.parametrize("d", [1, 2, 4])
def test_values_equal_the_products_of_polynomials(d):
    Z = 1.5 * np.random.default_rng(d).standard_normal((20, d))
    indices = enumerate_indices(d, 6)
    expected = np.column_stack([regfeal.feature(alpha, Z) for alpha in indices])
    features = HermiteFeatures(indices)
    np.testing.assert_allclose(features.matrix(Z), expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(features.block(Z[3:7]), expected[3:7], rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(features.degrees, indices.sum(axis=1))


def test_high_degrees_keep_their_digits():
    z = np.linspace(-3, 3, 13)[:, None]
    degrees = [1, 20, 60, 100]
    expected = np.column_stack([regfeal.hermite(k, z[:, 0]) for k in degrees])
    actual = HermiteFeatures(np.array(degrees)[:, None]).matrix(z)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-11)


def test_features_are_orthonormal_under_the_normal_law():
    Z, w = regfeal.gauss_hermite(3, 8)
    H = HermiteFeatures(enumerate_indices(3, 5)).matrix(Z)
    np.testing.assert_allclose((H.T * w) @ H, np.eye(H.shape[1]), rtol=0, atol=1e-11)
    np.testing.assert_allclose(w @ H, 0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_derivative_of_a_polynomial_is_the_one_below(k):
    z, step = np.linspace(-2, 2, 9)[:, None], 1e-5
    features = HermiteFeatures(np.array([[k]]))
    slope = (features.matrix(z + step) - features.matrix(z - step)) / (2 * step)
    keys = features.derivative
    np.testing.assert_array_equal(keys.keys, [[k - 1]])
    below = np.sqrt(k) * regfeal.hermite(k - 1, z)
    np.testing.assert_allclose(keys.gradients(np.ones(1), z), below, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slope, below, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("d", "degree", "keep"), [(1, 5, 1.0), (2, 4, 1.0), (4, 4, 0.3)])
def test_gradients_equal_differences(d, degree, keep):
    function, indices, coefficients = random_function(d, degree, keep=keep)
    Z = np.random.default_rng(1).standard_normal((30, d))
    gradients = HermiteFeatures(indices).derivative.gradients(coefficients, Z)
    np.testing.assert_allclose(gradients, regfeal.gradient(function, Z), rtol=1e-6, atol=1e-6)


def test_keys_are_the_lowered_indices_once_each():
    _, indices, _ = random_function(3, 5, keep=0.5)
    keys = HermiteFeatures(indices).derivative
    lowered = {
        tuple(alpha - np.eye(3, dtype=int)[a])
        for alpha in indices
        for a in range(3)
        if alpha[a] > 0
    }
    assert sorted(map(tuple, keys.keys)) == sorted(lowered)
    assert len(keys.key) == np.count_nonzero(indices)
    shift = np.eye(3, dtype=int)[keys.direction]
    np.testing.assert_array_equal(keys.keys[keys.key] + shift, indices[keys.source])
    np.testing.assert_allclose(keys.root**2, indices[keys.source, keys.direction])


@pytest.mark.parametrize(("d", "degree", "keep"), [(1, 5, 1.0), (2, 4, 1.0), (3, 4, 0.4)])
def test_outer_product_equals_the_sum_and_the_quadrature(d, degree, keep):
    function, indices, coefficients = random_function(d, degree, keep=keep)
    keys = HermiteFeatures(indices).derivative
    M = keys.outer_product(coefficients[None], c_of(indices, geometric))
    np.testing.assert_allclose(M, regfeal.outer_product(function, geometric), rtol=1e-12)
    flat = keys.outer_product(coefficients[None], np.ones(len(indices)))
    by_quadrature = regfeal.outer_product_by_quadrature(function, n_nodes=degree + 2)
    np.testing.assert_allclose(flat, by_quadrature, rtol=0, atol=1e-8 * np.abs(flat).max())


def test_outer_product_of_several_targets_is_the_sum():
    function, indices, coefficients = random_function(3, 3)
    other = np.random.default_rng(5).standard_normal(len(indices))
    keys, c = HermiteFeatures(indices).derivative, c_of(indices, geometric)
    both = keys.outer_product(np.stack([coefficients, other]), c)
    second = dict(zip(function, other, strict=True))
    expected = regfeal.outer_product(function, geometric) + regfeal.outer_product(second, geometric)
    np.testing.assert_allclose(both, expected, rtol=1e-12)


def test_outer_product_turns_with_the_frame():
    # f(x) = g(R^T x): M_f = R M_g R^T (Lemma 2.3), with c of the degree only.
    function, indices, coefficients = random_function(2, 4, seed=3)
    R = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    turned = regfeal.expand(lambda X: regfeal.values(function, X @ R), 2, 4)
    X = np.random.default_rng(1).standard_normal((10, 2))
    np.testing.assert_allclose(regfeal.values(turned, X), regfeal.values(function, X @ R))
    c = c_of(indices, geometric)
    M_g = HermiteFeatures(indices).derivative.outer_product(coefficients[None], c)
    M_f = HermiteFeatures(np.array(list(turned))).derivative.outer_product(
        np.array(list(turned.values()))[None], c_of(list(turned), geometric)
    )
    np.testing.assert_allclose(M_f, R @ M_g @ R.T, rtol=0, atol=1e-11 * np.abs(M_g).max())
    assert np.abs(M_f - M_g).max() > 0.1 * np.abs(M_g).max()


def test_function_without_a_variable_has_no_row_for_it():
    indices = np.array([(2, 0, 1), (1, 0, 3), (0, 0, 2)])
    M = HermiteFeatures(indices).derivative.outer_product(np.ones((1, 3)), np.ones(3))
    np.testing.assert_array_equal(M[1], 0)
    assert np.all(np.diag(M)[[0, 2]] > 0)
    trace = np.sum(indices.sum(axis=1))
    assert np.trace(M) == pytest.approx(trace)


def test_threads_and_blocks_change_nothing(monkeypatch):
    _, indices, coefficients = random_function(3, 5)
    Z = np.random.default_rng(1).standard_normal((400, 3))
    before = Z.copy(), indices.copy(), coefficients.copy()
    whole = HermiteFeatures(indices, n_jobs=1)
    expected = whole.matrix(Z), whole.derivative.gradients(coefficients, Z)
    monkeypatch.setattr(hermite, "BLOCK_ENTRIES", 2000)
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    parts = HermiteFeatures(indices, n_jobs=3)
    assert len(parts.slices(len(Z))) > 3
    np.testing.assert_array_equal(parts.matrix(Z), expected[0])
    gradients = parts.derivative.gradients(coefficients, Z)
    np.testing.assert_allclose(gradients, expected[1], rtol=1e-12, atol=1e-13)
    for value, old in zip((Z, indices, coefficients), before, strict=True):
        np.testing.assert_array_equal(value, old)


def test_rows_of_any_memory_layout():
    Z = np.random.default_rng(1).standard_normal((3, 50)).T
    features = HermiteFeatures(enumerate_indices(3, 3))
    np.testing.assert_array_equal(features.matrix(Z), features.matrix(np.ascontiguousarray(Z)))
    np.testing.assert_array_equal(features.matrix(Z[::2]), features.matrix(Z)[::2])
