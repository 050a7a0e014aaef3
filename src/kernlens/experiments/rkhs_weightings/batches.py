"""Figures 7 and 8: stochastic descent with one or several fresh features in every step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, better, similar
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, grid_of_panels, label_sizes
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import choices, learners, sets
from kernlens.experiments.rkhs_weightings.algorithms import BATCH, RADIUS, SFGD, setting_for
from kernlens.experiments.summaries import TableForm

THETA = 0.5
#: Features of a step; the figure's names of the curves.
PER_STEP = (1, 5, 20, 100)
FULL: Settings = {
    "sets": [*sets.CLASSIFICATION, *sets.REGRESSION],
    "points": [200, 500, 1000, 2000, 5000],
    "seeds": list(range(10)),
}
QUICK: Settings = {
    "sets": ["cancer", "phishing", "abalone", "concrete", "conductivity", "diabetes", "wine"],
    "points": [200, 500, 1000, 2000],
    "seeds": list(range(5)),
}
#: A number of features of both scales.
POINT = 2000


def cells(settings: Settings) -> list[Cell]:
    """Every data set, number of features per step and seed."""
    return [
        {
            "dataset": name,
            "method": SFGD,
            "per_step": per_step,
            "points": settings["points"],
            "theta": THETA,
            "seed": seed,
        }
        for name in settings["sets"]
        for per_step in PER_STEP
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> list[Measured]:
    """One descent, looked at when it has drawn given numbers of features."""
    split = choices.split_of(cell["dataset"], data.path)
    setting = setting_for(split.X.shape[1], SFGD, cell["theta"])
    running = learners.Running.begin(
        *(setting, split.X, split.y),
        batch_size=BATCH,
        features_per_step=cell["per_step"],
        radius=RADIUS,
        seed=cell["seed"],
    )
    lines, n_features = [], 0
    for point in cell["points"]:
        running.go_on((point - n_features) // cell["per_step"])
        n_features = point
        found = split.scores(running.decision(split.X), running.decision(split.test_X))
        score = "train_mse" if split.regression else "train_error"
        lines.append(Measured({score: found[score]}, labels={"features": point}))
    return lines


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per data set, a line per number of features in a step."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for place, (ax, name) in enumerate(
        zip(grid_of_panels(figure, len(names), 4), names, strict=True)
    ):
        own = [
            {**row, "line": f"{row['per_step']} per step"} for row in rows if row["dataset"] == name
        ]
        score = "train_mse" if name in sets.REGRESSION else "train_error"
        label = score.replace("train_", "training ")
        draw_means(ax, own, "features", score, "features drawn", label, by="line", title=name)
        label_sizes(ax, (row["features"] for row in own))
        if np.ptp([row[score] for row in own]) > 20.0:
            ax.set_yscale("log")
        if place == 0:
            ax.legend(fontsize=7, frameon=False)


def _alike(rows: Rows) -> Iterator[Evidence]:
    for many in PER_STEP[1:]:
        first = {"method": SFGD, "features": POINT, "per_step": 1}
        yield similar(rows, "train_error", {**first, "per_step": many}, first, within=0.03)


def _worse(rows: Rows) -> Iterator[Evidence]:
    for many in (20, 100):
        first = {"method": SFGD, "features": POINT, "per_step": 1}
        yield better(rows, "train_mse", first, {**first, "per_step": many}, lower=True)


EXPERIMENT = Experiment(
    name="weightings-figures-7-8",
    paper=RKHS_WEIGHTINGS,
    place="section 5.1.1, Appendix D, Figures 7 and 8",
    title="features in a step of stochastic descent",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(
        by=("dataset", "per_step", "features"), scores=("train_error", "train_mse"), lower=True
    ),
    draw=draw,
    claims=(
        Claim(
            "All numbers of features per iteration perform similarly on classification.",
            "Figure 7",
            _alike,
            "Training shares of errors with 2000 features drawn within 0.03 of that of one in a "
            "step, on average over data sets.",
        ),
        Claim(
            "Higher numbers of features per iteration perform worse on regression.",
            "Figure 8",
            _worse,
            "Training error with 2000 features drawn and one in a step below those of 20 and 100 "
            "in a step, on average over data sets.",
        ),
    ),
    notes=(
        sets.NOTE,
        "RWSign with lambda = 1e-6, B = 1000, batches of 100 rows and steps 1 / (lambda t), as "
        "printed; theta = 0.5, which is not. The axis has the features drawn in place of seconds, "
        "which differ from run to run. With equally many features large batches of them take fewer "
        "steps, which count against them here, and which cost less together than one by one.",
    ),
    needs=sets.needs,
    size=(13.0, 6.5),
)
