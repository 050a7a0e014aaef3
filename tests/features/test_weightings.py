"""Instantiations of RKHS weightings: closed forms against integrals, draws, and their limit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens.features.weightings import CustomWeighting, RidgeWeighting, StumpWeighting
from kernlens.kernels.implicit import RampKernel, SignKernel, StumpKernel
from reference import rkhs_weightings as oracle

SIGMAS = (1.0, 1.7)
CORRELATIONS = (0.1, 0.5, 0.9)


def weighting(model):
    r = model.correlation
    if model.stumps:
        return StumpWeighting(model.n, r, model.sigma)
    return RidgeWeighting(model.ramp, model.exponential, model.n, r)


def in_units(model, W):
    """Weights of the package: in units of sigma, for stumps as they are."""
    return W if model.stumps else W / model.sigma


def coefficient_logs(model, W):
    """Logarithms of what the coefficients of the exponential kernel are divided by."""
    if model.exponential:
        return -np.sum(W**2, axis=1) / (4 * model.gamma**2)
    return np.zeros(len(W))


def paper_features(model, W, X):
    """E_w[K(w_t, w) phi(w, x)] of the paper from what the package computes."""
    mapped, logs = weighting(model).expectation(in_units(model, W))
    logs = logs + 0.5 * weighting(model).log_unit - coefficient_logs(model, W)
    return mapped.evaluate(X) * np.exp(logs) * (model.sigma if model.ramp else 1.0)


def implicit(model):
    r = model.correlation
    if model.stumps:
        return StumpKernel(r, model.sigma / np.sqrt(1 + r))
    return (RampKernel if model.ramp else SignKernel)(r)


def weights(model, T=6, seed=0):
    return model.sample(T, np.random.default_rng(seed))


def rows(n_inputs, m=5, seed=1):
    return np.random.default_rng(seed).normal(0, 1.5, (m, n_inputs))


def relative(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("r", CORRELATIONS)
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", oracle.NAMES)
def test_features_are_the_integrals(name, n, sigma, r):
    model = oracle.with_correlation(name, n, sigma, r)
    assert model.correlation == pytest.approx(r, rel=1e-14)
    W, X = weights(model), rows(n)
    X[2] = 0.0
    expected = oracle.features(model, W, X)
    assert relative(paper_features(model, W, X), expected) < 1e-12
    assert relative(oracle.table_features(model, W, X), expected) < 1e-12
    if not model.stumps:
        np.testing.assert_array_equal(paper_features(model, W, X)[2], 0.0)


@pytest.mark.parametrize("name", oracle.NAMES)
def test_features_are_means_over_draws(name):
    model = oracle.with_correlation(name, 5, 1.3, 0.3)
    W, X = weights(model, 3), rows(5, 4)
    mean, error = oracle.sampled_features(model, W, X, 200_000, np.random.default_rng(2))
    actual = paper_features(model, W, X)
    assert np.all(np.abs(actual - mean) < 5 * error)
    # The bound says something: features are many errors away from 0.
    assert np.abs(actual / error).max() > 50
    assert relative(actual, oracle.table_features(model, W, X)) < 1e-13


@pytest.mark.parametrize("name", oracle.NAMES)
@pytest.mark.parametrize("sigma", SIGMAS)
def test_gram_matrix_is_the_kernel(name, sigma):
    model = oracle.with_correlation(name, 3, sigma, 0.4)
    W, U = weights(model, 7), weights(model, 4, seed=3)
    logs = [coefficient_logs(model, weights) for weights in (W, U)]
    rescaled = model.kernel(W, U) * np.exp(logs[0][:, None] + logs[1])
    actual = weighting(model).gram(in_units(model, W), in_units(model, U))
    np.testing.assert_allclose(actual, rescaled, rtol=1e-13, atol=1e-15)
    own = weighting(model).gram(in_units(model, W), in_units(model, W))
    np.testing.assert_allclose(np.diagonal(own), 1.0, rtol=1e-15)


def test_rescaled_exponential_kernel_is_the_gaussian_one():
    # exp(<u, w> / (2 g^2)) exp(-(|u|^2 + |w|^2) / (4 g^2)) = exp(-|u - w|^2 / (4 g^2))
    model = oracle.with_correlation("exp_sign", 3, 1.0, 0.8)
    gaussian = oracle.Instantiation("sign", 3, 1.0, np.sqrt(2) * model.gamma)
    W = weights(model, 6)
    np.testing.assert_allclose(
        weighting(model).gram(W, W), gaussian.kernel(W, W), rtol=1e-13, atol=1e-15
    )


@pytest.mark.parametrize("r", CORRELATIONS)
@pytest.mark.parametrize("name", oracle.NAMES)
def test_square_gram_is_the_integral(name, r):
    model = oracle.with_correlation(name, 2, 1.3, r)
    W = weights(model)
    logs = coefficient_logs(model, W)
    expected = oracle.square_gram(model, W) * np.exp(logs[:, None] + logs)
    actual = np.exp(weighting(model).log_square_gram(in_units(model, W)) + model.log_unit)
    assert relative(actual, expected) < 1e-12
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("name", oracle.NAMES)
def test_square_gram_is_a_mean_over_draws(name):
    model = oracle.with_correlation(name, 4, 0.8, 0.3)
    W = weights(model, 4)
    mean, error = oracle.sampled_square_gram(model, W, 200_000, np.random.default_rng(2))
    logs = coefficient_logs(model, W)
    logs = model.log_unit - logs[:, None] - logs
    actual = np.exp(weighting(model).log_square_gram(in_units(model, W)) + logs)
    assert np.all(np.abs(actual - mean) <= 5 * error)
    assert np.min(np.diagonal(actual) / np.diagonal(error)) > 50


@pytest.mark.parametrize("r", CORRELATIONS)
@pytest.mark.parametrize("name", oracle.NAMES)
def test_unit_is_the_mass_of_the_kernel(name, r):
    model = oracle.with_correlation(name, 2, 1.0, r)
    assert weighting(model).log_unit == pytest.approx(model.log_unit, rel=1e-13)
    # E_u E_w K: the square Gram matrix of a kernel is E_w of a product, the mass that of K itself.
    line = oracle.with_correlation("exp_sign" if model.exponential else "sign", 1, 1.0, r)
    w, logs = oracle._line(line)
    one = np.exp(oracle._log_kernel(line, w, w) + logs[:, None] + logs).sum()
    mass = one / model.n if model.stumps else one**model.n
    assert model.log_mass == pytest.approx(np.log(mass), abs=1e-12)
    if not model.stumps:
        variance = (np.exp(oracle._log_kernel(line, w, w) + logs[:, None] + logs) @ w**0) @ w**2
        assert model.variance == pytest.approx(variance / one, rel=1e-12)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("name", oracle.NAMES)
def test_many_features_approach_the_implicit_kernel_from_below(name, n):
    model = oracle.with_correlation(name, n, 1.0, 0.5)
    X = rows(n, 12)
    W = in_units(model, weights(model, 900))
    limit = implicit(model).matrix(X, X)
    gaps = []
    for T in (5, 30, 150, 900):
        mapped, logs = weighting(model).expectation(W[:T])
        P = mapped.evaluate(X) * np.exp(logs)
        G = weighting(model).gram(W[:T], W[:T])
        values, vectors = np.linalg.eigh(G)
        kept = values > 1e-12 * values[-1]
        white = (P @ vectors[:, kept]) / np.sqrt(values[kept])
        missing = np.linalg.eigvalsh(limit - white @ white.T)
        assert missing[0] > -1e-9 * np.trace(limit)
        gaps.append(missing[-1] / np.linalg.norm(limit, 2))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 1e-2
    assert gaps[-1] < 2e-3


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("ramp", [False, True])
def test_the_base_predictors(ramp, exponential):
    name = ("exp_" if exponential else "") + ("relu" if ramp else "sign")
    model = oracle.with_correlation(name, 3, 1.0, 0.4)
    W, X = weights(model, 9), rows(3)
    np.testing.assert_allclose(
        weighting(model).base(W).evaluate(X), model.base(W, X), rtol=1e-13, atol=1e-15
    )


def test_the_stumps():
    model = oracle.with_correlation("stumps", 3, 1.6, 0.4)
    W, X = weights(model, 20), rows(3)
    X[0, int(W[0, 0])] = W[0, 1]
    values = weighting(model).base(W).evaluate(X)
    np.testing.assert_array_equal(values, model.base(W, X))
    assert values[0, 0] == 0.0


@pytest.mark.parametrize("name", oracle.NAMES)
def test_draws_follow_the_law(name):
    model = oracle.with_correlation(name, 3, 1.6, 0.4)
    W = weighting(model).sample(20_000, np.random.default_rng(0))
    again = weighting(model).sample(20_000, np.random.default_rng(0))
    np.testing.assert_array_equal(W, again)
    if model.stumps:
        assert W.shape == (20_000, 2)
        shares = np.bincount(W[:, 0].astype(int), minlength=3) / len(W)
        np.testing.assert_allclose(shares, 1 / 3, atol=0.02)
        W, sigma = W[:, 1:], 1.6
    else:
        assert W.shape == (20_000, 3)
        sigma = 1.0
    np.testing.assert_allclose(W.mean(axis=0), 0.0, atol=5 * sigma / np.sqrt(20_000))
    np.testing.assert_allclose(W.std(axis=0), sigma, rtol=0.03)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("r", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("name", oracle.NAMES)
def test_many_dimensions(name, r):
    model = oracle.with_correlation(name, 784, 1.0, r)
    W, X = weights(model, 30), rows(784, 6)
    weights_of = weighting(model)
    mapped, logs = weights_of.expectation(W)
    P, G, Q = mapped.evaluate(X), weights_of.gram(W, W), weights_of.log_square_gram(W)
    assert np.all(np.isfinite(logs)) and np.all(np.isfinite(P)) and np.all(np.isfinite(G))
    assert np.isfinite(weights_of.log_unit)
    assert np.all(np.isfinite(Q[W[:, :1] == W[:, 0]] if model.stumps else Q))
    np.testing.assert_array_equal(np.isneginf(Q), (W[:, :1] != W[:, 0]) & model.stumps)
    # The logarithms of the prefactors in the paper's parameters.
    s, g, n = model.sigma, model.gamma, model.n
    size = np.sum(W**2, axis=1)
    if model.stumps:
        paper = -0.5 * np.log1p(s**2 / g**2) - np.log(n) - W[:, 1] ** 2 / (2 * (s**2 + g**2))
    elif model.exponential:
        paper = s**2 * size / (8 * g**4) - size / (4 * g**2)
    else:
        paper = -n / 2 * np.log1p(s**2 / g**2) - size / (2 * (s**2 + g**2))
        paper += np.log(s * g / np.sqrt(s**2 + g**2)) if model.ramp else 0.0
    np.testing.assert_allclose(logs, paper - model.log_unit / 2, rtol=1e-11)


@pytest.mark.parametrize("name", oracle.NAMES)
def test_inputs_are_left_alone(name):
    model = oracle.with_correlation(name, 3, 1.2, 0.4)
    W, X = weights(model, 5), rows(3)
    kept = W.copy(), X.copy()
    rule = weighting(model)
    mapped, _ = rule.expectation(W)
    mapped.evaluate(X), rule.base(W).evaluate(X), rule.gram(W, W), rule.log_square_gram(W)
    np.testing.assert_array_equal(W, kept[0])
    np.testing.assert_array_equal(X, kept[1])


# An instantiation of one's own ---------------------------------------------------------------


def own_weighting(model, **options):
    return CustomWeighting(
        base_predictor=lambda X, W: model.base(W, X),
        kernel=model.kernel,
        sampler=lambda n_weights, n_inputs, rng: model.sample(n_weights, rng),
        **options,
    )


@pytest.mark.parametrize("name", ["sign", "exp_sign", "relu", "exp_relu"])
def test_own_instantiation_with_a_quadrature_rule_is_the_closed_form(name):
    model = oracle.with_correlation(name, 1, 1.3, 0.5)
    w, logs = oracle._line(model)
    rule = own_weighting(model, nodes=w[:, None], node_weights=np.exp(logs))
    prepared = rule.prepared(1, np.random.default_rng(0))
    W, X = weights(model), rows(1)
    mapped, log_factors = prepared.expectation(W)
    np.testing.assert_array_equal(log_factors, 0.0)
    assert prepared.log_unit == 0.0
    assert relative(mapped.evaluate(X), oracle.table_features(model, W, X)) < 1e-12
    np.testing.assert_allclose(
        np.exp(prepared.log_square_gram(W)), oracle.square_gram(model, W), rtol=1e-12
    )
    np.testing.assert_array_equal(prepared.gram(W, W), model.kernel(W, W))
    np.testing.assert_array_equal(prepared.base(W).evaluate(X), model.base(W, X))
    kept = np.array([4, 1])
    np.testing.assert_allclose(
        mapped.take(kept).evaluate(X), mapped.evaluate(X)[:, kept], rtol=1e-14
    )


@pytest.mark.parametrize("name", oracle.NAMES)
def test_own_instantiation_with_drawn_nodes_is_near_the_closed_form(name):
    model = oracle.with_correlation(name, 4, 1.0, 0.3)
    W, X = weights(model, 4), rows(4, 6)
    prepared = own_weighting(model, n_nodes=50_000).prepared(4, np.random.default_rng(3))
    assert prepared.nodes.shape[0] == 50_000
    mapped, _ = prepared.expectation(W)
    exact = oracle.table_features(model, W, X)
    _, error = oracle.sampled_features(model, W, X, 50_000, np.random.default_rng(4))
    assert np.all(np.abs(mapped.evaluate(X) - exact) < 5 * error)
    assert np.abs(mapped.evaluate(X) - exact).max() > 0
    drawn = prepared.sample(7, np.random.default_rng(5))
    np.testing.assert_array_equal(drawn, model.sample(7, np.random.default_rng(5)))


def test_gradients_of_an_own_instantiation():
    rng = np.random.default_rng(0)
    nodes, W, X = rng.standard_normal((20, 3)), rng.standard_normal((5, 3)), rows(3, 4)
    kept = X.copy()
    model = oracle.with_correlation("sign", 3, 1.0, 0.4)
    rule = CustomWeighting(
        lambda X, W: np.tanh(X @ W.T), model.kernel, lambda T, n, rng: rng.standard_normal((T, n))
    )
    rule = dataclasses.replace(rule, nodes=nodes)
    mapped, _ = rule.prepared(3, rng).expectation(W)
    coefficients = rng.standard_normal((2, 5))
    for c, gradient in zip(coefficients, mapped.gradient(X, coefficients), strict=True):
        mixed = model.kernel(nodes, W) @ c / 20
        expected = ((1 - np.tanh(X @ nodes.T) ** 2) * mixed) @ nodes
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(X, kept)


@pytest.mark.filterwarnings("error")
def test_norm_in_l2_needs_a_kernel_without_negative_values():
    rng = np.random.default_rng(0)
    rule = CustomWeighting(
        lambda X, W: np.sign(X @ W.T),
        lambda W, U: W @ U.T,
        lambda T, n, rng: rng.standard_normal((T, n)),
        n_nodes=10,
    )
    with pytest.raises(ValueError, match="penalty='l2'"):
        rule.prepared(2, rng).log_square_gram(rng.standard_normal((3, 2)))
    # A product that is exactly zero has the logarithm -inf, without a warning.
    rule = dataclasses.replace(rule, kernel=lambda W, U: (W[:, :1] * U[:, 0] > 0).astype(float))
    Q = rule.prepared(1, rng).log_square_gram(np.array([[1.0], [-1.0]]))
    assert np.isneginf(Q[0, 1]) and np.isfinite(Q[0, 0])
