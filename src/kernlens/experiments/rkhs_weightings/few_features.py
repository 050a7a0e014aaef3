"""Figures 5 and 6: test errors against the number of random features, ramps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, better, measured, similar
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, grid_of_panels, label_sizes
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import choices, fits, sets
from kernlens.experiments.summaries import TableForm

FULL: Settings = {
    "sets": [*sets.CLASSIFICATION, *sets.REGRESSION],
    "sizes": [5, 10, 20, 50, 100, 200, 500, 1000],
    "n_widths": 5,
    "search_rows": 5000,
    "search_seeds": 2,
    "exact_rows": 5000,
    "seeds": list(range(10)),
}
QUICK: Settings = {
    **FULL,
    "sets": [
        *("cancer", "phishing", "telescope"),
        *("abalone", "concrete", "conductivity", "diabetes", "wine"),
    ],
    "sizes": [5, 20, 100, 500],
    **{"n_widths": 3, "search_rows": 2000, "search_seeds": 1, "exact_rows": 3200},
}
#: Few features, of both scales, and many.
FEW, MANY = (5, 20), 500
#: What the table says of the exact kernel.
ALL = "all"


def cells(settings: Settings) -> list[Cell]:
    """Every data set, number of features, method and seed of the weights."""
    listed: list[Cell] = []
    for name in settings["sets"]:
        shared: Cell = {
            "dataset": name,
            "instantiation": "RWRelu",
            **{part: settings[part] for part in choices.SEARCH if part != "search_T"},
        }
        listed += [
            {**shared, "T": T, "search_T": T, "features": T, "method": method, "seed": seed}
            for T in settings["sizes"]
            for method in (fits.RKS, fits.RW)
            for seed in settings["seeds"]
        ]
        listed.append(
            {
                **shared,
                **{"T": 0, "search_T": 0, "features": ALL, "method": fits.EXACT, "seed": 0},
                "exact_rows": settings["exact_rows"],
            }
        )
    return listed


def run(cell: Cell, data: DataFolder) -> Measured:
    """One fit; the setting is chosen for every number of features."""
    split = choices.split_of(cell["dataset"], data.path)
    setting = choices.setting_of(cell, data)
    if cell["method"] == fits.EXACT:
        rows = fits.rows_for_exact(cell["exact_rows"], setting, split)
        model: Any = fits.fit_kernel(setting, split.X[rows], split.y[rows])
    else:
        model = fits.fit(setting, split.X, split.y, cell["T"], cell["seed"])
    found = split.scores(model.decision(split.X), model.decision(split.test_X))
    score = "test_mse" if split.regression else "test_error"
    return Measured({score: found[score]})


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per data set, the exact kernel as a dashed line."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for ax, name in zip(grid_of_panels(figure, len(names), 4), names, strict=True):
        own = [row for row in rows if row["dataset"] == name and row["features"] != ALL]
        score = "test_mse" if name in sets.REGRESSION else "test_error"
        draw_means(ax, own, "T", score, "random features T", score.replace("_", " "), title=name)
        limit = [row[score] for row in rows if row["dataset"] == name and row["features"] == ALL]
        if limit:
            ax.axhline(limit[0], color="#333333", ls="--", lw=1, label="exact kernel")
        label_sizes(ax, (row["T"] for row in own))
        if name == names[0]:
            ax.legend(fontsize=7, frameon=False)


def _score(regression: bool) -> str:
    return "test_mse" if regression else "test_error"


def _wins(regression: bool) -> Any:
    def rule(rows: Rows) -> Iterator[Evidence]:
        first, second = ({"method": method, "T": FEW} for method in (fits.RW, fits.RKS))
        yield better(rows, _score(regression), first, second, lower=True)

    return rule


def _meet(rows: Rows) -> Iterator[Evidence]:
    for regression, within in ((False, 0.01), (True, 0.02)):
        first, second = ({"method": method, "T": MANY} for method in (fits.RW, fits.RKS))
        yield similar(rows, _score(regression), first, second, within=within)


def _steadier(rows: Rows) -> Iterator[Evidence]:
    ratios = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        score = _score(name in sets.REGRESSION)
        for T in FEW:
            spreads = []
            for method in (fits.RW, fits.RKS):
                where = (name, T, method)
                values = [
                    row[score] for row in rows if (row["dataset"], row["T"], row["method"]) == where
                ]
                spreads.append(np.std(values) if len(values) > 1 else 0.0)
            if min(spreads) > 0.0:
                ratios.append(float(np.log2(spreads[0] / spreads[1])))
    yield measured(
        "log2 of the standard deviation of RW over that of RKS, with 5 and 20 features",
        ratios,
        below=0.0,
    )


def _limit(rows: Rows) -> Iterator[Evidence]:
    for regression, margin in ((False, -0.01), (True, -0.02)):
        exact, sampled = {"method": fits.EXACT}, {"method": fits.RW, "T": MANY}
        score = _score(regression)
        yield better(rows, score, exact, sampled, unit="dataset", lower=True, margin=margin)


PLACE = "section 7.5"
EXPERIMENT = Experiment(
    name="weightings-figures-5-6",
    paper=RKHS_WEIGHTINGS,
    place="section 7.5, Figures 5 and 6",
    title="few random features",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(
        by=("dataset", "features", "method"), scores=("test_error", "test_mse"), lower=True
    ),
    draw=draw,
    claims=(
        Claim(
            "RKHS weightings perform significantly better than kitchen sinks when the number of "
            "random features is small: classification.",
            PLACE,
            _wins(False),
            "Test error of RW below that of RKS with 5 and 20 features, on average over data sets, "
            "by seed of the weights.",
        ),
        Claim(
            "RKHS weightings perform significantly better than kitchen sinks when the number of "
            "random features is small: regression.",
            PLACE,
            _wins(True),
            "Test error of RW below that of RKS with 5 and 20 features, on average over data sets, "
            "by seed of the weights.",
        ),
        Claim(
            "The gap closes as the number of features increases.",
            PLACE,
            _meet,
            "With 500 features shares of errors within 0.01 and squared errors within 0.02, on "
            "average over data sets.",
        ),
        Claim(
            "The variance of RKHS weightings often seems smaller.",
            PLACE,
            _steadier,
            "Logarithm of the quotient of standard deviations over seeds below 0, on average over "
            "data sets and 5 and 20 features.",
        ),
        Claim(
            "Ours, not the paper's: the exact kernel is as good as 500 features.",
            "this library",
            _limit,
            "Test error with the exact kernel at most 0.01 (share of errors) or 0.02 (squared "
            "error) above that of RW with 500 features, on average over data sets.",
        ),
    ),
    notes=(
        sets.NOTE,
        fits.NOTE,
        "Settings are chosen for every number of features, and are the same for all seeds; the "
        "seeds are those of the weights. The dashed line is the exact kernel, on at most "
        "exact_rows training rows.",
    ),
    needs=sets.needs,
    size=(13.0, 6.5),
)
