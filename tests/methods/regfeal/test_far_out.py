"""Rows far out, many columns, and powers that vanish: a finite model, or one sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens import (
    BestFirst,
    Enumerated,
    GroupSampling,
    RegFeaLClassifier,
    RegFeaLRegressor,
    UpToDegree,
)
from kernlens.features.hermite import LARGEST_FEATURE, HermiteFeatures
from kernlens.kernels.hermite import COARSE, FINE, LARGEST_LOG, MEDIUM, HermiteKernel
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.estimator import fit_bytes
from kernlens.methods.regfeal.function import LARGEST_DECISION
from kernlens.methods.regfeal.options import largest_degree

#: As coarse, in double precision.
DOUBLE = replace(COARSE, dtype=np.float64)


def sample(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)


def correlated(n, d, seed=0):
    """Many columns with a few rows far out in all of them, as measured tables have."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1)) + 0.3 * rng.standard_normal((n, d))
    X[:3] *= 4.0
    return X, X[:, 0] + 0.1 * rng.standard_normal(n)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("d", [80, 400])
def test_many_columns(d):
    X, y = correlated(60, d)
    model = RegFeaLRegressor(alpha=[0.1, 1.0], n_folds=2, max_iter=3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.isfinite(model.alpha_search_["loss"]).all()


def test_rho_at_which_the_kernel_overflows_is_left_out():
    X, y = correlated(60, 400)
    given = {"alpha": 1.0, "refit": None, "max_iter": 2, "tol": 1.0}
    with pytest.raises(ValueError, match="overflows on these rows at every rho"):
        RegFeaLRegressor(rho=0.8, **given).fit(X, y)
    both = RegFeaLRegressor(rho=[0.8, 0.01], **given).fit(X, y)
    one = RegFeaLRegressor(rho=0.01, **given).fit(X, y)
    assert both.rho_ == one.rho_ == 0.01


@pytest.mark.parametrize("weight", [1.0, 1e-9, 1e-30])
def test_bound_of_the_kernel(weight):
    rng = np.random.default_rng(1)
    X, rho = 2.0 * rng.standard_normal((30, 5)), 0.7
    eta = np.array([1.0, 0.5, weight, weight, weight])
    matrix = HermiteKernel.of(eta, 1e-8, 0.1, rho, FINE).matrix(X)
    bound = HermiteKernel.log_bound(X, rho) + np.log(100.0 / 0.1)
    assert np.log(np.abs(matrix).max()) <= bound
    # Without a penalty on degrees it is reached, but for the weight.
    plain = HermiteKernel.of(eta, 1.0, 0.0, rho, FINE).matrix(X)
    assert np.log(plain.max()) == pytest.approx(HermiteKernel.log_bound(X, rho), abs=1e-3)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("mu", [1e-20, 1e-30])
def test_single_precision_is_left_where_weights_are_too_large_for_it(mu):
    rng = np.random.default_rng(2)
    X = 4.0 * rng.standard_normal((20, 10))
    eta = np.full(10, 0.1)
    dual = rng.standard_normal((1, 20))
    single, double = (HermiteKernel.of(eta, 0.0, mu, 0.3, p) for p in (COARSE, DOUBLE))
    np.testing.assert_allclose(single.matrix(X), double.matrix(X), rtol=1e-10)
    for got, expected in zip(single.derivatives(X, dual), double.derivatives(X, dual), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_rho_near_one_in_single_precision():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 3))
    eta = np.ones(3)
    single, double = (HermiteKernel.of(eta, 0.0, 1.0, 0.99999, p) for p in (COARSE, DOUBLE))
    np.testing.assert_allclose(single.matrix(X), double.matrix(X), rtol=1e-3)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_kernel_of_far_rows_is_cut_off():
    X = np.array([[30.0, 0.0], [0.0, 1.0]])
    far = np.array([[1e3, 0.0], [1e50, -1e50], [40.0, 0.0]])
    kernel = HermiteKernel.of(np.ones(2), 1e-8, 1e-250, 0.8, MEDIUM)
    assert np.isfinite(kernel.matrix(X, far)).all()
    assert np.isfinite(kernel.gradients(X, np.ones((1, 2)), far)).all()
    assert HermiteKernel.log_bound(X, 0.8) < LARGEST_LOG


