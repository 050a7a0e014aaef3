"""Experiment 3: scores and shares along the iterations."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, above, below, better
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means
from kernlens.experiments.papers import REGFEAL
from kernlens.experiments.regfeal import models
from kernlens.experiments.summaries import TableForm
from kernlens.methods.regfeal import GroupSampling
from kernlens.plotting._style import tidy

N_COLUMNS = 10
FULL: Settings = {
    "n": 5000,
    "draws": 2500,
    "iterations": [1, 2, 3, 4, 5, 6, 7, 8, 9],
    "rhos": [0.2, 0.4, 0.6, 0.8, 0.99],
    "alphas": [100.0, 1.0, 0.1, 0.01, 0.001],
    "folds": 5,
    "seeds": [36, 37, 38],
}
QUICK: Settings = {**FULL, "n": 1000, "draws": 1000, "folds": 2, "iterations": [1, 2, 3, 5, 9]}


def cells(settings: Settings) -> list[Cell]:
    """Every seed; one cell has all iterations."""
    shared = {name: settings[name] for name in FULL if name != "seeds"}
    return [{**shared, "method": models.PAPER, "seed": seed} for seed in settings["seeds"]]


def run(cell: Cell, data: DataFolder) -> list[Measured]:
    """Choose rho and alpha, then fit with a growing number of iterations."""
    drawn, X, y = models.draw_rows(
        "sinus", "feature", cell["n"], N_COLUMNS, cell["seed"], noise=0.0
    )
    shared = {"basis": GroupSampling(cell["draws"]), "random_state": cell["seed"]}
    search = models.paper_regfeal(
        "feature",
        max(cell["iterations"]),
        alpha=cell["alphas"],
        rho=cell["rhos"],
        n_folds=cell["folds"],
        tol=0.0,
        **shared,
    ).fit(X, y)
    found = []
    for iteration in cell["iterations"]:
        start = time.perf_counter()
        model = models.paper_regfeal(
            "feature", iteration, alpha=search.alpha_, rho=search.rho_, tol=0.0, **shared
        ).fit(X, y)
        shares = np.sort(model.shares_)[::-1]
        scores = {
            "train_r2": model.score(X, y),
            "test_r2": model.score(drawn.X_test, drawn.y_test),
            "feature_score": models.leading_score(drawn, models.followed_directions(model)),
            "n_above": float(np.sum(shares > 1.0 / N_COLUMNS)),
            "first_share": shares[0],
            "second_share": shares[1],
            "third_share": shares[2],
        }
        times = {"fit": time.perf_counter() - start}
        curves = {"shares": np.round(shares, 4).tolist()}
        found.append(Measured(scores, curves, times, {"iteration": iteration}))
    return found


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """Figure 5: R2, feature score and shares along the iterations."""
    panels = figure.subplots(1, 3)
    both = [
        {**row, "r2": row[f"{part}_r2"], "line": part} for part in ("train", "test") for row in rows
    ]
    draw_means(panels[0], both, "iteration", "r2", "iteration", "R2", by="line")
    panels[0].legend(fontsize=7, frameon=False)
    draw_means(panels[1], rows, "iteration", "feature_score", "iteration", "feature score")
    places = sorted({row["iteration"] for row in rows})
    shares = np.array(
        [np.mean([r["shares"] for r in rows if r["iteration"] == i], axis=0) for i in places]
    )
    panels[2].plot(places, shares, color="#0072B2", lw=1.0)
    panels[2].axhline(1.0 / N_COLUMNS, color="#777777", ls="--", lw=0.8)
    tidy(panels[2], "", "iteration", "shares of the directions")


def _at(iteration: int) -> dict[str, Any]:
    return {"method": models.PAPER, "iteration": iteration}


def _improves(rows: Rows) -> Iterator[Evidence]:
    for score in ("train_r2", "test_r2"):
        yield better(rows, score, _at(9), _at(1))


def _features_first(rows: Rows) -> Iterator[Evidence]:
    yield above(rows, "feature_score", _at(2), 0.95)
    yield better(rows, "test_r2", _at(9), _at(2), margin=0.05)


def _two_above(rows: Rows) -> Iterator[Evidence]:
    yield above(rows, "n_above", _at(9), 1.5)
    yield below(rows, "n_above", _at(9), 2.5)


def _alike(rows: Rows) -> Iterator[Evidence]:
    # The first two differ by less than the second from the third.
    gaps = [
        {
            **row,
            "within": row["first_share"] - row["second_share"],
            "beyond": row["second_share"] - row["third_share"],
        }
        for row in rows
        if row["iteration"] == 9
    ]
    long = [
        {"seed": row["seed"], "method": name, "gap": row[name]}
        for row in gaps
        for name in ("within", "beyond")
    ]
    yield better(long, "gap", {"method": "beyond"}, {"method": "within"})


PLACE = "section 5.2, Experiment 3"
EXPERIMENT = Experiment(
    name="regfeal-3",
    paper=REGFEAL,
    place="section 5.2, Figure 5, Appendix B",
    title="training behaviour along the iterations",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(
        by=("iteration", "method"),
        scores=("train_r2", "test_r2", "feature_score", "first_share", "second_share"),
        published="regfeal_experiment3.csv",
        known_as={models.PAPER: "RegFeaL"},
    ),
    draw=draw,
    claims=(
        Claim(
            "R2 improves across the iterations on both sets.",
            PLACE,
            _improves,
            "Both at iteration 9 above those at iteration 1.",
        ),
        Claim(
            "The features are learned more rapidly than the fit.",
            PLACE,
            _features_first,
            "At iteration 2 the feature score is above 0.95, while test R2 rises by more than 0.05 "
            "until iteration 9.",
        ),
        Claim(
            "Two components surpass the threshold of 1/d, so that their number is easily "
            "predicted.",
            PLACE,
            _two_above,
            "At iteration 9 the number of shares above 1/d is 2.",
        ),
        Claim(
            "These two have relatively similar values.",
            PLACE,
            _alike,
            "At iteration 9 the gap between the second and the third share is wider than that "
            "between the first and the second.",
        ),
    ),
    notes=(
        "Iteration k is a fit with k reweightings; the paper's iteration 0, with equal shares, has "
        "none and is not shown. The paper has one draw, whose seed is not printed.",
        "The grid of rho ends at 0.99 instead of 1.0, where the weights of polynomials have no "
        "sum.",
        "Figure 5d, the density of single exponents, is not drawn.",
    ),
    size=(12.0, 4.0),
)
