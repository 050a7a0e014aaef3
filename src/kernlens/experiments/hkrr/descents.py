"""Figure 1a: the training objective along three optimisers, from random maps."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist

from kernlens._rows import canonical_rows
from kernlens.datasets import make_rising_sines
from kernlens.experiments.claims import Claim, Evidence, Rows, better
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import COLORS
from kernlens.experiments.hkrr import models
from kernlens.experiments.papers import HKRR
from kernlens.experiments.summaries import TableForm
from kernlens.kernels.radial import make_radial_kernel
from kernlens.losses import SquaredLoss
from kernlens.methods.hkrr import AlternatingGradient, VarPro
from kernlens.methods.hkrr.problem import HyperKernelProblem
from kernlens.methods.hkrr.starts import random_map
from kernlens.plotting._style import tidy

N_ROWS = N_COLUMNS = 300
N_RELEVANT, N_CENTERS, ALPHA = 2, 5, 1e-7
FULL: Settings = {
    "steps": {models.LBFGS: 200, models.VARPRO: 1500, models.AGD: 1500},
    "early": 50,
    "seeds": list(range(40)),
}
QUICK: Settings = {
    **FULL,
    "steps": {models.LBFGS: 100, models.VARPRO: 200, models.AGD: 200},
    "seeds": list(range(10)),
}
#: Points of a curve that are kept.
N_SHOWN = 60


def cells(settings: Settings) -> list[Cell]:
    """Every optimiser from every random map."""
    return [
        {"method": method, "steps": steps, "early": settings["early"], "seed": seed}
        for method, steps in settings["steps"].items()
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """One descent, without the estimator around it, which would choose among starts."""
    drawn = make_rising_sines(
        N_ROWS,
        N_COLUMNS,
        structure="variables",
        n_relevant=N_RELEVANT,
        n_test=1,
        random_state=0,
    )
    rows = canonical_rows(drawn.X, drawn.y[None], np.ones(N_ROWS))
    rng = np.random.RandomState(cell["seed"])
    Z = rows.X[rng.permutation(N_ROWS)[:N_CENTERS]]
    B = random_map(N_RELEVANT, N_COLUMNS, rng)
    # The optimisers' maps are divided by the length scale, here the median heuristic for B.
    length_scale = float(np.median(pdist(rows.X @ B.T)))
    optimizers: dict[str, Any] = {
        models.LBFGS: VarPro(),
        models.VARPRO: VarPro("gradient"),
        models.AGD: AlternatingGradient(n_coefficient_steps=models.N_COEFFICIENT_STEPS),
    }
    problem = HyperKernelProblem(
        make_radial_kernel("gaussian"),
        SquaredLoss(),
        radius=1.0 / length_scale,
        optimizer=optimizers[cell["method"]],
        n_jobs=1,
    )
    objective = problem.objective(rows, Z, ALPHA)
    start = time.perf_counter()
    result = problem.minimize(
        objective,
        objective.at(B / length_scale),
        max_iter=cell["steps"],
        tol=0.0,
        progress=lambda *_: None,
    )
    times = {"descent": time.perf_counter() - start}
    history = np.log10(np.maximum(result.history, 1e-16))
    shown = np.unique(np.geomspace(1, len(history), N_SHOWN).astype(int)) - 1
    early = history[min(cell["early"], len(history) - 1)]
    return Measured(
        {"log10_end": float(history[-1]), "log10_early": float(early)},
        {"iterations": shown.tolist(), "log10": np.round(history[shown], 4).tolist()},
        times,
    )


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """All descents, and where they end, sorted."""
    left, right = figure.subplots(1, 2, sharey=True)
    for place, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row for row in rows if row["method"] == method]
        color = COLORS[place]
        for row in own:
            left.plot(np.array(row["iterations"]) + 1, row["log10"], color=color, lw=0.6, alpha=0.6)
        left.plot([], [], color=color, label=method)
        share = np.arange(1, len(own) + 1) / len(own)
        right.step(share, np.sort([row["log10_end"] for row in own]), color=color, where="pre")
    left.set_xscale("log")
    left.legend(fontsize=7, frameon=False)
    tidy(left, "From random maps", "iteration", "log10 of the training objective")
    tidy(right, "Where they end, sorted", "share of the starts", "")


def _faster(rows: Rows) -> Iterator[Evidence]:
    for method in (models.VARPRO, models.LBFGS):
        first, second = {"method": method}, {"method": models.AGD}
        yield better(rows, "log10_early", first, second, lower=True)


def _stuck(rows: Rows) -> Iterator[Evidence]:
    first, second = {"method": models.AGD}, {"method": models.VARPRO}
    yield better(rows, "log10_end", first, second, lower=True)


def _lbfgs(rows: Rows) -> Iterator[Evidence]:
    for method in (models.VARPRO, models.AGD):
        first, second = {"method": models.LBFGS}, {"method": method}
        yield better(rows, "log10_end", first, second, lower=True)


EXPERIMENT = Experiment(
    name="hkrr-1",
    paper=HKRR,
    place="section 5, Figure 1a, Appendix D.1",
    title="the training objective along VarPro and AGD",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("method",), scores=("log10_early", "log10_end"), lower=True),
    draw=draw,
    claims=(
        Claim(
            "VarPro converges faster than AGD, especially for few Nystroem centres.",
            "section 5",
            _faster,
            "After 50 iterations the logarithm of the objective is below that of AGD, for VarPro "
            "and for our L-BFGS, on average over random maps.",
        ),
        Claim(
            "VarPro is prone to being trapped in local minima, where AGD escapes.",
            "section 5",
            _stuck,
            "The logarithm of the objective at the end of AGD is below that of VarPro, on average "
            "over the same random maps.",
        ),
        Claim(
            "Ours, not the paper's: L-BFGS on the reduced objective ends below both.",
            "this library",
            _lbfgs,
            "The logarithm of the objective at its end is below those of VarPro and AGD.",
        ),
    ),
    notes=(
        "The paper shows two starts, which can show anything; here are many, none of them picked. "
        "The axis has iterations in place of seconds, which differ from run to run and are in "
        "times.csv.",
        "VarPro is Algorithm 3, projected gradient steps; AGD takes five steps in the coefficients "
        "per step in B and begins with none, which the paper does not print.",
    ),
)
