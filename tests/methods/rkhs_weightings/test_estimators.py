"""RKHS weightings and kitchen sinks against the paper's systems, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from families import inputs_of, targets_of
from kernlens import (
    FunctionalGradient,
    PaperAlpha,
    PaperWidth,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens._result import Status
from kernlens.features.weightings import CustomWeighting
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace
from kernlens.methods.rkhs_weightings.instantiations import Instantiation
from reference import rkhs_weightings as oracle

SIGMA, GAMMA = 1.7, 1.9
WIDTH = PaperWidth(gamma=GAMMA, sigma=SIGMA)
BASES = ("sign", "relu", "stumps")
intercepts = pytest.mark.parametrize("intercept", [True, False])
#: The paper's model but for the constant: rows only centred, no bias; directions are not counted.
PAPER = {"bias": 0.0, "standardize": False, "truncate": None, "n_directions": 1}


def data(m=30, n=3, seed=0):
    """Rows, standardised targets and integer weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0.5, 1.3, (m, n))
    y = np.abs(X[:, 0]) + np.sin(X[:, -1]) + 0.2 * rng.normal(size=m)
    weights = rng.integers(1, 4, m)
    mean = np.average(y, weights=weights)
    return X, (y - mean) / np.sqrt(np.average((y - mean) ** 2, weights=weights)), weights


def seen(fitted, X, y, weights=None):
    """Rows of the fit as its learner saw them, the same rows as predicted, and the one target."""
    return inputs_of(fitted, X), fitted._columns.apply(X), targets_of(fitted, y, weights)[0]


def paper_weights(fitted, model):
    return fitted.weights_ if model.stumps else model.sigma * fitted.weights_


def linear_fit(solve, Phi, y, weights, intercept):
    """A function of features, linear in those of the fit, and a; weights as repetitions."""
    rows = np.repeat(np.arange(len(y)), weights)
    offset, mean = intercept * Phi[rows].mean(axis=0), intercept * y[rows].mean()
    a = solve(Phi[rows] - offset, y[rows] - mean)
    return lambda features: (features - offset) @ a + mean, a


def kernel_ridge(K, y, weights, lam, intercept):
    """Coefficients and constant of kernel ridge, the latter free or 0: the bordered system."""
    m = len(y)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = K + lam * weights.sum() * np.diag(1.0 / weights)
    system[:m, m] = system[m, :m] = float(intercept)
    system[m, m] = 1.0 - intercept
    solution = np.linalg.solve(system, np.append(y, 0.0))
    return solution[:m], solution[m]


def implicit_kernel(model, X, Z):
    """The kernel of (63) by the formulas of Sheppard and of the arc-cosine kernel."""
    r, mass = model.correlation, np.exp(model.log_mass)
    if model.stumps:
        h, g = X / np.sqrt(model.variance), Z / np.sqrt(model.variance)
        pairs = [[sum(map(lambda a, b: oracle.orthant(a, b, r), p, q)) for q in g] for p in h]
        return mass / model.n * np.array(pairs)
    norms = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Z, axis=1))
    rho = np.clip(r * (X @ Z.T) / norms, -r, r)
    if not model.ramp:
        return mass * 2 / np.pi * np.arcsin(rho)
    angular = np.sqrt(1 - rho**2) + rho * (np.pi - np.arccos(rho))
    return mass * model.variance * norms * angular / (2 * np.pi)


def assert_close(actual, expected, tolerance=1e-9):
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("name", oracle.NAMES)
@intercepts
def test_least_squares_is_the_system_of_algorithm_4(name, intercept):
    X, y, weights = data()
    model = oracle.Instantiation(name, 3, SIGMA, GAMMA)
    fitted = RKHSWeightingRegressor(
        instantiation=name,
        solver="least_squares",
        correlation=WIDTH,
        alpha=PaperAlpha(1e-3),
        n_random_features=10,
        random_state=0,
        fit_intercept=intercept,
        **PAPER,
    ).fit(X, y, weights)
    W = paper_weights(fitted, model)
    assert len(W) == 10
    rows, predicted, targets = seen(fitted, X, y, weights)
    Phi, G = oracle.table_features(model, W, rows), model.kernel(W, W)
    function, a = linear_fit(
        lambda P, t: oracle.least_squares(P, G, t, 1e-3), Phi, targets, weights, intercept
    )
    assert_close(fitted.predict(X), function(oracle.table_features(model, W, predicted)))
    # (46), the mean over rows as often as their weights.
    objective = np.average((function(Phi) - targets) ** 2, weights=weights) + 1e-3 * a @ G @ a
    assert np.isclose(fitted.objective_, objective, rtol=1e-9)
    assert np.isclose(fitted.correlation_, model.correlation, rtol=1e-12)


