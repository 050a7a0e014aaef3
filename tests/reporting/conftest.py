"""Small fits that many tests look at, made once."""

from __future__ import annotations

import pytest

from kernlens import RKHSWeightingRegressor
from kernlens.reporting import summarize
from pages import LIGHT, automatic_classifier, automatic_regressor, classes, mixed, numbers


@pytest.fixture(scope="session")
def automatic():
    """An automatic regressor of a mixed table, with rows held out."""
    X, y = mixed()
    return automatic_regressor(X[:100], y[:100]), X[:100], y[:100], X[100:], y[100:]


@pytest.fixture(scope="session")
def classified():
    """An automatic classifier of three classes of a mixed table, with rows held out."""
    X, rent = mixed()
    y = classes(rent)
    return automatic_classifier(X[:100], y[:100]), X[:100], y[:100], X[100:], y[100:]


@pytest.fixture(scope="session")
def regressor():
    """A regressor of numbers, with rows held out."""
    X, y = numbers()
    return RKHSWeightingRegressor(**LIGHT).fit(X[:80], y[:80]), X[:80], y[:80], X[80:], y[80:]


@pytest.fixture(scope="session")
def summaries(automatic, classified, regressor):
    """The summary of each of them, with the rows held out."""
    fits = {"automatic": automatic, "classified": classified, "regressor": regressor}
    return {
        name: summarize(model, X, y, X_test=X_test, y_test=y_test)
        for name, (model, X, y, X_test, y_test) in fits.items()
    }
