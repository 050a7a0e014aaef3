"""AutoLens beside what people use today, each with the same time.

``python -m benchmarks autolens [--sets experiment6 regression classification] [--seconds 60]
[--splits 3] [--rows 5000] [--models ...] [--jobs 2] [--file results.csv]``. "experiment6" has the
17 sets of the BKerNN paper with its 400 / 100 rows; the others are those of the data folder and
scikit-learn's breast cancer, split at random by seeds 0, 1, ..., a fifth for testing, at most 5000
rows of it. Several numbers after ``--seconds`` compare budgets. ``--cpu`` takes seconds of the
processor for those of the clock, with one core (``--jobs 1``): a machine that others use as well
then gives the same.

``--whole`` does everything, which takes half a day: Experiment 6, all sets with three splits, the
large ones at full size with 300 seconds, and budgets of 10, 60 and 300 seconds. ``--minutes 30``
begins nothing new after half an hour. Every result is a line of the file as soon as it is there,
and what the file has is not done again: the same command goes on where the last one ended. The file
is ``benchmarks/results/autolens.csv`` unless another is named; lines of code that has changed since
must be taken out of it by hand.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.autolens_tables import FIELDS, print_tables
from benchmarks.tables import data_folder, published
from benchmarks.tuned import RIVALS, calibrated, tuned
from kernlens import AutoLensClassifier, AutoLensRegressor, RFMClassifier, RFMRegressor
from kernlens.model_selection.auto.estimator import BaseAutoLens
from kernlens.model_selection.auto.leaderboard import STACK

GROUPS = ("experiment6", "regression", "classification")
REGRESSION = (
    "abalone", "airfoil", "autompg", "california", "concrete", "elevators", "housing",
    "parkinsons", "pol", "skillcraft", "sml",
)  # fmt: skip
CLASSIFICATION = (
    "adults", "marketing", "mnist17", "phishing", "skin", "telescope", "breast_cancer",
)  # fmt: skip
OURS = ("AutoLens", "RFM")
MODELS = (*OURS, *RIVALS)
CALIBRATED = "boosting calibrated"
#: Where results are kept.
RESULTS = Path(__file__).parent / "results" / "autolens.csv"
#: What ``--whole`` does, piece by piece: options that differ from what is given.
WHOLE: tuple[dict[str, Any], ...] = (
    {"sets": ("experiment6",), "seconds": [60.0]},
    {"sets": ("regression", "classification"), "seconds": [60.0]},
    {
        "sets": ("regression", "classification"),
        "only": ("california", "elevators", "pol", "adults", "marketing", "telescope", "skin"),
        "seconds": [300.0],
        "splits": 1,
        "rows": None,
    },
    {
        "sets": ("regression", "classification"),
        "only": ("airfoil", "skillcraft", "telescope"),
        "seconds": [10.0, 60.0, 300.0],
        "models": ["AutoLens"],
    },
)
#: Rows to test on at most, and bins of the calibration error.
N_TEST = 5000
N_BINS = 15

Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def run(arguments: Sequence[str] = ()) -> None:
    """Do what the file does not have yet, and print its tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks autolens")
    parser.add_argument("--sets", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--only", nargs="+", help="names of single sets")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--seconds", nargs="+", type=float, default=[60.0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=5000, help="rows to learn from at most")
    parser.add_argument("--jobs", type=int, default=2, help="threads of every model")
    parser.add_argument("--cpu", action="store_true", help="seconds of the processor")
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--whole", action="store_true", help="everything that is to be shown")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin nothing new after")
    parser.add_argument("--print", action="store_true", help="only print what the file has")
    given = parser.parse_args(arguments)
    folder = data_folder()
    if folder is None:
        return
    missing = [name for name in given.models if name in RIVALS and not RIVALS[name].installed]
    if missing:
        print(f"not installed, and left out: {', '.join(missing)}")
    given.models = [name for name in given.models if name not in missing]
    if given.cpu:
        given.jobs = 1
        BaseAutoLens._clock = staticmethod(time.process_time)
    end = time.monotonic() + 60.0 * given.minutes
    for piece in () if given.print else WHOLE if given.whole else ({},):
        models = [name for name in piece.get("models", given.models) if name in given.models]
        own = argparse.Namespace(**{**vars(given), **piece, "models": models})
        if not _do_all(folder, own, end):
            print("the minutes are over: the same command goes on from here")
            break
    print_tables(_read(given.file))


