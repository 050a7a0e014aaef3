"""Mixtures of ridge solutions: weights against every support, functions against their parts."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import (
    FunctionalGradient,
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens.fits.mixture import EVENNESS, AlphaMixture, around, mixing_weights
from kernlens.methods.rkhs_weightings.instantiations import Instantiation
from kernlens.methods.rkhs_weightings.plan import CLEAR_GAIN, WeightingPlan
from kernlens.methods.rkhs_weightings.solvers.exact import Exact
from kernlens.methods.rkhs_weightings.solvers.least_squares import LeastSquares
from reference.alpha_mixture import mean_products, simplex_minimum

DECADES = tuple(10.0 ** np.arange(-8.0, 1.5, 0.5))
LIGHT = {"n_random_features": 30, "random_state": 0, "alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]}
WEIGHTING = {"instantiation": "sign", "correlation": 0.6}
CANDIDATE = Instantiation("sign", 3, 0.6, 1.0)
intercepts = pytest.mark.parametrize("intercept", [True, False])


def with_evenness(products):
    return products + EVENNESS * np.trace(products) / len(products) * np.eye(len(products))


def data(n=100, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    # A strong smooth part and a weak rough one: no single alpha is good for both.
    signal = 2.0 * X[:, 0] + np.sin(5.0 * X[:, 1])
    return X, signal + 0.7 * rng.normal(size=n), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("seed", range(6))
def test_weights_are_the_best_of_all_supports(k, seed):
    rng = np.random.default_rng(seed)
    # Errors of neighbours are alike, and some solutions are far worse than others.
    errors = np.cumsum(rng.normal(size=(k, 50)) * rng.uniform(0.1, 2.0, (k, 1)), axis=0)
    products = errors @ errors.T / 50
    weights = mixing_weights(products)
    np.testing.assert_allclose(weights, simplex_minimum(with_evenness(products)), atol=1e-10)
    assert np.isclose(weights.sum(), 1.0, rtol=1e-14) and np.all(weights >= 0.0)


def test_weights_do_not_depend_on_the_unit_of_the_errors_or_their_order():
    errors = np.random.default_rng(0).normal(size=(4, 30)) + 1.0
    products, order = errors @ errors.T, [2, 0, 3, 1]
    expected = mixing_weights(products)
    assert expected.max() < 0.9
    for unit in (1e-200, 1e200):
        np.testing.assert_allclose(mixing_weights(unit * products), expected, rtol=1e-9)
    shuffled = mixing_weights(products[np.ix_(order, order)])
    np.testing.assert_allclose(shuffled, expected[order], rtol=1e-9)


def test_equal_solutions_share_the_weight_and_perfect_ones_have_it():
    np.testing.assert_allclose(mixing_weights(np.ones((4, 4))), 0.25)
    np.testing.assert_allclose(mixing_weights(np.zeros((3, 3))), 1.0 / 3.0)
    errors = np.array([[1.0, -1.0, 2.0], [0.0, 0.0, 0.0], [2.0, 2.0, 1.0]])
    assert mixing_weights(errors @ errors.T)[1] > 0.99


def test_products_that_rounding_has_made_indefinite_are_taken():
    products = np.ones((3, 3)) - 1e-13 * np.eye(3)
    np.testing.assert_allclose(mixing_weights(products), 1.0 / 3.0)


def test_around_takes_decades_of_a_fine_grid_and_all_of_a_coarse_one():
    np.testing.assert_allclose(around(1e-3, DECADES), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    np.testing.assert_allclose(around(10.0, DECADES), [0.1, 1.0, 10.0])
    assert around(0.3, (0.3, 0.4, 0.2)) == (0.2, 0.3, 0.4)
    assert around(5.0, (5.0,)) == (5.0,)
    assert around(1.0, (1.0, 1e9, 1.0)) == (1.0,)
    assert around(1e308, (1.0, 1e307, 1e308)) == (1e307, 1e308)


@pytest.mark.parametrize("best", [1e-2, 0.1, 1.0, 3.0])
def test_around_does_not_depend_on_order_or_rounding(best):
    # Four decades apart, two decades away from the middle.
    expected = (1e-4 * best, best)
    assert around(best, (1e-4 * best, best, 1e4 * best)) == expected
    assert around(best, (1e4 * best, best, 1e-4 * best)) == expected


def test_mean_of_solutions():
    mixture = AlphaMixture((0.1, 1.0), (0.25, 0.75))
    np.testing.assert_allclose(mixture.mean([np.array([4.0]), np.array([8.0])]), [7.0])
    assert AlphaMixture.of_one(0.3) == AlphaMixture((0.3,), (1.0,))


MAKERS = [
    (RKHSWeightingRegressor, WEIGHTING | {"solver": "least_squares"}),
    (RKHSWeightingRegressor, WEIGHTING | {"solver": "least_squares", "penalty": "l2"}),
    (RKHSWeightingRegressor, WEIGHTING | {"solver": "exact"}),
    (RandomKitchenSinksRegressor, {"base": "sign", "solver": "least_squares"}),
    (RandomKitchenSinksRegressor, {"base": "sign", "solver": "exact"}),
]


@pytest.mark.parametrize(("estimator", "settings"), MAKERS)
@intercepts
def test_a_mixture_is_the_mean_of_fits_with_its_alphas(estimator, settings, intercept):
    X, y, weights = data()
    settings = LIGHT | settings | {"truncate": None, "linear_part": False}
    settings["fit_intercept"] = intercept
    # Of 30 features some draws are best with a single alpha, which mixes nothing.
    settings["n_random_features"] = 60
    mixed = estimator(**settings).fit(X, y, weights)
    parts, shares = mixed.alpha_mixture_["alpha"], mixed.alpha_mixture_["weight"]
    assert shares.max() < 0.95
    singles = [estimator(**settings | {"alpha": a}).fit(X, y, weights) for a in parts]
    expected = sum(w * one.predict(X) for w, one in zip(shares, singles, strict=True))
    np.testing.assert_allclose(mixed.predict(X), expected, rtol=1e-9, atol=1e-9)
    name = "dual_coef_" if settings["solver"] == "exact" else "coef_"
    combined = sum(w * getattr(one, name) for w, one in zip(shares, singles, strict=True))
    np.testing.assert_allclose(getattr(mixed, name), combined, rtol=1e-6, atol=1e-8)


def errors_without_single_rows(solver, candidate, alpha):
    """Errors at rows by fits without them, lambda times the sum of the weights kept."""
    rows, found = solver.rows, []
    for row in range(len(rows.X)):
        others = rows.take(np.flatnonzero(np.arange(len(rows.X)) != row))
        ratio = rows.weights.sum() / others.weights.sum()
        part = type(solver)(solver.plan, others, 1)
        learned = part.fit(candidate, (alpha * ratio,))
        found.append(learned.function.decision(rows.X[row : row + 1])[:, 0] - rows.y[:, row])
    return np.array(found).T


def make_solver(kind, n, intercept=True, seed=3, weighted=True):
    """A solver for two targets, in the paper's units."""
    X, y, weights = data(n, seed)
    plan = WeightingPlan(
        candidates=(CANDIDATE,),
        alphas=tuple(LIGHT["alpha"]),
        mixed=True,
        solver="any",
        penalty="rkhs",
        kitchen_sinks=False,
        paper_units=True,
        intercept=intercept,
        n_weights=30,
        descent=FunctionalGradient(),
        seed=0,
    )
    weights = weights if weighted else np.ones(n)
    return kind(plan, canonical_rows(X, np.stack([y, X[:, 2] * y]), weights), 1)


