"""Seconds of default fits and predictions beside other methods, and the size of a model file.

Seconds at the start were measured on one core of another day; ratios to a method that has not
changed, taken in the same run, are what compares.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator

import numpy as np
import skops.io
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs, make_classification
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import train_test_split

from benchmarks.rivals import others, ours, spent, warm_up
from benchmarks.tables import data_folder, print_row

WIDTHS = (24, 16, 12, 12, 12, 16, 16)
HEADER = ("", "fit", "CPU s", "boosting s", "ratio", "start", "wanted")
#: Six tables of some thousand rows, at most 12,000 of them; the rest is not used.
TABLES, LARGEST = ("abalone", "california", "elevators", "parkinsons", "skillcraft", "sml"), 12_000
#: Rows of the classifiers, and sets of the shared folder beside three of scikit-learn.
ROWS, LABELLED = 1125, ("adults", "marketing", "mnist17", "phishing", "skin", "telescope")


def _line(name: str, what: str, seconds: float, boosting: float, start: str, wanted: str) -> None:
    ratio = f"{seconds / boosting:.1f}" if boosting else ""
    cells = (what, f"{seconds:.2f}", f"{boosting:.2f}", ratio, start, wanted)
    print_row(name, *cells, widths=WIDTHS)


def _boosting(X, y, classes: bool) -> float:
    return spent(lambda: others(classes)["boosting"].fit(X, y))[0]


def large_tables(name: str, families: tuple[str, ...]) -> None:
    """BKerNN on thousands of rows, with R2 of the rows that are left.

    Boosting is scikit-learn's `GradientBoostingRegressor`, which takes about the 3 s of the start;
    `HistGradientBoostingRegressor` stands beside it, in brackets.
    """
    folder = data_folder()
    if folder is None or "BKerNN" not in families:
        return
    warm_up(("BKerNN",), False)
    print("boosting: GradientBoostingRegressor; in brackets the ratio to HistGradientBoosting")
    print_row(*HEADER[:-2], "R2", "boosting R2", widths=WIDTHS)
    rows = [_large_table(folder, table) for table in TABLES]
    seconds, boosting, histogram, score, theirs = np.mean(rows, axis=0)
    _print_large(name, "mean of six", seconds, boosting, histogram, score, theirs)
    print("start 84 s, 28 x; wanted <= 8 x")


def _large_table(folder, table: str) -> tuple[float, ...]:
    data = np.load(folder / f"{table}.npz", allow_pickle=True)
    n_rows = min(LARGEST, round(0.75 * len(data["X"])))
    order = np.random.default_rng(0).permutation(len(data["X"]))
    X, y = data["X"][order].astype(float), data["y"][order].astype(float)
    models = [ours("BKerNN", False), GradientBoostingRegressor(random_state=0)]
    spents = [spent(lambda m=m: m.fit(X[:n_rows], y[:n_rows]))[0] for m in models]
    scores = [float(r2_score(y[n_rows:], m.predict(X[n_rows:]))) for m in models]
    histogram = _boosting(X[:n_rows], y[:n_rows], False)
    _print_large(table, f"{n_rows} rows", *spents, histogram, *scores)
    return (*spents, histogram, *scores)


def _print_large(
    name: str, what: str, seconds: float, boosting: float, histogram: float, *scores: float
) -> None:
    ratios = f"{seconds / boosting:.1f} ({seconds / histogram:.0f})"
    cells = (what, f"{seconds:.2f}", f"{boosting:.2f}", ratios, *(f"{s:.4f}" for s in scores))
    print_row(name, *cells, widths=WIDTHS)


def blobs(name: str, families: tuple[str, ...]) -> None:
    """Three classes that can be separated."""
    X, y = make_blobs(300, 10, centers=3, random_state=0)
    _classifiers(name, X, y, {"HKRR": ("40 s", "<= 2 s")}, families)


def thirty_classes(name: str, families: tuple[str, ...]) -> None:
    """Many classes."""
    X, y = make_classification(
        1000, 10, n_informative=8, n_redundant=0, n_classes=30, n_clusters_per_class=1,
        random_state=0,
    )  # fmt: skip
    figures = {"BKerNN": ("894 s", "<= 30 s"), "HKRR": ("> 1080 s", "<= 30 s")}
    _classifiers(name, X, y, figures, families)


def _classifiers(name, X, y, figures, families: tuple[str, ...]) -> None:
    chosen = tuple(family for family in figures if family in families)
    warm_up(chosen, True)
    print_row(*HEADER, widths=WIDTHS)
    boosting = _boosting(X, y, True)
    for family in chosen:
        seconds, _ = spent(lambda family=family: ours(family, True).fit(X, y))
        _line(name, family, seconds, boosting, *figures[family])


def nine_sets(name: str, families: tuple[str, ...]) -> None:
    """Classifiers on tables of 1125 rows, digits among them, with their log losses."""
    figures = {
        "BKerNN": ("33 s (174) .147", "<= 8 s (25)"),
        "HKRR": ("22 s (88) .147", "<= 8 s (25)"),
        "RegFeaL": ("134 s (327)", "<= 30 s (80)"),
    }
    chosen = tuple(family for family in figures if family in families)
    warm_up(chosen, True)
    print(
        "the sets of the start are not known but for digits; log loss of test rows behind seconds"
    )
    print_row("", "boosting", *chosen, widths=(24, 18, *(18 for _ in chosen)))
    rows: list[list[tuple[float, float]]] = []
    for label, X, y in _labelled_sets():
        split = train_test_split(X, y, train_size=ROWS, random_state=0, stratify=y)
        models = [others(True)["boosting"], *(ours(family, True) for family in chosen)]
        rows.append([_seconds_and_loss(model, *split) for model in models])
        _print_pairs(label, rows[-1])
    if rows:
        _print_pairs("mean", [tuple(pair) for pair in np.mean(rows, axis=0)])
    for family in chosen:
        start, wanted = figures[family]
        print(f"{family}: start {start}, wanted {wanted}; in brackets digits")


def _seconds_and_loss(model, X, X_test, y, y_test) -> tuple[float, float]:
    seconds, _ = spent(lambda: model.fit(X, y))
    return seconds, log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)


def _print_pairs(label: str, pairs) -> None:
    cells = [f"{seconds:.2f} s {loss:.3f}" for seconds, loss in pairs]
    print_row(label, *cells, widths=(24, *(18 for _ in cells)))


def _labelled_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield "digits", *load_digits(return_X_y=True)
    X, y = load_breast_cancer(return_X_y=True)
    # Three times over, each in fresh noise of a tenth: it has 569 rows.
    noise = 0.1 * X.std(axis=0) * np.random.default_rng(0).standard_normal((3 * len(X), X.shape[1]))
    yield "breast cancer", np.tile(X, (3, 1)) + noise, np.tile(y, 3)
    yield "generated", *make_classification(1500, 20, n_informative=6, n_classes=4, random_state=0)
    folder = data_folder()
    for label in LABELLED if folder is not None else ():
        data = np.load(folder / f"{label}.npz", allow_pickle=True)
        rows = np.random.default_rng(0).permutation(len(data["X"]))[: 2 * ROWS]
        yield label, data["X"][rows].astype(float), data["y"][rows]


def polynomial_fit(name: str, families: tuple[str, ...]) -> None:
    """RegFeaL's fit of 800 rows, and its predictions."""
    if "RegFeaL" not in families:
        return
    warm_up(("RegFeaL",), False)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 10))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.4 * rng.standard_normal(800)
    model = ours("RegFeaL", False)
    seconds, _ = spent(lambda: model.fit(X, y))
    print_row(*HEADER, widths=WIDTHS)
    _line(name, "800 x 10", seconds, _boosting(X, y, False), "72 s", "<= 15 s")
    boosting = others(False)["boosting"].fit(X, y)
    for n_rows, repeats, start, wanted in (
        (1, 20, "10 ms a row", "<= 1 ms"),
        (30_000, 1, "16 s", "<= 2 s"),
    ):
        rows = rng.standard_normal((n_rows, 10))
        seconds, theirs = (
            spent(lambda m=m, r=rows, k=repeats: [m.predict(r) for _ in range(k)])[0] / repeats
            for m in (model, boosting)
        )
        what = f"predict {n_rows}"
        cells = (what, f"{seconds:.4f}", f"{theirs:.4f}", f"{seconds / theirs:.1f}", start, wanted)
        print_row(name, *cells, widths=WIDTHS)


def model_file(name: str, families: tuple[str, ...]) -> None:
    """A saved BKerNN model of 1500 rows, and whether it predicts the same when it is read."""
    if "BKerNN" not in families:
        return
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 10))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(1500)
    _, model = spent(lambda: ours("BKerNN", False, n_directions=2).fit(X, y))
    stored = skops.io.dumps(model)
    read = skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored))
    change = np.max(np.abs(read.predict(X) - model.predict(X))) / y.std()
    sizes = (len(stored) / 1e6, len(pickle.dumps(model)) / 1e6)
    print(
        f"{name}: BKerNN at 1500 rows, 10 columns: {sizes[0]:.2f} MB with skops, {sizes[1]:.2f} MB "
        f"pickled; read again predictions change by {change:.1e} standard deviations of y"
    )
    print("start 2.4 MB, wanted <= 0.5 MB and predictions within 1e-6")


#: Name -> what prints the line.
COSTS: dict[str, Callable[[str, tuple[str, ...]], None]] = {
    "large_tables": large_tables,
    "blobs": blobs,
    "thirty_classes": thirty_classes,
    "nine_sets": nine_sets,
    "polynomial_fit": polynomial_fit,
    "model_file": model_file,
}
