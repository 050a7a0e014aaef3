"""The curse of dimensionality: Laplacians of neighbours and of derivatives on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import solve
from scipy.spatial.distance import pdist, squareform

from kernlens._array import FloatArray
from kernlens.experiments.claims import Claim, Evidence, Rows, better, measured, slopes
from kernlens.experiments.contract import Cell, Experiment, Measured, Row, Settings
from kernlens.experiments.data import DataFolder
from kernlens.experiments.drawing import draw_means, label_sizes
from kernlens.experiments.kernel_laplacian import planted
from kernlens.experiments.papers import KERNEL_LAPLACIAN
from kernlens.experiments.summaries import TableForm

KERNEL, GRAPH = "kernel Laplacian", "graph Laplacian"
#: Bandwidths of the graph, in units of the mean distance to the nearest row.
WIDTHS = [0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
FULL: Settings = {
    "sizes": [50, 100, 200, 400, 800, 1600],
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


def cells(settings: Settings) -> list[Cell]:
    """Both methods in every dimension, for every number of rows and seed."""
    return [
        {"d": d, "n": n, "method": method, **_widths(method), "seed": seed}
        for d in settings["columns"]
        for method in (KERNEL, GRAPH)
        for n in settings["sizes"]
        for seed in planted.seeds_of(d, settings)
    ]


def _widths(method: str) -> Cell:
    return {"widths": WIDTHS} if method == GRAPH else {}


def run(cell: Cell, data: DataFolder) -> Measured:
    """Mean squared distance to f* at the rows themselves, where a graph has values."""
    drawn = planted.Planted.draw(cell["n"], cell["d"], cell["seed"])
    truth = planted.minimizer(drawn.X)
    if cell["method"] == KERNEL:
        lam = planted.LAMBDA * cell["n"] ** -0.5
        errors = [_error(planted.fitted(drawn.X, drawn.y, lam).predict(drawn.X), truth)]
    else:
        D = squareform(pdist(drawn.X))
        nearest = float(np.sort(D, axis=1)[:, 1].mean())
        values = [graph_values(drawn.X, D, drawn.y, width * nearest) for width in cell["widths"]]
        errors = [_error(value, truth) for value in values]
    return Measured({"error": min(errors)})


def graph_values(X: FloatArray, D: FloatArray, y: FloatArray, width: float) -> FloatArray:
    """The values at the rows that minimise ``mean (f - y)^2 + mu E(f)``.

    E is the energy sum_ij w_ij (f_i - f_j)^2 of Gaussian weights of the distances, in units in
    which that of a column is 1 on average, as it is of the energy of gradients.
    """
    W = np.exp(-0.5 * np.square(D / width))
    np.fill_diagonal(W, 0.0)
    L = np.diag(W.sum(axis=1)) - W
    energy = float(np.mean(np.sum(X * (L @ X), axis=0)))
    system = np.eye(len(X)) + len(X) * planted.MU * L / max(energy, 1e-300)
    values: FloatArray = solve(system, y, assume_a="pos")
    return values


def _error(values: FloatArray, truth: FloatArray) -> float:
    return float(np.mean(np.square(values - truth)))


def draw(figure: Figure, rows: Sequence[Row]) -> None:
    """A panel per dimension."""
    columns = list(dict.fromkeys(row["d"] for row in rows))
    panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for ax, d in zip(panels, columns, strict=True):
        own = [row for row in rows if row["d"] == d]
        label = "squared distance to f*" if d == columns[0] else ""
        draw_means(ax, own, "n", "error", "rows n", label, title=f"d = {d}")
        label_sizes(ax, (row["n"] for row in own))
        ax.set_yscale("log")
    panels[0].legend(fontsize=7, frameon=False)


def _text(d: int, method: str) -> str:
    return f"slope of log error against log n, d = {d}, {method}"


def _bypasses(rows: Rows) -> Iterator[Evidence]:
    for d in dict.fromkeys(row["d"] for row in rows):
        found = slopes(rows, "n", "error", {"d": d, "method": KERNEL})
        yield measured(_text(d, KERNEL), found.values(), below=-0.5)


def _suffers(rows: Rows) -> Iterator[Evidence]:
    for d in (5, 10):
        found = slopes(rows, "n", "error", {"d": d, "method": GRAPH})
        yield measured(_text(d, GRAPH), found.values(), above=-0.5)


def _slower(rows: Rows) -> Iterator[Evidence]:
    for d in (5, 10):
        kernel, graph = (
            slopes(rows, "n", "error", {"d": d, "method": method}) for method in (KERNEL, GRAPH)
        )
        gaps = [graph[seed] - kernel[seed] for seed in kernel if seed in graph]
        yield measured(f"slope of the graph less that of the kernel, d = {d}", gaps, above=0.0)


def _wins(rows: Rows) -> Iterator[Evidence]:
    for d in (5, 10):
        first, second = ({"method": method, "d": d, "n": 800} for method in (KERNEL, GRAPH))
        yield better(rows, "error", first, second, lower=True)


EXPERIMENT = Experiment(
    name="laplacian-2",
    paper=KERNEL_LAPLACIAN,
    place="sections 1 and 7",
    title="no curse of dimensionality, against graph Laplacians",
    scales={"quick": QUICK, "full": FULL},
    cells=cells,
    run=run,
    table=TableForm(by=("d", "n", "method"), scores=("error",), lower=True),
    draw=draw,
    claims=(
        Claim(
            "The kernel method bypasses the curse of dimensionality.",
            "abstract, section 8",
            _bypasses,
            "Slope of log error against log n below -1/2 in every dimension.",
        ),
        Claim(
            "Graph diffusion suffers from the curse of dimensionality.",
            "sections 1 and 7",
            _suffers,
            "Slope of log error against log n above -1/2 in 5 and 10 dimensions.",
        ),
        Claim(
            "The rates of graph diffusion contrast with the dimension-free ones of the kernel.",
            "section 7",
            _slower,
            "The slope of the graph is above that of the kernel in 5 and 10 dimensions.",
        ),
        Claim(
            "The kernel method is a strong alternative to neighbourhood graphs.",
            "abstract",
            _wins,
            "Error below that of the graph with 800 rows in 5 and 10 dimensions.",
        ),
    ),
    notes=(
        planted.NOTE,
        planted.FIT_NOTE,
        "The graph has Gaussian weights of all distances, its energy in the units of that of "
        "gradients, the same mu, and of ten bandwidths the one nearest to the truth, which "
        "flatters it. Errors are at the rows themselves: a graph has no values elsewhere.",
    ),
    size=(13.0, 3.8),
)
