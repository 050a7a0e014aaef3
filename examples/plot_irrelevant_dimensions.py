"""Irrelevant columns: what they cost the kernel Laplacian and methods of a graph.

Two moons in two columns, and more and more columns of noise beside them; 400 rows, of which five of
every class are labelled, and the accuracy on the others, mean of twenty draws. The paper's claim is
that graphs suffer from the curse of dimensionality and functions of a kernel do less: neighbours
are chosen by all columns alike, and soon at random.

The methods of a graph are scikit-learn's, each at the best number of neighbours and alpha for every
number of columns, by the accuracy that is drawn, and so is the kernel Laplacian at the best mu
(solid). Out of the box (dashed) it has ten labels to choose mu by.

Writes ``docs/images/irrelevant_dimensions.png``; ``--quick`` has three draws and fewer columns.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from kernlens import KernelLaplacianClassifier

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "irrelevant_dimensions.png"
COLUMNS = (2, 3, 4, 6, 10, 20, 35, 50)
QUICK_COLUMNS = (2, 4, 10)
NEIGHBORS = (5, 10, 20, 40)
MUS = (0.0, 1e-7, 1e-5, 1e-3, 1e-1)
#: Standard deviation of the irrelevant columns; that of the moons is about 0.5 and 0.9.
NOISE = 0.3
LABELS = 5
STYLES = {
    "kernel Laplacian (tuned)": {"color": "#0072B2", "marker": "o"},
    "kernel Laplacian, out of the box": {"color": "#0072B2", "marker": "o", "linestyle": "--"},
    "label spreading (tuned)": {"color": "#D55E00", "marker": "s"},
    "label propagation (tuned)": {"color": "#E69F00", "marker": "s"},
}


def problem(n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, the truth, and labels that are -1 but for a few."""
    rng = np.random.default_rng(seed)
    X, y = make_moons(400, noise=0.1, random_state=seed)
    X = np.hstack([X, NOISE * rng.standard_normal((len(X), n_columns - 2))])
    shown = np.full(len(y), -1)
    for label in (0, 1):
        shown[rng.permutation(np.flatnonzero(y == label))[:LABELS]] = label
    return X, y, shown


def accuracies(n_columns: int, seed: int) -> dict[str, list[float]]:
    """Accuracy on unlabelled rows, for every setting of every method."""
    X, y, shown = problem(n_columns, seed)
    Z, hidden = StandardScaler().fit_transform(X), shown == -1
    graphs = {
        "label spreading (tuned)": [
            LabelSpreading(kernel="knn", n_neighbors=k, alpha=alpha)
            for k, alpha in itertools.product(NEIGHBORS, (0.2, 0.8, 0.99))
        ],
        "label propagation (tuned)": [
            LabelPropagation(kernel="knn", n_neighbors=k) for k in NEIGHBORS
        ],
    }
    settings: list[dict[str, float]] = [{"mu": mu, "alpha": 1e-9} for mu in MUS]
    ours = {
        "kernel Laplacian, out of the box": [KernelLaplacianClassifier(random_state=0)],
        "kernel Laplacian (tuned)": [
            KernelLaplacianClassifier(random_state=0, **setting) for setting in settings
        ],
    }
    found = {
        name: [float(np.mean(model.fit(X, shown).predict(X)[hidden] == y[hidden])) for model in of]
        for name, of in ours.items()
    }
    for name, models in graphs.items():
        fitted = [model.fit(Z, shown).transduction_ for model in models]
        found[name] = [float(np.mean(labels[hidden] == y[hidden])) for labels in fitted]
    return found


def study(columns: tuple[int, ...], repetitions: int) -> dict[str, list[float]]:
    """Mean accuracy of every method at its best setting, by the number of columns."""
    curves: dict[str, list[float]] = {name: [] for name in STYLES}
    for n_columns in columns:
        runs = [accuracies(n_columns, seed) for seed in range(repetitions)]
        for name, curve in curves.items():
            curve.append(float(np.mean([run[name] for run in runs], axis=0).max()))
        best = ", ".join(f"{name} {curve[-1]:.3f}" for name, curve in curves.items())
        print(f"{n_columns} columns: {best}", flush=True)
    return curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    columns, repetitions = (QUICK_COLUMNS, 3) if quick else (COLUMNS, 20)
    # Iterations on a graph may need more than their limit, which changes few labels.
    warnings.filterwarnings("ignore", module="sklearn")
    curves = study(columns, repetitions)
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for name, curve in curves.items():
        axes.plot(columns, curve, label=name, **STYLES[name])
    axes.set_xscale("log")
    axes.set_xticks(columns, [str(n) for n in columns])
    axes.minorticks_off()
    axes.set_xlabel("columns, two of them relevant")
    axes.set_ylabel("accuracy on unlabelled rows")
    axes.set_title(f"Two moons, {LABELS} labels per class")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(PICTURE, dpi=150)
    print(f"written: {PICTURE.name}")


if __name__ == "__main__":
    main()
