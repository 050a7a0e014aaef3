"""Figure 2: where the time of stochastic descent, least squares and kitchen sinks goes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim, Evidence, Rows, better, measured
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import COLORS
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import choices, fits, learners, sets
from kernlens.experiments.rkhs_weightings.algorithms import (
    BATCH,
    LEAST_SQUARES,
    RADIUS,
    SFGD,
    setting_for,
)
from kernlens.experiments.summaries import TableForm
from kernlens.plotting._style import tidy

THETA = 0.5
#: Parts of the time, in the order in which they are drawn.
MATRICES, FACTOR, SOLVING = "features and products", "Gram matrix and its factor", "solving"
GRADIENT, KERNELS, STEPS = "functional gradients", "kernel values", "model update"
PARTS = {
    SFGD: (GRADIENT, KERNELS, STEPS),
    LEAST_SQUARES: (MATRICES, FACTOR, SOLVING),
    fits.RKS: (MATRICES, SOLVING),
}
FULL: Settings = {"sizes": [100, 200, 500, 1000, 2000, 4000], "seeds": list(range(10))}
QUICK: Settings = {"sizes": [100, 200, 500, 1000], "seeds": [0, 1, 2]}


def cells(settings: Settings) -> list[Cell]:
    """Every algorithm, number of features and seed."""
    return [
        {"dataset": "abalone", "theta": THETA, "method": method, "T": T, "seed": seed}
        for method in PARTS
        for T in settings["sizes"]
        for seed in settings["seeds"]
    ]


def run(cell: Cell, data: DataFolder) -> Measured:
    """One fit, its parts timed one after the other."""
    split = choices.split_of(cell["dataset"], data.path)
    setting = setting_for(split.X.shape[1], cell["method"], cell["theta"])
    follow = _descent if cell["method"] == SFGD else _least_squares
    # Once without the clock: what is compiled or read for the first time is no part of it.
    follow(setting, split, 20, 0)
    seconds, decision = follow(setting, split, cell["T"], cell["seed"])
    error = float(np.mean(np.square(decision - split.test_y)))
    times = dict(zip(PARTS[cell["method"]], seconds, strict=True))
    return Measured({"test_mse": error}, {"seconds": seconds}, times)


def _least_squares(
    setting: fits.Setting, split: sets.Split, T: int, seed: int
) -> tuple[list[float], np.ndarray]:
    clock = [time.process_time()]
    W = setting.weights(T, seed)
    space = setting.space(W)
    clock.append(time.process_time())
    system = space.system(split.X, split.y[None], np.ones(len(split.y)), False, 1, smallest=0.0)
    clock.append(time.process_time())
    b = system.solve(setting.shift(space))[0][0]
    clock.append(time.process_time())
    factor, matrices, solving = np.diff(clock).tolist()
    decision = fits.Fitted(setting, W, space, b).decision(split.test_X)
    if setting.method == fits.RKS:
        return [factor + matrices, solving], decision
    return [matrices, factor, solving], decision


def _descent(
    setting: fits.Setting, split: sets.Split, T: int, seed: int
) -> tuple[list[float], np.ndarray]:
    """The whole descent, and beside it what its gradients and kernel values cost alone.

    A gradient needs the base predictor of the fresh weight on the batch, and the iterate there: the
    latter is kept up by the features of fresh weights at all rows.
    """
    running = learners.Running.begin(
        setting, split.X, split.y, batch_size=BATCH, features_per_step=1, radius=RADIUS, seed=seed
    )
    _, whole = fits.cpu_seconds(lambda: running.go_on(T))
    weighting, W = running.descent.weighting, running.descent.W
    _, gradient = fits.cpu_seconds(lambda: _gradients_alone(running, split))
    _, kernels = fits.cpu_seconds(lambda: weighting.gram(W, W))
    steps = max(whole - gradient - kernels, 0.0)
    return [gradient, kernels, steps], running.decision(split.test_X)


def _gradients_alone(running: learners.Running, split: sets.Split) -> None:
    weighting, W = running.descent.weighting, running.descent.W
    weighting.expectation(W)[0].evaluate(split.X)
    base, rng = weighting.base(W), np.random.default_rng(0)
    errors = split.y[None]
    for t in range(len(W)):
        rows = rng.integers(len(split.X), size=BATCH)
        phi = base.take(np.array([t])).evaluate(split.X[rows])
        errors[:, rows] @ phi


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per algorithm, mean seconds of the parts on top of each other."""
    for ax, method in zip(figure.subplots(1, len(PARTS)), PARTS, strict=True):
        own = [row for row in rows if row["method"] == method]
        sizes = sorted({row["T"] for row in own})
        means = np.array(
            [np.mean([row["seconds"] for row in own if row["T"] == T], axis=0) for T in sizes]
        )
        if len(sizes):
            ax.stackplot(sizes, means.T, labels=PARTS[method], colors=COLORS, alpha=0.8)
        tidy(ax, method, "random features T", "seconds of the processor")
        ax.legend(fontsize=7, frameon=False, loc="upper left")