@pytest.mark.parametrize("name", oracle.NAMES)
@intercepts
def test_exact_is_kernel_ridge_with_the_implicit_kernel(name, intercept):
    X, y, weights = data(m=12)
    model = oracle.Instantiation(name, 3, SIGMA, GAMMA)
    fitted = RKHSWeightingRegressor(
        instantiation=name,
        solver="exact",
        correlation=WIDTH,
        alpha=PaperAlpha(1e-3),
        fit_intercept=intercept,
        **PAPER,
    ).fit(X, y, weights)
    rows, predicted, targets = seen(fitted, X, y, weights)
    K = implicit_kernel(model, rows, rows)
    c, constant = kernel_ridge(K, targets, weights, 1e-3, intercept)
    assert_close(fitted.predict(X), implicit_kernel(model, predicted, rows) @ c + constant, 1e-8)
    errors = K @ c + constant - targets
    objective = np.average(errors**2, weights=weights) + 1e-3 * c @ K @ c
    assert np.isclose(fitted.objective_, objective, rtol=1e-8)


@pytest.mark.parametrize("base", BASES)
@intercepts
def test_kitchen_sinks_are_the_corrected_system_25(base, intercept):
    X, y, weights = data()
    fitted = RandomKitchenSinksRegressor(
        base=base,
        sigma=SIGMA,
        alpha=PaperAlpha(0.02),
        n_random_features=12,
        random_state=0,
        fit_intercept=intercept,
        **PAPER,
    ).fit(X, y, weights)
    model = oracle.Instantiation(base, 3, SIGMA, GAMMA)
    rows, predicted, targets = seen(fitted, X, y, weights)
    W = paper_weights(fitted, model)
    Phi = model.base(W, rows)
    function, a = linear_fit(
        lambda P, t: oracle.kitchen_sinks(P, t, 0.02) / 12, Phi, targets, weights, intercept
    )
    assert_close(fitted.predict(X), function(model.base(W, predicted)))
    # f = (1/T) sum_t a_t phi_t and the penalty lambda |a|^2 / T, here with a / T.
    objective = np.average((function(Phi) - targets) ** 2, weights=weights) + 0.02 * 12 * a @ a
    assert np.isclose(fitted.objective_, objective, rtol=1e-9)


@pytest.mark.parametrize("base", BASES)
def test_exact_kitchen_sinks_are_the_limit_of_many(base):
    X, y, _ = data()
    settings = {"base": base, "sigma": SIGMA, "alpha": PaperAlpha(0.05), "random_state": 0, **PAPER}
    exact = RandomKitchenSinksRegressor(solver="exact", **settings).fit(X, y).predict(X)
    few, many = (
        RandomKitchenSinksRegressor(n_random_features=T, **settings).fit(X, y).predict(X)
        for T in (30, 3000)
    )
    size = np.linalg.norm(exact)
    assert np.linalg.norm(many - exact) < 0.06 * size
    assert np.linalg.norm(many - exact) < 0.5 * np.linalg.norm(few - exact)


def sparse_objective(values, y, weights, coefficients, lam):
    return np.average((values - y) ** 2, weights=weights) + lam * np.abs(coefficients).sum()


