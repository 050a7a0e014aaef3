"""Recursive feature machines beside xrfm, the package of the authors, on real tables.

At most 1125 rows to learn from (three quarters of a smaller table) and 2000 to test on, three
random splits, one core, CPU seconds. RFMRegressor and RFMClassifier are fitted as they come. xrfm
is given what its documentation recommends: standardised columns but for those of zeros and ones,
standardised targets, a validation set of a fifth of the training rows, five updates, and a random
search in the space of its authors' tuner, beginning with its default. The search goes on until it
has taken as many seconds as our fit did, and has tried ten settings at least; the best on the
validation rows predicts. ``xrfm 1`` is its default alone. Classes have scikit-learn's boosting and
support vector machine (calibrated on five folds) beside them, and numbers boosting.

``--sets``, ``--splits`` and ``--rows`` choose a part. xrfm is no dependency of kernlens: install it
beside torch to run this.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import train_test_split

from benchmarks.rivals import others, ours, spent, warm_up
from benchmarks.tables import data_folder, print_row

REGRESSION = (
    "abalone",
    "airfoil",
    "autompg",
    "california",
    "concrete",
    "elevators",
    "housing",
    "parkinsons",
    "pol",
    "skillcraft",
    "sml",
)
CLASSIFICATION = ("adults", "marketing", "mnist17", "phishing", "skin", "telescope")
OF_SCIKIT_LEARN: dict[str, Callable[..., Any]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
ALL = (*REGRESSION, *CLASSIFICATION, *OF_SCIKIT_LEARN)
N_ROWS, N_TEST, N_SPLITS = 1125, 2000, 3
#: Settings that xrfm tries at least, and at most.
FEWEST, MOST = 10, 200
#: Data set, then a column for every method.
WIDTHS = (15, 9, 9, 9, 9)
Scores = tuple[float, ...]


def run(arguments: Sequence[str] = ()) -> None:
    """Print the scores and seconds of every set, and their means."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks rfm_against_xrfm")
    parser.add_argument("--sets", nargs="+", choices=ALL, default=ALL)
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--rows", type=int, default=N_ROWS, help="rows to learn from, at most")
    given = parser.parse_args(arguments)
    missing = [name for name in ("torch", "xrfm") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"not installed: {' and '.join(missing)}; this table needs `pip install torch xrfm`")
        return
    if data_folder() is None:
        return
    print(f"at most {given.rows} rows to learn from, {given.splits} splits, one core")
    for classes in (False, True):
        names = [name for name in given.sets if (name not in REGRESSION) == classes]
        if names:
            warm_up(("RFM",), classes)
            _warm_up_xrfm(classes)
            _print_table(names, given.rows, given.splits, classes)


def _print_table(names: list[str], n_rows: int, n_splits: int, classes: bool) -> None:
    methods = ("RFM", "xrfm", "xrfm 1", "boosting", *(("SVM",) if classes else ()))
    kinds = ("accuracy", "log loss", "CPU s") if classes else ("R2", "CPU s")
    widths = (WIDTHS[0], *(WIDTHS[1],) * (len(methods) * len(kinds) + 1))
    print()
    print_row("", *(kind for kind in kinds for _ in methods), "", widths=widths)
    print_row("data set", *methods * len(kinds), "settings", widths=widths)
    table = []
    for name in names:
        splits = [_compared(name, n_rows, seed, classes) for seed in range(n_splits)]
        table.append(np.mean(splits, axis=0))
        _print(name, table[-1], kinds, widths)
    _print("mean", np.mean(table, axis=0), kinds, widths)


def _print(name: str, values: np.ndarray, kinds: tuple[str, ...], widths: tuple[int, ...]) -> None:
    *scores, settings = values
    number = len(scores) // len(kinds)
    cells = [
        f"{value:.{1 if kinds[place // number] == 'CPU s' else 4}f}"
        for place, value in enumerate(scores)
    ]
    print_row(name, *cells, f"{settings:.0f}", widths=widths)


