"""Extreme parameters and data: a finite result without a warning, or one sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from kernlens import (
    FunctionalGradient,
    PaperAlpha,
    PaperWidth,
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.methods.rkhs_weightings.bounds import descent_bound, gap_bound
from kernlens.methods.rkhs_weightings.instantiations import Instantiation
from kernlens.methods.rkhs_weightings.plan import Setting, best_of

REGRESSORS = (RKHSWeightingRegressor, RandomKitchenSinksRegressor)
ALL = (*REGRESSORS, RKHSWeightingClassifier, RandomKitchenSinksClassifier)


@pytest.fixture(autouse=True)
def no_warning_of_overflow():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def rows(n: int = 20, d: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def few(make, **options):
    """An estimator of few features and one setting."""
    kind = "instantiation" if "RKHS" in make.__name__ else "base"
    chosen = {kind: "relu", "alpha": 1e-3, "n_random_features": 30, "random_state": 0}
    if kind == "instantiation":
        chosen["correlation"] = 0.5
    return make(**(chosen | options))


def targets_for(make, y):
    return y > np.median(y) if "Classifier" in make.__name__ else y


def assert_finite(model, X) -> None:
    found = [model.predict(X), model.gradient(X), model.transform(X), model.components_]
    found += [model.objective_history_, model.feature_importances_, model.sensitivity(X)]
    if hasattr(model, "predict_proba"):
        found.append(model.predict_proba(X))
    for values in found:
        assert np.isfinite(np.asarray(values, dtype=float)).all()


# A descent without a ball


def test_a_descent_that_runs_away_is_refused():
    X, y = rows()
    alone = FunctionalGradient(max_norm=None, batch_size=1)
    model = few(RKHSWeightingRegressor, solver=alone, alpha=1e-6, n_random_features=500)
    with pytest.raises(ValueError, match=r"alpha = 1e-06, and it diverges; choose a larger alpha"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="diverges"):
        for _ in range(50):
            model.partial_fit(X, y)
    # Where no setting stays, the largest alpha is named.
    model.set_params(alpha=[1e-6, 1e-5], correlation=[0.5, 0.6])
    with pytest.raises(ValueError, match=r"alpha = 1e-05, and it diverges"):
        model.fit(X, y)


def test_a_descent_without_a_ball_chooses_an_alpha_for_which_it_stays():
    X, y = rows()
    alone = FunctionalGradient(max_norm=None, batch_size=1)
    model = RKHSWeightingRegressor(solver=alone, random_state=0).fit(X, y)
    assert_finite(model, X)
    model = few(RKHSWeightingRegressor, solver=alone, alpha=[1e-6, 10.0], n_random_features=500)
    assert model.fit(X, y).alpha_ == 10.0
    assert model.objective_ < 2.0


@pytest.mark.parametrize("max_norm", [1e-300, 1e300])
def test_a_ball_of_any_size(max_norm):
    X, y = rows()
    ball = FunctionalGradient(max_norm=max_norm)
    model = few(RKHSWeightingRegressor, solver=ball, alpha=10.0).fit(X, y)
    assert_finite(model, X)


def test_a_descent_on_rows_of_any_size():
    X, y = rows()
    for size in (1e-99, 1e99):
        options = {"solver": "sfgd", "standardize": False, "bias": 0.0, "alpha": 1e-2}
        model = few(RKHSWeightingRegressor, **options)
        assert_finite(model.fit(size * X, y), size * X)


# Bounds of parameters


@pytest.mark.parametrize("make", ALL)
def test_the_largest_alpha_leaves_the_constant_and_larger_ones_are_refused(make):
    X, y = rows()
    y = targets_for(make, y)
    for solver in ("least_squares", "lasso", "exact"):
        model = few(make, alpha=1e15, solver=solver).fit(X, y)
        assert_finite(model, X)
        assert abs(model.objective_ - 1.0) < 1e-6
    with pytest.raises(ValueError, match=r"alpha must be at most 1e\+15, got 1e\+300\."):
        few(make, alpha=1e300).fit(X, y)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("value", [1e-320, 1e-280, 1e280, [1e-300, 1e300]])
@pytest.mark.parametrize("solver", ["least_squares", "lasso", "exact"])
def test_any_lambda_of_the_paper(make, value, solver):
    X, y = rows(38, 1)
    for kind in ("relu", "stumps"):
        name = "instantiation" if "RKHS" in make.__name__ else "base"
        options = {name: kind, "alpha": PaperAlpha(value), "solver": solver}
        model = few(make, **options).fit(X, targets_for(make, y))
        assert_finite(model, X)


@pytest.mark.parametrize("make", REGRESSORS)
@pytest.mark.parametrize("value", [1e-280, 1e280])
def test_any_lambda_of_the_paper_in_batches(make, value):
    X, y = rows(38, 1)
    model = few(make, alpha=PaperAlpha(value), solver="least_squares")
    assert_finite(model.partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:]), X)


@pytest.mark.parametrize("make", ALL)
def test_the_bias_is_bounded(make):
    X, y = rows()
    y = targets_for(make, y)
    for solver in ("least_squares", "exact"):
        for dtype in (np.float64, np.float32):
            model = few(make, bias=1e8, solver=solver).fit(X.astype(dtype), y)
            assert_finite(model, X.astype(dtype))
    with pytest.raises(ValueError, match=r"bias must be at most 1e\+08, got 1e\+100\."):
        few(make, bias=1e100).fit(X, y)


def test_sigma_is_bounded():
    X, y = rows()
    for sigma in (1e-100, 1e100):
        model = RandomKitchenSinksRegressor(base="stumps", sigma=sigma, n_random_features=30)
        assert_finite(model.fit(X, y), X)
        assert_finite(model.fit(X.astype(np.float32), y), X.astype(np.float32))
        width = PaperWidth(sigma=sigma, correlation=0.5)
        for solver in ("least_squares", "exact", "sfgd"):
            model = few(
                RKHSWeightingRegressor, correlation=width, instantiation="stumps", solver=solver
            )
            far = np.concatenate([X, np.full((1, 3), 1e300), np.full((1, 3), -1e30)])
            assert_finite(model.fit(X, y), far)
        for solver in ("least_squares", "exact"):
            options = {"correlation": width, "instantiation": "stumps", "solver": solver}
            model = few(RKHSWeightingRegressor, **options)
            double = model.fit(X, y).predict(X)
            single = model.fit(X.astype(np.float32), y).predict(X.astype(np.float32))
            assert np.abs(single - double).max() < 1e-3
    with pytest.raises(ValueError, match=r"sigma must be at least 1e-100 and at most 1e\+100"):
        PaperWidth(sigma=1e156)
    with pytest.raises(ValueError, match=r"sigma must be at least 1e-100 and at most 1e\+100"):
        RandomKitchenSinksRegressor(sigma=1e-200).fit(X, y)


@pytest.mark.parametrize("width", [{"theta": 1e-300}, {"gamma": 1e-300}, {"gamma": 1e300}])
def test_widths_at_their_limits(width):
    X, y = rows(d=1)
    model = few(RKHSWeightingRegressor, correlation=PaperWidth(**width), bias=0.0).fit(X, y)
    assert 0.0 < model.correlation_ < 1.0
    assert_finite(model, X)


# Settings


def test_a_loss_that_is_no_number_is_never_the_best():
    one = Instantiation("relu", 3, 0.5)
    tried = [Setting(one, 0.1, np.nan), Setting(one, 0.01, 2.0), Setting(one, 1.0, np.inf)]
    assert best_of(tried).alpha == 0.01
    assert best_of([tried[0], tried[2]]).alpha == 1.0


# Far rows


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_rows_have_finite_values_without_a_warning(make, dtype):
    X, y = rows()
    largest = np.finfo(dtype).max
    far = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]) * (0.9 * largest)
    far = np.concatenate([far, -far, 1e-5 * far, np.zeros((1, 3))]).astype(dtype)
    for solver in ("least_squares", "exact"):
        for standardize in (True, False):
            model = few(make, solver=solver, standardize=standardize)
            assert_finite(model.fit(X.astype(dtype), targets_for(make, y)), far)


# Batches


def test_a_batch_that_needs_too_much_memory_is_refused_before_any_work():
    X, y = rows()
    for make in REGRESSORS:
        for count in (10**7, 10**400):
            with pytest.raises(MemoryError, match="lower n_random_features"):
                few(make, n_random_features=count, solver="least_squares").partial_fit(X, y)


@pytest.mark.parametrize("make", REGRESSORS)
def test_weights_of_batches_are_of_one_scale(make):
    X, y = rows()
    model = few(make, solver="least_squares").partial_fit(X, y, np.full(20, 1e-200))
    with pytest.raises(ValueError, match=r"sample_weight of this batch is 1e\+200 times that of"):
        model.partial_fit(X, y, np.ones(20))
    model.partial_fit(X, y, np.full(20, 1e-160))
    assert_finite(model, X)


@pytest.mark.parametrize("make", REGRESSORS)
def test_batches_of_single_precision_hold_any_weights(make):
    X, y = rows(60)
    options = {"solver": "least_squares", "alpha": 1e-2}
    for weight in (1e-45, 1e45):
        found = []
        for dtype in (np.float32, np.float64):
            model = few(make, **options).partial_fit(X[:30].astype(dtype), y[:30])
            model.partial_fit(X[30:].astype(dtype), y[30:], np.full(30, weight))
            found.append(model.predict(X.astype(dtype)))
        assert np.abs(found[0] - found[1]).max() < 1e-3


@pytest.mark.parametrize("make", REGRESSORS)
def test_targets_of_a_batch_too_far_from_the_first_are_refused(make):
    X, y = rows()
    model = few(make, solver="least_squares").partial_fit(X, 1e-50 * y)
    with pytest.raises(ValueError, match="more than 1e\\+100 of its standard deviations"):
        model.partial_fit(X, 1e60 * y)
    assert_finite(model.partial_fit(X, 1e40 * y), X)


@pytest.mark.parametrize("make", REGRESSORS)
def test_single_precision_is_left_where_it_cannot_hold_the_rows(make):
    X, y = rows(60)
    for size in (1e-30, 1e13):
        given = (size * X).astype(np.float32)
        options = {"solver": "least_squares", "standardize": False, "bias": 0.0, "alpha": 1e-2}
        single = few(make, **options).fit(given, y)
        double = few(make, **options).fit(given.astype(np.float64), y)
        assert np.abs(single.predict(given) - double.predict(given.astype(float))).max() < 1e-3


# Bounds


def test_bounds_without_a_size_are_numbers():
    assert gap_bound(2.0, 0.0, 100.0, 0.05, "corrected") > 0.0
    assert gap_bound(2.0, 0.0, 100.0, 0.05, "clipped") == 0.0
    assert gap_bound(np.inf, 0.0, 100.0, 0.05, "clipped") == 0.0
    with np.errstate(over="ignore"):
        assert gap_bound(1e300, 1.0, 100.0, 0.05, "corrected") == np.inf
        assert gap_bound(1e308, 1e-5, 100.0, 0.05, "printed") == np.inf
        assert descent_bound(1e200, 1e200, 1e200, 1e-3, 1.0, 100.0, 10, True) == np.inf
    assert descent_bound(1.0, 1.0, 1.0, 0.0, 1.0, 100.0, 10, True) == np.inf


@pytest.mark.parametrize(
    ("solver", "penalty"),
    [(one, norm) for one in ("exact", "least_squares") for norm in ("rkhs", "l2")]
    + [("sfgd", "rkhs")],
)
def test_bounds_of_nothing_are_numbers(solver, penalty):
    X, y = rows()
    for given, target in ((np.zeros_like(X), y), (X, np.ones(20)), (np.ones_like(X), np.ones(20))):
        model = few(RKHSWeightingRegressor, solver=solver, penalty=penalty, bias=0.0)
        model.fit(given, target)
        for kind in ("rkhs", "l2", *(("sfgd",) if solver == "sfgd" else ())):
            for form in ("corrected", "printed"):
                assert not np.isnan(model.generalization_bound(kind=kind, form=form))


def test_the_smallest_correlation():
    X, y = rows()
    for kind in ("relu", "sign", "stumps", "exp_relu", "exp_sign"):
        for solver in ("exact", "least_squares"):
            options = {"correlation": 1e-12, "instantiation": kind, "solver": solver}
            assert_finite(few(RKHSWeightingRegressor, **options).fit(X, y), X)
    with pytest.raises(ValueError, match="correlation must be at least 1e-12"):
        few(RKHSWeightingRegressor, correlation=5e-324).fit(X, y)
