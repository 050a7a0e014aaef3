"""Figure 2, bottom: R2 against the number of rows, for three numbers d of rows of B."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, better
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means
from kernlens.experiments.hkrr import models
from kernlens.experiments.papers import HKRR
from kernlens.experiments.summaries import TableForm

FULL: Settings = {
    "sizes": [1000, 4000, 8000, 12000, 16000],
    "methods": [models.VARPRO, models.AGD, models.LBFGS],
    "dimensions": [3, 20, 50],
    "centers": 25,
    "alpha": 1e-8,
    "alpha_lbfgs": 1e-4,
    "steps": 300,
    "seeds": list(range(5)),
}
QUICK: Settings = {
    **FULL,
    "sizes": [1000, 4000],
    "methods": [models.AGD, models.LBFGS],
    "steps": 30,
    "seeds": [0, 1, 2],
}


def cells(settings: Settings) -> list[Cell]:
    """Every size, method, number of rows of B and seed."""
    return [
        {
            "dataset": "dataset 1",
            "n": n,
            "method": method,
            "d": d,
            "centers": settings["centers"],
            "alpha": settings["alpha_lbfgs" if method == models.LBFGS else "alpha"],
            "steps": settings["steps"],
            "seed": seed,
        }
        for n in settings["sizes"]
        for method in settings["methods"]
        for d in settings["dimensions"]
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """One fit."""
    return models.fit_cell(cell)


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per method, a line per d."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for ax, method in zip(panels, methods, strict=True):
        own = [{**row, "line": f"d = {row['d']}"} for row in rows if row["method"] == method]
        draw_means(ax, own, "n", "r2", "rows", "R2 on test rows", by="line", title=method)
        ax.set_xscale("log")
    panels[0].legend(fontsize=7, frameon=False)


def _against(first: int, second: int) -> Any:
    def rule(rows: Rows) -> Iterator[Evidence]:
        where = {"n": 4000, "method": models.AGD}
        yield better(rows, "r2", {**where, "d": first}, {**where, "d": second})

    return rule


EXPERIMENT = Experiment(
    name="hkrr-3",
    paper=HKRR,
    place="section 5, Figure 2 bottom, Appendix D.1",
    title="the number of rows, for three numbers of rows of B",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("n", "d", "method"), scores=("r2",)),
    draw=draw,
    claims=(
        Claim(
            "For larger datasets d = 20 consistently yields better results than the true number.",
            "section 5",
            _against(20, 3),
            "R2 of AGD at d = 20 above that at d = 3 with 4000 rows.",
        ),
        Claim(
            "d = D = 50 is inefficient because of the fixed budget.",
            "section 5",
            _against(20, 50),
            "R2 of AGD at d = 20 above that at d = 50 with 4000 rows. Our budget is a number of "
            "steps, which all d have alike.",
        ),
    ),
    notes=(
        *models.NOTES[:2],
        "VarPro and AGD have the paper's alpha of 1e-8, L-BFGS 1e-4.",
    ),
)
