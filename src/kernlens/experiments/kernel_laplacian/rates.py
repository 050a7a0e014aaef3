"""Theorems 4 and 5: how the risk falls with n, by scheme of lambda and by dimension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, better, measured, slopes
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, label_sizes
from kernlens.experiments.kernel_laplacian import planted
from kernlens.experiments.papers import KERNEL_LAPLACIAN
from kernlens.experiments.summaries import TableForm

ROOT, QUARTER, VANISHING = "lambda ~ n^(-1/2)", "lambda ~ n^(-1/4)", "lambda = 1e-14"
POWERS = {ROOT: -0.5, QUARTER: -0.25}
FULL: Settings = {
    "sizes": [50, 100, 200, 400, 800, 1600, 3200, 6400],
    "columns": [1, 2, 5, 10],
    "seeds": list(range(20)),
    "more_seeds": list(range(60)),
}
QUICK: Settings = {
    **FULL,
    "sizes": [100, 200, 400, 800],
    "seeds": list(range(10)),
    "more_seeds": list(range(32)),
}
#: The number of rows at which a smaller dimension is compared with a larger one.
SMALL, LARGE = 1, 10


def cells(settings: Settings) -> list[Cell]:
    """Every scheme, dimension, number of rows and seed."""
    return [
        {"d": d, "n": n, "method": method, "seed": seed}
        for d in settings["columns"]
        for method in (ROOT, QUARTER, VANISHING)
        for n in settings["sizes"]
        for seed in planted.seeds_of(d, settings)
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """One fit."""
    drawn = planted.Planted.draw(cell["n"], cell["d"], cell["seed"])
    power = POWERS.get(cell["method"])
    lam = 1e-14 if power is None else planted.LAMBDA * cell["n"] ** power
    model = planted.fitted(drawn.X, drawn.y, lam)
    excess = planted.excess_risk(model, planted.test_rows(cell["d"]))
    return Measured({"excess": excess, "log10_excess": float(np.log10(excess))})


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per scheme, a line per dimension, with the rate of Theorem 5 dashed."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for ax, method in zip(panels, methods, strict=True):
        own = [{**row, "line": f"d = {row['d']}"} for row in rows if row["method"] == method]
        draw_means(ax, own, "n", "excess", "rows n", "excess risk", by="line", title=method)
        sizes = np.array(sorted({row["n"] for row in own}))
        start = float(np.mean([row["excess"] for row in own if row["n"] == sizes[0]]))
        rate = start * (sizes / sizes[0]) ** -0.5
        ax.plot(sizes, rate, "--", color="#333333", lw=1, label="n^(-1/2)")
        label_sizes(ax, (row["n"] for row in own))
        ax.set_yscale("log")
    panels[0].legend(fontsize=7, frameon=False)


def slope_text(d: int, method: str) -> str:
    """What a slope is of."""
    return f"slope of log excess risk against log n, d = {d}, {method}"


def _rate(rows: Rows) -> Iterator[Evidence]:
    for d in dict.fromkeys(row["d"] for row in rows):
        found = slopes(rows, "n", "excess", {"d": d, "method": ROOT})
        yield measured(slope_text(d, ROOT), found.values(), below=-0.5)


def _consistent(rows: Rows) -> Iterator[Evidence]:
    for d in dict.fromkeys(row["d"] for row in rows):
        found = slopes(rows, "n", "excess", {"d": d, "method": QUARTER})
        yield measured(slope_text(d, QUARTER), found.values(), below=0.0)


def _same_rate(rows: Rows) -> Iterator[Evidence]:
    small, large = (slopes(rows, "n", "excess", {"d": d, "method": ROOT}) for d in (SMALL, LARGE))
    gaps = [large[seed] - small[seed] for seed in small if seed in large]
    yield measured(f"slope at d = {LARGE} less that at d = {SMALL}", gaps, below=0.5)


def _too_small(rows: Rows) -> Iterator[Evidence]:
    for d in (2, 5, 10):
        first, second = ({"method": method, "d": d} for method in (ROOT, VANISHING))
        yield better(rows, "log10_excess", first, second, lower=True)


EXPERIMENT = Experiment(
    name="laplacian-1",
    paper=KERNEL_LAPLACIAN,
    place="section 7, Theorems 4 and 5",
    title="consistency and rates",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("d", "n", "method"), scores=("excess", "log10_excess"), lower=True),
    draw=draw,
    claims=(
        Claim(
            "With lambda proportional to n^(-1/2) the risk converges to its minimum at a rate of "
            "n^(-1/2).",
            "Theorem 5",
            _rate,
            "Slope of log excess risk against log n below -1/2 in every dimension: the theorem is "
            "a bound, and faster is as good.",
        ),
        Claim(
            "The rate is dimension-free.",
            "Theorem 5",
            _same_rate,
            "The slope in 10 dimensions is less than 1/2 above that in one.",
        ),
        Claim(
            "With lambda proportional to a slower power of n the estimate is consistent.",
            "Theorem 4",
            _consistent,
            "Slope of log excess risk against log n below 0 in every dimension, for n^(-1/4).",
        ),
        Claim(
            "Ours, not the paper's: a lambda that vanishes has a larger risk than n^(-1/2).",
            "this library",
            _too_small,
            "Logarithm of the excess risk with lambda ~ n^(-1/2) below that with lambda = 1e-14 in "
            "2, 5 and 10 dimensions, on average over numbers of rows.",
        ),
    ),
    notes=(
        planted.NOTE,
        planted.FIT_NOTE,
        "lambda is 1e-5 times the power of n. Rates are of the numbers of rows shown: standard "
        "errors are those of the slopes of single seeds. Excess risk is measured on 2000 rows.",
    ),
    size=(12.0, 4.2),
)