@pytest.mark.parametrize("name", oracle.NAMES)
@pytest.mark.parametrize("kitchen_sinks", [False, True])
@intercepts
def test_lasso_is_that_of_scikit_learn(name, kitchen_sinks, intercept):
    X, y, weights = data()
    T, lam = 20, 0.03
    if kitchen_sinks:
        settings = {"base": name.removeprefix("exp_"), "sigma": SIGMA, **PAPER}
        make, lam = RandomKitchenSinksRegressor, 0.3
    else:
        settings = {"instantiation": name, "correlation": WIDTH, **PAPER}
        make = RKHSWeightingRegressor
    settings |= {"n_random_features": T, "alpha": PaperAlpha(lam), "random_state": 0}
    settings["fit_intercept"] = intercept
    # All solvers have the same draws, and least squares keeps all of them.
    model = oracle.Instantiation(name, 3, SIGMA, GAMMA)
    W = paper_weights(make(solver="least_squares", **settings).fit(X, y), model)
    fitted = make(solver="lasso", **settings).fit(X, y, weights)

    def features(inputs):
        if kitchen_sinks:
            return model.base(W, inputs) / T
        Phi = oracle.table_features(model, W, inputs)
        # Coefficients of K(w_t, .) / |K(w_t, .)|.
        return Phi * np.exp(-np.sum(W**2, axis=1) / (4 * GAMMA**2)) if model.exponential else Phi

    lam = lam / T if kitchen_sinks else lam
    rows, predicted, targets = seen(fitted, X, y, weights)
    Phi, repeated = features(rows), np.repeat(np.arange(len(y)), weights)
    lasso = Lasso(alpha=lam / 2, tol=1e-12, max_iter=10**6, fit_intercept=intercept)
    lasso.fit(Phi[repeated], targets[repeated])
    assert 0 < np.count_nonzero(lasso.coef_) < T
    best = sparse_objective(lasso.predict(Phi), targets, weights, lasso.coef_, lam)
    assert np.isclose(fitted.objective_, best, rtol=1e-8)
    assert fitted.status_ == Status.CONVERGED.value
    assert_close(fitted.predict(X), lasso.predict(features(predicted)), 1e-4)
    # Only what is used is kept.
    assert np.all(np.any(fitted.coef_ != 0.0, axis=0))
    assert len(fitted.weights_) == fitted.coef_.shape[1] < T


@pytest.mark.parametrize(
    ("name", "penalty", "near"),
    [(name, "rkhs", 2e-3) for name in oracle.NAMES]
    # Smooth weight functions come near to all of L2(p), if slowly where phi jumps.
    + [("relu", "l2", 5e-3), ("exp_relu", "l2", 5e-2), ("stumps", "l2", 5e-2), ("sign", "l2", 0.2)],
)
def test_least_squares_tends_to_the_exact_kernel(name, penalty, near):
    X, y, _ = data(m=25)
    settings = {"instantiation": name, "penalty": penalty, "correlation": 0.45}
    settings |= {"alpha": PaperAlpha(0.02), "random_state": 1, **PAPER}
    exact = RKHSWeightingRegressor(solver="exact", **settings).fit(X, y).predict(X)
    distances = []
    for T in (8, 600):
        fitted = RKHSWeightingRegressor(solver="least_squares", n_random_features=T, **settings)
        distances.append(np.linalg.norm(fitted.fit(X, y).predict(X) - exact))
    assert distances[1] < near * np.linalg.norm(exact)
    assert distances[1] < 0.5 * distances[0]


@pytest.mark.parametrize("name", ["sign", "exp_relu", "stumps"])
def test_relative_alpha_is_the_papers_in_another_unit(name):
    X, y, _ = data()
    for solver in ("least_squares", "lasso", "exact", "sfgd"):
        settings = {"instantiation": name, "solver": solver, "correlation": 0.3}
        settings |= {"n_random_features": 15, "random_state": 0}
        relative = RKHSWeightingRegressor(alpha=0.01, **settings).fit(X, y)
        alpha = PaperAlpha(float(0.01 * np.exp(relative.log_alpha_unit_)))
        paper = RKHSWeightingRegressor(alpha=alpha, **settings).fit(X, y)
        assert_close(paper.predict(X), relative.predict(X))
        assert paper.log_alpha_unit_ == 0.0


@pytest.mark.parametrize(
    ("name", "width", "gamma"),
    [
        ("sign", {"theta": 0.5}, np.sqrt(2 * SIGMA**2 / (0.5 ** (-4 / 3) - 1))),
        ("relu", {"theta": 0.9}, np.sqrt(2 * SIGMA**2 / (0.9 ** (-4 / 3) - 1))),
        ("exp_sign", {"kappa": 1.5}, np.sqrt(SIGMA**2 / (1 - 1.5 ** (-4 / 3)))),
        ("exp_relu", {"kappa": 4.0}, np.sqrt(SIGMA**2 / (1 - 4.0 ** (-4 / 3)))),
    ],
)
def test_theta_kappa_gamma_and_correlation_name_the_same_model(name, width, gamma):
    X, y, _ = data()
    model = oracle.Instantiation(name, 3, SIGMA, float(gamma))
    predictions = [
        RKHSWeightingRegressor(
            instantiation=name, alpha=1e-2, bias=0.0, solver=solver, random_state=0,
            correlation=PaperWidth(sigma=SIGMA, **given),
        ).fit(X, y).predict(X)
        for solver in ("exact", "least_squares")
        for given in (width, {"gamma": float(gamma)}, {"correlation": model.correlation})
    ]  # fmt: skip
    for first, others in ((0, (1, 2)), (3, (4, 5))):
        for other in others:
            assert_close(predictions[other], predictions[first], 1e-7)


