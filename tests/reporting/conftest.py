"""Small fits that many tests look at, made once."""

from __future__ import annotations

import pytest

from kernlens import RKHSWeightingRegressor
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
