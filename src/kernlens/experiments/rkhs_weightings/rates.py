"""Theorems 6.7 and 6.8: how sampled fits near their limit as the number of features grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, better, measured, slopes
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, label_sizes
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import choices, fits, learners, sets
from kernlens.experiments.rkhs_weightings.algorithms import BATCH, LEAST_SQUARES, SFGD
from kernlens.experiments.summaries import TableForm
from kernlens.methods.rkhs_weightings.instantiations import Instantiation

#: RWSign with this correlation, and lambda as a share of the mean of the implicit kernel.
CORRELATION, SHARE = 0.2, 0.1
METHODS = (LEAST_SQUARES, SFGD)
FULL: Settings = {"sizes": [20, 50, 100, 200, 500, 1000, 2000, 5000], "seeds": list(range(20))}
QUICK: Settings = {"sizes": [20, 50, 100, 200, 500, 1000], "seeds": list(range(6))}


def cells(settings: Settings) -> list[Cell]:
    """Both algorithms, every number of features and seed."""
    return [
        {"dataset": "diabetes", "method": method, "T": T, "seed": seed}
        for method in METHODS
        for T in settings["sizes"]
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """Root mean square distance, at training rows, to the fit with the exact kernel."""
    split = choices.split_of(cell["dataset"], data.path)
    limit, setting = limit_of(split)
    if cell["method"] == LEAST_SQUARES:
        model: Any = fits.fit(setting, split.X, split.y, cell["T"], cell["seed"])
    else:
        options: dict[str, Any] = {"batch_size": BATCH, "features_per_step": 1, "radius": 1e6}
        model = learners.Running.begin(setting, split.X, split.y, seed=cell["seed"], **options)
        model.go_on(cell["T"])
    distance = float(np.sqrt(np.mean(np.square(model.decision(split.X) - limit))))
    return Measured({"distance": distance, "log10_distance": float(np.log10(distance))})


def limit_of(split: sets.Split) -> tuple[Any, fits.Setting]:
    """Values of the fit with the exact kernel, and the setting of all fits."""
    found = Instantiation("sign", split.X.shape[1], CORRELATION)
    unit = float(found.kernel().diagonal(split.X).mean())
    lam = SHARE * unit * float(np.exp(found.log_unit()))
    exact = fits.Setting(found, fits.EXACT, lam)
    values = fits.fit_kernel(exact, split.X, split.y).decision(split.X)
    return values, fits.Setting(found, fits.RW, lam)


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """Distances against the number of features, with the rate dashed."""
    ax = figure.subplots()
    draw_means(ax, rows, "T", "distance", "random features T", "distance to the exact kernel")
    sizes = np.array(sorted({row["T"] for row in rows}))
    start = float(np.mean([row["distance"] for row in rows if row["T"] == sizes[0]]))
    ax.plot(
        sizes, start * (sizes / sizes[0]) ** -0.5, "--", color="#333333", lw=1, label="T^(-1/2)"
    )
    label_sizes(ax, sizes.tolist())
    ax.set_yscale("log")
    ax.legend(fontsize=8, frameon=False)


def _rate(method: str) -> Any:
    def rule(rows: Rows) -> Iterator[Evidence]:
        found = slopes(rows, "T", "distance", {"method": method})
        text = f"slope of log distance against log T, {method}"
        # A slope of -1/2 itself is no slower.
        yield measured(text, found.values(), below=-0.4)

    return rule


def _nearer(rows: Rows) -> Iterator[Evidence]:
    for T in (100, 1000):
        first, second = ({"method": method, "T": T} for method in METHODS)
        yield better(rows, "log10_distance", first, second, lower=True)


EXPERIMENT = Experiment(
    name="weightings-rates",
    paper=RKHS_WEIGHTINGS,
    place="abstract, section 6, Theorems 6.7 and 6.8",
    title="convergence with the number of features",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("method", "T"), scores=("distance", "log10_distance"), lower=True),
    draw=draw,
    claims=(
        Claim(
            "Convergence of stochastic functional gradient descent is guaranteed, at a rate of "
            "T^(-1/2).",
            "abstract, Theorem 6.7",
            _rate(SFGD),
            "Slope of log distance to the fit with the exact kernel against log T below -0.4.",
        ),
        Claim(
            "The empirical risk minimiser of T features converges at a rate of T^(-1/2).",
            "abstract, Theorem 6.8",
            _rate(LEAST_SQUARES),
            "Slope of log distance to the fit with the exact kernel against log T below -0.4.",
        ),
        Claim(
            "The least squares fit requires fewer features for the same accuracy.",
            "section 5.2",
            _nearer,
            "Logarithm of the distance of least squares below that of stochastic descent with 100 "
            "and with 1000 features.",
        ),
    ),
    notes=(
        sets.NOTE,
        "RWSign of correlation 0.2 on diabetes, lambda a tenth of the mean of the implicit kernel, "
        "which the paper does not have: its closed form gives the limit that is measured against. "
        "Stochastic descent has steps 1 / (lambda t), batches of 100 rows and a ball that is never "
        "left.",
    ),
    needs=sets.needs,
    size=(6.5, 4.5),
)
