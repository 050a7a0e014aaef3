"""Other methods beside ours, out of the box, and seconds of one core."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

import kernlens

FAMILIES = ("BKerNN", "HKRR", "RegFeaL", "RKHSWeighting", "KernelLaplacian")


def ours(family: str, classes: bool, **options: Any) -> Any:
    """The default of a family, on one core."""
    kind = "Classifier" if classes else "Regressor"
    return getattr(kernlens, family + kind)(**{"random_state": 0, "n_jobs": 1, **options})


def others(classes: bool) -> dict[str, Any]:
    """The constant, a linear model, gradient boosting and a support vector machine."""
    if classes:
        return {
            "constant": DummyClassifier(),
            "ridge": make_pipeline(StandardScaler(), LogisticRegressionCV(max_iter=1000)),
            "boosting": HistGradientBoostingClassifier(random_state=0),
            "SVM": make_pipeline(StandardScaler(), SVC(random_state=0)),
        }
    return {
        "constant": DummyRegressor(),
        "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13))),
        "boosting": HistGradientBoostingRegressor(random_state=0),
        "SVM": make_pipeline(StandardScaler(), SVR()),
    }


def spent(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call on one core, and its value; warnings of a fit are not shown."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        value = call()
        return time.process_time() - start, value


def warm_up(families: tuple[str, ...], classes: bool) -> None:
    """Compile the loops, which takes seconds and is no part of a fit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] > 0).astype(int) if classes else X[:, 0]
    for family in families:
        spent(lambda family=family: ours(family, classes).fit(X, y).predict(X))
