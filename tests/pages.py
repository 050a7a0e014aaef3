"""Tables, and fits of moments, that the tests of pages look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from kernlens import (
    AutoLensClassifier,
    AutoLensRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.model_selection.auto import classifier as classifier_module
from kernlens.model_selection.auto import regressor as regressor_module
from kernlens.model_selection.auto.candidates import CLASSIFIERS, REGRESSORS, Candidate

LIGHT: dict[str, Any] = {
    "n_random_features": 40,
    "alpha": 1e-2,
    "n_directions": 2,
    "random_state": 0,
}
#: Names that would be markup, script, formulas or broken text if somebody believed them.
HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    '=HYPERLINK("http://example.org","x")',
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; ' \" ` \u2028 \u0000 \u202e",
    "javascript:window.hacked=1",
    "-->]]><!--<script>",
)


def numbers(n_rows: int = 120, n_columns: int = 4, seed: int = 0) -> tuple[Any, Any]:
    """A smooth function of one mixture of the columns, with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    y = np.sin(X[:, 0] + X[:, -1]) + 0.1 * rng.standard_normal(n_rows)
    return X, y


def mixed(n_rows: int = 150, seed: int = 0) -> tuple[Any, Any]:
    """A table of numbers with gaps, categories, dates, flags and a constant."""
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 9999, n_rows), "D")
    table = pd.DataFrame(
        {
            "area": rng.gamma(4.0, 20.0, n_rows),
            "rooms": rng.integers(1, 7, n_rows),
            "town": rng.choice(["Bonn", "Aachen", "Düren"], n_rows),
            "built": pd.Timestamp("1990-01-01") + days,
            "garden": rng.random(n_rows) < 0.4,
            "one": 1,
        }
    )
    rent = (
        2.0 * table["area"] + 30.0 * (table["town"] == "Bonn") + 9.0 * rng.standard_normal(n_rows)
    )
    table.loc[rng.random(n_rows) < 0.1, "area"] = np.nan
    return table, rent.rename("rent")


def classes(rent: Any) -> Any:
    """Three classes of a rent."""
    names = np.array(["low", "mid", "high"])
    return pd.Series(names[np.digitize(rent, [130.0, 190.0])], index=rent.index, name="rent")


def hostile(n_rows: int = 90, seed: int = 0) -> tuple[Any, Any]:
    """A table whose names, categories and classes are hostile."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.standard_normal((n_rows, 4)), columns=list(HOSTILE[:4]))
    table[HOSTILE[4]] = rng.choice(np.array(HOSTILE, dtype=object), n_rows)
    score = table.iloc[:, 0] + (table[HOSTILE[4]] == HOSTILE[0])
    return table, pd.Series(np.array(HOSTILE)[np.digitize(score, [-0.4, 0.6])], name=HOSTILE[0])


def _light(name: str, estimator: Any, **settings: Any) -> Candidate:
    def make(n_directions: int | str, seed: int) -> Any:
        return estimator(
            n_directions=n_directions,
            random_state=seed,
            n_random_features=40,
            alpha=1e-2,
            **settings,
        )

    return Candidate(name, make)


@contextmanager
def short_portfolios() -> Iterator[None]:
    """A line, and two quick candidates of one family."""
    before = regressor_module.REGRESSORS, classifier_module.CLASSIFIERS
    regressor_module.REGRESSORS = (
        REGRESSORS[0],
        _light("one", RKHSWeightingRegressor, linear_part=False),
        _light("two", RKHSWeightingRegressor, linear_part=False, bias=1.0),
    )
    classifier_module.CLASSIFIERS = (
        CLASSIFIERS[0],
        _light("one", RKHSWeightingClassifier),
        _light("two", RKHSWeightingClassifier, bias=1.0),
    )
    try:
        yield
    finally:
        regressor_module.REGRESSORS, classifier_module.CLASSIFIERS = before


def automatic_regressor(X: Any, y: Any) -> AutoLensRegressor:
    """An automatic fit that takes a second."""
    with short_portfolios():
        return AutoLensRegressor(time_budget=5.0, random_state=0).fit(X, y)


def automatic_classifier(X: Any, y: Any) -> AutoLensClassifier:
    """An automatic fit that takes a second."""
    with short_portfolios():
        return AutoLensClassifier(time_budget=5.0, random_state=0).fit(X, y)
