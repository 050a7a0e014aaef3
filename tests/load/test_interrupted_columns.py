"""A fit that is interrupted after its arrays were checked leaves nothing of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import PUBLIC, UNSUPERVISED, light
from kernlens.base import fitting
from kernlens.methods.kernel_laplacian import spectral
from kernlens.methods.sdr import estimator as finder


def sample(estimator, n_columns):
    rng = np.random.default_rng(n_columns)
    X = rng.standard_normal((40, n_columns))
    y = X[:, 0] + np.abs(X[:, 1])
    return X, (np.where(y > 0.5, f"yes {n_columns}", "no") if is_classifier(estimator()) else y)


def made(estimator):
    return estimator(random_state=0) if estimator in UNSUPERVISED else light(estimator)


def output(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@pytest.fixture
def interrupt(monkeypatch):
    """Press Ctrl-C between the checks of the arrays and the work."""

    def arm():
        def pressed(*arguments, **options):
            raise KeyboardInterrupt

        for module in (fitting, spectral, finder):
            monkeypatch.setattr(module, "check_memory", pressed)

    return arm


@pytest.mark.parametrize("estimator", PUBLIC)
def test_a_fitted_model_is_as_it_was(estimator, interrupt):
    X, y = sample(estimator, 4)
    model = made(estimator).fit(X, y)
    before, found = dict(vars(model)), output(model, X)
    interrupt()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*sample(estimator, 3))
    assert model.n_features_in_ == 4
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(output(model, X), found)


@pytest.mark.parametrize("estimator", PUBLIC)
def test_a_model_that_was_not_fitted_is_not_fitted(estimator, interrupt):
    model = made(estimator)
    before = dict(vars(model))
    interrupt()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*sample(estimator, 3))
    assert vars(model) == before
    assert not hasattr(model, "n_features_in_")
