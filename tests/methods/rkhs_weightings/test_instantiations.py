"""The five instantiations by name: their constants and the kernel as a function."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

from families import inputs_of
from kernlens import PaperWidth, RKHSWeightingRegressor, implicit_kernel
from kernlens.features.random_maps import StumpMap
from kernlens.kernels.implicit import StumpKernel
from kernlens.methods.rkhs_weightings.instantiations import (
    INSTANTIATIONS,
    Instantiation,
    correlation_of,
)
from reference import rkhs_weightings as reference


def rows(n=12, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("name", INSTANTIATIONS)
@pytest.mark.parametrize("correlation", [0.3, 1])
def test_kernel_function_is_symmetric_and_takes_single_rows(name, correlation):
    X, Y = rows(), rows(5, seed=1)
    kernel = partial(implicit_kernel, instantiation=name, correlation=correlation, sigma=1.3)
    matrix = kernel(X, Y)
    assert matrix.shape == (12, 5)
    np.testing.assert_allclose(matrix, kernel(Y, X).T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(kernel(X), kernel(X, X), rtol=0, atol=0)
    assert kernel(X[3], Y[2]) == pytest.approx(matrix[3, 2], abs=1e-14)
    assert isinstance(kernel(X[3], Y[2]), float)


def test_kernel_function_in_scikit_learn():
    X = rows(60)
    y = np.abs(X[:, 0])
    kernel = partial(implicit_kernel, instantiation="relu", correlation=0.8)
    by_pairs = KernelRidge(kernel=kernel, alpha=0.1).fit(X, y).predict(X)
    by_matrix = KernelRidge(kernel="precomputed", alpha=0.1).fit(kernel(X), y).predict(kernel(X))
    np.testing.assert_allclose(by_pairs, by_matrix, rtol=0, atol=1e-10)
    assert SVR(kernel=kernel).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"instantiation": "tanh"}, "instantiation must be one of"),
        ({"correlation": 0.0}, "correlation must be a number above 0 and below 1, or 1"),
        ({"correlation": 1.5}, "correlation must be"),
        ({"sigma": -1.0}, "sigma must be"),
        ({"Y": np.zeros((3, 2))}, "X and Y must have the same columns"),
    ],
)
def test_kernel_function_refuses(options, match):
    with pytest.raises(ValueError, match=match):
        implicit_kernel(rows(), **options)


@pytest.mark.parametrize("name", INSTANTIATIONS)
def test_constants_are_those_of_the_paper_by_monte_carlo(name):
    sigma, gamma, n = 0.8, 1.3, 2
    X = rows(40, n)
    options = {"alpha": 1e-2, "bias": 0.0, "correlation": PaperWidth(gamma=gamma, sigma=sigma)}
    model = RKHSWeightingRegressor(
        instantiation=name, solver="exact", standardize=True, **options
    ).fit(X, X[:, 0] + X[:, 1])
    found = model.operator_constants()
    inputs = inputs_of(model, X)
    longest = inputs[[np.argmax(np.sum(inputs**2, axis=1))]]
    rng = np.random.default_rng(0)
    made = reference.Instantiation(name, n, sigma, gamma)
    W = made.sample(400_000, rng)
    base = made.base(W, longest)[0]
    own = np.ones(len(W))
    if made.exponential:
        own = np.exp(np.sum(W**2, axis=1) / (2 * gamma**2))
    few = [made.kernel(W[[k]], W[[k]])[0, 0] for k in range(5)]
    np.testing.assert_allclose(own[:5], few, rtol=1e-12)
    tau, kappa = np.mean(base**2) ** 0.5, np.mean(own * base**2) ** 0.5
    assert found["tau"] == pytest.approx(tau, rel=0.02)
    assert found["kappa"] == pytest.approx(kappa, rel=0.05)
    assert found["theta"] <= found["kappa"]
    if name != "stumps":
        # The supremum is reached at the longest row.
        theta = reference.implicit_kernel(made, longest, longest)[0, 0] ** 0.5
        assert found["theta"] == pytest.approx(theta, rel=1e-9)


@pytest.mark.parametrize("n", [1, 10, 784])
def test_theta_and_kappa_of_equations_67_and_68(n):
    sigma, theta, kappa = 0.7, 0.3, 4.0
    gamma = np.sqrt(2 * sigma**2 / (theta ** (-4 / n) - 1))
    for name in ("sign", "relu"):
        r = correlation_of(name, n, sigma, None, theta, None)
        assert r == pytest.approx(sigma**2 / (sigma**2 + gamma**2), rel=1e-9)
        assert r == pytest.approx(correlation_of(name, n, sigma, gamma, None, None), rel=1e-9)
    gamma = np.sqrt(sigma**2 / (1 - kappa ** (-4 / n)))
    for name in ("exp_sign", "exp_relu"):
        r = correlation_of(name, n, sigma, None, None, kappa)
        assert r == pytest.approx(sigma**2 / (2 * gamma**2), rel=1e-9)


def test_functions_of_single_columns_add_up():
    X, Z = rows(9), rows(7, seed=2)
    Z[:, 1] = np.round(Z[:, 1])
    X[:, 1] = np.round(X[:, 1])
    dual = np.random.default_rng(3).standard_normal((2, 7))
    for r in (0.4, 0.9995, 1.0):
        kernel = StumpKernel(r, 0.8)
        parts = kernel.column_functions(X, Z, dual)
        np.testing.assert_allclose(
            parts.sum(axis=2), dual @ kernel.matrix(Z, X), rtol=0, atol=1e-12
        )
        moved = X.copy()
        moved[:, 0] += 1.0
        other = kernel.column_functions(moved, Z, dual)
        np.testing.assert_allclose(other[:, :, 1:], parts[:, :, 1:], rtol=0, atol=1e-13)
    weighting = Instantiation("stumps", 3, 0.4).weighting()
    features = weighting.expectation(weighting.sample(20, np.random.default_rng(0)))[0]
    assert isinstance(features, StumpMap)
    c = np.random.default_rng(4).standard_normal((2, 20))
    parts = features.column_functions(X, c)
    np.testing.assert_allclose(parts.sum(axis=2), c @ features.evaluate(X).T, atol=1e-13)