def _share(rows: Rows, method: str, parts: tuple[str, ...], T: int) -> list[float]:
    places = [PARTS[method].index(part) for part in parts]
    return [
        sum(row["seconds"][place] for place in places) / max(sum(row["seconds"]), 1e-9)
        for row in rows
        if row["method"] == method and row["T"] == T and "seconds" in row
    ]


def _gradients(rows: Rows) -> Iterator[Evidence]:
    yield measured(
        "share of SFGD that is functional gradients, with 500 features",
        _share(rows, SFGD, (GRADIENT,), 500),
        above=0.5,
    )


def _matrices(rows: Rows) -> Iterator[Evidence]:
    yield measured(
        "share of least squares that is features, products and Gram matrix, with 100 features",
        _share(rows, LEAST_SQUARES, (MATRICES, FACTOR), 100),
        above=0.5,
    )


def _grows(rows: Rows) -> Iterator[Evidence]:
    few, many = (_share(rows, LEAST_SQUARES, (FACTOR, SOLVING), T) for T in (100, 1000))
    yield measured(
        "share of least squares that is O(T^3), with 1000 features less that with 100",
        [b - a for a, b in zip(few, many, strict=False)],
        above=0.0,
    )


def _poorer(rows: Rows) -> Iterator[Evidence]:
    first, second = {"method": LEAST_SQUARES, "T": 1000}, {"method": SFGD, "T": 1000}
    yield better(rows, "test_mse", first, second, lower=True)


PLACE = "section 7.1"
TIMED = " The figures of this comparison differ from run to run."
EXPERIMENT = Experiment(
    name="weightings-figure-2",
    paper=RKHS_WEIGHTINGS,
    place="section 7.1, Figure 2, Tables 5 and 6",
    title="where the time goes",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("method", "T"), scores=("test_mse",), lower=True),
    draw=draw,
    claims=(
        Claim(
            "For stochastic descent the main cost always comes from the approximation of the "
            "functional gradient.",
            PLACE,
            _gradients,
            "More than half of its time with 500 features." + TIMED,
        ),
        Claim(
            "For the least squares fit calculating the matrices of the linear problem is the main "
            "cost for low T.",
            PLACE,
            _matrices,
            "More than half of its time with 100 features." + TIMED,
        ),
        Claim(
            "For high T solving the problem will eventually dominate, since it is O(T^3).",
            PLACE,
            _grows,
            "The share of the two factorisations is larger with 1000 features than with 100."
            + TIMED,
        ),
        Claim(
            "The practical performance of stochastic descent is much worse than that of the "
            "alternatives.",
            PLACE,
            _poorer,
            "Test error of least squares below that of stochastic descent, with 1000 features.",
        ),
    ),
    notes=(
        sets.NOTE,
        "RWSign with lambda = 1e-6, batches of 100 rows, theta = 0.5 and B = 1000. The parts are "
        "those of this implementation: least squares factors the Gram matrix of the weights and "
        "then the normal equations; gradients of stochastic descent are timed alone, after it, on "
        "batches of their own, and model update is what is left, with norm and projection.",
        "Seconds are those of the processor on one core, and in times.csv; the table has what does "
        "not differ from run to run.",
    ),
    needs=sets.needs,
    size=(12.0, 4.0),
)
