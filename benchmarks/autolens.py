"""AutoLens beside what people use today, within a time budget.

``python -m benchmarks autolens [--sets experiment6 regression classification] [--seconds 60]
[--splits 3] [--rows 5000]`` prints a table of every group of sets: test R2, or accuracy and log
loss. "experiment6" has the 17 sets of the BKerNN paper with its 400 / 100 rows; the others are
those of the data folder, split at random by seeds 0, 1, ..., a fifth for testing. Budgets are
seconds by the clock on all cores; rivals come with scikit-learn's defaults and take what they take.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import train_test_split

from benchmarks.rivals import others
from benchmarks.tables import data_folder, print_row, published, timed
from kernlens import AutoLensClassifier, AutoLensRegressor, RFMClassifier, RFMRegressor

GROUPS = ("experiment6", "regression", "classification")
REGRESSION = (
    "abalone", "airfoil", "autompg", "california", "concrete", "elevators", "housing",
    "parkinsons", "pol", "skillcraft", "sml",
)  # fmt: skip
CLASSIFICATION = ("adults", "marketing", "mnist17", "phishing", "skin", "telescope")
WIDTHS = (26, 10, 10, 10, 10, 10, 10, 10, 9)
NAMES = ("AutoLens", "RFM", "ridge", "boosting", "SVM")


def run(arguments: Sequence[str] = ()) -> None:
    """Print a table of every group."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks autolens")
    parser.add_argument("--sets", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--only", nargs="+", help="names of single sets")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=5000, help="rows to learn from at most")
    given = parser.parse_args(arguments)
    folder = data_folder()
    if folder is None:
        return
    print(
        f"budget {given.seconds:g} s; at most {given.rows} rows to learn from; seeds of splits 0 to"
    )
    print(f"{given.splits - 1} (experiment6: the published split)")
    for group in given.sets:
        _print_group(folder, group, given)


def _print_group(folder: Path, group: str, given: argparse.Namespace) -> None:
    classes = group == "classification"
    print(
        f"\n{group}: {'log loss, lower is better' if classes else 'R2'}; coverage of 90 % intervals"
    )
    print_row("data set", *NAMES, "coverage", "accuracy", "seconds", widths=WIDTHS)
    table = []
    for name, parts in _problems(folder, group, given):
        rows = [_compared(part, classes, given.seconds) for part in parts]
        table.append(np.mean(rows, axis=0))
        _print(name, table[-1])
    if table:
        _print("mean", np.mean(table, axis=0))
        sign = 1.0 if classes else -1.0
        ranks = np.argsort(np.argsort(sign * np.array(table)[:, : len(NAMES)], axis=1), axis=1) + 1
        print_row(
            "mean rank", *(f"{rank:.2f}" for rank in ranks.mean(axis=0)), "", "", "", widths=WIDTHS
        )


def _print(name: str, values: np.ndarray) -> None:
    *scores, coverage, accuracy, seconds = values
    cells = [*(f"{value:.4f}" for value in (*scores, coverage, accuracy)), f"{seconds:.1f}"]
    print_row(name, *cells, widths=WIDTHS)


def _problems(folder: Path, group: str, given: argparse.Namespace) -> Iterator[tuple[str, list]]:
    if group == "experiment6":
        names = [row["dataset"] for row in published("bkernn_experiment6.csv")]
    else:
        names = [*(CLASSIFICATION if group == "classification" else REGRESSION)]
    for name in names:
        if given.only and name not in given.only:
            continue
        if group == "experiment6":
            data = np.load(folder / "bkernn_exp6" / f"{name}.npz")
            train, test = data["train_idx"], data["test_idx"]
            yield name, [(data["X"][train], data["X"][test], data["y"][train], data["y"][test])]
            continue
        data = np.load(folder / f"{name}.npz")
        X, y = data["X"].astype(np.float64), data["y"]
        parts = []
        for seed in range(given.splits):
            strata = y if group == "classification" else None
            part = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=strata)
            X_train, X_test, y_train, y_test = part
            parts.append(
                (X_train[: given.rows], X_test[:5000], y_train[: given.rows], y_test[:5000])
            )
        yield name, parts


def _compared(part, classes: bool, budget: float) -> list[float]:
    """Scores of ours and the others, coverage, accuracy of ours and its seconds."""
    X, X_test, y, y_test = part
    auto = (AutoLensClassifier if classes else AutoLensRegressor)(
        time_budget=budget, random_state=0, n_directions=1
    )
    rivals = others(classes)
    machine = RFMClassifier(n_directions=1) if classes else RFMRegressor(n_directions=1)
    models = [auto, machine, rivals["ridge"], rivals["boosting"], rivals["SVM"]]
    if classes:
        models[-1].set_params(svc__probability=True)
    scores, seconds = [], 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            taken, _ = timed(lambda model=model: model.fit(X, y))
            seconds = taken if model is auto else seconds
            if classes:
                scores.append(log_loss(y_test, model.predict_proba(X_test)))
            else:
                scores.append(r2_score(y_test, model.predict(X_test)))
    if classes:
        return [*scores, np.nan, auto.score(X_test, y_test), seconds]
    low, high = auto.predict_interval(X_test).T
    return [*scores, float(np.mean((low <= y_test) & (y_test <= high))), np.nan, seconds]
