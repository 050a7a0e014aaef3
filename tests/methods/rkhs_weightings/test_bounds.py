"""Constants and bounds of RKHS weightings: by hand, by brute force, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from families import inputs_of, targets_of
from kernlens import (
    FunctionalGradient,
    PaperAlpha,
    PaperWidth,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.methods.rkhs_weightings.bounds import descent_bound, gap_bound
from kernlens.methods.rkhs_weightings.instantiations import Instantiation
from reference import rkhs_weightings as oracle

every = pytest.mark.parametrize("name", oracle.NAMES)


def pair(name, n=3, r=0.3):
    """The instantiation of the package and that of the paper, sigma = 1."""
    return Instantiation(name, n, r), oracle.with_correlation(name, n, 1.0, r)


# The formulas ------------------------------------------------------------------------------------


def test_gap_bounds_are_those_of_section_6():
    m, delta, Y = 400.0, 0.05, 2.0
    # A reach of 5 is rounded up to 8 = 2 * 2^2, and delta shared out: 1/((2 + 1)(2 + 2)).
    deviation = np.sqrt(np.log(12 / delta) / (2 * m))
    corrected = 2 * 2 * (8 + Y) * 8 / np.sqrt(m) + (8 + Y) ** 2 * deviation
    assert np.isclose(gap_bound(5.0, Y, m, delta, "corrected"), corrected)
    clipped = 8 * Y * 8 / np.sqrt(m) + 4 * Y**2 * deviation
    assert np.isclose(gap_bound(5.0, Y, m, delta, "clipped"), clipped)
    rho = 2 * (5 + Y)
    printed = 2 * rho * 5 / np.sqrt(m) * (1 + np.sqrt(np.log(1 / delta) / 2))
    assert np.isclose(gap_bound(5.0, Y, m, delta, "printed"), printed)
    # The smallest ball has reach Y and half of delta.
    smallest = 2 * 4 * Y * Y / np.sqrt(m) + (2 * Y) ** 2 * np.sqrt(np.log(2 / delta) / (2 * m))
    assert np.isclose(gap_bound(0.1, Y, m, delta, "corrected"), smallest)
    assert gap_bound(0.0, 0.0, m, delta, "corrected") == 0.0


def test_descent_bound_is_that_of_theorem_6_7():
    reach, B, kappa, lam, Y, m, T = 1.5, 2.0, 3.0, 0.1, 1.0, 200.0, 50
    rho = 2 * (reach + Y)
    risk = 2 * rho * reach / np.sqrt(m) + lam * B**2
    descent = (rho * kappa + 2 * lam * B) ** 2 * (1 + np.log(T)) / (2 * lam * T)
    given = (reach, B, kappa, lam, Y, m, T)
    assert np.isclose(descent_bound(*given, False), risk + descent)
    assert np.isclose(descent_bound(*given, True), risk + descent / 2)
    printed = risk + descent + 8 * rho**2 / (0.25 * m)
    assert np.isclose(descent_bound(*given, True, 0.25), printed)


# Constants ---------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("r", [0.1, 0.5, 0.9])
def test_theta_is_the_largest_root_of_the_kernel_of_a_row_with_itself(name, r):
    instantiation, _ = pair(name, 2, r)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    X *= (rng.uniform(0, 1, 5000) / np.linalg.norm(X, axis=1))[:, None]
    X[0] = [0.6, 0.8]
    if name == "stumps":
        X, X[0] = 10 * X, [30.0, -30.0]
    diagonal = instantiation.kernel().diagonal(X)
    assert diagonal.max() <= instantiation.theta_squared(1.0) * (1 + 1e-12)
    assert np.isclose(diagonal[0], instantiation.theta_squared(1.0), rtol=1e-9)
    # Up to the factor of the paper, the printed values are bounds except for RWExpRelu.
    if name != "exp_relu":
        printed = np.exp(instantiation.log_printed_theta_squared(1.0))
        assert instantiation.theta_squared(1.0) <= printed * (1 + 1e-12)


@every
def test_functions_of_norm_one_are_not_larger_than_theta(name):
    instantiation, _ = pair(name)
    weighting = instantiation.weighting()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    radius = float(np.linalg.norm(X, axis=1).max())
    W = weighting.sample(30, rng)
    features, logs = weighting.expectation(W)
    F, G = features.evaluate(X) * np.exp(logs), weighting.gram(W, W)
    a = rng.normal(size=(30, 200)) ** 3
    norms = np.sqrt(np.sum(a * (G @ a), axis=0))
    theta = np.sqrt(instantiation.theta_squared(radius))
    assert (np.abs(F @ a) / norms).max() <= theta
    # Single features included, and the bound is not far off.
    assert np.abs(F).max() <= theta
    best = np.sqrt(np.max(np.sum(F * np.linalg.lstsq(G, F.T, rcond=1e-12)[0].T, axis=1)))
    assert 0.3 * theta < best <= theta * (1 + 1e-9)


def test_printed_theta_of_exp_relu_is_no_bound_and_the_exact_one_is():
    r = 1 / (2 * 0.75**2)
    instantiation, model = pair("exp_relu", 1, r)
    unit = np.exp(instantiation.log_unit())
    printed = np.sqrt(unit * np.exp(instantiation.log_printed_theta_squared(1.0)))
    exact = np.sqrt(unit * instantiation.theta_squared(1.0))
    assert np.isclose(printed, 0.399, atol=5e-4) and np.isclose(exact, 2.16, atol=5e-3)
    kernel = oracle.implicit_kernel(model, np.array([[1.0]]), np.array([[1.0]]))[0, 0]
    assert np.isclose(kernel, exact**2, rtol=1e-10)


@every
def test_kappa_and_tau_by_draws(name):
    instantiation, model = pair(name, 2, 0.15)
    rng = np.random.default_rng(0)
    W = model.sample(400_000, rng)
    x = np.array([[1.2, -0.9]])
    phi = model.base(W, x)[0]
    if model.exponential:
        size = np.exp(np.sum(W**2, axis=1) / (2 * model.gamma**2))
    else:
        size = np.ones(len(W))
    radius = 1.5
    kappa = np.exp(instantiation.log_kappa_squared(radius) + instantiation.log_unit())
    assert np.isclose(np.mean(phi**2 * size), kappa, rtol=0.05)
    assert np.isclose(np.mean(phi**2), instantiation.tau_squared(radius), rtol=0.02)


def test_kappa_of_the_exponential_kernel_is_infinite_from_one_half_on():
    assert np.isfinite(Instantiation("exp_sign", 3, 0.49).log_kappa_squared(1.0))
    assert Instantiation("exp_sign", 3, 0.5).log_kappa_squared(1.0) == np.inf


# Norms of a fit ----------------------------------------------------------------------------------


def data(m=40, n=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, np.abs(X[:, 0]) + 0.3 * X[:, 1]


@every
@pytest.mark.parametrize("way", [("least_squares", "rkhs"), ("exact", "rkhs"), ("exact", "l2")])
def test_norm_in_l2_is_the_mean_square_of_the_weight_function(name, way):
    X, y = data()
    solver, penalty = way
    width = PaperWidth(correlation=0.25, sigma=1.4 if name == "stumps" else 1.0)
    model = RKHSWeightingRegressor(
        instantiation=name, solver=solver, penalty=penalty, correlation=width, alpha=0.05,
        n_random_features=15, random_state=0,
    ).fit(X, y)  # fmt: skip
    drawn = oracle.Instantiation(name, 3, width.sigma, 1.0)
    squares = model.weight_function(drawn.sample(200_000, np.random.default_rng(1))) ** 2
    norm = np.exp(2 * model._function.log_norm(0, "l2"))
    error = squares.std() / np.sqrt(len(squares))
    assert abs(squares.mean() - norm) < 4.5 * error
    assert error < 0.1 * norm


@every
@pytest.mark.parametrize("solver", ["least_squares", "lasso", "sfgd", "exact"])
def test_norm_in_the_rkhs(name, solver):
    X, y = data()
    alpha = 5e-3 if solver == "lasso" else 0.05
    model = RKHSWeightingRegressor(
        instantiation=name, solver=solver, correlation=0.25, alpha=PaperAlpha(alpha),
        n_random_features=15, random_state=0, truncate=None,
    ).fit(X, y)  # fmt: skip
    reference = oracle.with_correlation(name, 3, 1.0, 0.25)
    norm = np.exp(
        2 * model._function.log_norm(0, "rkhs") - model._instantiation.weighting().log_unit
    )
    if solver == "exact":
        values = (model.predict(X) - y.mean()) / y.std()
        # The penalty is what the objective has beside the loss.
        loss = np.mean((values - (y - y.mean()) / y.std()) ** 2)
        assert np.isclose(model.objective_ - loss, alpha * norm, rtol=1e-6)
        return
    W = model.weights_
    Phi = oracle.table_features(reference, W, model._columns.apply(X))
    values = (model.predict(X) - y.mean()) / y.std() - model.intercept_[0]
    a = model.coef_[0] * np.exp(-model._instantiation.weighting().expectation(W)[1])
    a = a * np.exp(
        -0.5 * model._instantiation.weighting().log_unit
        - model._instantiation.weighting().log_rescaling(W)
    )
    np.testing.assert_allclose(Phi @ a, values, atol=1e-8 * np.abs(values).max())
    assert np.isclose(a @ reference.kernel(W, W) @ a, norm, rtol=1e-7)


# Bounds of a fit ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rkhs", "l2"])
@pytest.mark.parametrize("form", ["corrected", "clipped", "printed"])
def test_bound_of_a_fit_is_that_of_its_norm(kind, form):
    X, y = data()
    y = 10.0 * y
    model = RKHSWeightingRegressor(instantiation="relu", correlation=0.25, alpha=0.5).fit(X, y)
    instantiation = model._instantiation
    radius = np.linalg.norm(inputs_of(model, X), axis=1).max()
    theta = instantiation.theta_squared(radius)
    if form == "printed":
        theta = np.exp(instantiation.log_printed_theta_squared(radius))
    size = instantiation.tau_squared(radius) if kind == "l2" else theta
    reach = np.exp(model._function.log_norm(0, kind)) * np.sqrt(size) + abs(model.intercept_[0])
    largest = np.abs(targets_of(model, y)).max()
    expected = y.var() * gap_bound(reach, largest, len(y), 0.1, form)
    assert np.isclose(model.generalization_bound(0.1, kind, form), expected, rtol=1e-9)
    # The function is indeed within its reach.
    values = (model.predict(X) - y.mean()) / y.std()
    assert np.abs(values).max() <= reach


def test_bounds_of_descents_and_of_several_classes():
    X, y = data()
    rule = FunctionalGradient(10, max_norm=2.0)
    settings = {"solver": rule, "correlation": 0.1, "alpha": 0.5, "n_random_features": 50}
    model = RKHSWeightingRegressor(instantiation="relu", random_state=0, **settings).fit(X, y)
    corrected = model.generalization_bound(kind="sfgd")
    assert 0 < corrected < model.generalization_bound(kind="sfgd", form="printed")
    # Constants do not depend on which sigma the weights have.
    settings["correlation"] = PaperWidth(correlation=0.1, sigma=2.0)
    other = RKHSWeightingRegressor(instantiation="relu", random_state=0, **settings)
    assert np.isclose(other.fit(X, y).generalization_bound(kind="sfgd"), corrected, rtol=1e-9)
    classes = np.digitize(y, [0.3, 1.0])
    bounds = RKHSWeightingClassifier(instantiation="sign", alpha=0.1).fit(X, classes)
    assert bounds.generalization_bound().shape == (3,)


def test_exact_l2_fits_have_no_norm_in_the_rkhs():
    X, y = data()
    model = RKHSWeightingRegressor(instantiation="relu", penalty="l2", alpha=0.1).fit(X, y)
    assert model.generalization_bound(kind="rkhs") == np.inf
    assert np.isfinite(model.generalization_bound(kind="l2"))


@pytest.mark.parametrize("form", ["corrected", "clipped"])
def test_the_bound_fails_at_most_as_often_as_it_says(form):
    rng = np.random.default_rng(0)
    failures, delta = 0, 0.2
    test = rng.normal(size=(4000, 2))
    truth = np.abs(test[:, 0]) + 0.5 * rng.normal(size=4000)
    for _ in range(60):
        X = rng.normal(size=(30, 2))
        y = np.abs(X[:, 0]) + 0.5 * rng.normal(size=30)
        model = RKHSWeightingRegressor(
            instantiation="relu",
            correlation=0.5,
            alpha=0.01,
            truncate="auto" if form == "clipped" else None,
        ).fit(X, y)
        gap = np.mean((model.predict(test) - truth) ** 2) - np.mean((model.predict(X) - y) ** 2)
        bound = model.generalization_bound(delta, form=form)
        failures += gap > bound
        assert model.generalization_bound(delta / 10, form=form) >= bound
    assert failures <= delta * 60


def test_the_printed_gap_fails_for_a_nearly_constant_function_and_the_corrected_one_does_not():
    # Labels of one large value in ten: the loss of f = 0 varies, whatever its Lipschitz constant.
    rng = np.random.default_rng(0)
    m, delta, reach, Y = 50, 0.05, 1e-3, 1.0
    losses = rng.random((4000, m)) < 0.5
    gaps = 0.5 - losses.mean(axis=1)
    assert np.mean(gaps > gap_bound(reach, Y, m, delta, "printed")) > 3 * delta
    assert np.mean(gaps > gap_bound(reach, Y, m, delta, "corrected")) <= delta
