"""Bad and extreme input of RKHS weightings and kitchen sinks: refused in a sentence, or finite."""

from __future__ import annotations

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
    implicit_kernel,
)
from kernlens.features.weightings import CustomWeighting
from kernlens.methods.rkhs_weightings.instantiations import INSTANTIATIONS
from kernlens.methods.rkhs_weightings.options import alphas_of

REGRESSORS = [RKHSWeightingRegressor, RandomKitchenSinksRegressor]
CLASSIFIERS = [RKHSWeightingClassifier, RandomKitchenSinksClassifier]
SOLVERS = ("exact", "least_squares", "lasso", "sfgd")

custom = CustomWeighting(
    lambda X, W: np.sin(X @ W.T),
    lambda W, U: W @ U.T,
    lambda T, n, rng: rng.standard_normal((T, n)),
    n_nodes=50,
)


def data(m=30, n=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, np.abs(X[:, 0]) + 0.1 * rng.normal(size=m)


def fit(estimator=RKHSWeightingRegressor, X=None, y=None, **settings):
    if X is None:
        X, y = data()
    settings = {"n_random_features": 20, "random_state": 0} | settings
    return estimator(**settings).fit(X, y)


# Refusals ----------------------------------------------------------------------------------------


def bad_values():
    """Every argument with every value that its kind refuses, of all four estimators."""
    for estimator in (*REGRESSORS, *CLASSIFIERS):
        for name in estimator().get_params():
            for value in estimator._parameters[name].kind.bad_values():
                yield pytest.param(estimator, name, value, id=f"{estimator.__name__}-{name}")


@pytest.mark.parametrize(("estimator", "name", "value"), list(bad_values()))
def test_values_outside_the_table_are_refused_in_a_sentence(estimator, name, value):
    X, y = data()
    y = y > 0.5 if estimator in CLASSIFIERS else y
    with pytest.raises(ValueError, match=rf"^{name} must be .*, got .*\.$"):
        fit(estimator, X, y, **{name: value})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"instantiation": "cosine"}, "instantiation must be .*CustomWeighting"),
        ({"solver": "newton"}, "solver must be .*FunctionalGradient"),
        ({"penalty": "l2", "solver": "lasso"}, "penalty='l2' is for solver='least_squares'"),
        ({"penalty": "l2", "solver": "sfgd"}, "penalty='l2' is for solver='least_squares'"),
        ({"penalty": "l2", "solver": FunctionalGradient()}, "penalty='l2' is for solver="),
        ({"correlation": 0.0}, "correlation must be a number above 0 and below 1; or 'auto'"),
        ({"correlation": [0.5, 2.0]}, "correlation must be a number above 0"),
        ({"correlation": []}, "correlation must be one value or a non-empty list"),
        ({"correlation": "high"}, "correlation must be a number above 0"),
        ({"alpha": -1.0}, "alpha must be"),
        ({"alpha": [1e-3, 1e-16]}, "alpha must be at least 1e-15, got 1e-16"),
        ({"alpha": [1.0, "auto"]}, "alpha must be one value or a non-empty list"),
        ({"n_random_features": 0}, "n_random_features must be"),
        ({"bias": -1.0}, "bias must be"),
    ],
)
def test_settings_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(**settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"base": "exp_relu"}, "base must be"),
        ({"solver": "sfgd"}, "solver must be"),
        ({"solver": "auto"}, "solver must be"),
        ({"solver": FunctionalGradient()}, "solver must be"),
        ({"sigma": 0.0}, "sigma must be a positive finite number"),
        ({"truncate": True}, "truncate must be"),
    ],
)
def test_settings_of_kitchen_sinks_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(RandomKitchenSinksRegressor, **settings)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gamma": 1.0, "theta": 0.5}, "give one of correlation, gamma, theta and kappa"),
        ({"gamma": 1.0, "correlation": 0.5}, "give one of correlation, gamma, theta and kappa"),
        ({"kappa": 2.0, "correlation": [0.5]}, "give one of correlation, gamma, theta and kappa"),
        ({"gamma": -1.0}, "gamma must be None or a positive finite"),
        ({"gamma": np.inf}, "gamma must be None or a positive finite"),
        ({"gamma": "wide"}, "gamma must be None or a positive finite"),
        ({"theta": 1.0}, "theta must be a number above 0 and below 1"),
        ({"kappa": 1.0}, "kappa must be a number above 1"),
        ({"sigma": 0.0}, "sigma must be a positive finite number"),
        ({"sigma": None}, "sigma must be a positive finite number"),
        ({"correlation": 1.0}, "correlation must be a number above 0 and below 1"),
        ({"correlation": np.array([])}, "correlation must be one value or a non-empty list"),
    ],
)
def test_widths_are_refused_in_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        PaperWidth(**options)


