"""RegFeaLRegressor against sums over multi-indices, closed kernels and Algorithm 1 line by line."""

from __future__ import annotations

import numpy as np
import pytest

from families import inputs_of, targets_of
from kernlens import BestFirst, Enumerated, RegFeaLRegressor, Reweighting, UpToDegree
from kernlens.methods.regfeal.descent import SMOOTHING
from kernlens.methods.regfeal.plan import LAMBDA
from reference import regfeal

BASE = {
    "alpha": 0.05,
    "rho": 0.1,
    "r": 1.0,
    "refit": None,
    "truncate": None,
    "max_iter": 3,
    "tol": 0.0,
    "n_jobs": 1,
    "random_state": 0,
}
both_structures = pytest.mark.parametrize("structure", ["features", "variables"])


def sample(d=3, n=45, seed=0):
    """Bounded columns of different units, targets far from zero, weights, rows to predict."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(-1.5, 1.5, (n + 12, d))
    y = 7.0 + 20.0 * (np.sin(U[:, 0] + U[:, -1]) + 0.3 * U[:, 0] ** 2) + rng.standard_normal(n + 12)
    X = U * np.geomspace(0.1, 10.0, d) + np.arange(d)
    weights = rng.uniform(0.3, 2.0, n)
    # A fit rounds weights over the largest to ten digits, which leaves these as they are.
    weights = np.round(weights / weights.max() * 2.0**20) / 2.0**20
    return X[:n], y[:n], weights, X[n:]


def fit(X, y, weights=None, **options):
    return RegFeaLRegressor(**{**BASE, **options}).fit(X, y, sample_weight=weights)


def units(values, weights):
    mean = weights @ values / weights.sum()
    return mean, np.sqrt(weights @ (values - mean) ** 2 / weights.sum())


def seen(model, X, y, weights, fresh):
    """Rows and targets as the learner saw them, and rows to predict, which are not rounded."""
    (mean, std), (low, high) = units(X, weights), units(y, weights)
    Z, targets = inputs_of(model, X), targets_of(model, y, weights)[0]
    # What is rounded are the columns and targets in their own standard deviations.
    np.testing.assert_allclose(Z, ((X - mean) / std)[:, model.inputs_], atol=1e-7)
    np.testing.assert_allclose(targets, (y - low) / high, atol=1e-7)
    return Z, targets, ((fresh - mean) / std)[:, model.inputs_]


def penalties(model, d):
    """The paper's lambda and mu."""
    unit = d ** ((2 - model.r) / model.r)
    return LAMBDA / unit, model.alpha / unit


