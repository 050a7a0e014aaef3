"""Where alternating steps escape and variable projection is stuck: a toy in two variables.

Appendix D.2 of the HKRR paper (Figures 1b, 1c and 3 to 6). The function
``f(x, y) = (x - c(y))^2 + cos(pi y) + (1 - y)^2 + 1`` is a picture of HKRR's objective: x stands
for the coefficients, solved for exactly by ``x = c(y)``, and y for the matrix B. Its only global
minimum is 0, at y = 1; the other minima have f = 3.246, at y = -0.551 and y = 2.551.

- VarPro is Algorithm 3: a gradient step in y at fixed x, then the best x.
- AGD is Algorithm 4: a gradient step in y, then one in x.

Both use the backtracking of ``kernlens.optim.backtracking`` with the constants RULE and FIRST_STEP
below: steps start at 0.02, halve while they fail and never grow. The outcome depends on them, as it
must have in the paper, which does not give its own. Short steps follow the slopes and show what the
paper shows. With first steps of 0.5 both methods jump over the barrier from (-1.5, -1.5); with ten
steps in x after every step in y, AGD stays close to the curve x = c(y) and, at this first step, is
stuck where VarPro is.

On the map of starting points a run is followed until f is below the passes between the minima
(3.278, at y = -0.316 and y = 2.316): from there a descent in short steps stays in its valley.

Run from anywhere, about 20 seconds; prints a table and writes ``docs/images/alternating_toy.png``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from kernlens.datasets import ToyObjective, make_alternating_toy
from kernlens.optim.backtracking import Step, StepRule, backtrack
from kernlens.plotting._style import DATA, FIT, TEXT, tidy

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "alternating_toy.png"

RULE = StepRule(contraction=0.5, dilation=1.0, decrease=1e-4)
FIRST_STEP = 0.02
MAX_ITER = 400
SOLVED = 1e-6
N_CELLS = 81

#: The minima of min_x f(x, y) besides y = 1, the maxima between them, and f there.
LOCAL_MINIMA, LOCAL_VALUE = (-0.5514, 2.5514), 3.2461
PASSES, PASS_VALUE = (-0.3159, 2.3159), 3.2782

Path2D = NDArray[np.float64]
Method = Callable[[ToyObjective, tuple[float, float], float], Path2D]
COLORS = {"VarPro": FIT, "AGD": DATA}
BOTH, NEITHER, ONLY_AGD, ONLY_VARPRO = "#B79AC8", "#DDDDDD", "#7FB2D9", "#EFA57C"

PALE = LinearSegmentedColormap.from_list("pale", ["#FFFFFF", "#E4E4E4", "#C4C4C4"])


@dataclass(frozen=True)
class Scene:
    """A toy, the starts to follow, the window to draw, and where the map has its labels."""

    curve: str
    formula: str
    starts: tuple[tuple[float, float], tuple[float, float]]
    window: tuple[float, float, float, float]
    labels: dict[str, tuple[float, float]]


SCENES = (
    Scene(
        "square",
        "c(y) = y²",
        ((-1.5, -1.5), (-1.5, -0.1)),
        (-3.0, 7.5, -2.0, 3.2),
        {
            "both": (3.0, 1.0),
            "only AGD": (1.0, 2.75),
            "only\nVarPro": (6.6, 1.4),
            "neither": (3.5, -1.1),
        },
    ),
    Scene(
        "sigmoid",
        "c(y) = 1 / (1 + exp(-y))",
        ((5.0, -1.75), (-1.5, -0.1)),
        (-5.5, 6.5, -2.4, 3.2),
        {
            "both": (3.0, 1.0),
            "only AGD": (4.6, -1.1),
            "only VarPro": (-3.9, -0.17),
            "neither": (-2.3, -1.3),
        },
    ),
)


def varpro(toy: ToyObjective, start: tuple[float, float], stop_below: float = 0.0) -> Path2D:
    """Points of Algorithm 3, the first one already with the best x."""
    y, size = start[1], FIRST_STEP
    x = float(toy.best_x(y))
    points = [(x, y)]
    for _ in range(MAX_ITER):
        step = step_in_y(toy, x, y, size)
        if step is None or toy.value(x, y) < stop_below:
            break
        y, size = step.trial, step.size
        x = float(toy.best_x(y))
        points.append((x, y))
    return np.array(points)


def alternating(toy: ToyObjective, start: tuple[float, float], stop_below: float = 0.0) -> Path2D:
    """Points of Algorithm 4 with one step in x per step in y."""
    (x, y), size_x, size_y = start, FIRST_STEP, FIRST_STEP
    points = [(x, y)]
    for _ in range(MAX_ITER):
        step = step_in_y(toy, x, y, size_y)
        if step is not None:
            y, size_y = step.trial, step.size
        inner = step_in_x(toy, x, y, size_x)
        if inner is not None:
            x, size_x = inner.trial, inner.size
        points.append((x, y))
        if (step is None and inner is None) or toy.value(x, y) < stop_below:
            break
    return np.array(points)


METHODS: dict[str, Method] = {"VarPro": varpro, "AGD": alternating}


def step_in_y(toy: ToyObjective, x: float, y: float, size: float) -> Step[float] | None:
    """One backtracked gradient step in y; None at a stationary point."""
    slope = float(toy.gradient(x, y)[1])

    def move(size: float) -> tuple[float, float, float]:
        trial = y - size * slope
        return trial, float(toy.value(x, trial)), (trial - y) ** 2

    return backtrack(move, float(toy.value(x, y)), size, RULE)


def step_in_x(toy: ToyObjective, x: float, y: float, size: float) -> Step[float] | None:
    """One backtracked gradient step in x."""
    slope = float(toy.gradient(x, y)[0])

    def move(size: float) -> tuple[float, float, float]:
        trial = x - size * slope
        return trial, float(toy.value(trial, y)), (trial - x) ** 2

    return backtrack(move, float(toy.value(x, y)), size, RULE)


def convergence_map(scene: Scene, n_cells: int) -> NDArray[np.int_]:
    """Which methods solve the toy from every cell: 1 for VarPro plus 2 for AGD."""
    toy = make_alternating_toy(scene.curve)
    left, right, low, high = scene.window
    outcome = np.zeros((n_cells, n_cells), dtype=np.int_)
    for row, y in enumerate(np.linspace(low, high, n_cells)):
        # VarPro forgets x at once: one run serves the whole row.
        outcome[row] += is_solved(varpro(toy, (0.0, y), PASS_VALUE))
        for column, x in enumerate(np.linspace(left, right, n_cells)):
            outcome[row, column] += 2 * is_solved(alternating(toy, (x, y), PASS_VALUE))
    return outcome


def is_solved(path: Path2D) -> bool:
    """Whether a descent ended in the valley of the global minimum."""
    return bool(PASSES[0] < path[-1, 1] < PASSES[1])


def draw_paths(ax: Axes, scene: Scene, paths: dict[tuple[str, int], Path2D]) -> None:
    toy = make_alternating_toy(scene.curve)
    left, right, low, high = scene.window
    x, y = np.meshgrid(np.linspace(left, right, 300), np.linspace(low, high, 300))
    values = np.log10(1e-2 + toy.value(x, y))
    ax.contourf(x, y, values, levels=20, cmap=PALE)
    ax.contour(x, y, values, levels=20, colors="#A8A8A8", linewidths=0.5, linestyles="solid")
    along = np.linspace(low, high, 300)
    ax.plot(toy.best_x(along), along, color=TEXT, linewidth=0.8, linestyle=":")
    for (name, which), path in paths.items():
        start = scene.starts[which]
        style = {"color": COLORS[name], "linewidth": 1.6, "zorder": 3 + (name == "AGD")}
        whole = np.vstack([start, path])
        ax.plot(whole[:, 0], whole[:, 1], marker=".", markersize=3.5, **style)
        ax.plot(*path[-1], marker="o", markersize=7, color=COLORS[name], zorder=6, mec="white")
    mark_starts(ax, scene)
    mark_minima(ax, toy)
    ax.set(xlim=(left, right), ylim=(low, high))
    tidy(ax, f"Paths for {scene.formula}", "x, the coefficients", "y, the map")


def mark_starts(ax: Axes, scene: Scene) -> None:
    for name, start in zip("AB", scene.starts, strict=True):
        ax.plot(*start, marker="s", markersize=6, color=TEXT, mec="white", zorder=5)
        offset = {"textcoords": "offset points", "xytext": (-12, 4)}
        ax.annotate(name, start, fontsize=10, fontweight="bold", color=TEXT, **offset)


def mark_minima(ax: Axes, toy: ToyObjective) -> None:
    ax.plot(*toy.minimizer, marker="*", markersize=13, color="white", mec=TEXT, zorder=7)
    for y in LOCAL_MINIMA:
        ax.plot(float(toy.best_x(y)), y, marker="+", markersize=9, color=TEXT, mew=1.8, zorder=7)


def draw_losses(ax: Axes, scene: Scene, paths: dict[tuple[str, int], Path2D]) -> None:
    toy = make_alternating_toy(scene.curve)
    for (name, which), path in paths.items():
        values = np.maximum(toy.value(path[:, 0], path[:, 1]), 1e-12)
        ax.plot(values, color=COLORS[name], linewidth=1.8, linestyle=("-", (0, (3, 1.5)))[which])
    ax.axhline(LOCAL_VALUE, color=TEXT, linewidth=0.7, linestyle=":")
    ax.text(299, LOCAL_VALUE * 0.72, "other minima", fontsize=8, color=TEXT, ha="right", va="top")
    ax.set(yscale="log", ylim=(1e-8, 90.0), xlim=(0, 300))
    first, second = (f"{'AB'[k]} = ({x:g}, {y:g})" for k, (x, y) in enumerate(scene.starts))
    handles = [Line2D([], [], color=color, label=name) for name, color in COLORS.items()]
    handles += [
        Line2D([], [], color=TEXT, linestyle="-", label=f"from {first}"),
        Line2D([], [], color=TEXT, linestyle=(0, (3, 1.5)), label=f"from {second}"),
    ]
    ax.legend(
        handles=handles,
        fontsize=8,
        frameon=False,
        labelcolor=TEXT,
        loc="upper right",
        bbox_to_anchor=(1.02, 0.8),
    )
    tidy(ax, "f against iterations", "iteration", "f(x, y)")


def draw_map(ax: Axes, scene: Scene, outcome: NDArray[np.int_]) -> None:
    left, right, low, high = scene.window
    colors = ListedColormap([NEITHER, ONLY_VARPRO, ONLY_AGD, BOTH])
    xs, ys = np.linspace(left, right, len(outcome)), np.linspace(low, high, len(outcome))
    ax.pcolormesh(xs, ys, outcome, cmap=colors, vmin=-0.5, vmax=3.5, rasterized=True)
    mark_minima(ax, make_alternating_toy(scene.curve))
    mark_starts(ax, scene)
    for text, place in scene.labels.items():
        ax.text(*place, text, fontsize=8.5, color=TEXT, ha="center", va="center")
    ax.set(xlim=(left, right), ylim=(low, high))
    tidy(ax, "Who finds the star, by start", "x at the start", "y at the start")


def print_ends(scene: Scene, paths: dict[tuple[str, int], Path2D]) -> None:
    toy = make_alternating_toy(scene.curve)
    for (name, which), path in paths.items():
        values = toy.value(path[:, 0], path[:, 1])
        solved = np.flatnonzero(values < SOLVED)
        after = f"{solved[0]} iterations" if len(solved) else "never"
        end = f"({path[-1, 0]:.3f}, {path[-1, 1]:.3f})"
        start = str(scene.starts[which])
        print(f"{scene.curve:8} {start:>14} {name:>7} {end:>17} {values[-1]:9.1e} {after:>15}")


def print_shares(scene: Scene, outcome: NDArray[np.int_]) -> None:
    names = ("both", "only AGD", "only VarPro", "neither")
    shares = (f"{n} {np.mean(outcome == c):.0%}" for n, c in zip(names, (3, 2, 1, 0), strict=True))
    print(f"{scene.curve:8} starts that find the star: {', '.join(shares)}")


def main() -> None:
    """Run both methods, print the table and draw."""
    figure = Figure(figsize=(13.0, 7.6), dpi=120, layout="constrained")
    print("c(y)              start  method        end (x, y)         f  f < 1e-6 after")
    for scene, axes in zip(SCENES, figure.subplots(2, 3), strict=True):
        toy = make_alternating_toy(scene.curve)
        paths = {
            (name, which): method(toy, start)
            for which, start in enumerate(scene.starts)
            for name, method in METHODS.items()
        }
        outcome = convergence_map(scene, N_CELLS)
        print_ends(scene, paths)
        print_shares(scene, outcome)
        draw_paths(axes[0], scene, paths)
        draw_losses(axes[1], scene, paths)
        draw_map(axes[2], scene, outcome)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, metadata={"Software": None})


if __name__ == "__main__":
    main()
