"""Implicit kernels: against double integrals, draws, distribution functions and differences."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels import implicit
from kernlens.kernels.implicit import RampKernel, SignKernel, StumpKernel
from reference import rkhs_weightings as oracle


def kernel_of(model):
    r = model.correlation
    if model.stumps:
        return StumpKernel(r, model.sigma / np.sqrt(1 + r))
    return (RampKernel if model.ramp else SignKernel)(r)


def paper_matrix(model, X, Z):
    """K_X of the paper: with the constant that the package leaves out."""
    factor = np.exp(model.log_unit) * (model.sigma**2 if model.ramp else 1.0)
    return factor * kernel_of(model).matrix(X, Z)


def kernels(r):
    return [SignKernel(r), RampKernel(r), StumpKernel(r, 0.8)]


def rows(n_inputs, m=6, seed=0):
    return np.random.default_rng(seed).normal(0, 1.3, (m, n_inputs))


def relative(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


def orthants(h, k, r):
    return np.array([[oracle.orthant(a, b, r) for b in k] for a in h])


@pytest.mark.parametrize("r", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("sigma", [1.0, 1.7])
@pytest.mark.parametrize("name", oracle.NAMES)
def test_double_integrals_in_one_dimension(name, sigma, r):
    model = oracle.with_correlation(name, 1, sigma, r)
    X, Z = np.array([[-1.3], [0.0], [0.4]]), np.array([[-0.2], [1.9]])
    expected = oracle.implicit_kernel(model, X, Z)
    assert relative(paper_matrix(model, X, Z), expected) < 1e-12


@pytest.mark.parametrize("r", [0.3, 0.6])
@pytest.mark.parametrize("name", oracle.NAMES)
def test_double_integrals_in_two_dimensions(name, r):
    model = oracle.with_correlation(name, 2, 1.2, r)
    X, Z = np.array([[-1.3, 0.4]]), np.array([[0.5, 0.9], [-1.0, -0.2]])
    expected = oracle.implicit_kernel(model, X, Z)
    assert relative(paper_matrix(model, X, Z), expected) < 1e-12


@pytest.mark.parametrize("name", oracle.NAMES)
def test_means_over_draws(name):
    model = oracle.with_correlation(name, 4, 1.0, 0.3)
    X = rows(4, 3)
    mean, error = oracle.sampled_kernel(model, X, X, 400_000, np.random.default_rng(1))
    actual = paper_matrix(model, X, X)
    assert np.all(np.abs(actual - mean) < 5 * error)
    assert np.diagonal(actual / error).min() > 20


@pytest.mark.parametrize("r", [0.05, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("n_inputs", [1, 3])
def test_matrices_are_symmetric_and_positive_semidefinite(n_inputs, r):
    X = rows(n_inputs, 40)
    for kernel in kernels(r):
        K = kernel.matrix(X, X)
        np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-14 * np.abs(K).max())
        assert np.linalg.eigvalsh(K)[0] > -1e-13 * np.trace(K)


@pytest.mark.parametrize("r", [0.05, 0.5, 0.93, 0.999])
def test_stumps_are_orthant_probabilities(r):
    h = np.array([-3.0, -0.7, 0.0, 1e-9, 0.4, 2.5, 7.0])
    expected = orthants(h, h, r)
    kernel = StumpKernel(r)
    matrix = kernel.matrix(h[:, None], h[:, None])
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(kernel._pairs(h[:, None], h), expected, rtol=0, atol=1e-12)
    # The scale divides, and columns are averaged.
    wide = np.column_stack([h, h[::-1]])
    other = StumpKernel(r, 0.5).matrix(0.5 * wide, 0.5 * wide)
    np.testing.assert_allclose(other, (expected + expected[::-1, ::-1]) / 2, rtol=0, atol=1e-12)


def test_columns_of_few_values_are_compared_value_by_value():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(0, 3, 60) - 1.0, rng.standard_normal(60)])
    Z = np.column_stack([rng.integers(0, 2, 50) - 0.5, rng.standard_normal(50)])
    kernel = implicit.StumpKernel(0.7, 0.9)
    expected = sum(kernel._pairs(X[:, [j]] / 0.9, Z[:, j] / 0.9) for j in range(2)) / 2
    np.testing.assert_allclose(kernel.matrix(X, Z), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("r", [0.05, 0.5, 0.9, 0.99])
def test_common_factor_and_owens_function_agree(r, monkeypatch):
    X = np.concatenate([rows(3, 20), [[0.0, -0.0, 1e-300], [12.0, -30.0, 1e5], [-38.2, 37, 39]]])
    dual = np.random.default_rng(2).standard_normal((2, len(X)))
    kernel = StumpKernel(r)
    assert len(kernel._points) <= implicit.MOST_POINTS
    by_factor = kernel.matrix(X, X), kernel.gradient(X, X, dual)
    monkeypatch.setattr(implicit, "MOST_POINTS", 0)
    by_owen = kernel.matrix(X, X), kernel.gradient(X, X, dual)
    for one, other in zip(by_factor, by_owen, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


def test_orthants_at_zero_have_closed_forms():
    for r in (0.3, 0.95, 0.9999):
        kernel = StumpKernel(r)
        value = kernel._pairs(np.zeros(1), np.zeros(1))
        np.testing.assert_allclose(value, 2 / np.pi * np.arcsin(r), rtol=1e-14)
        # Small arguments of any sign are close to it, even where their product underflows.
        for tiny in (1e-12, 1e-170, 1e-310):
            h, k = np.array([tiny, -tiny, tiny, -tiny]), np.array([tiny, -tiny, -tiny, 0.0])
            np.testing.assert_allclose(kernel._pairs(h, k), value[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("r", [0.3, 0.95, 1.0])
@pytest.mark.filterwarnings("error")
def test_far_rows_are_finite(r):
    X = np.array([[1e9, -1e9], [-1e9, 1e12], [0.0, 50.0], [1e-9, 1e-12]])
    expected = np.sign(X[:2]) @ np.sign(X[:2]).T / 2
    kernel = StumpKernel(r)
    np.testing.assert_allclose(kernel.matrix(X, X)[:2, :2], expected, rtol=0, atol=1e-14)
    for other in kernels(r):
        assert np.all(np.isfinite(other.matrix(X, X)))
        assert np.all(np.isfinite(other.gradient(X, X, np.ones((1, 4)))))


@pytest.mark.parametrize("n_inputs", [1, 3, 40])
@pytest.mark.parametrize("r", [0.05, 0.5, 0.95, 1.0])
def test_diagonal_is_that_of_the_matrix(r, n_inputs):
    X = rows(n_inputs, m=60)
    X[2] = 0.0
    for kernel in kernels(r):
        gap = kernel.diagonal(X) - np.diagonal(kernel.matrix(X, X))
        assert np.abs(gap).max() < 1e-13


def test_signs_of_parallel_rows_are_plus_and_minus_one():
    X = rows(5, m=60)
    matrix = SignKernel(1.0).matrix(np.vstack([X, 7.3 * X, -0.3 * X]), X)
    same, longer, opposite = np.split(matrix, 3)
    for part, value in ((same, 1.0), (longer, 1.0), (opposite, -1.0)):
        np.testing.assert_array_equal(np.diagonal(part), value)
        assert np.count_nonzero(np.abs(part) == 1.0) == len(X)


@pytest.mark.parametrize("r", [0.05, 0.5, 0.95, 1.0])
def test_gradients_are_differences(r):
    X, Z = rows(3, 5), rows(3, 8, seed=1)
    dual = np.random.default_rng(2).standard_normal((2, 8))
    for kernel in kernels(r):
        gradients = kernel.gradient(X, Z, dual)
        assert gradients.shape == (2, 5, 3)
        for j in range(3):
            step = np.zeros(3)
            step[j] = 1e-6
            sums = [dual @ kernel.matrix(Z, X + sign * step) for sign in (1, -1)]
            np.testing.assert_allclose(
                gradients[:, :, j], (sums[0] - sums[1]) / 2e-6, rtol=0, atol=3e-8
            )


@pytest.mark.parametrize("name", ["sign", "relu", "stumps"])
def test_full_correlation_is_the_kernel_of_kitchen_sinks(name):
    # E_w[phi(w, x) phi(w, z)]: angles between rows, and shares of thresholds between entries.
    model = oracle.Instantiation(name, 3, 1.4, 1.0)
    X = rows(3, 4)
    W = model.sample(400_000, np.random.default_rng(5))
    base = model.base(W, X)
    products = base[:, None, :] * base[None, :, :]
    mean, error = products.mean(axis=2), products.std(axis=2) / np.sqrt(len(W))
    kernel = {"sign": SignKernel(1.0), "relu": RampKernel(1.0), "stumps": StumpKernel(1.0, 1.4)}
    actual = kernel[name].matrix(X, X) * (1.4**2 if name == "relu" else 1.0)
    # The diagonal of signs has no variance.
    assert np.all(np.abs(actual - mean) < 5 * error + 3e-8)


def test_full_correlation_by_an_integral():
    # In one dimension, over the thresholds: 1 except between the entries.
    X = np.array([[-1.1], [0.0], [0.3], [2.0]])
    model = oracle.Instantiation("stumps", 1, 1.4, 1.4)
    expected = np.empty((4, 4))
    for i, (x,) in enumerate(X):
        for j, (z,) in enumerate(X):
            signed = 0.0
            for sign, kink in ((1, min(x, z)), (-1, max(x, z))):
                # sign(x - b) sign(z - b) = 1 + sign(min - b) - sign(max - b)
                b, logs = oracle._line(model, kink)
                signed += sign * (np.exp(logs) @ np.sign(kink - b))
            expected[i, j] = 1.0 + signed
    np.testing.assert_allclose(StumpKernel(1.0, 1.4).matrix(X, X), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["sign", "ramp", "stumps"])
def test_full_correlation_is_a_limit(name):
    X = rows(3)
    place = ["sign", "ramp", "stumps"].index(name)
    limit = kernels(1.0)[place].matrix(X, X)
    gaps = [np.abs(kernels(1 - d)[place].matrix(X, X) - limit).max() for d in (1e-4, 1e-8)]
    assert gaps[1] < 2e-4
    assert gaps[1] < gaps[0] / 50


def test_small_correlation_is_linear_for_signs():
    X = rows(3)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    r = 1e-4
    K = SignKernel(r).matrix(X, X)
    np.testing.assert_allclose(K, 2 / np.pi * r * (unit @ unit.T), rtol=1e-8, atol=1e-18)


@pytest.mark.parametrize("pair", [("sign", "exp_sign"), ("relu", "exp_relu")])
def test_both_kernels_on_the_weights_give_one_implicit_kernel(pair):
    X, Z = np.array([[-1.3, 0.4]]), np.array([[0.5, 0.9], [-1.0, -0.2]])
    matrices = []
    for name in pair:
        model = oracle.with_correlation(name, 2, 1.0, 0.5)
        matrices.append(oracle.implicit_kernel(model, X, Z) / np.exp(model.log_unit))
    assert relative(matrices[0], matrices[1]) < 1e-12


@pytest.mark.filterwarnings("error")
def test_rows_of_zeros():
    X = rows(3)
    X[1] = 0.0
    for kernel in (SignKernel(0.5), RampKernel(0.5), SignKernel(1.0), RampKernel(1.0)):
        K = kernel.matrix(X, X)
        np.testing.assert_array_equal(K[1], 0.0)
        np.testing.assert_array_equal(K[:, 1], 0.0)
        assert kernel.diagonal(X)[1] == 0.0
        gradients = kernel.gradient(X, X, np.ones((1, len(X))))
        assert np.all(np.isfinite(gradients))
        if isinstance(kernel, SignKernel):
            np.testing.assert_array_equal(gradients[0, 1], 0.0)


def test_rotations_and_lengths():
    X, Z = rows(4), rows(4, 5, seed=3)
    Q = np.linalg.qr(rows(4, 4, seed=4))[0]
    for kernel in (SignKernel(0.7), RampKernel(0.7)):
        K = kernel.matrix(X, Z)
        np.testing.assert_allclose(kernel.matrix(X @ Q, Z @ Q), K, rtol=1e-12, atol=1e-14)
        power = 1.0 if isinstance(kernel, RampKernel) else 0.0
        scaled = kernel.matrix(3.0 * X, 5.0 * Z)
        np.testing.assert_allclose(scaled, 15.0**power * K, rtol=1e-12, atol=1e-14)
    # Stumps depend on the axes.
    stumps = StumpKernel(0.7)
    assert np.abs(stumps.matrix(X @ Q, Z @ Q) - stumps.matrix(X, Z)).max() > 0.05


@pytest.mark.parametrize("r", [0.5, 0.95])
def test_inputs_are_left_alone(r):
    X, Z, dual = rows(3), rows(3, 4, seed=1), rows(4, 2, seed=2)
    kept = X.copy(), Z.copy(), dual.copy()
    for kernel in kernels(r):
        kernel.matrix(X, Z), kernel.diagonal(X), kernel.gradient(X, Z, dual)
    for before, after in zip(kept, (X, Z, dual), strict=True):
        np.testing.assert_array_equal(before, after)