def kernel_ridge(K, y, weights):
    """Dual coefficients, constant and minimum of half the squared loss and half the square norm."""
    p = weights / weights.sum()
    n = len(y)
    A = np.block([[K + np.diag(1 / p), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(A, np.append(y, 0.0))
    a, c = solution[:-1], solution[-1]
    return a, c, 0.5 * p @ (y - K @ a - c) ** 2 + 0.5 * a @ K @ a


@pytest.mark.parametrize("alpha", [0.001, 0.1])
@pytest.mark.parametrize("rho", [0.1, 0.6])
def test_without_structure_it_is_kernel_ridge_with_the_mehler_kernel(alpha, rho):
    X, y, weights, fresh = sample()
    model = fit(X, y, weights, structure="none", alpha=alpha, rho=rho)
    low, high = units(y, weights)
    Z, targets, others = seen(model, X, y, weights, fresh)
    a, c, value = kernel_ridge(regfeal.mehler(Z, Z, rho) / alpha, targets, weights)
    expected = regfeal.mehler(others, Z, rho) / alpha @ a + c
    np.testing.assert_allclose(model.predict(fresh), low + high * expected, rtol=1e-8)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert model.n_directions_ == 3
    np.testing.assert_allclose(model.shares_, 1 / 3)


@both_structures
@pytest.mark.parametrize("r", [0.33, 1.0, 1.5])
def test_prediction_is_the_sum_over_all_polynomials(structure, r):
    X, y, weights, fresh = sample(n=30)
    model = fit(X, y, weights, structure=structure, r=r)
    low, high = units(y, weights)
    inputs, targets, new = seen(model, X, y, weights, fresh)
    Z, others = inputs @ model.rotation_, new @ model.rotation_
    lam, mu = penalties(model, 3)
    parts = (model.eta_, lam, mu, 0.1, 14)
    a, c, value = kernel_ridge(regfeal.kernel(Z, Z, *parts), targets, weights)
    expected = low + high * (regfeal.kernel(others, Z, *parts) @ a + c)
    # The quadrature of the kernel has a relative error of 1e-7; predictions can be near zero.
    np.testing.assert_allclose(model.predict(fresh), expected, rtol=0, atol=1e-6 * high)
    np.testing.assert_allclose(model.intercept_, c, atol=1e-6)
    if r > 0.9:
        # For small r the smoothing of the weights adds to the value.
        assert model.objective_ == pytest.approx(value, rel=1e-5)


@both_structures
@pytest.mark.parametrize("max_degree", [1, 3])
def test_prediction_is_ridge_regression_on_explicit_polynomials(structure, max_degree):
    X, y, weights, fresh = sample()
    model = fit(X, y, weights, structure=structure, basis=UpToDegree(max_degree))
    low, high = units(y, weights)
    inputs, targets, new = seen(model, X, y, weights, fresh)
    Z, others = inputs @ model.rotation_, new @ model.rotation_
    indices = [tuple(int(k) for k in alpha) for alpha in model.indices_]
    k = len(model.eta_)
    assert sorted(indices) == sorted(regfeal.all_indices(k, max_degree))
    lam, mu = penalties(model, 3)
    w = np.array([regfeal.weight(alpha, model.eta_, lam, mu, lambda k: 1.0) for alpha in indices])
    b, c, _ = regfeal.ridge(regfeal.design(indices, Z), w, targets, weights)
    np.testing.assert_allclose(model.coef_[0], b, rtol=1e-6, atol=1e-9)
    expected = low + high * (regfeal.design(indices, others) @ b + c)
    np.testing.assert_allclose(model.predict(fresh), expected, rtol=1e-8)
    assert model.max_degree_ == max_degree
    assert model.rho_ is None


def test_degree_one_is_affine():
    X, y, weights, fresh = sample()
    model = fit(X, y, weights, basis=UpToDegree(1))
    rows = np.column_stack([X, np.ones(len(X))])
    line = np.linalg.lstsq(rows, model.predict(X), rcond=None)[0]
    expected = np.column_stack([fresh, np.ones(len(fresh))]) @ line
    np.testing.assert_allclose(model.predict(fresh), expected, rtol=1e-9)


def algorithm_1(Z, y, weights, model, degree, n_steps, rotate):
    """Values of J along the paper's Algorithm 1, from the directions of a plain fit."""
    d = Z.shape[1]
    r, (lam, mu) = model.r, penalties(model, d)
    indices = regfeal.all_indices(d, degree)

    def solve(R, shares):
        eta = shares ** ((2 - r) / r)
        w = np.array([regfeal.weight(alpha, eta, lam, mu, lambda k: 1.0) for alpha in indices])
        b, _, value = regfeal.ridge(regfeal.design(indices, Z @ R), w, y, weights)
        M = regfeal.outer_product(dict(zip(indices, b, strict=True)), lambda k: 1.0)
        return value, M, np.sum(1 / eta)

    def reweighted(R, M, eps):
        D, U = np.linalg.eigh(M) if rotate else (np.diag(M), np.eye(d))
        powers = (D + eps) ** (r / 2)
        return R @ U, powers / powers.sum()

    R, shares, eps, values = np.eye(d), np.full(d, 1 / d), 0.0, []
    if rotate:
        R, shares = reweighted(R, solve(R, shares)[1], 0.0)
    for _ in range(n_steps + 1):
        value, M, inverses = solve(R, shares)
        values.append(value + 0.5 * mu * eps * inverses)
        eps = eps or SMOOTHING * np.trace(M) / d
        R, shares = reweighted(R, M, eps)
    return values


@both_structures
@pytest.mark.parametrize("r", [0.5, 1.0])
def test_without_acceleration_it_is_algorithm_1(structure, r):
    X, y, weights, fresh = sample()
    options = {"structure": structure, "basis": UpToDegree(3), "r": r, "max_iter": 6}
    model = fit(X, y, weights, descent=Reweighting(accelerate=False), **options)
    Z, targets, _ = seen(model, X, y, weights, fresh)
    rotate = structure == "features"
    expected = algorithm_1(Z, targets, weights, model, 3, 6, rotate)
    np.testing.assert_allclose(model.objective_history_, expected, rtol=1e-8)
    # With it, as many reweightings go further.
    assert fit(X, y, weights, **options).objective_ < model.objective_


PLAIN = {"descent": Reweighting(accelerate=False), "n_jobs": 1}


@both_structures
def test_many_enumerated_indices_are_as_good_as_all(structure):
    X, y, weights, fresh = sample(d=2)
    exact = fit(X, y, weights, structure=structure, basis="exact", **PLAIN)
    listed = fit(X, y, weights, structure=structure, basis=Enumerated(150), **PLAIN)
    assert listed.indices_.sum(axis=1).max() > 10
    np.testing.assert_allclose(listed.predict(fresh), exact.predict(fresh), rtol=1e-5)
    np.testing.assert_allclose(listed.objective_history_, exact.objective_history_, rtol=1e-5)
    np.testing.assert_allclose(listed.shares_, exact.shares_, rtol=1e-4)


def test_the_best_indices_approach_all_of_them():
    X, y, weights, fresh = sample(d=2)
    options = {"rho": 0.3, **PLAIN}
    exact = fit(X, y, weights, basis="exact", **options).predict(fresh)
    errors = []
    for n_indices in (2, 8, 30, 150):
        model = fit(X, y, weights, basis=BestFirst(n_indices), **options)
        # Two polynomials are of one direction; rounding says whether the other one is dropped.
        n_followed = len(model.shares_) if n_indices == 2 else 2
        assert model.indices_.shape == (n_indices, n_followed)
        errors.append(np.linalg.norm(model.predict(fresh) - exact) / np.linalg.norm(exact))
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-4 < 0.01 < errors[0]


def test_indices_chosen_automatically():
    X, y, _, fresh = sample(d=2)
    assert not hasattr(fit(X, y), "indices_")
    np.testing.assert_array_equal(fit(X, y).predict(fresh), fit(X, y, basis="exact").predict(fresh))
    few = fit(X, y, basis=UpToDegree(4, 14))
    assert sorted(map(tuple, few.indices_)) == sorted(regfeal.all_indices(few.indices_.shape[1], 4))
    many = fit(X, y, basis=UpToDegree(4, 13))
    assert len(many.indices_) <= 13
    best = fit(X, y, basis=BestFirst(13, max_degree=4))
    np.testing.assert_array_equal(many.predict(fresh), best.predict(fresh))