def _do_all(folder: Path, given: argparse.Namespace, end: float) -> bool:
    """Do what is asked and the file does not have; whether all is done, not begun after the end."""
    done = {_key(row) for row in _read(given.file)}
    for group in given.sets:
        for name, split, part in _problems(folder, group, given):
            for seconds in given.seconds:
                for model in given.models:
                    row = {
                        "group": group, "set": name, "split": split, "model": model,
                        "seconds": f"{seconds:g}", "rows": len(part[0]), "jobs": given.jobs,
                        "clock": "cpu" if given.cpu else "wall",
                    }  # fmt: skip
                    if _key(row) in done:
                        continue
                    if time.monotonic() > end:
                        return False
                    _write(given.file, _results(row, part, seconds, given))
    return True


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in FIELDS[:8])


def _read(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _write(file: Path, rows: list[dict[str, Any]]) -> None:
    new = not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", newline="") as lines:
        writer = csv.DictWriter(lines, FIELDS)
        if new:
            writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(*(row.get(name, "") for name in FIELDS), flush=True)


# Data


def _problems(
    folder: Path, group: str, given: argparse.Namespace
) -> Iterator[tuple[str, int, Part]]:
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
            yield name, 0, (data["X"][train], data["X"][test], data["y"][train], data["y"][test])
            continue
        X, y = _loaded(folder, name)
        strata = y if group == "classification" else None
        for seed in range(given.splits):
            X_train, X_test, y_train, y_test = train_test_split(
                X, y, test_size=0.2, random_state=seed, stratify=strata
            )
            rows = given.rows
            yield name, seed, (X_train[:rows], X_test[:N_TEST], y_train[:rows], y_test[:N_TEST])


def _loaded(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    data = np.load(folder / f"{name}.npz")
    return data["X"].astype(np.float64), data["y"]


# Models


def _results(
    row: dict[str, Any], part: Part, seconds: float, given: argparse.Namespace
) -> list[dict[str, Any]]:
    """Lines of one model: boosting of classes has another one, calibrated."""
    with warnings.catch_warnings(), threadpool_limits(given.jobs):
        warnings.simplefilter("ignore")
        try:
            return _measured(row, part, seconds, given)
        except Exception as error:
            # A rival that fails must not end the others.
            return [{**row, "note": f"{type(error).__name__}: {error}".splitlines()[0]}]


def _measured(
    row: dict[str, Any], part: Part, seconds: float, given: argparse.Namespace
) -> list[dict[str, Any]]:
    X, X_test, y, y_test = part
    classes = row["group"] == "classification"
    clock = time.process_time if given.cpu else time.perf_counter
    begin, number = clock(), 1
    if row["model"] in OURS:
        model = _ours(row["model"], classes, seconds, given.jobs).fit(X, y)
        number = _n_finished(model) if row["model"] == "AutoLens" else 1
    else:
        rival = RIVALS[row["model"]]
        model, number = tuned(rival, X, y, classes, seconds, given.jobs, clock)
    taken = clock() - begin
    more = {"taken": f"{taken:.1f}", "settings": number}
    rows = [{**row, **more, **_scores(model, X_test, y_test, classes)}]
    if classes and row["model"] == "boosting":
        right = _scores(calibrated(model, X, y), X_test, y_test, classes)
        rows.append({**row, **more, **right, "model": CALIBRATED})
    return rows


def _n_finished(model: Any) -> int:
    """Candidates that have predicted all rows; the stack is a line of the table as well."""
    board = model.leaderboard_
    return int((board["score"].notna() & (board["candidate"] != STACK)).sum())


def _ours(name: str, classes: bool, seconds: float, n_jobs: int) -> Any:
    if name == "RFM":
        return (RFMClassifier if classes else RFMRegressor)(n_directions=1, n_jobs=n_jobs)
    kind = AutoLensClassifier if classes else AutoLensRegressor
    return kind(time_budget=seconds, n_jobs=n_jobs, random_state=0)


def _scores(model: Any, X: np.ndarray, y: np.ndarray, classes: bool) -> dict[str, str]:
    found: dict[str, float] = {}
    if classes:
        shares = model.predict_proba(X)
        found["log_loss"] = log_loss(y, shares)
        found["score"] = accuracy_score(y, shares.argmax(axis=1))
        found["ece"] = calibration_error(y, shares)
    else:
        found["score"] = r2_score(y, model.predict(X))
        if hasattr(model, "predict_interval"):
            low, high = model.predict_interval(X, coverage=0.9).T
            found["coverage"] = float(np.mean((low <= y) & (y <= high)))
            found["width"] = float(np.mean(high - low) / np.std(y))
    return {name: f"{value:.5f}" for name, value in found.items()}


def calibration_error(y: np.ndarray, shares: np.ndarray) -> float:
    """Expected calibration error: mean distance of confidence and accuracy in equal bins."""
    confidence, right = shares.max(axis=1), shares.argmax(axis=1) == y
    place = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    apart = np.bincount(place, right - confidence, minlength=N_BINS)
    return float(np.abs(apart).sum() / len(y))
