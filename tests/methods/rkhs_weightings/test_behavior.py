"""RKHS weightings as estimators: streams, precision, directions, probabilities, interruptions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import log_loss

from families import fit_interrupted, inputs_of, targets_of
from kernlens import (
    FunctionalGradient,
    PaperAlpha,
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens._result import Status
from kernlens.methods.rkhs_weightings.estimator import BaseRandomFeatures
from kernlens.methods.rkhs_weightings.learner import WeightingLearner
from kernlens.methods.rkhs_weightings.plan import Limits
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import (
    STEPS_AT_ONCE,
    Descent,
)
from kernlens.methods.rkhs_weightings.solvers.least_squares import LeastSquares
from kernlens.methods.rkhs_weightings.solvers.solver import ALPHAS, WeightingSolver
from reference import rkhs_weightings as oracle

REGRESSORS = [RKHSWeightingRegressor, RandomKitchenSinksRegressor]
CLASSIFIERS = [RKHSWeightingClassifier, RandomKitchenSinksClassifier]
SOLVERS = ("exact", "least_squares", "lasso", "sfgd")


def data(m=60, n=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, 1.5, (m, n))
    return X, np.abs(X[:, 0]) + np.sin(X[:, 1]) + 0.1 * rng.normal(size=m)


def labels(m=300, n_classes=2, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    scores = np.stack([3 * np.cos(k + 2 * X[:, 0]) + X[:, 1] * k for k in range(n_classes)])
    return X, np.argmax(scores + noise * rng.gumbel(size=scores.shape), axis=0)


def given(estimator, name="relu"):
    """One setting, so that nothing is chosen."""
    if "Sinks" in estimator.__name__:
        return {"base": name, "alpha": 1e-2, "n_random_features": 20, "random_state": 0}
    settings = {"instantiation": name, "correlation": 0.4, "alpha": 1e-2, "random_state": 0}
    return settings | {"n_random_features": 20}


def assert_close(actual, expected, tolerance=1e-9):
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()


# Streams -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_batches_add_up_to_the_normal_equations_of_all_rows(standardize, intercept):
    X, y = data()
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    stream = RKHSWeightingRegressor(
        instantiation="relu", solver="least_squares", correlation=0.4, alpha=PaperAlpha(1e-3),
        standardize=standardize, bias=2.0, truncate=None,
        n_random_features=15, random_state=0, fit_intercept=intercept,
    )  # fmt: skip
    parts = (slice(0, 25), slice(25, 26), slice(26, 60))
    for part in parts:
        stream.partial_fit(X[part], y[part], weights[part])
        # Whether there is a constant is that of the first batch.
        stream.set_params(fit_intercept=not intercept)
    # Units of the first batch, whose weights are rounded to ten digits.
    first = np.repeat(np.arange(25), weights[:25].astype(int))
    np.testing.assert_allclose(stream.mean_, X[first].mean(axis=0), rtol=1e-9)
    scale = X[first].std(axis=0) if standardize else 1.0
    np.testing.assert_allclose(stream.scale_, scale, rtol=1e-9)
    # Every batch is rounded by itself.
    inputs = np.vstack([inputs_of(stream, X[part]) for part in parts])
    t = np.hstack([targets_of(stream, y[part], weights[part])[0] for part in parts])
    model = oracle.with_correlation("relu", 5, 1.0, 0.4)
    Phi = oracle.table_features(model, stream.weights_, inputs)
    rows = np.repeat(np.arange(60), weights.astype(int))
    # Without a constant, targets have the mean of the first batch, which is 0 in its units.
    offset, mean = intercept * Phi[rows].mean(axis=0), intercept * t[rows].mean()
    G = model.kernel(stream.weights_, stream.weights_)
    a = oracle.least_squares(Phi[rows] - offset, G, t[rows] - mean, 1e-3)
    predicted = oracle.table_features(model, stream.weights_, stream._columns.apply(X))
    values = (predicted - offset) @ a + mean
    expected = values * y[first].std() + y[first].mean()
    assert_close(stream.predict(X), expected, 1e-8)


@pytest.mark.parametrize(
    "settings", [{"solver": "least_squares"}, {"solver": "sfgd", "alpha": 0.1}], ids=str
)
def test_units_and_the_order_of_columns_are_nothing_to_later_batches(settings):
    X, y = data(m=300)
    settings = {"instantiation": "relu", "correlation": 0.4, "random_state": 0, **settings}
    settings |= {"n_random_features": 60, "n_directions": 1}
    units, order = np.array([3.0, 0.1, 7.0, 1.0 / 3.0]), [2, 0, 3, 1]
    found = []
    for rows in (X, X * units, X[:, order]):
        stream = RKHSWeightingRegressor(**settings)
        for low in range(0, 300, 100):
            stream.partial_fit(rows[low : low + 100], y[low : low + 100])
        found.append(stream.predict(rows))
    for other in found[1:]:
        assert_close(other, found[0], 1e-9)


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_alpha_of_a_stream_is_chosen_anew(estimator):
    X, y = data(m=600)
    settings = {"random_state": 0, "n_random_features": 100, "solver": "least_squares"}
    stream = estimator(**settings)
    for low in range(0, 450, 150):
        stream.partial_fit(X[low : low + 150], y[low : low + 150])
        found = stream.alpha_search_
        chosen = found["instantiation"] == stream.instantiation_
        if "correlation" in found:
            chosen &= found["correlation"] == stream.correlation_
        assert sorted(found["alpha"][chosen]) == sorted(ALPHAS)
        assert stream.alpha_ in ALPHAS
    whole = estimator(**settings).fit(X[:450], y[:450])
    assert stream.score(X[450:], y[450:]) > whole.score(X[450:], y[450:]) - 0.03


def test_fit_starts_anew_after_a_stream():
    X, y = data()
    model = RKHSWeightingRegressor(solver="least_squares", **given(RKHSWeightingRegressor))
    model.partial_fit(X[:30], y[:30]).fit(X, y)
    fresh = RKHSWeightingRegressor(solver="least_squares", **given(RKHSWeightingRegressor))
    np.testing.assert_array_equal(model.predict(X), fresh.fit(X, y).predict(X))
    model.partial_fit(X[:30], y[:30])
    fresh.partial_fit(X[:30], y[:30])
    np.testing.assert_array_equal(model.predict(X), fresh.predict(X))


def test_descent_goes_on_with_every_batch():
    rule = FunctionalGradient(batch_size=10)
    settings = {"instantiation": "stumps", "solver": rule, "alpha": 1e-2, "n_directions": 1}
    settings["n_random_features"] = 400
    scores = np.empty((10, 3))
    for seed in range(10):
        X, y = data(m=400, seed=seed)
        stream = RKHSWeightingRegressor(random_state=seed, **settings)
        for k, low in enumerate(range(0, 300, 100)):
            stream.partial_fit(X[low : low + 100], y[low : low + 100])
            # A tenth of those of a fit.
            assert stream.n_iter_ == 40 * (k + 1)
            assert len(stream.weights_) == stream.n_iter_
            scores[seed, k] = stream.score(X[300:], y[300:])
    # So few steps are noisy: one stream in six ends lower than it began.
    first, _, last = scores.mean(axis=0)
    assert last > max(first, 0.0)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_classes_of_a_stream(estimator):
    X, y = labels(n_classes=3)
    stream = estimator(solver="least_squares", **given(estimator))
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        stream.partial_fit(X[:50], y[:50])
    few = np.flatnonzero(y != 1)[:50]
    stream.partial_fit(X[few], y[few], classes=[2, 1, 0])
    assert stream.predict_proba(X).shape == (300, 3)
    stream.partial_fit(X[:150], y[:150])
    stream.partial_fit(X[150:], y[150:], classes=[0, 1, 2])
    assert stream.score(X, y) > 0.5
    before = stream.predict_proba(X)
    with pytest.raises(ValueError, match=r"classes is \[0, 1\] and was \[0, 1, 2\] before"):
        stream.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes"):
        stream.partial_fit(X, y + 1)
    np.testing.assert_array_equal(stream.predict_proba(X), before)


# Precision, targets, rows ------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["sign", "relu", "stumps"])
def test_single_precision_is_near_double(solver, name):
    X, y = data()
    X = X.astype(np.float32)
    estimators = [RKHSWeightingRegressor]
    estimators += [RandomKitchenSinksRegressor] if solver != "sfgd" else []
    for estimator in estimators:
        settings = given(estimator, name) | {"alpha": 0.1}
        low = estimator(solver=solver, **settings).fit(X, y).predict(X)
        high = estimator(solver=solver, **settings).fit(X.astype(float), y).predict(X.astype(float))
        # Steps of kitchen sinks may be on the other side of a row.
        assert_close(low, high, 2e-3 if estimator is RKHSWeightingRegressor else 2e-2)


@pytest.mark.parametrize("solver", ["exact", "least_squares", "sfgd"])
def test_several_targets_are_separate_fits(solver):
    X, y = data()
    both = np.column_stack([y, 5.0 * X[:, 2] ** 2])
    rule = FunctionalGradient(max_norm=None) if solver == "sfgd" else solver
    settings = given(RKHSWeightingRegressor) | {"solver": rule}
    together = RKHSWeightingRegressor(**settings).fit(X, both).predict(X)
    for k in range(2):
        alone = RKHSWeightingRegressor(**settings).fit(X, both[:, k]).predict(X)
        # Centres and scales are rounded in another order.
        assert_close(together[:, k], alone, 1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_repetitions_and_the_order_of_rows_is_nothing(solver):
    X, y = data()
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    settings = given(RKHSWeightingRegressor) | {"solver": solver}
    copies = X.copy(), y.copy(), weights.copy()
    weighted = RKHSWeightingRegressor(**settings).fit(X, y, weights).predict(X)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), weights))
    repeated = RKHSWeightingRegressor(**settings).fit(X[rows], y[rows]).predict(X)
    np.testing.assert_array_equal(weighted, repeated)
    for now, before in zip((X, y, weights), copies, strict=True):
        np.testing.assert_array_equal(now, before)


# Directions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("solver", ["exact", "least_squares", "lasso"])
def test_finds_the_direction_of_an_absolute_value(estimator, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5)) * [1.0, 2.0, 0.5, 1.0, 1.0]
    p = np.array([1.0, 0.5, -1.0, 0.0, 0.0])
    settings = given(estimator) | {"n_random_features": 300, "solver": solver, "alpha": "auto"}
    model = estimator(**settings).fit(X, np.abs(X @ p))
    assert np.abs(model.components_[0] @ p) / np.linalg.norm(p) > 0.97
    assert model.component_importances_[0] > 0.7
    assert model.feature_importances_[3:].max() < 0.7 * model.feature_importances_[:3].min()


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_importances_of_stumps_are_spreads_of_their_columns(estimator):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 4))
    parts = np.column_stack([2 * np.sin(3 * X[:, 0]), np.sign(X[:, 1]), 0 * X[:, 2], 0 * X[:, 3]])
    settings = given(estimator, "stumps") | {"alpha": 1e-4, "n_random_features": 300}
    model = estimator(**settings).fit(X, parts.sum(axis=1))
    expected = parts.std(axis=0) / parts.std(axis=0).sum()
    assert np.abs(model.feature_importances_ - expected).max() < 0.03


# Little to learn from ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "solver"),
    [
        *((estimator, s) for estimator in REGRESSORS for s in ("exact", "least_squares", "lasso")),
        (RKHSWeightingRegressor, "sfgd"),
    ],
)
@pytest.mark.parametrize("alpha", ["auto", [0.1, 0.01], 0.01])
def test_rows_that_are_all_the_same(estimator, solver, alpha):
    X, y = np.ones((5, 2)), np.full(5, 3.0)
    model = estimator(solver=solver, alpha=alpha, n_random_features=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict([[1.0, 1.0], [7.0, -1.0]]), 3.0)


@pytest.mark.parametrize("solver", ["least_squares", "sfgd"])
def test_a_batch_of_a_single_row(solver):
    X, y = labels()
    settings = given(RKHSWeightingClassifier) | {"solver": solver, "alpha": 0.1}
    stream = RKHSWeightingClassifier(**settings).partial_fit(X, y, classes=[0, 1])
    stream.partial_fit(X[:1], y[:1])
    assert np.isfinite(stream.predict_proba(X)).all()


@pytest.mark.parametrize("kind", ["rkhs", "l2"])
def test_constants_of_rows_of_length_zero(kind):
    X, y = np.ones((20, 2)), np.arange(20.0)
    settings = given(RKHSWeightingRegressor) | {"bias": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.warns(UserWarning, match="n_directions_ is 0"):
            model = RKHSWeightingRegressor(**settings).fit(X, y)
        constants = model.operator_constants()
        bound = model.generalization_bound(kind=kind)
    assert constants["theta"] == constants["tau"] == 0.0
    assert np.isfinite(bound) and bound > 0.0


# Classification ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["exact", "least_squares", "lasso", "sfgd"])
def test_the_functions_of_the_paper_have_no_constant(solver):
    X, y = labels()
    # More of one class: a constant would matter.
    X, y = X[y > 0], y[y > 0]
    X, y = np.vstack([X, -X[:20]]), np.append(y, np.zeros(20))
    settings = given(RKHSWeightingClassifier) | {"alpha": [1e-2, 1e-1], "bias": 0.0}
    model = RKHSWeightingClassifier(solver=solver, fit_intercept=False, **settings).fit(X, y)
    np.testing.assert_array_equal(model.intercept_, 0.0)
    # A function of ramps alone is zero at the mean of the columns, with a constant it is not.
    middle = X.mean(axis=0, keepdims=True)
    assert abs(BaseRandomFeatures._decision(model, middle)[0, 0]) < 1e-12
    other = RKHSWeightingClassifier(solver=solver, **settings).fit(X, y)
    assert BaseRandomFeatures._decision(other, middle)[0, 0] > 0.1


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("solver", ["exact", "least_squares", "lasso"])
def test_two_classes_are_the_signs_of_the_squared_loss_fit(estimator, solver):
    X, y = labels()
    model = estimator(solver=solver, **given(estimator)).fit(X, y)
    regressor = REGRESSORS[CLASSIFIERS.index(estimator)]
    fit = regressor(solver=solver, truncate=None, **given(regressor))
    score = fit.fit(X, 2.0 * y - 1.0).predict(X)
    clear = np.abs(score) > 0.05
    if solver != "lasso":
        # The targets of a regressor are standardised, on which the Lasso depends.
        assert_close(BaseRandomFeatures._decision_of(model, X)[0], score, 1e-7)
        np.testing.assert_array_equal(model.predict(X)[clear], score[clear] > 0)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    odds = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)), rtol=1e-12)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_probabilities_are_better_than_clipped_ones(estimator, n_classes):
    X, y = labels(m=1200, n_classes=n_classes)
    settings = given(estimator) | {"n_random_features": 200, "alpha": 1e-4}
    model = estimator(solver="least_squares", **settings).fit(X[:400], y[:400])
    raw = BaseRandomFeatures._decision(model, X[400:])
    clipped = np.clip((1.0 + raw) / 2.0, 1e-3, 1.0 - 1e-3)
    clipped = np.vstack([1 - clipped, clipped]) if n_classes == 2 else clipped / clipped.sum(axis=0)
    probabilities = model.predict_proba(X[400:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert log_loss(y[400:], probabilities) < log_loss(y[400:], clipped.T)
    assert log_loss(y[400:], probabilities) < np.log(n_classes)


# Interruptions -----------------------------------------------------------------------------------


@pytest.fixture
def interrupt(monkeypatch):
    """Press Ctrl-C in the call of a method after the first k."""

    def arm(owner, name, k):
        method, calls = getattr(owner, name), []

        def interrupted(*arguments, **options):
            if len(calls) == k:
                calls.append(1)
                raise KeyboardInterrupt
            calls.append(1)
            return method(*arguments, **options)

        monkeypatch.setattr(owner, name, interrupted)

    return arm


@pytest.mark.parametrize("solver", ["exact", "least_squares"])
def test_an_interrupted_search_keeps_the_best_so_far(interrupt, solver):
    X, y = data()
    settings = {"solver": solver, "correlation": [0.1, 0.4, 0.8], "n_random_features": 20}
    settings |= {"instantiation": "relu", "random_state": 0}
    interrupt(WeightingSolver, "losses", 2)
    model = fit_interrupted(RKHSWeightingRegressor(**settings), X, y)
    assert model.status_ == Status.INTERRUPTED.value
    assert set(model.alpha_search_["correlation"]) == {0.1, 0.4}
    found = model.alpha_search_
    lowest = found["loss"].min()
    assert model.correlation_ == found["correlation"][found["loss"].argmin()]
    assert found["loss"][found["alpha"] == model.alpha_].min() <= lowest * 1.0011
    direct = RKHSWeightingRegressor(
        **(settings | {"correlation": model.correlation_, "alpha": model.alpha_})
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), direct.predict(X))


def test_an_interrupted_descent_keeps_its_average(interrupt):
    X, y = data()
    settings = given(RKHSWeightingRegressor) | {"solver": FunctionalGradient(10)}
    # A whole block, whose draws do not depend on how many steps are to come.
    short = RKHSWeightingRegressor(**(settings | {"n_random_features": STEPS_AT_ONCE})).fit(X, y)
    interrupt(Descent, "_step", STEPS_AT_ONCE)
    model = RKHSWeightingRegressor(**(settings | {"n_random_features": 500}))
    fit_interrupted(model, X, y)
    assert model.n_iter_ == STEPS_AT_ONCE
    assert model.status_ == Status.INTERRUPTED.value
    assert_close(model.predict(X), short.predict(X), 1e-12)


@pytest.mark.parametrize("estimator", REGRESSORS + CLASSIFIERS)
@pytest.mark.parametrize(
    ("owner", "name"), [(WeightingLearner, "learn"), (WeightingSolver, "losses")]
)
def test_an_interruption_before_any_result_leaves_the_model_before(
    interrupt, estimator, owner, name
):
    X, y = labels() if estimator in CLASSIFIERS else data()
    model = estimator(random_state=0, n_random_features=20).fit(X, y)
    before = model.predict(X)
    interrupt(owner, name, 0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:40] + 1.0, y[:40])
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_an_interruption_leaves_the_classes_and_the_stream(interrupt, estimator):
    X, y = labels(n_classes=3)
    settings = given(estimator) | {"solver": "least_squares"}
    model = estimator(**settings).fit(X, y)
    stream = estimator(**settings).partial_fit(X, y, classes=[0, 1, 2])
    before = model.predict_proba(X), stream.predict_proba(X)
    interrupt(WeightingLearner, "learn", 0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, np.array(["a", "b"])[y % 2])
    np.testing.assert_array_equal(model.predict_proba(X), before[0])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    interrupt(WeightingLearner, "left_out", 0)
    with pytest.raises(KeyboardInterrupt):
        stream.partial_fit(X[:9], y[:9])
    np.testing.assert_array_equal(stream.predict_proba(X), before[1])
    # It goes on as if nothing had been.
    other = estimator(**settings).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    np.testing.assert_array_equal(stream.partial_fit(X, y).predict(X), other.predict(X))


def test_a_column_that_begins_to_vary_after_the_first_batch_is_said_aloud():
    X, y = data()
    first = X[:40].copy()
    first[:, 1] = 2.5
    model = RKHSWeightingRegressor(solver="least_squares", n_random_features=20, random_state=0)
    model.partial_fit(first, y[:40]).partial_fit(first, y[:40])
    with pytest.warns(UserWarning, match="Column 1 was constant in the first batch, and is not"):
        model.partial_fit(X[40:], y[40:])


def test_an_interruption_within_a_tried_descent_ends_the_search(interrupt):
    X, y = data()
    settings = {"instantiation": "stumps", "solver": "sfgd", "random_state": 0, "alpha": [0.1, 1]}
    interrupt(Descent, "_step", 450)
    model = fit_interrupted(RKHSWeightingRegressor(n_random_features=200, **settings), X, y)
    assert model.status_ == Status.INTERRUPTED.value
    # Two alphas of 200 steps for the first correlation, and 50 of the second one.
    assert len(model.alpha_search_["loss"]) == 2
    assert model.n_iter_ == 200


# Many rows ---------------------------------------------------------------------------------------


def test_many_rows_decide_among_kinds_and_rougher_functions(interrupt, monkeypatch):
    X, y = data(m=400)
    monkeypatch.setattr(BaseRandomFeatures, "_limits", Limits(search=100, leave_one_out=300))
    settings = {"solver": "least_squares", "n_random_features": 50, "random_state": 0}
    model = RKHSWeightingRegressor(**settings).fit(X, y)
    found = model.alpha_search_
    assert set(found["instantiation"]) == {"relu", "sign", "stumps"}
    pairs = set(zip(found["instantiation"], found["correlation"], strict=True))
    # One of every kind, and at most two rougher ones of the best on few rows.
    assert 3 <= len(pairs) <= 5
    assert len(found["loss"]) == len(pairs) * len(ALPHAS)
    best = found["loss"].argmin()
    assert model.instantiation_ == found["instantiation"][best]
    assert model.correlation_ == found["correlation"][best]
    # After an interruption there is one fit more, and no other.
    interrupt(WeightingSolver, "losses", 3)
    fits = []
    fit = LeastSquares.fit
    monkeypatch.setattr(LeastSquares, "fit", lambda *parts: fits.append(1) or fit(*parts))
    fit_interrupted(RKHSWeightingRegressor(**settings), X, y)
    assert len(fits) == 1