WAYS = [
    {"solver": "exact"},
    {"solver": "exact", "penalty": "l2"},
    {"solver": "least_squares"},
    {"solver": "least_squares", "penalty": "l2"},
    {"solver": "lasso", "alpha": 1e-2},
    {"solver": FunctionalGradient(20, 20, None), "alpha": 3.0, "n_random_features": 400},
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values()))[:24])
@pytest.mark.parametrize("name", oracle.NAMES)
def test_the_function_is_the_mean_of_base_predictors_by_the_weight_function(name, way):
    X, y, _ = data(m=25, n=2)
    sigma = 1.3 if name == "stumps" else 1.0
    settings = {"alpha": 0.1, "bias": 1.0, "n_random_features": 12, "truncate": None}
    settings["correlation"] = PaperWidth(correlation=0.3, sigma=sigma)
    fitted = RKHSWeightingRegressor(instantiation=name, random_state=0, **(settings | way))
    fitted.fit(X, y)
    model = oracle.Instantiation(name, 3, sigma, 1.0)
    inputs = fitted._columns.apply(X[:4])
    W = model.sample(100_000, np.random.default_rng(1))
    draws = fitted.weight_function(W)[:, None] * model.base(W, inputs).T
    mean, error = draws.mean(axis=0), draws.std(axis=0) / np.sqrt(len(W))
    # y has mean 0 and standard deviation 1 only with weights.
    expected = (fitted.predict(X[:4]) - y.mean()) / y.std() - fitted.intercept_[0]
    assert np.all(np.abs(mean - expected) < 4.5 * error)
    assert error.max() < 0.1 * y.std()


def test_weight_function_of_several_targets_and_normalised():
    X, y, _ = data()
    fitted = RKHSWeightingRegressor(instantiation="relu", alpha=0.1, correlation=0.3)
    fitted.fit(X, np.column_stack([y, y**2]))
    W = np.random.default_rng(0).normal(size=(5, 4))
    both = fitted.weight_function(W)
    assert both.shape == (5, 2)
    ratio = both / fitted.weight_function(W, normalized=True)
    assert np.ptp(ratio) <= 1e-12 * ratio[0, 0] and ratio[0, 0] > 0
    alone = RKHSWeightingRegressor(instantiation="relu", alpha=0.1, correlation=0.3).fit(X, y)
    assert_close(alone.weight_function(W), both[:, 0])


def custom(model):
    """The named instantiation of one column, by nodes that are exact for its kink."""
    nodes, logs = oracle._line(model)
    return CustomWeighting(
        base_predictor=lambda X, W: model.base(W, X),
        kernel=model.kernel,
        sampler=lambda T, n, rng: rng.standard_normal((T, n)),
        nodes=nodes[:, None],
        node_weights=np.exp(logs),
    )


@pytest.mark.parametrize("name", ["sign", "relu"])
@pytest.mark.parametrize(
    "way",
    [
        {"solver": "exact"},
        {"solver": "exact", "penalty": "l2"},
        {"solver": "least_squares"},
        {"solver": "least_squares", "penalty": "l2"},
        {"solver": "lasso"},
        {"solver": FunctionalGradient(20, 2)},
    ],
    ids=lambda way: "-".join(map(str, way.values()))[:24],
)
def test_custom_weighting_by_nodes_is_the_named_instantiation(name, way):
    X, y, _ = data(n=1)
    model = oracle.with_correlation(name, 1, 1.0, 0.7)
    settings = {"bias": 0.0, "n_random_features": 5, "random_state": 0, **way}
    settings |= {"alpha": PaperAlpha(0.05), "truncate": None}
    named = RKHSWeightingRegressor(instantiation=name, correlation=0.7, **settings).fit(X, y)
    own = RKHSWeightingRegressor(instantiation=custom(model), **settings).fit(X, y)
    tolerance = 1e-2 if way["solver"] == "lasso" else 1e-8
    assert_close(own.predict(X), named.predict(X), tolerance)
    assert own.instantiation_ == "custom"
    np.testing.assert_allclose(np.abs(own.loadings_), 1.0)