def _compared(name: str, n_rows: int, seed: int, classes: bool) -> list[float]:
    """Every score of every method, then their seconds and the number of settings of xrfm."""
    X, y = _loaded(name, classes)
    n_train = min(n_rows, 3 * len(X) // 4)
    X, X_test, y, y_test = train_test_split(
        X,
        y,
        train_size=n_train,
        test_size=min(N_TEST, len(X) - n_train),
        random_state=seed,
        stratify=y if classes else None,
    )
    found: list[tuple[Scores, float]] = []
    for model in (ours("RFM", classes), *_references(classes)):
        seconds, predicted = spent(lambda model=model: _predicted(model, X, y, X_test, classes))
        found.append((_scores(y_test, predicted, classes), seconds))
    tuned, first, n_tried = _tuned(X, y, X_test, y_test, classes, seed, found[0][1])
    found[1:1] = [tuned, first]
    columns = zip(*((*scores, seconds) for scores, seconds in found), strict=True)
    return [value for column in columns for value in column] + [float(n_tried)]


def _loaded(name: str, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    if name in OF_SCIKIT_LEARN:
        X, y = OF_SCIKIT_LEARN[name](return_X_y=True)
        return X, y
    folder = data_folder()
    assert folder is not None
    with np.load(folder / f"{name}.npz", allow_pickle=False) as data:
        return data["X"].astype(float), data["y"].astype(int if classes else float)


def _references(classes: bool) -> list[Any]:
    models = others(classes)
    if not classes:
        return [models["boosting"]]
    return [models["boosting"], CalibratedClassifierCV(models["SVM"], ensemble=False)]


def _predicted(
    model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, classes: bool
) -> np.ndarray:
    model.fit(X, y)
    return model.predict_proba(X_test) if classes else model.predict(X_test)


def _scores(y: np.ndarray, predicted: np.ndarray, classes: bool) -> Scores:
    if not classes:
        return (float(r2_score(y, predicted)),)
    labels = np.arange(predicted.shape[1])
    accuracy = accuracy_score(y, predicted.argmax(axis=1))
    return float(accuracy), float(log_loss(y, predicted, labels=labels))


# xrfm


def _tuned(
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    classes: bool,
    seed: int,
    budget: float,
) -> tuple[tuple[Scores, float], tuple[Scores, float], int]:
    """Scores and seconds of the search and of the default, and the number of settings tried."""
    rng = np.random.default_rng(seed)
    parts = train_test_split(
        X, y, test_size=0.2, random_state=seed, stratify=y if classes else None
    )
    best, total, tried = np.inf, 0.0, 0
    first = chosen = (np.nan,)
    while tried < FEWEST or (total < budget and tried < MOST):
        settings = _drawn(rng) if tried else _default()
        seconds, (loss, predicted) = spent(
            lambda settings=settings: _fit_xrfm(settings, parts, X_test, classes)
        )
        total, tried = total + seconds, tried + 1
        scores = _scores(y_test, predicted, classes)
        if tried == 1:
            first, first_seconds = scores, seconds
        if loss < best:
            best, chosen = loss, scores
    return (chosen, total), (first, first_seconds), tried


def _warm_up_xrfm(classes: bool) -> None:
    """Import torch, which is no part of a fit, and run everything once."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] > 0).astype(int) if classes else X[:, 0]
    parts = [X[:40], X[40:], y[:40], y[40:]]
    for settings in (_default(), {**_default(), "kernel": "lpq", "norm_p": 1.5}):
        spent(lambda settings=settings: _fit_xrfm(settings, parts, X, classes))


def _default() -> dict[str, Any]:
    return {"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "diag": False, "reg": 1e-3}


def _drawn(rng: np.random.Generator) -> dict[str, Any]:
    """Settings from the space of the tuner that the documentation of xrfm points to."""
    exponent = rng.uniform(0.7, 1.4)
    return {
        "kernel": str(rng.choice(["lpq", "l2"], p=[0.8, 0.2])),
        "bandwidth": float(np.exp(rng.uniform(np.log(0.5), np.log(200.0)))),
        "exponent": exponent,
        "norm_p": exponent + (2.0 - exponent) * rng.uniform(0.0, 0.8),
        "diag": bool(rng.integers(2)),
        "reg": float(np.exp(rng.uniform(np.log(1e-6), np.log(10.0)))),
    }


def _fit_xrfm(
    settings: dict[str, Any], parts: list[np.ndarray], X_test: np.ndarray, classes: bool
) -> tuple[float, np.ndarray]:
    """Loss of the validation rows, and predictions of the test rows."""
    import torch
    from xrfm import xRFM

    X, X_val, y, y_val = parts
    mean, scale = X.mean(axis=0), X.std(axis=0)
    flags = np.all((X == 0.0) | (X == 1.0), axis=0)
    mean[flags], scale[flags | (scale == 0.0)] = 0.0, 1.0
    center, unit = (0.0, 1.0) if classes else (y.mean(), y.std())

    def rows(values: np.ndarray) -> Any:
        return torch.tensor((values - mean) / scale, dtype=torch.float32)

    def targets(values: np.ndarray) -> Any:
        if classes:
            return torch.tensor(values, dtype=torch.long)
        return torch.tensor((values - center) / unit, dtype=torch.float32)[:, None]

    options = dict(settings)
    regularization = options.pop("reg")
    model = xRFM(
        {
            "model": {**options, "bandwidth_mode": "constant"},
            "fit": {"reg": regularization, "iters": 5, "verbose": False, "early_stop_rfm": True},
        },
        device=torch.device("cpu"),
        tuning_metric="brier" if classes else "mse",
        classification_mode="prevalence",
        n_threads=1,
        random_state=0,
        verbose=False,
    )
    model.fit(rows(X), targets(y), rows(X_val), targets(y_val))
    if not classes:
        of_validation, of_test = (
            center + unit * np.asarray(model.predict(rows(part))).ravel()
            for part in (X_val, X_test)
        )
        return float(np.mean(np.square(of_validation - y_val))), of_test
    shares, of_test = (np.asarray(model.predict_proba(rows(part))) for part in (X_val, X_test))
    return float(np.square(shares - np.eye(shares.shape[1])[y_val]).sum(axis=1).mean()), of_test