@pytest.mark.parametrize(
    ("instantiation", "options", "sentence"),
    [
        ("auto", {"gamma": 1.0}, "gamma belongs to one instantiation; name it"),
        (custom, {"gamma": 1.0}, "gamma belongs to one instantiation"),
        (custom, {"correlation": 0.5}, "correlation is for named instantiations"),
        ("exp_relu", {"theta": 0.5}, "theta is for instantiation='sign'"),
        ("stumps", {"theta": 0.5}, "gamma or correlation for stumps"),
        ("relu", {"kappa": 2.0}, "kappa is for instantiation='exp_sign'"),
        ("exp_relu", {"gamma": 0.7}, r"gamma must be above sigma / sqrt\(2\)"),
        ("exp_sign", {"gamma": 1.0, "sigma": 2.0}, "got gamma=1.0 with sigma=2.0"),
    ],
)
def test_widths_of_other_instantiations_are_refused_in_a_sentence(instantiation, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(instantiation=instantiation, correlation=PaperWidth(**options))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("auto", "PaperAlpha needs a number or a list of numbers"),
        (0.0, "value must be a positive finite number, got 0.0"),
        ([1.0, -1.0], "value must be a positive finite number, got -1.0"),
        ([], "value must be one value or a non-empty list"),
        (None, "value must be"),
    ],
)
def test_alphas_of_the_paper_are_refused_in_a_sentence(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        PaperAlpha(value)


def test_options_are_values():
    assert PaperWidth(correlation=np.array([0.1, 0.2])) == PaperWidth(correlation=[0.1, 0.2])
    assert PaperAlpha(np.array([0.1, 0.2])) == PaperAlpha([0.1, 0.2])
    # Lambda can be of any size, with the constants of high dimensions.
    assert np.isfinite(fit(alpha=PaperAlpha(1e-30), instantiation="sign").predict(data()[0])).all()


@pytest.mark.parametrize("estimator", [*REGRESSORS, *CLASSIFIERS])
@pytest.mark.parametrize("solver", ["exact", "lasso"])
def test_streams_only_of_what_can_be_summed(estimator, solver):
    model = estimator(solver=solver)
    assert not hasattr(model, "partial_fit")
    assert hasattr(estimator(solver="least_squares"), "partial_fit")


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_batches_must_fit_together(estimator):
    X, y = data()
    model = estimator(solver="least_squares", n_random_features=10, random_state=0)
    with pytest.raises(ValueError, match="minimum of 2"):
        model.partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="at least 2"):
        model.partial_fit(X[:3], y[:3], [0.0, 1.0, 0.0])
    model.partial_fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="y has 2 targets and those before had 1"):
        model.partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="X has 2 features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.partial_fit(X, 1e6 * y, np.zeros(len(y)))
    np.testing.assert_array_equal(model.predict(X), before)
    model.partial_fit(X[:1], y[:1])
    assert np.all(np.isfinite(model.predict(X)))