def assert_best_mixture(learned, alphas, errors, weights):
    """Of the alphas around the best, by literal errors (k, n_targets, n_samples)."""
    products = mean_products(np.array(errors), weights)
    losses = dict(zip(alphas, np.diagonal(products), strict=True))
    assert losses[learned.setting.alpha] <= (1.0 + CLEAR_GAIN) * min(losses.values())
    expected = dict(zip(alphas, simplex_minimum(with_evenness(products)), strict=True))
    assert max(expected.values()) < 0.99
    found = dict(zip(learned.mixture.alphas, learned.mixture.weights, strict=True))
    assert set(found) == {alpha for alpha, weight in expected.items() if weight > 0.0}
    for alpha, weight in found.items():
        assert np.isclose(weight, expected[alpha], atol=1e-7)


@pytest.mark.parametrize("kind", [LeastSquares, Exact])
@intercepts
def test_weights_are_those_of_fits_without_single_rows(kind, intercept):
    solver = make_solver(kind, 16, intercept, seed=0)
    learned = solver.fit(CANDIDATE, solver.plan.alphas)
    alphas = around(learned.setting.alpha, solver.plan.alphas)
    errors = [errors_without_single_rows(solver, CANDIDATE, alpha) for alpha in alphas]
    assert_best_mixture(learned, alphas, errors, solver.rows.weights)


