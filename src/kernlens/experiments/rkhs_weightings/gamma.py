"""Figures 3 and 4: training error against the width gamma of the Gaussian kernel of the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, above, measured
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, grid_of_panels
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import choices, fits, sets
from kernlens.experiments.summaries import TableForm
from kernlens.methods.rkhs_weightings.instantiations import Instantiation, correlation_of

STUMPS, CURSED = "RWStumps", ("RWSign", "RWRelu")
LAMBDA = 1e-6
#: A correlation nearer to 1 has a Gram matrix that is the identity to the last digit.
MOST_CORRELATION = 1.0 - 1e-9
#: Thetas of the interval that the other experiments use.
THETAS = (0.01, 0.9)
FULL: Settings = {
    "sets": [*sets.CLASSIFICATION, *sets.REGRESSION],
    "powers": [power / 4 for power in range(-12, 13)],
    "T": 1000,
    "seeds": [0, 1, 2],
}
QUICK: Settings = {
    **FULL,
    "sets": ["cancer", "phishing", "abalone", "concrete", "conductivity", "diabetes", "wine"],
    "powers": [power / 2 for power in range(-6, 7)],
    "T": 300,
    "seeds": [0, 1, 2],
}


def cells(settings: Settings) -> list[Cell]:
    """Every data set, instantiation, width and seed."""
    return [
        {"dataset": name, "method": method, "power": power, "T": settings["T"], "seed": seed}
        for name in settings["sets"]
        for method in (*CURSED, STUMPS)
        for power in settings["powers"]
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """One fit with sigma = 1."""
    split = choices.split_of(cell["dataset"], data.path)
    key, n_columns = fits.NAMES[cell["method"]], split.X.shape[1]
    r = min(
        correlation_of(key, n_columns, 1.0, 10.0 ** cell["power"], None, None), MOST_CORRELATION
    )
    setting = fits.Setting(Instantiation(key, n_columns, r), fits.RW, LAMBDA)
    model = fits.fit(setting, split.X, split.y, cell["T"], cell["seed"])
    error = float(np.mean(np.square(model.decision(split.X) - split.y)))
    # (67): gamma^2 = 2 / (theta^(-4/n) - 1).
    zone = [float(np.sqrt(2.0 / np.expm1(-4.0 * np.log(t) / n_columns))) for t in THETAS]
    return Measured({"train_mse": error}, {"zone": zone, "columns": [n_columns]})


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per data set, the interval of thetas shaded."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    for place, (ax, name) in enumerate(
        zip(grid_of_panels(figure, len(names), 4), names, strict=True)
    ):
        own = [{**row, "gamma": 10.0 ** row["power"]} for row in rows if row["dataset"] == name]
        title = f"{name}, d = {own[0]['columns'][0]}"
        draw_means(ax, own, "gamma", "train_mse", "gamma", "training squared error", title=title)
        ax.axvspan(*own[0]["zone"], color="#999999", alpha=0.2, lw=0)
        ax.set_xscale("log")
        if place == 0:
            ax.legend(fontsize=7, frameon=False)


#: Errors along gamma, of one data set and seed: powers, errors, number of columns, shaded interval.
Curve = tuple[Any, Any, int, tuple[float, float]]


def _by_seed(rows: Rows, method: str, number: Callable[[list[Curve]], float]) -> dict[int, float]:
    """What is made of the curves of all data sets, for every seed."""
    groups: dict[int, dict[str, list[Any]]] = {}
    for row in rows:
        if row["method"] == method:
            groups.setdefault(row["seed"], {}).setdefault(row["dataset"], []).append(row)
    found = {}
    for seed, by_set in groups.items():
        curves = [_curve(own) for own in by_set.values() if len(own) > 1]
        if curves:
            found[seed] = number(curves)
    return found


def _curve(own: Rows) -> Curve:
    """Errors of one data set and seed; rows without their curves have a middling interval."""
    powers = np.array([row["power"] for row in own])
    errors = np.array([row["train_mse"] for row in own])
    low, high = own[0].get("zone", (0.5, 2.0))
    return powers, errors, own[0].get("columns", [1])[0], (low, high)


def _decades(curves: list[Curve]) -> float:
    """Decades of gamma whose error is nearer to the lowest than a tenth of what is gained."""
    widths = []
    for powers, errors, _, _ in curves:
        low = errors <= errors.min() + 0.1 * (1.0 - errors.min())
        widths.append(float(np.sum(low)) * (powers[1] - powers[0]))
    return float(np.mean(widths))


def _rise(curves: list[Curve]) -> float:
    return float(np.mean([errors[-1] - errors.min() for _, errors, _, _ in curves]))


def _missed(curves: list[Curve]) -> float:
    """What the best gamma of the interval loses against the best one of all."""
    losses = []
    for powers, errors, _, (low, high) in curves:
        inside = (powers >= np.log10(low)) & (powers <= np.log10(high))
        losses.append(float(errors[inside].min() - errors.min()) if inside.any() else 1.0)
    return float(np.mean(losses))


def _threshold_slope(curves: list[Curve]) -> float:
    """Slope over data sets of the logarithm of the threshold against that of the columns."""
    columns, thresholds = [], []
    for powers, errors, n_columns, _ in curves:
        learned = np.flatnonzero(errors < 0.5 * (1.0 + errors.min()))
        columns.append(np.log10(n_columns))
        thresholds.append(powers[learned[0]] if len(learned) else powers[-1])
    if len(set(columns)) < 2:
        return 0.0
    return float(np.polyfit(columns, thresholds, 1)[0])


def _wide(rows: Rows) -> Iterator[Evidence]:
    stumps = _by_seed(rows, STUMPS, _decades)
    for method in CURSED:
        other = _by_seed(rows, method, _decades)
        gains = [stumps[seed] - other[seed] for seed in stumps if seed in other]
        yield measured(
            f"{STUMPS} more decades of gamma with a low error than {method}", gains, above=0.0
        )


def _vanishes(rows: Rows) -> Iterator[Evidence]:
    for method in CURSED:
        yield above(rows, "train_mse", {"method": method, "power": -3.0}, 0.95)


def _rises(rows: Rows) -> Iterator[Evidence]:
    for method in CURSED:
        text = f"{method}: error at gamma = 1000 above the lowest one"
        yield measured(text, _by_seed(rows, method, _rise).values(), above=0.02)


def _zone(rows: Rows) -> Iterator[Evidence]:
    for method in CURSED:
        text = f"{method}: lowest error in the shaded interval above the lowest one of all"
        yield measured(text, _by_seed(rows, method, _missed).values(), below=0.05)


def _dimension(rows: Rows) -> Iterator[Evidence]:
    for method in CURSED:
        text = f"{method}: slope of log threshold against log columns, over data sets"
        yield measured(text, _by_seed(rows, method, _threshold_slope).values(), above=0.0)


PLACE = "section 7.2"
EXPERIMENT = Experiment(
    name="weightings-figures-3-4",
    paper=RKHS_WEIGHTINGS,
    place="section 7.2, Figures 3 and 4",
    title="the curse of dimensionality: the effect of gamma",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("dataset", "power", "method"), scores=("train_mse",), lower=True),
    draw=draw,
    claims=(
        Claim(
            "RWStumps does not suffer from the curse of dimensionality: a wide range of gamma "
            "yields low training error.",
            PLACE,
            _wide,
            "More decades of gamma than for RWSign and RWRelu whose error is nearer to the lowest "
            "one than a tenth of what is gained, on average over data sets.",
        ),
        Claim(
            "For RWSign and RWRelu, if gamma is too low, no learning is possible.",
            PLACE,
            _vanishes,
            "Training error at gamma = 0.001 above 0.95 of that of zero.",
        ),
        Claim(
            "Finally the error increases again, as the model becomes closer to constant.",
            PLACE,
            _rises,
            "Training error at gamma = 1000 above the lowest one by more than 0.02, on average "
            "over data sets.",
        ),
        Claim(
            "The threshold of gamma at which learning begins depends on the dimensionality.",
            PLACE,
            _dimension,
            "Slope over data sets of log gamma, where half of what can be gained is gained, "
            "against log d above 0.",
        ),
        Claim(
            "The method of Section 4.6 finds values of gamma within the zone of low error.",
            PLACE,
            _zone,
            "The lowest error with theta between 0.01 and 0.9 is at most 0.05 above the lowest one "
            "of all, on average over data sets.",
        ),
    ),
    notes=(
        sets.NOTE,
        "sigma = 1 and lambda = 1e-6 as in the paper; power is the decimal logarithm of gamma. "
        "Features are computed with their factors as logarithms, so that those of the smallest "
        "gamma, which vanish in double precision, vanish beside lambda and not before. There are "
        "three seeds of the weights in place of ten, whose errors differ by less than the marks.",
    ),
    needs=sets.needs,
    size=(13.0, 6.5),
)
