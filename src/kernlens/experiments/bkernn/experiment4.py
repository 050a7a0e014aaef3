"""Experiment 4: three curves of one variable, learned with few particles or few neurons."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV

from kernlens.datasets import SyntheticData, make_one_dimensional
from kernlens.experiments.bkernn import models
from kernlens.experiments.claims import Claim, Evidence, Rows, above, better
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.papers import BKERNN
from kernlens.experiments.relu_network import NOTE, relu_network
from kernlens.experiments.summaries import TableForm
from kernlens.methods.bkernn import BKerNNRegressor
from kernlens.plotting._style import DATA, FIT, tidy

SHAPES = ("sine", "square", "triangle")
FULL: Settings = {
    "n": 128,
    "shapes": list(SHAPES),
    "particles": [1, 5],
    "widths": [1, 5, 32],
    "lambdas": [0.005, 0.01, 0.02, 0.05],
    "steps": 50,
    "network_steps": 400_000,
    "seeds": list(range(5)),
}
QUICK: Settings = {**FULL, "network_steps": 40_000, "seeds": [0, 1, 2]}
#: Step of the network.
STEP = 0.005
#: Points of a curve that are kept for the figure.
N_SHOWN = 128


def cells(settings: Settings) -> list[Cell]:
    """Every curve, method, width and seed."""
    methods = [(models.PAPER, m) for m in settings["particles"]]
    methods += [(models.NETWORK, m) for m in settings["widths"]] + [(models.OURS, 100)]
    shared = {name: settings[name] for name in ("n", "lambdas", "steps", "network_steps")}
    return [
        {**shared, "shape": shape, "method": method, "m": m, "seed": seed}
        for shape in settings["shapes"]
        for method, m in methods
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """One fit; the score is that against the curve without noise."""
    drawn = make_one_dimensional(cell["n"], shape=cell["shape"], random_state=cell["seed"])
    start = time.perf_counter()
    model = _model(cell, drawn).fit(drawn.X, drawn.y)
    times = {"fit": time.perf_counter() - start}
    every = slice(None, None, max(1, len(drawn.X_test) // N_SHOWN))
    curve = np.round(model.predict(drawn.X_test[every]), 3).tolist()
    return Measured({"r2": model.score(drawn.X_test, drawn.y_test)}, {"curve": curve}, times)


def _model(cell: Cell, drawn: SyntheticData) -> Any:
    if cell["method"] == models.OURS:
        return BKerNNRegressor(random_state=0, n_directions=1)
    if cell["method"] == models.NETWORK:
        steps = cell["network_steps"]
        return relu_network(cell["n"], cell["m"], step=STEP, n_steps=steps, seed=cell["seed"])
    model = models.paper_bkernn(
        drawn.X,
        drawn.y,
        lam=1.0,
        n_particles=cell["m"],
        penalty="basic",
        n_steps=cell["steps"],
        seed=cell["seed"],
    )
    # Of alpha = lambda / spread, lambda was 1.
    alphas = [lam * model.alpha for lam in cell["lambdas"]]
    return GridSearchCV(model, {"alpha": alphas}, cv=5, scoring="neg_mean_squared_error")


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """Figure 3: a row per curve, a column per method and width, the first draw of each."""
    columns = list(dict.fromkeys((row["method"], row["m"]) for row in rows))
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    panels = figure.subplots(len(shapes), len(columns), sharex=True, sharey=True, squeeze=False)
    for line, shape in zip(panels, shapes, strict=True):
        for ax, (method, m) in zip(line, columns, strict=True):
            own = [r for r in rows if (r["method"], r["m"], r["shape"]) == (method, m, shape)]
            row = own[0]
            drawn = make_one_dimensional(row["n"], shape=shape, random_state=row["seed"])
            ax.plot(drawn.X[:, 0], drawn.y, "k+", markersize=2.5, alpha=0.5)
            ax.plot(drawn.X_test[:, 0], drawn.y_test, color=DATA, lw=1.0)
            places = np.linspace(-1, 1, len(row["curve"]))
            ax.plot(places, row["curve"], color=FIT, lw=1.2)
            title = f"{method}, {m}" if shape == shapes[0] else ""
            tidy(ax, title, "", shape if method == columns[0][0] and m == columns[0][1] else "")
            ax.title.set_fontsize(7)


def _at(method: str, m: int, shape: str) -> dict[str, Any]:
    return {"method": method, "m": m, "shape": shape}


def _one_particle(rows: Rows) -> Iterator[Evidence]:
    for shape in SHAPES:
        yield above(rows, "r2", _at(models.PAPER, 1, shape), 0.8)


def _little_benefit(rows: Rows) -> Iterator[Evidence]:
    for shape in SHAPES:
        one, five = _at(models.PAPER, 1, shape), _at(models.PAPER, 5, shape)
        yield better(rows, "r2", one, five, margin=-0.05)


def _struggles(rows: Rows) -> Iterator[Evidence]:
    for shape in SHAPES:
        for m in (1, 5):
            yield better(rows, "r2", _at(models.PAPER, m, shape), _at(models.NETWORK, m, shape))


def _satisfactory(rows: Rows) -> Iterator[Evidence]:
    for shape in SHAPES:
        yield above(rows, "r2", _at(models.NETWORK, 32, shape), 0.8)


PLACE = "section 5.4"
EXPERIMENT = Experiment(
    name="bkernn-4",
    paper=BKERNN,
    place="section 5.4, Figure 3, Appendix B.3",
    title="curves of one variable beside a network",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("shape", "method", "m"), scores=("r2",)),
    draw=draw,
    claims=(
        Claim(
            "BKerNN captures the functions with just one particle.",
            PLACE,
            _one_particle,
            "R2 against the curve above 0.8 with one particle, for each curve.",
        ),
        Claim(
            "More particles offer minimal additional benefit.",
            PLACE,
            _little_benefit,
            "R2 with five particles at most 0.05 above that with one.",
        ),
        Claim(
            "The ReLU network struggles with as few neurons as BKerNN has particles.",
            PLACE,
            _struggles,
            "R2 of BKerNN above that of the network, with 1 and with 5, for each curve.",
        ),
        Claim(
            "With 32 neurons the network begins to learn satisfactorily.",
            PLACE,
            _satisfactory,
            "R2 above 0.8 with 32 neurons, for each curve.",
        ),
    ),
    notes=(
        "The paper prints no number of iterations, no penalty and no seed of BKerNN here; these "
        "are 50, the basic penalty and several seeds.",
        NOTE + " The quick setting has a tenth of the printed 400,000 steps.",
        models.DEFAULTS_NOTE,
    ),
    size=(12.0, 5.5),
)