@pytest.mark.parametrize("kind", [LeastSquares, Exact])
def test_left_out_rows_are_predicted_by_the_mixture(kind):
    solver = make_solver(kind, 16, weighted=False)
    learned = solver.fit(CANDIDATE, solver.plan.alphas)
    assert max(learned.mixture.weights) < 0.99
    literal = sum(
        weight * (errors_without_single_rows(solver, CANDIDATE, alpha) + solver.rows.y)
        for alpha, weight in zip(learned.mixture.alphas, learned.mixture.weights, strict=True)
    )
    left_out = solver.left_out(learned)
    np.testing.assert_allclose(left_out.decision, literal, atol=1e-9)
    np.testing.assert_array_equal(left_out.y, solver.rows.y)


@pytest.mark.parametrize("kind", [LeastSquares, Exact])
def test_objective_and_norm_are_those_of_the_mixture(kind):
    solver = make_solver(kind, 30, seed=0)
    rows, plan = solver.rows, solver.plan
    learned = solver.fit(CANDIDATE, plan.alphas)
    function = learned.function
    assert max(learned.mixture.weights) < 0.99
    assert learned.mixture.alphas[0] != learned.setting.alpha
    if kind is Exact:
        K = CANDIDATE.kernel("rkhs").matrix(rows.X, rows.X)
        squares, log_scale = np.diagonal(function.dual @ K @ function.dual.T), 0.0
    else:
        space = solver._space(CANDIDATE)
        to_coefficients = space.coefficients(np.eye(len(function.weights)))
        b = np.linalg.solve(to_coefficients.T, function.coefficients.T)
        squares, log_scale = np.square(b).sum(axis=0), space.log_scale
    np.testing.assert_allclose(
        function.log_norms, 0.5 * np.log(squares) - log_scale, rtol=0, atol=1e-6
    )
    losses = np.square(learned.function.decision(rows.X) - rows.y).sum(axis=0)
    # lambda |alpha|^2 in the units of the kernel, of which the norm is given.
    penalty = learned.setting.alpha * np.exp(2.0 * function.log_norms - CANDIDATE.log_unit())
    expected = np.average(losses, weights=rows.weights) + penalty.sum()
    assert np.isclose(learned.objective, expected, rtol=1e-8)


def held_out_errors(solver, parts, alphas):
    """Errors on the first fifth of every part by fits to the rest of all, and their weights."""
    cuts = [solver._cut(len(part.X)) for part in parts]
    tests = [part.take(slice(0, cut)) for part, cut in zip(parts, cuts, strict=True)]
    trains = [part.take(slice(cut, None)) for part, cut in zip(parts, cuts, strict=True)]
    X, y = np.concatenate([p.X for p in trains]), np.concatenate([p.y for p in trains], axis=1)
    weights = np.concatenate([part.weights for part in trains])
    train = LeastSquares(solver.plan, CanonicalRows(X, y, weights, np.arange(len(X))), 1)
    errors = []
    for alpha in alphas:
        learned = train.fit(CANDIDATE, (alpha,))
        errors.append(np.concatenate([learned.function.decision(p.X) - p.y for p in tests], axis=1))
    return errors, np.concatenate([part.weights for part in tests])


def test_weights_are_those_of_rows_held_out_of_many():
    solver = make_solver(LeastSquares, 2600)
    learned = solver.fit(CANDIDATE, solver.plan.alphas)
    alphas = around(learned.setting.alpha, solver.plan.alphas)
    assert_best_mixture(learned, alphas, *held_out_errors(solver, [solver.rows], alphas))


def test_weights_are_those_of_rows_held_out_of_batches():
    first, second = make_solver(LeastSquares, 300), make_solver(LeastSquares, 200, seed=4)
    sums = first.learn_batch(CANDIDATE, first.plan.alphas, None).sums
    learned = second.learn_batch(CANDIDATE, second.plan.alphas, sums)
    alphas = around(learned.setting.alpha, second.plan.alphas)
    parts = [first.rows, second.rows]
    assert_best_mixture(learned, alphas, *held_out_errors(second, parts, alphas))


