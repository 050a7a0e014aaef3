"""Warnings point at the line of the user's program."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from families import ESTIMATORS, family_of, light
from kernlens import BKerNNRegressor


@pytest.mark.parametrize(
    "learner", [e for e in ESTIMATORS if family_of(e).iterative], ids=lambda e: e.__name__
)
def test_a_fit_that_stops_at_max_iter_says_so_where_it_was_called(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2]
    if is_classifier(learner()):
        y = y > 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = light(learner, tol=1e-15, max_iter=1).fit(X, y)
    (warning,) = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert warning.filename == __file__
    assert "raise max_iter or tol" in str(warning.message)
    assert "max_iter" in model.status_


@pytest.mark.parametrize("learner", ESTIMATORS, ids=lambda e: e.__name__)
def test_a_fit_that_ends_well_is_silent(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = X[:, 0] > 0 if is_classifier(learner()) else X[:, 0]
    easy = {"max_iter": 2000, "tol": 1e-3} if family_of(learner).iterative else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        light(learner, **easy).fit(X, y)


def test_inside_a_pipeline_the_line_is_still_the_one_of_the_user():
    X = np.random.default_rng(0).standard_normal((40, 2))
    pipeline = make_pipeline(StandardScaler(), BKerNNRegressor(alpha=1e-4, max_iter=1, tol=1e-15))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipeline.fit(X, np.sin(3.0 * X[:, 0]))
    (warning,) = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert warning.filename == __file__