def test_custom_weighting_by_draws_is_near_the_named_instantiation():
    X, y, _ = data(n=2)
    model = oracle.with_correlation("relu", 3, 1.0, 0.3)
    drawn = CustomWeighting(
        lambda X, W: np.maximum(X @ W.T, 0.0),
        model.kernel,
        lambda T, n, rng: rng.standard_normal((T, n)),
        n_nodes=20_000,
    )
    settings = {"solver": "least_squares", "alpha": 0.01, "n_random_features": 20}
    settings |= {"random_state": 0, "bias": 1.0}
    named = RKHSWeightingRegressor(instantiation="relu", correlation=0.3, **settings)
    own = RKHSWeightingRegressor(instantiation=drawn, **settings)
    assert_close(own.fit(X, y).predict(X), named.fit(X, y).predict(X), 0.05)
    # Gradients by differences give the same directions.
    overlap = np.abs(np.sum(own.loadings_[0] * named.loadings_[0]))
    assert overlap > 0.99


@intercepts
@pytest.mark.parametrize("alpha", [1e-9, 1e-11, 1e-13])
def test_small_regularisations_keep_their_digits(intercept, alpha):
    X, y, _ = data(m=400, n=6)
    settings = {"instantiation": "relu", "solver": "least_squares", "correlation": 0.05}
    settings |= {"n_random_features": 150, "random_state": 0, "fit_intercept": intercept, **PAPER}
    fitted = RKHSWeightingRegressor(alpha=PaperAlpha(alpha), **settings).fit(X, y)
    candidate = Instantiation("relu", 6, 0.05)
    space = FeatureSpace.of_weighting(candidate.weighting(), fitted.weights_, "rkhs")
    assert 1e2 < space.condition < 1e6
    # Least squares of stacked rows, whose condition number is the root of that of the sums.
    rows, predicted, targets = seen(fitted, X, y)
    P = space.matrix(rows)
    offset = intercept * P.mean(axis=0)
    design = P - offset
    shift = alpha / np.exp(2.0 * space.log_scale + candidate.log_unit()) * len(y)
    stacked = np.vstack([design, np.sqrt(shift) * np.eye(P.shape[1])])
    a = np.linalg.lstsq(stacked, np.append(targets, np.zeros(P.shape[1])), rcond=None)[0]
    expected = (space.matrix(predicted) - offset) @ a * y.std() + y.mean()
    # Sums have a rounding of their largest eigenvalue, which is that far above the shift.
    rounding = np.finfo(float).eps * np.linalg.norm(design, 2) ** 2 / shift
    assert rounding < 1e-2
    assert_close(fitted.predict(X), expected, rounding)


def test_sums_of_single_precision_are_for_many_rows_and_alphas_that_do_not_need_more_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2400, 3)).astype(np.float32)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    options = {"instantiation": "relu", "correlation": 0.5, "solver": "least_squares"}
    options |= {"n_random_features": 60, "random_state": 0, "truncate": None, "linear_part": False}

    def apart(n, alpha):
        single = RKHSWeightingRegressor(alpha=alpha, **options).fit(X[:n], y[:n])
        double = RKHSWeightingRegressor(alpha=alpha, **options).fit(X[:n].astype(float), y[:n])
        rows = X.astype(float)
        return np.abs(single.predict(rows) - double.predict(rows)).max() / y.std()

    # Standardised columns are those of float32 in any case.
    assert apart(2400, 1e-9) < 3e-6 < apart(2400, 1e-3) < 1e-3
    assert apart(200, 1e-3) < 3e-6


def test_rows_left_out_of_single_precision_keep_the_digits_that_the_penalty_needs():
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.5, (48, 4)).astype(np.float32)
    y = np.digitize(np.abs(X[:, 0] - X[:, 1]) + 0.1 * rng.standard_normal(48), [0.7, 2.0])
    # The Gram matrix of the thresholds has a condition number of 5e9, and rows mapped in single
    # precision calibrate probabilities that are a hundredth off.
    options = {"instantiation": "stumps", "solver": "least_squares", "n_random_features": 40}
    options |= {"alpha": 1e-3, "correlation": 0.5, "n_directions": 1, "random_state": 0}
    model = RKHSWeightingClassifier(**options)
    rows = X.astype(float)
    double = model.fit(rows, y).decision_function(rows)
    single = model.fit(X, y).decision_function(rows)
    assert np.abs(single - double).max() < 1e-5 * double.std()
