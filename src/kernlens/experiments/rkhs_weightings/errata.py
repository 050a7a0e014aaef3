"""What the published errors of RWExpRelu and RWExpSign came from: the features as printed, or not.

The published pair of training and test errors is one point; the errors of a setting along lambda
are a curve. Features of the right kind have a curve through that point at some width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments import summaries
from kernlens.experiments.claims import Claim, Evidence, Rows, below, better
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import COLORS
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import choices, fits, sets, tables
from kernlens.experiments.summaries import TableForm
from kernlens.methods.rkhs_weightings.instantiations import Instantiation, correlation_of
from kernlens.plotting._style import tidy

INSTANTIATIONS = ("RWExpRelu", "RWExpSign")
METHODS = (fits.RW, fits.PRINTED)
FULL: Settings = {
    "sets": [*sets.REGRESSION, *sets.CLASSIFICATION],
    "kappas": [1.5, 3.0, 10.0, 20.0, 50.0, 100.0],
    "T": 500,
    "seeds": list(range(5)),
}
QUICK: Settings = {
    **FULL,
    "sets": ["abalone", "concrete", "conductivity", "diabetes", "wine", "cancer", "phishing"],
    "kappas": [1.5, 10.0, 50.0],
    "seeds": [0, 1],
}
#: Kappas of RWExpSign end here (Table 14).
MOST_OF_SIGNS = 50.0
#: Errors as near as this to the published ones, in logarithms, are the same: 3 per cent.
NEAR = 0.03
#: Smaller errors are rounding.
SMALLEST = 1e-9


def cells(settings: Settings) -> list[Cell]:
    """Every data set, instantiation, kind of features and seed of the weights."""
    return [
        {
            "dataset": name,
            "instantiation": instantiation,
            "method": method,
            **{part: settings[part] for part in ("kappas", "T")},
            "seed": seed,
        }
        for name in settings["sets"]
        for instantiation in INSTANTIATIONS
        for method in METHODS
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """Errors along lambda for every width, and how near they come to the published pair."""
    split = choices.split_of(cell["dataset"], data.path)
    known = published(cell["dataset"], cell["instantiation"])
    key = fits.NAMES[cell["instantiation"]]
    curves = [
        _curve(cell, split, kappa)
        for kappa in cell["kappas"]
        if key == "exp_relu" or kappa <= MOST_OF_SIGNS
    ]
    gaps = [np.log(np.maximum(curve, SMALLEST)) - np.log(known) for curve in curves]
    distances = [np.linalg.norm(gap, axis=1).min() for gap in gaps]
    return Measured(
        {"distance": float(min(distances))},
        {"errors": [np.round(curve, 4).tolist() for curve in curves], "published": list(known)},
    )


def published(dataset: str, instantiation: str) -> tuple[float, float]:
    """The published training and test squared errors of RW."""
    form = tables.form_of(dataset in sets.REGRESSION)
    facts = summaries.published_numbers(form)[dataset, instantiation, fits.RW]
    return float(facts["train_mse"]), float(facts["test_mse"])


def _curve(cell: Cell, split: sets.Split, kappa: float) -> Any:
    """Training and test errors along lambda, (n_lambdas, 2)."""
    key, n_columns = fits.NAMES[cell["instantiation"]], split.X.shape[1]
    r = correlation_of(key, n_columns, 1.0, None, None, kappa)
    lowest, highest = fits.decades_of(key, cell["method"])
    lambdas = 10.0 ** np.arange(lowest, highest + 0.25, 0.25)
    setting = fits.Setting(Instantiation(key, n_columns, r), cell["method"], 1.0)
    space = setting.space(setting.weights(cell["T"], cell["seed"]))
    train, test = (
        space.system(X, y[None], np.ones(len(X)), False, 1, smallest=0.0)
        for X, y in ((split.X, split.y), (split.test_X, split.test_y))
    )
    shifts = [replace(setting, lam=float(lam)).shift(space) for lam in lambdas]
    solutions = train.solve_along(shifts)
    return np.array(
        [[float(part.mean_losses(*found)[0]) for part in (train, test)] for found in solutions]
    )


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per data set and instantiation: curves along lambda, and the published point."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    panels = figure.subplots(len(INSTANTIATIONS), len(names), squeeze=False)
    for line, instantiation in zip(panels, INSTANTIATIONS, strict=True):
        for ax, name in zip(line, names, strict=True):
            known = None
            for place, method in enumerate(METHODS):
                for row in rows:
                    labels = (row["dataset"], row["instantiation"], row["method"])
                    if labels == (name, instantiation, method) and row["seed"] == 0:
                        known = row["published"]
                        for curve in row["errors"]:
                            ax.plot(*np.array(curve).T, color=COLORS[place], lw=1.0, alpha=0.8)
                ax.plot([], [], color=COLORS[place], label=method)
            if known:
                train, test = known
                ax.plot(train, test, "*", color="black", ms=11, label="published", zorder=5)
                # Curves go far beyond what is of interest.
                ax.set(xlim=(0.3 * train, 2.0 * train), ylim=(0.85 * test, 1.4 * test))
            tidy(ax, f"{name}\n{instantiation}", "training error", "test error")
            ax.title.set_fontsize(9)
    panels[0, 0].legend(fontsize=6, frameon=False)


def _nearer(instantiation: str) -> Any:
    def rule(rows: Rows) -> Iterator[Evidence]:
        printed, corrected = (
            {"method": method, "instantiation": instantiation} for method in (fits.PRINTED, fits.RW)
        )
        yield better(rows, "distance", printed, corrected, unit="dataset", lower=True)

    return rule


def _wine(rows: Rows) -> Iterator[Evidence]:
    where = {"dataset": "wine", "instantiation": "RWExpRelu"}
    first, second = {**where, "method": fits.PRINTED}, {**where, "method": fits.RW}
    yield better(rows, "distance", first, second, lower=True, margin=0.1)


def _reached(rows: Rows) -> Iterator[Evidence]:
    for instantiation in INSTANTIATIONS:
        where = {"method": fits.PRINTED, "instantiation": instantiation}
        yield below(rows, "distance", where, NEAR, unit="dataset")


PLACE = "this library"
EXPERIMENT = Experiment(
    name="weightings-errata",
    paper=RKHS_WEIGHTINGS,
    place="Table 3, Tables 10 and 11",
    title="the features of RWExpRelu and RWExpSign as printed, and corrected",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("dataset", "instantiation", "method"), scores=("distance",), lower=True),
    draw=draw,
    claims=(
        Claim(
            "Ours, not the paper's: on wine no corrected feature has the published errors of "
            "RWExpRelu, and the printed ones do.",
            PLACE,
            _wine,
            "The distance of the nearest setting to the published pair of errors, in logarithms, "
            "is smaller by more than 0.1.",
        ),
        Claim(
            "Ours, not the paper's: published errors of RWExpRelu are those of the printed "
            "features.",
            PLACE,
            _nearer("RWExpRelu"),
            "That distance is smaller than with the corrected features, on average over data sets.",
        ),
        Claim(
            "Ours, not the paper's: published errors of RWExpSign are those of the printed "
            "features.",
            PLACE,
            _nearer("RWExpSign"),
            "That distance is smaller than with the corrected features, on average over data sets.",
        ),
        Claim(
            "Ours, not the paper's: the printed features have all published errors at some "
            "setting.",
            PLACE,
            _reached,
            "That distance is below 0.03 on average over data sets.",
        ),
    ),
    notes=(
        sets.NOTE,
        "The distance is the least one over widths and lambdas (by quarter decades) of the pair of "
        "training and test squared errors to the published pair, both as logarithms: settings are "
        "picked by the published numbers, not by rows left out.",
        "Table 3 prints sqrt(8 pi) for sqrt 8 in RWExpSign, which divides the argument of erf by "
        "sqrt pi; and u for u' in RWExpRelu, which makes its ramps as steep as those of kitchen "
        "sinks. The other misprint of RWExpRelu is a factor of 1 / sigma, which changes what "
        "lambda means and nothing else; lambda / sigma^2 goes from 1e-14 to 1, as in the tables.",
    ),
    needs=sets.needs,
    size=(15.0, 5.6),
)
