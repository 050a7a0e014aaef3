"""Figures 9 and 10: test errors against the number of features that the Lasso retains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernlens._array import FloatArray
from kernlens.experiments.claims import Claim, Evidence, Rows, similar
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, grid_of_panels, label_sizes
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import choices, fits, learners, sets
from kernlens.experiments.summaries import TableForm
from kernlens.methods.rkhs_weightings.instantiations import Instantiation, correlation_of

#: Numbers of features that are looked at.
KEPT = (5, 10, 20, 50, 100, 200)
#: Lambdas from the largest size of a coefficient downwards, in decades.
DECADES, PER_DECADE = 6, 6
FULL: Settings = {
    "sets": [*sets.CLASSIFICATION, *sets.REGRESSION],
    "T": 1000,
    "thetas": [0.01, 0.3, 0.9],
    "most_rows": 20_000,
    "seeds": list(range(5)),
}
QUICK: Settings = {
    **FULL,
    "sets": ["cancer", "phishing", "abalone", "concrete", "conductivity", "diabetes", "wine"],
    "T": 300,
    "most_rows": 3000,
    "seeds": list(range(5)),
}


def cells(settings: Settings) -> list[Cell]:
    """Every data set, method and seed of the weights."""
    return [
        {
            "dataset": name,
            "method": method,
            **{part: settings[part] for part in ("T", "thetas", "most_rows")},
            "seed": seed,
        }
        for name in settings["sets"]
        for method in (fits.RKS, fits.RW)
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> list[Measured]:
    """Paths of the Lasso for every width; the best width by rows left out, for every size."""
    split = choices.split_of(cell["dataset"], data.path)
    rows = np.random.default_rng([3, cell["seed"]]).permutation(len(split.X))[: cell["most_rows"]]
    cut = len(rows) // 5
    score = "test_mse" if split.regression else "test_error"
    best: dict[int, tuple[float, float]] = {}
    for setting in _settings(cell, split.X.shape[1]):
        left_out = _errors(setting, cell, split, rows[cut:], rows[:cut])
        whole = _errors(setting, cell, split, rows, None)
        for kept in KEPT:
            if kept in left_out and kept in whole:
                found = (left_out[kept], whole[kept])
                best[kept] = min(best.get(kept, found), found)
    return [Measured({score: error}, labels={"kept": kept}) for kept, (_, error) in best.items()]


def _settings(cell: Cell, n_columns: int) -> list[fits.Setting]:
    if cell["method"] == fits.RKS:
        return [fits.Setting(Instantiation("relu", n_columns, 0.5), fits.RKS, 1.0)]
    correlations = [
        correlation_of("relu", n_columns, 1.0, None, theta, None) for theta in cell["thetas"]
    ]
    return [fits.Setting(Instantiation("relu", n_columns, r), fits.RW, 1.0) for r in correlations]


def _errors(
    setting: fits.Setting, cell: Cell, split: sets.Split, train: Any, test: Any | None
) -> dict[int, float]:
    """Errors with at most so many features: of the smallest lambda that retains no more."""
    W = setting.weights(cell["T"], cell["seed"])
    X, y = split.X[train], split.y[train]
    space, unit = learners.lasso_space(setting, W)
    # No larger lambda retains a feature.
    most = 2.0 * float(np.abs(space.matrix(X).T @ y).max()) / len(y) / unit
    lambdas = most * 10.0 ** -(np.arange(1, DECADES * PER_DECADE + 1) / PER_DECADE)
    models = learners.lasso_path(setting, X, y, W, lambdas.tolist())
    test_X, test_y = (
        (split.test_X, split.test_y) if test is None else (split.X[test], split.y[test])
    )
    P = space.matrix(test_X)
    sizes = [int(np.count_nonzero(model.b)) for model in models]
    found = {}
    for kept in KEPT:
        few = [model for model, size in zip(models, sizes, strict=True) if 0 < size <= kept]
        if few and max(sizes) >= kept:
            found[kept] = _error(P @ few[-1].b, test_y, split.regression)
    return found


def _error(decision: FloatArray, y: FloatArray, regression: bool) -> float:
    if regression:
        return float(np.mean(np.square(decision - y)))
    return sets.share_of_errors(decision, y)


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per data set."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for place, (ax, name) in enumerate(
        zip(grid_of_panels(figure, len(names), 4), names, strict=True)
    ):
        own = [row for row in rows if row["dataset"] == name]
        score = "test_mse" if name in sets.REGRESSION else "test_error"
        label = score.replace("_", " ")
        draw_means(ax, own, "kept", score, "features retained, at most", label, title=name)
        label_sizes(ax, (row["kept"] for row in own))
        if place == 0:
            ax.legend(fontsize=7, frameon=False)


def _alike(score: str, within: float) -> Any:
    def rule(rows: Rows) -> Iterator[Evidence]:
        for kept in ((5, 10), (20, 50)):
            first, second = ({"method": method, "kept": kept} for method in (fits.RW, fits.RKS))
            yield similar(rows, score, first, second, within=within)

    return rule


PLACE = "section 7.5, Appendix D"
EXPERIMENT = Experiment(
    name="weightings-figures-9-10",
    paper=RKHS_WEIGHTINGS,
    place="section 7.5, Appendix D, Figures 9 and 10",
    title="features retained by the Lasso",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(
        by=("dataset", "kept", "method"), scores=("test_error", "test_mse"), lower=True
    ),
    draw=draw,
    claims=(
        Claim(
            "Sparse RKHS weightings and sparse kitchen sinks perform fairly similarly: "
            "classification.",
            PLACE,
            _alike("test_error", 0.02),
            "Test shares of errors within 0.02 with at most 5 or 10, and 20 or 50 features, on "
            "average over data sets.",
        ),
        Claim(
            "Sparse RKHS weightings and sparse kitchen sinks perform fairly similarly: regression.",
            PLACE,
            _alike("test_mse", 0.05),
            "Test squared errors within 0.05 with at most 5 or 10, and 20 or 50 features, on "
            "average over data sets.",
        ),
    ),
    notes=(
        sets.NOTE,
        "Where the paper draws lambdas, this follows the whole path of the Lasso, and looks at the "
        "smallest of 36 lambdas over six decades that retains at most so many features; gamma is "
        "that of the best of three thetas, by a fifth of the training rows left out. Paths are on "
        "at most most_rows training rows, and there are five seeds of the weights.",
    ),
    needs=sets.needs,
    size=(13.0, 6.5),
)
