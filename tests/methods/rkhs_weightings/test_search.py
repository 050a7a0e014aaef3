"""What a fit says of its search, rows left out of it, and what a saved model is made of."""

from __future__ import annotations

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

import kernlens
from families import targets_of
from kernlens import (
    FunctionalGradient,
    PaperAlpha,
    PaperWidth,
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.base.search import SearchRecord
from kernlens.features.weightings import CustomWeighting
from kernlens.methods.rkhs_weightings.learner import WeightingLearner

REGRESSORS = [RKHSWeightingRegressor, RandomKitchenSinksRegressor]
CLASSIFIERS = [RKHSWeightingClassifier, RandomKitchenSinksClassifier]


def data(m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, 1.5, (m, 3))
    return X, np.abs(X[:, 0]) + np.sin(X[:, 1]) + 0.1 * rng.normal(size=m)


def record_of(model):
    return SearchRecord.of_dict(model.alpha_search_)


def assert_chosen(model):
    """The position that is chosen is that of the settings of the model."""
    found = model.alpha_search_
    place = found["chosen"]
    assert type(place) is int
    assert found["alpha"][place] == model.alpha_
    assert found["instantiation"][place] == model.instantiation_
    if "correlation" in found:
        used = np.nan if model.correlation_ is None else model.correlation_
        np.testing.assert_equal(found["correlation"][place], used)


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("solver", ["exact", "least_squares", "lasso"])
@pytest.mark.parametrize("alpha", ["auto", [1e-3, 1e-1], PaperAlpha([1e-3, 1e-1])])
@pytest.mark.parametrize("mixed", [True, False])
def test_the_record_has_the_chosen_setting(estimator, solver, alpha, mixed):
    X, y = data()
    settings = {"solver": solver, "alpha": alpha, "n_random_features": 20, "random_state": 0}
    model = estimator(mix_alphas=mixed, **settings).fit(X, y)
    assert_chosen(model)
    alphas, losses = record_of(model).curve("alpha")
    assert np.all(np.diff(alphas) > 0.0)
    assert losses[alphas == model.alpha_] <= losses.min() * 1.0011
    if alpha == [1e-3, 1e-1]:
        assert alphas.tolist() == alpha


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("solver", ["exact", "least_squares", "lasso"])
def test_a_given_alpha_leaves_a_record_of_the_instantiations(estimator, solver):
    X, y = data()
    settings = {"solver": solver, "alpha": 0.01, "n_random_features": 20, "random_state": 0}
    model = estimator(**settings).fit(X, y)
    assert_chosen(model)
    assert set(model.alpha_search_["instantiation"]) == {"relu", "sign", "stumps"}
    name = "base" if estimator is RandomKitchenSinksRegressor else "instantiation"
    alone = {name: "relu"} | ({} if name == "base" else {"correlation": 0.5})
    model.set_params(**alone).fit(X, y)
    assert not hasattr(model, "alpha_search_")


def test_records_of_descents_and_of_streams():
    X, y = data()
    settings = {"alpha": [0.1, 1.0], "n_random_features": 50, "random_state": 0}
    descent = RKHSWeightingRegressor(solver="sfgd", **settings).fit(X, y)
    assert_chosen(descent)
    stream = RKHSWeightingRegressor(solver="least_squares", **settings)
    for part in (slice(0, 30), slice(30, None)):
        assert_chosen(stream.partial_fit(X[part], y[part]))


def test_curve_of_a_users_own_weighting():
    X, y = data()
    model = RKHSWeightingRegressor(instantiation=sines(), n_random_features=20, random_state=0)
    model.fit(X, y)
    assert_chosen(model)
    # The correlation is not a number and tells no tries apart.
    assert "correlation" not in model.alpha_search_["searched"]
    assert len(record_of(model).curve("alpha")[0]) == len(model.alpha_search_["loss"]) > 1


# Rows left out -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["exact", "least_squares", "lasso", "sfgd"])
def test_rows_left_out_are_predicted_in_the_units_of_the_fit(solver, monkeypatch):
    X, y = data(m=150)
    kept = {}
    learn = WeightingLearner.learn

    def remember(self):
        kept["learner"], kept["learned"] = self, learn(self)
        return kept["learned"]

    monkeypatch.setattr(WeightingLearner, "learn", remember)
    model = RKHSWeightingRegressor(
        solver=solver, instantiation="relu", alpha=1e-3, n_random_features=200, random_state=0,
        correlation=0.1 if solver == "sfgd" else 0.5, n_directions=1,
    ).fit(X, 100.0 * y + 7.0)  # fmt: skip
    left = kept["learner"].left_out(kept["learned"])
    n_rows = left.decision.shape[1]
    assert left.decision.shape == left.y.shape == (1, n_rows)
    assert n_rows == (150 if solver in ("exact", "least_squares") else 30)
    assert left.weights.shape == (n_rows,)
    standardized = targets_of(model, 100.0 * y + 7.0)[0]
    assert np.all(np.isin(left.y[0].round(9), standardized.round(9)))
    error = np.average(np.square(left.decision - left.y)[0], weights=left.weights)
    own = np.mean(np.square(model.predict(X) / 100.0 - 0.07 - y)) / y.var()
    assert own < error < 0.9 if solver != "sfgd" else error < 1.2


# Saved models ------------------------------------------------------------------------------------


def sine(X, W):
    return np.sin(X @ W.T)


def gaussian(W, U):
    return np.exp(-((W[:, None] - U) ** 2).sum(axis=2))


def normal(n, d, rng):
    return rng.standard_normal((n, d))


def sines():
    return CustomWeighting(sine, gaussian, normal, n_nodes=50)


def fitted_models():
    X, y = data()
    light = {"n_random_features": 20, "random_state": 0}
    for estimator in (*REGRESSORS, *CLASSIFIERS):
        target = y > 1.0 if estimator in CLASSIFIERS else y
        for solver in ("exact", "least_squares", "lasso"):
            yield estimator(solver=solver, alpha=[1e-2, 0.1], **light).fit(X, target)
    yield RKHSWeightingRegressor(solver="sfgd", **light).fit(X, y)
    yield RKHSWeightingRegressor(solver="sfgd", alpha=0.1, **light).partial_fit(X, y)
    yield RKHSWeightingClassifier(solver="least_squares", **light).partial_fit(X, y > 1, [0, 1])
    yield RKHSWeightingRegressor(
        instantiation="relu",
        solver=FunctionalGradient(10),
        correlation=PaperWidth(gamma=2.0, sigma=1.5),
        alpha=PaperAlpha([1e-2, 1.0]),
        **light,
    ).fit(X, y)


def test_saved_models_are_plain_arrays_and_public_types():
    X, y = data()
    public = {
        f"{thing.__module__}.{thing.__name__}"
        for thing in (getattr(kernlens, name) for name in kernlens.__all__)
        if isinstance(thing, type)
    }
    for model in fitted_models():
        stored = skops.io.dumps(model)
        untrusted = skops.io.get_untrusted_types(data=stored)
        assert set(untrusted) <= public
        loaded = skops.io.loads(stored, trusted=untrusted)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.gradient(X), model.gradient(X))
        assert loaded.get_params().keys() == model.get_params().keys()
        if "_stream" in vars(model):
            np.testing.assert_array_equal(
                loaded.partial_fit(X, y > 1.0).predict(X), model.partial_fit(X, y > 1.0).predict(X)
            )


def test_a_users_own_weighting_stays_that_of_the_fit():
    X, y = data()
    model = RKHSWeightingRegressor(instantiation=sines(), n_random_features=20, random_state=0)
    expected = model.fit(X, y).predict(X)
    # Arguments that are set wait for the next fit.
    model.set_params(instantiation="relu")
    np.testing.assert_array_equal(model.predict(X), expected)
    again = clone(model).set_params(instantiation=sines()).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), expected)