def test_weight_functions_and_bounds_are_refused_in_a_sentence():
    model = fit(instantiation="relu", alpha=0.1, correlation=0.5)
    with pytest.raises(ValueError, match=r"W must have shape \(n_weights, 4\)"):
        model.weight_function(np.zeros((2, 3)))
    for settings, sentence in (
        ({"delta": 0.0}, "delta must be a number above 0"),
        ({"delta": 1.0}, "delta must be a number above 0"),
        ({"kind": "l1"}, "kind must be"),
        ({"form": "new"}, "form must be"),
        ({"kind": "sfgd"}, "kind='sfgd' is for solver='sfgd'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.generalization_bound(**settings)
    descent = fit(instantiation="relu", alpha=0.1, correlation=0.1, solver="sfgd")
    with pytest.raises(ValueError, match="form='clipped' is for kind='rkhs' and 'l2'"):
        descent.generalization_bound(kind="sfgd", form="clipped")
    own = fit(instantiation=custom, alpha=0.1)
    with pytest.raises(ValueError, match="constants of a CustomWeighting are not known"):
        own.generalization_bound()
    with pytest.raises(ValueError, match="penalty='l2' needs a kernel without negative values"):
        fit(instantiation=custom, penalty="l2", solver="least_squares", alpha=0.1)


# Extremes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", INSTANTIATIONS)
def test_rows_of_zeros(name, solver):
    X, y = data()
    X[:5] = 0.0
    X = np.round(4.0 * X)
    X = np.vstack([X, -X])
    y = np.concatenate([y, -y])
    # The mean of whole numbers is exactly zero, so that the rows stay at the origin.
    model = fit(
        X=X, y=y, instantiation=name, solver=solver, bias=0.0, correlation=0.3, truncate=None
    )
    assert np.all(np.isfinite(model.predict(X)))
    assert np.all(np.isfinite(model.components_))
    if name != "stumps":
        constant = model.intercept_[0] * y.std() + y.mean()
        np.testing.assert_allclose(model.predict(np.zeros((1, 3))), constant, atol=1e-12)


@pytest.mark.parametrize("gamma", [1e-200, 1e-8, 1e8, 1e200])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", INSTANTIATIONS)
def test_widths_at_their_limits_are_finite_or_refused(name, solver, gamma):
    X, y = data()
    if name.startswith("exp_") and gamma < 1.0:
        with pytest.raises(ValueError, match="gamma must be above sigma"):
            fit(instantiation=name, solver=solver, correlation=PaperWidth(gamma=gamma))
        return
    width = PaperWidth(gamma=gamma)
    model = fit(X=X, y=y, instantiation=name, solver=solver, correlation=width)
    assert np.all(np.isfinite(model.predict(X)))
    assert 0.0 < model.correlation_ < 1.0


@pytest.mark.parametrize("estimator", [*REGRESSORS, *CLASSIFIERS])
@pytest.mark.parametrize("solver", ["least_squares", "lasso"])
def test_more_weights_than_rows(estimator, solver):
    X, y = data(m=12)
    y = (y > 0.5).astype(int) if estimator in CLASSIFIERS else y
    model = fit(estimator, X, y, solver=solver, n_random_features=200)
    assert np.all(np.isfinite(model.predict(X)))
    assert model.score(X, y) > 0.2


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("pair", [("no", "yes"), (0, 1), (-1, 2), (-1, 1), (False, True)])
def test_labels_other_than_plus_and_minus_one(estimator, pair):
    X, y = data(m=60)
    positive = y > np.median(y)
    model = fit(estimator, X, np.where(positive, pair[1], pair[0]), alpha=1e-2)
    plain = fit(estimator, X, np.where(positive, 1, -1), alpha=1e-2)
    np.testing.assert_array_equal(model.classes_, pair)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), np.array(pair)[(plain.predict(X) > 0) * 1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_many_columns(solver):
    X, y = data(m=60, n=784)
    for name in ("relu", "exp_sign", "stumps"):
        model = fit(X=X, y=y, instantiation=name, solver=solver, alpha=1e-2, correlation=0.2)
        assert np.all(np.isfinite(model.predict(X)))
        assert np.isfinite(model.objective_)
        assert not np.isnan(model.generalization_bound())


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_constant_targets_and_constant_columns(estimator):
    X, y = data()
    model = fit(estimator, X, np.full(len(y), 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0, rtol=1e-12)
    flat = fit(estimator, np.ones((30, 2)), y, bias=0.0)
    np.testing.assert_allclose(flat.predict(np.ones((30, 2))), y.mean(), rtol=1e-9)


def test_bound_of_constant_targets_is_no_nan():
    X, y = data()
    model = fit(X=X, y=np.full(len(y), 7.0), instantiation="relu")
    assert model.generalization_bound() >= 0.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
        ({"features_per_step": 1.5}, "features_per_step must be an integer of at least 1"),
        ({"step": "third"}, "step must be one of 'half', 'full', got 'third'"),
        ({"max_norm": -1.0}, "max_norm must be None, 'auto' or a positive finite number"),
    ],
)
def test_options_of_a_descent_are_refused_in_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        FunctionalGradient(**options)


def cosines(**parts):
    own = {
        "base_predictor": lambda X, W: np.cos(X @ W.T),
        "kernel": lambda W, U: np.exp(-((W[:, None] - U) ** 2).sum(axis=2)),
        "sampler": lambda n, d, rng: rng.standard_normal((n, d)),
    }
    return CustomWeighting(**{**own, **parts})


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"kernel": 3}, "kernel of a CustomWeighting must be a function"),
        ({"n_nodes": 0}, "n_nodes must be an integer of at least 1, got 0"),
        ({"sampler": lambda n, d, rng: np.zeros(n)}, "must have shape .n_nodes, n_coordinates."),
        ({"nodes": np.zeros((4, 4)), "node_weights": np.ones(3)}, r"got \(4, 4\) and \(3,\)"),
        ({"base_predictor": lambda X, W: X}, r"base_predictor\(X, W\) .* must return finite"),
        ({"base_predictor": lambda X, W: X @ W.T + 1j}, r"must return finite .* of complex128"),
        ({"kernel": lambda W, U: [["x"] * len(U)] * len(W)}, r"kernel\(W, U\) .* of <U1"),
        ({"kernel": lambda W, U: np.full((len(W), len(U)), np.nan)}, r"kernel\(W, U\) .* finite"),
    ],
)
def test_parts_of_a_custom_weighting_are_refused_in_a_sentence(parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(instantiation=cosines(**parts), n_random_features=20)


def test_a_custom_weighting_has_no_correlation():
    with pytest.raises(ValueError, match="correlation is for named instantiations"):
        fit(instantiation=cosines(), correlation=0.3)
    assert np.isfinite(fit(instantiation=cosines(), n_random_features=20).predict(data()[0])).all()


def test_kernels_of_rows_that_are_not_finite():
    X = data()[0]
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="X and Y must be finite"):
        implicit_kernel(X)


def test_the_number_of_weights_of_a_stream_is_that_of_its_first_batch():
    X, y = data(m=60)
    stream = RKHSWeightingRegressor(
        instantiation="relu", correlation=0.5, alpha=1e-3, n_random_features=20, random_state=0
    )
    whole = stream.partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:]).predict(X)
    stream.fit(X, y)
    stream.set_params(solver="least_squares").partial_fit(X[:30], y[:30])
    stream.set_params(n_random_features=7).partial_fit(X[30:], y[30:])
    np.testing.assert_allclose(stream.predict(X), whole, rtol=0, atol=1e-10)


def test_a_word_in_an_array_is_the_word():
    assert alphas_of(np.array("auto")) is None
    assert alphas_of(np.array(0.5)) == (0.5,)
