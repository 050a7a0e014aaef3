"""Short portfolios: what is tried is data, and fits of all families have their own tests."""

from __future__ import annotations

import pytest

from kernlens import RKHSWeightingClassifier, RKHSWeightingRegressor
from kernlens.model_selection.auto import classifier as classifier_module
from kernlens.model_selection.auto import regressor as regressor_module
from kernlens.model_selection.auto.candidates import CLASSIFIERS, REGRESSORS, Candidate

LIGHT = {"n_random_features": 60}


def _light(name, estimator, **settings):
    return Candidate(
        name,
        lambda k, seed: estimator(n_directions=k, random_state=seed, **LIGHT, **settings),
    )


@pytest.fixture
def short_portfolios(monkeypatch):
    """A line, and two quick candidates of one family."""
    regressors = (
        next(one for one in REGRESSORS if one.kind == "line"),
        _light("one", RKHSWeightingRegressor, linear_part=False),
        _light("two", RKHSWeightingRegressor, linear_part=False, bias=1.0),
    )
    classifiers = (
        next(one for one in CLASSIFIERS if one.kind == "line"),
        _light("one", RKHSWeightingClassifier),
        _light("two", RKHSWeightingClassifier, bias=1.0),
    )
    monkeypatch.setattr(regressor_module, "REGRESSORS", regressors)
    monkeypatch.setattr(classifier_module, "CLASSIFIERS", classifiers)