@pytest.mark.parametrize("estimator", [RKHSWeightingClassifier, RandomKitchenSinksClassifier])
@pytest.mark.parametrize("solver", ["least_squares", "exact"])
def test_without_mixing_there_is_the_best_alone(estimator, solver):
    X, y, weights = data()
    settings = LIGHT | {"solver": solver, "alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]}
    single = estimator(**settings, mix_alphas=False).fit(X, y > 1.0, weights)
    assert single.alpha_mixture_["alpha"].tolist() == [single.alpha_]
    assert single.alpha_mixture_["weight"].tolist() == [1.0]
    mixed = estimator(**settings).fit(X, y > 1.0, weights)
    assert mixed.alpha_ == single.alpha_
    assert np.abs(mixed.predict_proba(X) - single.predict_proba(X)).max() > 1e-6
    np.testing.assert_array_equal(mixed.alpha_search_["loss"], single.alpha_search_["loss"])


@pytest.mark.parametrize("mixed", [True, False])
def test_batches_are_fitted_with_the_alphas_they_say(mixed):
    X, y, weights = data(600)
    settings = LIGHT | WEIGHTING | {"solver": "least_squares", "truncate": None}

    def stream(**changes):
        model = RKHSWeightingRegressor(**settings | changes)
        for part in (slice(0, 300), slice(300, None)):
            model.partial_fit(X[part], y[part], weights[part])
        return model

    model = stream(mix_alphas=mixed)
    alphas, shares = model.alpha_mixture_["alpha"], model.alpha_mixture_["weight"]
    assert mixed or alphas.tolist() == [model.alpha_]
    searched = model.alpha_search_
    assert np.isclose(model.alpha_, searched["alpha"][np.argmin(searched["loss"])])
    parts = [stream(alpha=alpha).predict(X) for alpha in alphas]
    expected = sum(share * part for share, part in zip(shares, parts, strict=True))
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [(RKHSWeightingRegressor, WEIGHTING), (RandomKitchenSinksRegressor, {"base": "sign"})],
)
def test_first_batches_are_fitted_with_the_alpha_they_say(estimator, settings):
    X, y, _ = data(300)
    settings = LIGHT | settings | {"solver": "least_squares", "truncate": None}
    model = estimator(**settings, mix_alphas=False).partial_fit(X, y)
    assert model.alpha_mixture_["alpha"].tolist() == [model.alpha_]
    again = estimator(**settings | {"alpha": model.alpha_}).partial_fit(X, y)
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)
    assert np.isclose(again.objective_, model.objective_, rtol=1e-9)


def test_rows_held_out_before_count_when_alpha_is_given_later():
    X, y, weights = data(400)
    first, second = slice(0, 250), slice(250, None)
    settings = LIGHT | WEIGHTING | {"solver": "least_squares"}
    model = RKHSWeightingRegressor(**settings).partial_fit(X[first], y[first], weights[first])
    model.set_params(alpha=1e-3).partial_fit(X[second], y[second], weights[second])
    given = RKHSWeightingRegressor(**settings | {"alpha": 1e-3})
    for part in (first, second):
        given.partial_fit(X[part], y[part], weights[part])
    np.testing.assert_allclose(model.predict(X), given.predict(X), rtol=1e-9, atol=1e-9)


def test_repeated_alphas_count_once():
    X, y, _ = data(60)
    settings = LIGHT | WEIGHTING | {"alpha": [1e-3, 1e-2, 1e-3]}
    assert RKHSWeightingRegressor(**settings).fit(X, y).alpha_search_["alpha"].tolist() == [
        1e-3,
        1e-2,
    ]


@pytest.mark.parametrize("solver", ["lasso", "sfgd"])
def test_other_learners_have_one_alpha(solver):
    X, y, _ = data()
    model = RKHSWeightingRegressor(**LIGHT | WEIGHTING | {"solver": solver, "correlation": 0.1})
    model.fit(X, y)
    assert model.alpha_mixture_["alpha"].tolist() == [model.alpha_]


def test_constants_are_mixed_like_the_functions():
    # Skewed columns: the constants of small and of large alphas differ.
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(60, 3)) ** 2
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=60)
    options = {**WEIGHTING, "solver": "exact", "random_state": 0, "linear_part": False}
    mixed = RKHSWeightingRegressor(**options, alpha=[1e-6, 1e-4, 1e-2, 1.0]).fit(X, y)
    alphas, weights = mixed.alpha_mixture_["alpha"], mixed.alpha_mixture_["weight"]
    single = [RKHSWeightingRegressor(**options, alpha=float(alpha)).fit(X, y) for alpha in alphas]
    constants = np.array([model.intercept_ for model in single])
    assert len(alphas) > 1 and np.ptp(constants) > 1e-3
    np.testing.assert_allclose(mixed.intercept_, weights @ constants, rtol=1e-8)
