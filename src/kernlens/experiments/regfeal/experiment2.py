"""Experiment 2: the number of polynomials that are drawn."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, better
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means
from kernlens.experiments.papers import REGFEAL
from kernlens.experiments.regfeal import models
from kernlens.experiments.summaries import TableForm
from kernlens.methods.regfeal import GroupSampling

N_COLUMNS, N_STEPS = 10, 3
#: What stands for all polynomials in place of a number of draws.
ALL = "all"
EXACT = "RegFeaL (all polynomials)"
FULL: Settings = {
    "sizes": [150, 300, 1000],
    "draws": [100, 500, 1000, 2000, 3000, 4000, 5000],
    "rhos": [0.2, 0.4, 0.6, 0.8, 0.99],
    "alphas": [100.0, 1.0, 0.1, 0.01, 0.001],
    "folds": 5,
    "seeds": [36, 37, 38, 39, 40],
}
QUICK: Settings = {
    **FULL,
    "sizes": [150, 300],
    "draws": [100, 500, 2000],
    "folds": 2,
    "seeds": [36, 37, 38],
}


def cells(settings: Settings) -> list[Cell]:
    """Every size and seed; one cell has all numbers of draws, which share their settings."""
    shared = {name: settings[name] for name in ("draws", "rhos", "alphas", "folds")}
    return [
        {**shared, "n": n, "method": method, "seed": seed}
        for method in (models.PAPER, EXACT)
        for n in settings["sizes"]
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> list[Measured]:
    """Choose rho and alpha with the most draws, and fit with each number of them."""
    drawn, X, y = models.draw_rows(
        "sinus", "feature", cell["n"], N_COLUMNS, cell["seed"], noise=0.0
    )
    exact = cell["method"] == EXACT
    most: Any = "exact" if exact else GroupSampling(max(cell["draws"]))
    search = models.paper_regfeal(
        "feature",
        N_STEPS,
        basis=most,
        alpha=cell["alphas"],
        rho=cell["rhos"],
        n_folds=cell["folds"],
        random_state=cell["seed"],
    ).fit(X, y)
    found = []
    for m in [ALL] if exact else cell["draws"]:
        start = time.perf_counter()
        model = search
        if not exact:
            model = models.paper_regfeal(
                "feature",
                N_STEPS,
                basis=GroupSampling(int(m)),
                alpha=search.alpha_,
                rho=search.rho_,
                random_state=cell["seed"],
            ).fit(X, y)
        scores = {
            "r2": model.score(drawn.X_test, drawn.y_test),
            "feature_score": models.leading_score(drawn, models.followed_directions(model)),
        }
        found.append(Measured(scores, times={"fit": time.perf_counter() - start}, labels={"m": m}))
    return found


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """Figure 4: both scores against m, a line per n."""
    panels = figure.subplots(1, 2)
    named = [{**row, "line": f"n={row['n']}"} for row in rows if row["method"] == models.PAPER]
    for ax, score, label in zip(
        panels, ("r2", "feature_score"), ("R2 on test rows", "feature learning score"), strict=True
    ):
        draw_means(ax, named, "m", score, "polynomials drawn", label, by="line")
        for line, n in zip(ax.lines[1::2], dict.fromkeys(row["n"] for row in named), strict=True):
            exact = [row[score] for row in rows if row["method"] == EXACT and row["n"] == n]
            if exact:
                ax.axhline(sum(exact) / len(exact), color=line.get_color(), ls="--", lw=1.0)
    panels[0].legend(fontsize=7, frameon=False, title="dashed: all polynomials", title_fontsize=7)


def _at(n: int, m: Any) -> dict[str, Any]:
    return {"method": models.PAPER, "n": n, "m": m}


def _more_draws(rows: Rows) -> Iterator[Evidence]:
    for n in (150, 300):
        for score in ("r2", "feature_score"):
            yield better(rows, score, _at(n, 2000), _at(n, 100))


def _levels_off(rows: Rows) -> Iterator[Evidence]:
    for n in (150, 300):
        for score in ("r2", "feature_score"):
            exact = {"method": EXACT, "n": n, "m": ALL}
            yield better(rows, score, _at(n, 2000), exact, margin=-0.1)


EXPERIMENT = Experiment(
    name="regfeal-2",
    paper=REGFEAL,
    place="section 5.2, Figure 4, Appendix B",
    title="influence of the number of random features",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(
        by=("n", "m", "method"),
        scores=("r2", "feature_score"),
        published="regfeal_experiment2.csv",
        known_as={models.PAPER: "RegFeaL"},
    ),
    draw=draw,
    claims=(
        Claim(
            "R2 and feature score improve with the number m of random features.",
            "section 5.2, Experiment 2",
            _more_draws,
            "Both with 2000 draws above those with 100, 150 and 300 rows.",
        ),
        Claim(
            "Beyond a certain m the improvement levels off.",
            "section 5.2, Experiment 2",
            _levels_off,
            "Both with 2000 draws at most 0.1 below those with all polynomials, which is the limit "
            "of m.",
        ),
    ),
    notes=(
        "The grid of rho ends at 0.99 instead of 1.0, where the weights of polynomials have no "
        "sum.",
        "RegFeaL (all polynomials) has the integral of Mehler kernels in place of drawn ones.",
        "Draws come in groups parted at the largest gap of the shares, with the paper's weights "
        "corrected. No spread is published; two standard errors of ours take its place.",
    ),
)
