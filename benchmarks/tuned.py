"""What people use today, each tuned by a random search that ends with its seconds.

The first setting is the default. The others are drawn; each is scored on three folds, or on one
fifth of the rows beyond `MANY_ROWS`, and begun only if the slowest so far would still be done in
time, with a fit to all rows. The best one is fitted to all rows. Packages that are not installed
are named and left out.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

#: Rows beyond which one part of a fifth is left out.
MANY_ROWS = 10_000
#: Rows of the methods whose cost grows with their square or cube: others are left out.
MOST_OF_KERNELS = 8000
MOST_SETTINGS = 300

Draw = Callable[[np.random.Generator], dict[str, Any]]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Rival:
    """An estimator, its settings, and the package that it needs.

    `make` takes whether there are classes, the threads, and settings.
    """

    make: Callable[..., Any]
    draw: Draw
    package: str = "sklearn"
    kernel: bool = False

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return importlib.util.find_spec(self.package) is not None


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Drawn evenly on the scale of logarithms."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _boosting(classes: bool, n_jobs: int, **settings: Any) -> Any:
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return kind(random_state=0, **settings)


def _draw_boosting(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "learning_rate": _between(rng, 0.01, 0.3),
        "max_iter": int(_between(rng, 50, 1000)),
        "max_leaf_nodes": int(_between(rng, 4, 64)),
        "min_samples_leaf": int(_between(rng, 2, 60)),
        "l2_regularization": _between(rng, 1e-6, 100.0),
        "max_features": float(rng.uniform(0.3, 1.0)),
    }


def _forest(classes: bool, n_jobs: int, **settings: Any) -> Any:
    kind = RandomForestClassifier if classes else RandomForestRegressor
    return kind(**{"n_estimators": 300, **settings}, random_state=0, n_jobs=n_jobs)


def _draw_forest(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "max_features": float(rng.uniform(0.1, 1.0)),
        "min_samples_leaf": int(_between(rng, 1, 20)),
    }


def _support_vectors(classes: bool, n_jobs: int, **settings: Any) -> Any:
    if classes:
        machine = CalibratedClassifierCV(SVC(**settings, random_state=0), ensemble=False)
        return make_pipeline(StandardScaler(), machine)
    machine = TransformedTargetRegressor(SVR(**settings), transformer=StandardScaler())
    return make_pipeline(StandardScaler(), machine)


def _draw_support_vectors(rng: np.random.Generator) -> dict[str, Any]:
    return {"C": _between(rng, 0.1, 1000.0), "gamma": _between(rng, 1e-4, 1.0)}


class _LaplaceClassifier(BaseEstimator):
    """Laplace kernel ridge of one-hot targets, its values clipped to probabilities."""

    def __init__(self, alpha: float = 1.0, gamma: float | None = None) -> None:
        self.alpha, self.gamma = alpha, gamma

    def fit(self, X: np.ndarray, y: np.ndarray) -> _LaplaceClassifier:
        self.classes_ = np.unique(y)
        targets = (y[:, None] == self.classes_).astype(float)
        self.ridge_ = KernelRidge(kernel="laplacian", alpha=self.alpha, gamma=self.gamma)
        self.ridge_.fit(X, targets)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        values = self.ridge_.predict(X).clip(1e-3, 1.0)
        return values / values.sum(axis=1, keepdims=True)


def _laplace(classes: bool, n_jobs: int, **settings: Any) -> Any:
    if classes:
        return make_pipeline(StandardScaler(), _LaplaceClassifier(**settings))
    ridge = KernelRidge(kernel="laplacian", **settings)
    machine = TransformedTargetRegressor(ridge, transformer=StandardScaler())
    return make_pipeline(StandardScaler(), machine)


def _draw_laplace(rng: np.random.Generator) -> dict[str, Any]:
    return {"alpha": _between(rng, 1e-4, 3.0), "gamma": _between(rng, 1e-3, 1.0)}


def _catboost(classes: bool, n_jobs: int, **settings: Any) -> Any:
    import catboost

    kind = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
    return kind(
        **settings, random_seed=0, verbose=False, thread_count=n_jobs, allow_writing_files=False
    )


def _draw_catboost(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "iterations": int(_between(rng, 100, 1500)),
        "learning_rate": _between(rng, 0.02, 0.3),
        "depth": int(rng.integers(3, 9)),
        "l2_leaf_reg": _between(rng, 0.5, 20.0),
    }


def _lightgbm(classes: bool, n_jobs: int, **settings: Any) -> Any:
    import lightgbm

    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    return kind(**settings, random_state=0, verbose=-1, n_jobs=n_jobs)


def _draw_lightgbm(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "n_estimators": int(_between(rng, 50, 1000)),
        "learning_rate": _between(rng, 0.01, 0.3),
        "num_leaves": int(_between(rng, 4, 64)),
        "min_child_samples": int(_between(rng, 2, 60)),
        "reg_lambda": _between(rng, 1e-6, 100.0),
        "colsample_bytree": float(rng.uniform(0.3, 1.0)),
    }


def _ebm(classes: bool, n_jobs: int, **settings: Any) -> Any:
    from interpret import glassbox

    kind = (
        glassbox.ExplainableBoostingClassifier if classes else glassbox.ExplainableBoostingRegressor
    )
    return kind(**settings, random_state=0, n_jobs=n_jobs)


def _draw_ebm(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "interactions": float(rng.choice([0.5, 0.9, 2.0, 5.0])),
        "max_leaves": int(rng.integers(2, 5)),
        "smoothing_rounds": int(rng.choice([0, 50, 200])),
        "learning_rate": _between(rng, 0.005, 0.1),
    }


def _xrfm(classes: bool, n_jobs: int, **settings: Any) -> Any:
    from benchmarks.xrfm_estimator import XRFM

    return XRFM(classes, **settings)


def _draw_xrfm(rng: np.random.Generator) -> dict[str, Any]:
    from benchmarks.rfm_against_xrfm import _drawn

    return {"settings": _drawn(rng)}


RIVALS = {
    "boosting": Rival(_boosting, _draw_boosting),
    "random forest": Rival(_forest, _draw_forest),
    "SVM": Rival(_support_vectors, _draw_support_vectors, kernel=True),
    "Laplace ridge": Rival(_laplace, _draw_laplace, kernel=True),
    "CatBoost": Rival(_catboost, _draw_catboost, "catboost"),
    "LightGBM": Rival(_lightgbm, _draw_lightgbm, "lightgbm"),
    "EBM": Rival(_ebm, _draw_ebm, "interpret"),
    "xrfm": Rival(_xrfm, _draw_xrfm, "xrfm"),
}


def tuned(
    rival: Rival,
    X: np.ndarray,
    y: np.ndarray,
    classes: bool,
    seconds: float,
    n_jobs: int,
    clock: Clock,
) -> tuple[Any, int]:
    """The best setting that was found within the seconds, fitted to all rows, and how many were."""
    if rival.kernel:
        X, y = X[:MOST_OF_KERNELS], y[:MOST_OF_KERNELS]
    rng, begin = np.random.default_rng(0), clock()
    splits = list(_splits(X, y, classes))
    best, chosen, slowest, number = np.inf, {}, 0.0, 0
    # The last fit has all rows, and counts as one split more.
    share = 1.0 + 1.5 / len(splits)
    while number < MOST_SETTINGS and clock() - begin + share * slowest < seconds:
        settings = rival.draw(rng) if number else {}
        started = clock()
        loss = _loss(rival.make(classes, n_jobs, **settings), X, y, splits, classes)
        slowest, number = max(slowest, clock() - started), number + 1
        if loss < best:
            best, chosen = loss, settings
    return rival.make(classes, n_jobs, **chosen).fit(X, y), number


def calibrated(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Its probabilities, made right on three folds by isotonic regression."""
    return CalibratedClassifierCV(clone(model), method="isotonic", cv=3).fit(X, y)


def _splits(X: np.ndarray, y: np.ndarray, classes: bool) -> Any:
    if len(y) > MANY_ROWS:
        kind = StratifiedShuffleSplit if classes else ShuffleSplit
        return kind(1, test_size=0.2, random_state=0).split(X, y)
    kind = StratifiedKFold if classes else KFold
    return kind(3, shuffle=True, random_state=0).split(X, y)


def _loss(model: Any, X: np.ndarray, y: np.ndarray, splits: Any, classes: bool) -> float:
    losses = []
    for train, test in splits:
        fitted = clone(model).fit(X[train], y[train])
        if classes:
            losses.append(log_loss(y[test], fitted.predict_proba(X[test]), labels=np.unique(y)))
        else:
            losses.append(float(np.mean(np.square(fitted.predict(X[test]) - y[test]))))
    return float(np.mean(losses))