@pytest.mark.parametrize(
    "basis", ["auto", BestFirst(20), Enumerated(20), GroupSampling(20), UpToDegree(3)]
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_rows_beyond_all_polynomials(basis):
    X, y = sample()
    model = RegFeaLRegressor(basis=basis, clip=None, standardize=False, random_state=0)
    with pytest.raises(ValueError, match=r"overflows? on these rows"):
        model.fit(X * 1e90, y)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_low_degrees_of_large_rows():
    X, y = sample()
    model = RegFeaLRegressor(
        alpha=1.0, basis=UpToDegree(3), clip=1e6, standardize=False, refit=None, max_iter=2, tol=1.0
    ).fit(X * 1e90, y)
    assert np.isfinite(model.predict(X * 1e90)).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("basis", ["auto", UpToDegree(3), BestFirst(30)])
def test_far_rows_are_saturated(basis):
    X, y = sample()
    model = RegFeaLRegressor(
        alpha=0.1, rho=0.5, basis=basis, clip=1e10, refit=None, truncate=None, max_iter=2, tol=1.0
    ).fit(X, y)
    far = np.array([[1e300, -1e300, 1e300], [0.0, 0.0, 1e9], [-1.7e308, 1.7e308, 0.0]])
    values = model.predict(far)
    assert np.isfinite(values).all()
    assert np.abs(values).max() <= 1.01 * LARGEST_DECISION * y.std() + np.abs(y).max()
    assert np.isfinite(model.gradient(far)).all()
    assert np.isfinite(model.sensitivity(far)).all()


def test_features_are_cut_off():
    features = HermiteFeatures(np.array([[3, 0], [2, 2], [0, 30], [5, 1]]))
    Z = np.array([[1e90, -1e90], [1e300, 0.0], [-1e300, 1e300], [2.0, -1.0]])
    H = features.block(Z)
    assert np.isfinite(H).all()
    assert np.abs(H).max() == LARGEST_FEATURE
    z, h4 = 2.0, features.block(Z[3:])[0]
    np.testing.assert_allclose(h4[0], (z**3 - 3.0 * z) / np.sqrt(6.0))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("r", [0.02, 0.05, 0.153, 0.33])
def test_small_powers_leave_weights(r):
    directions = WeightedDirections(np.eye(3), np.full(3, 1 / 3), r)
    reached = directions.reweighted(np.diag([1.0, 1e-300, 0.0]), 0.0, rotate=True)
    assert np.all(reached.eta > 1e-150)
    assert np.all(reached.beyond(directions, 50.0).eta > 1e-150)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("estimator", [RegFeaLRegressor, RegFeaLClassifier])
@pytest.mark.parametrize("basis", ["auto", GroupSampling(40)])
def test_small_powers(estimator, basis):
    X, y = sample()
    y = y if estimator is RegFeaLRegressor else (y > 0.7).astype(int)
    model = estimator(
        alpha=[1e-5, 0.1], rho=0.7, r=0.05, basis=basis, refit=None, n_folds=2, max_iter=8, tol=0.0
    ).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_high_degrees_whose_weights_vanish():
    X, y = sample(d=1)
    model = RegFeaLRegressor(
        alpha=0.1, rho=1e-3, basis=Enumerated(300), refit=None, max_iter=2, tol=1.0
    ).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("alpha", [1e-20, 1e20])
@pytest.mark.parametrize("structure", ["features", "variables", "none"])
def test_alphas_at_their_bounds(alpha, structure):
    X, y = sample()
    given = {"structure": structure, "refit": None, "rho": 0.4, "max_iter": 3, "tol": 1.0}
    model = RegFeaLRegressor(alpha=alpha, **given).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("d", [1, 10, 200])
def test_too_many_polynomials_are_refused_before_they_are_listed(d, monkeypatch):
    def listed(*args):
        raise AssertionError("polynomials were listed")

    monkeypatch.setattr("kernlens.methods.regfeal.options.enumerate_indices", listed)
    monkeypatch.setattr("kernlens._validation.memory_limit", lambda: 1e6)
    X, y = sample(d=d)
    with pytest.raises(MemoryError, match="choose basis=BestFirst"):
        RegFeaLRegressor(basis=UpToDegree(1000, None)).fit(X, y)


def test_counts_with_hundreds_of_digits():
    assert np.isfinite(fit_bytes(100, 10, 100, 10**400))
    with pytest.raises(ValueError, match="max_degree must be an integer of at least 1 and at most"):
        UpToDegree(10**9)


def test_many_polynomials_of_few_rows_are_no_square_matrix():
    assert fit_bytes(60, 3, 60, 40_000) < 1e8


@pytest.mark.parametrize("n_columns", [1, 2, 5])
@pytest.mark.parametrize("n_indices", [1, 5, 20, 21, 22, 500])
def test_largest_degree_by_counting(n_columns, n_indices):
    from kernlens.features.hermite_indices import count_indices

    degree = 1
    while count_indices(n_columns, degree + 1) <= n_indices:
        degree += 1
    assert largest_degree(n_columns, n_indices) == degree
    assert largest_degree(1, 10**30) == 4000


def test_function_that_does_not_vary_is_no_reason_to_fail():
    """Single precision leaves a trace of M_f of either sign where a function is constant."""
    X = np.repeat(np.random.default_rng(4).standard_normal((4, 2)), 2, axis=0)
    y = np.random.default_rng(5).standard_normal(8)
    for alpha in (0.1, 1.0, 1e3, 1e6):
        model = RegFeaLRegressor(alpha=alpha, rho=[0.2, 0.4], n_folds=2, max_iter=2, tol=1.0)
        assert np.isfinite(model.fit(X, y).predict(X)).all()
