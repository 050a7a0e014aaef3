"""Theorem 2 and Lemma 11: the risk of the regularised solution as lambda vanishes; and solvers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernlens._array import FloatArray
from kernlens.experiments.claims import Claim, Evidence, Rows, below, measured, slopes
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, label_sizes
from kernlens.experiments.kernel_laplacian import planted
from kernlens.experiments.papers import KERNEL_LAPLACIAN
from kernlens.experiments.summaries import TableForm

POPULATION, FAST, ROOT = "lambda alone", "lambda = 10^(-n/5)", "lambda ~ n^(-1/2)"
WITHOUT_NOISE = (POPULATION, FAST, ROOT)
SOLVERS = {"exact": "exact", "Nystroem": "nystrom", "random features": "random_features"}
FULL: Settings = {
    "powers": [power / 2 for power in range(-14, 1)],
    "n_grid": 400,
    "grids": [20, 40, 60, 80, 100],
    "sizes": [50, 100, 200, 400],
    "d": 5,
    "n_centers": 200,
    "seeds": list(range(10)),
}
QUICK: Settings = {
    **FULL,
    "powers": [-7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0],
    "n_grid": 200,
    "sizes": [50, 100, 200],
    "seeds": [0, 1, 2, 3],
}
#: Lambdas of the slope: where the bound says anything.
SLOPE_POWERS = (-5.0, -4.0, -3.0)


def cells(settings: Settings) -> list[Cell]:
    """Every lambda once, as nothing is drawn; every solver, number of rows and seed."""
    listed: list[Cell] = [
        {"method": POPULATION, "n": settings["n_grid"], "d": 1, "power": power, "seed": 0}
        for power in settings["powers"]
    ]
    for n in settings["grids"]:
        powers = {FAST: -n / 5, ROOT: round(-5.0 - 0.5 * float(np.log10(n)), 4)}
        listed += [
            {"method": method, "n": n, "d": 1, "power": power, "seed": 0}
            for method, power in powers.items()
        ]
    shared = {part: settings[part] for part in ("d", "n_centers")}
    listed += [
        {"method": method, "n": n, "power": -5.0, **shared, "seed": seed}
        for method in SOLVERS
        for n in settings["sizes"]
        for seed in settings["seeds"]
    ]
    return listed


def run(cell: Cell, data: DataFolder) -> Measured:
    """One fit: to a grid without noise, in place of the law itself, or to drawn rows."""
    lam = 10.0 ** cell["power"]
    start = time.process_time()
    if cell["method"] in WITHOUT_NOISE:
        X = middles(cell["n"])
        model = planted.fitted(X, planted.mean_of(X), lam, kernel="matern52", solver="exact")
        tested = middles(1777)
    else:
        drawn = planted.Planted.draw(cell["n"], cell["d"], cell["seed"])
        options = {"solver": SOLVERS[cell["method"]], "n_centers": cell["n_centers"]}
        model = planted.fitted(drawn.X, drawn.y, lam * cell["n"] ** -0.5, **options)
        tested = planted.test_rows(cell["d"])
    seconds = time.process_time() - start
    excess = planted.excess_risk(model, tested)
    scores = {"excess": excess, "log10_excess": float(np.log10(excess))}
    return Measured(scores, {"seconds": [seconds]}, {"fit": seconds})


def middles(n: int) -> FloatArray:
    """Middles of n equal parts of the unit interval, (n, 1)."""
    return ((np.arange(n) + 0.5) / n)[:, None]


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """The risk against lambda and by schemes, and what solvers lose and cost."""
    left, schemes, middle, right = figure.subplots(1, 4)
    own = [{**row, "lambda": 10.0 ** row["power"]} for row in rows if row["method"] == POPULATION]
    draw_means(left, own, "lambda", "excess", "lambda", "excess risk", title="Without noise")
    lambdas = np.array(sorted({row["lambda"] for row in own}))
    if len(lambdas):
        top = max(row["excess"] for row in own)
        line = top * lambdas / lambdas[-1]
        left.plot(lambdas, line, "--", color="#333333", lw=1, label="lambda (Lemma 11)")
    left.set(xscale="log", yscale="log")
    left.legend(fontsize=7, frameon=False)
    grids = [row for row in rows if row["method"] in (FAST, ROOT)]
    draw_means(schemes, grids, "n", "excess", "grid of n rows", "excess risk")
    schemes.set_yscale("log")
    schemes.legend(fontsize=7, frameon=False)
    solved = [{**row, "fit_seconds": row["seconds"][0]} for row in rows if row["method"] in SOLVERS]
    draw_means(middle, solved, "n", "excess", "rows n", "excess risk", title="Solvers, d = 5")
    draw_means(right, solved, "n", "fit_seconds", "rows n", "seconds of the processor")
    for ax in (middle, right):
        label_sizes(ax, (row["n"] for row in solved))
        ax.set_yscale("log")
    middle.legend(fontsize=7, frameon=False)


def _vanishes(rows: Rows) -> Iterator[Evidence]:
    yield below(rows, "excess", {"method": POPULATION, "power": -7.0}, 1e-4, certain=True)


def _linear(rows: Rows) -> Iterator[Evidence]:
    where = {"method": POPULATION, "power": SLOPE_POWERS}
    powered = [{**row, "lambda": 10.0 ** row["power"]} for row in rows]
    found = slopes(powered, "lambda", "excess", where)
    text = "slope of log excess risk against log lambda, 1e-5 to 1e-3"
    yield measured(text, found.values(), above=1.0, certain=True)


def _as_printed(rows: Rows) -> Iterator[Evidence]:
    where = {"method": POPULATION, "power": SLOPE_POWERS}
    powered = [{**row, "lambda": 10.0 ** row["power"]} for row in rows]
    found = slopes(powered, "lambda", "excess", where)
    text = "slope of log excess risk against log lambda, 1e-5 to 1e-3"
    yield measured(text, found.values(), below=0.0, certain=True)


def _scheme(method: str) -> Any:
    def rule(rows: Rows) -> Iterator[Evidence]:
        found = slopes(rows, "n", "excess", {"method": method})
        text = f"slope of log excess risk against log n, {method}"
        yield measured(text, found.values(), below=0.0, certain=True)

    return rule


def _approximate(rows: Rows) -> Iterator[Evidence]:
    """Logarithm of the quotient of the risks."""
    n = max((row["n"] for row in rows if row["method"] in SOLVERS), default=0)
    for method in ("Nystroem", "random features"):
        pairs: dict[int, dict[str, float]] = {}
        for row in rows:
            if row["n"] == n and row["method"] in ("exact", method):
                pairs.setdefault(row["seed"], {})[row["method"]] = row["excess"]
        gains = [np.log(one[method] / one["exact"]) for one in pairs.values() if len(one) == 2]
        yield measured(f"log excess risk of {method} over that of exact, n = {n}", gains, below=0.2)


def _grows(rows: Rows) -> Iterator[Evidence]:
    timed = [
        {**row, "fit_seconds": max(row["seconds"][0], 1e-4)} for row in rows if row.get("seconds")
    ]
    exact, cheap = (
        slopes(timed, "n", "fit_seconds", {"method": method}) for method in ("exact", "Nystroem")
    )
    gaps = [exact[seed] - cheap[seed] for seed in exact if seed in cheap]
    yield measured("slope of log seconds against log n: exact less Nystroem", gaps, above=0.0)


EXPERIMENT = Experiment(
    name="laplacian-4",
    paper=KERNEL_LAPLACIAN,
    place="section 5, Theorem 2; section 7, Lemma 11; section 8",
    title="lambda without noise, and what approximations cost",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("method", "n", "power"), scores=("excess", "log10_excess"), lower=True),
    draw=draw,
    claims=(
        Claim(
            "As lambda goes to zero the regularised solution minimises the original risk.",
            "Theorem 2",
            _vanishes,
            "Excess risk below 1e-4 at lambda = 1e-7, without noise.",
        ),
        Claim(
            "R(f_lambda) - R(f*) is at most lambda^(-1) times the squared norm of f*.",
            "Lemma 11, as printed",
            _as_printed,
            "Slope of log excess risk against log lambda below 0, which is what a power of -1 "
            "says; the bound has the wrong sign, see the next claim.",
        ),
        Claim(
            "Ours, not the paper's: R(f_lambda) - R(f*) is at most lambda times that norm.",
            "this library",
            _linear,
            "Slope of log excess risk against log lambda above 1 from 1e-5 to 1e-3.",
        ),
        Claim(
            "Any lambda_n below a multiple of n^(-gamma), gamma < 1/3, minimises the risk.",
            "Theorem 4, as printed",
            _scheme(FAST),
            "Slope of log excess risk against log n below 0 with lambda = 10^(-n/5), which is "
            "below them all, without noise. The condition must be the other way round: lambda_n "
            "may not be smaller.",
        ),
        Claim(
            "Ours, not the paper's: on the same rows lambda ~ n^(-1/2) does.",
            "this library",
            _scheme(ROOT),
            "Slope of log excess risk against log n below 0.",
        ),
        Claim(
            "The inversion of a matrix of n(d + 1) rows is what discourages the use of the method.",
            "section 8",
            _grows,
            "Slope of log seconds against log n of the exact solver above that of Nystroem; its "
            "figures differ from run to run.",
        ),
        Claim(
            "Random features approximations would tackle this.",
            "section 8",
            _approximate,
            "Logarithm of the excess risk with 200 Nystroem centres, and with 200 random features, "
            "at most 0.2 above that of the exact solver, for the largest number of rows.",
        ),
    ),
    notes=(
        planted.NOTE,
        planted.FIT_NOTE,
        "Without noise: d = 1, a Matern kernel, and the middles of equal parts of the interval in "
        "place of the law; no chance is in it. Solvers: d = 5, lambda = 1e-5 n^(-1/2).",
    ),
    size=(14.0, 3.8),
)
