"""A second fit that fails leaves the first model whole, and a first one leaves nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import PUBLIC, UNSUPERVISED, family_of, light
from kernlens.base.contract import all_or_nothing
from kernlens.base.fitting import FittingMixin


def sample(estimator, n=40, n_columns=4):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, n_columns))
    y = X[:, 0] + np.abs(X[:, 1])
    return X, (np.where(y > 0.5, "yes", "no") if is_classifier(estimator()) else y)


def output(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@pytest.fixture
def break_fits(monkeypatch):
    """Make fits fail on their way."""

    def arm(estimator):
        family = family_of(estimator)

        def broken(*arguments, **options):
            raise RuntimeError("broken")

        monkeypatch.setattr(family.objective, family.method, broken)

    return arm


@pytest.mark.parametrize("estimator", PUBLIC)
def test_a_failed_fit_leaves_the_model_before(estimator, break_fits):
    X, y = sample(estimator)
    quick = estimator not in UNSUPERVISED
    model = (light(estimator) if quick else estimator(random_state=0)).fit(X, y)
    before, found = dict(vars(model)), output(model, X)
    break_fits(estimator)
    # Other columns; of the unsupervised ones, which have another solver, too large for a fit.
    rows = X[:, :2] if quick else X[:, :2] * 1e200
    with pytest.raises((RuntimeError, ValueError)):
        model.fit(rows, y[: len(rows)])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(output(model, X), found)


@pytest.mark.parametrize(
    "estimator", [public for public in PUBLIC if issubclass(public, FittingMixin)]
)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(estimator, number, monkeypatch):
    X, y = sample(estimator)
    model = light(estimator).fit(X, y)
    before = dict(vars(model))
    store = FittingMixin._store_fit

    def damaged(self, *parts):
        store(self, *parts)
        self.feature_importances_[1] = number

    monkeypatch.setattr(FittingMixin, "_store_fit", damaged)
    with pytest.raises(ValueError, match="overflow or vanish; rescale X, y or sample_weight"):
        model.fit(X, y)
    assert vars(model) == before


@pytest.mark.parametrize("error", [np.linalg.LinAlgError, FloatingPointError])
def test_errors_of_linear_algebra_become_a_sentence(error):
    class Model:
        @all_or_nothing
        def fit(self):
            self.n_features_in_ = 3
            raise error("Singular matrix")

    model = Model()
    with pytest.raises(ValueError, match="numbers of this fit of Model overflow") as caught:
        model.fit()
    assert type(caught.value) is ValueError and isinstance(caught.value.__cause__, error)
    assert not vars(model)


@pytest.mark.parametrize("estimator", [public for public in PUBLIC if public not in UNSUPERVISED])
def test_a_failed_first_fit_leaves_parameters_alone(estimator, break_fits):
    X, y = sample(estimator)
    model = light(estimator)
    before = set(vars(model))
    break_fits(estimator)
    with pytest.raises(RuntimeError, match="broken"):
        model.fit(X, y)
    assert set(vars(model)) == before
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    "estimator", [public for public in PUBLIC if hasattr(public, "partial_fit")]
)
def test_a_failed_batch_leaves_the_stream_before(estimator, monkeypatch):
    X, y = sample(estimator)
    options = {"solver": "least_squares"}
    first = {"classes": ["no", "yes"]} if is_classifier(estimator()) else {}
    model = light(estimator, **options).partial_fit(X[:30], y[:30], **first)
    before = dict(vars(model))
    with monkeypatch.context() as patched:
        family = family_of(estimator)
        patched.setattr(family.objective, family.method, None)
        with pytest.raises(TypeError):
            model.partial_fit(X[30:], y[30:])
    assert all(vars(model)[name] is value for name, value in before.items())
    whole = light(estimator, **options).partial_fit(X[:30], y[:30], **first)
    whole.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(model.partial_fit(X[30:], y[30:]).predict(X), whole.predict(X))
