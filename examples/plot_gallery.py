"""The pictures of the guide: every display, on data that scikit-learn brings along.

Run from anywhere; writes ``docs/images/gallery_*.png``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_swiss_roll
from sklearn.metrics import PredictionErrorDisplay

from kernlens import (
    SIR,
    BKerNNRegressor,
    HKRRClassifier,
    KernelLaplacianEmbedding,
    RFMRegressor,
    regularization_path,
)
from kernlens.plotting import (
    AlphaSearchDisplay,
    ConvergenceDisplay,
    EmbeddingDisplay,
    ImportancesDisplay,
    LinkDisplay,
    RegularizationPathDisplay,
    SensitivityDisplay,
    SpectrumDisplay,
    SurfaceDisplay,
)

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH, HEIGHT, DPI = 4.8, 3.5, 100


def picture(name: str, draw: Callable[[Any], Any]) -> None:
    """Draw on axes of a new figure and write it."""
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI)
    figure.set_layout_engine("constrained")
    draw(figure.subplots())
    # Without the version of matplotlib, the same picture is the same file.
    figure.savefig(FOLDER / f"gallery_{name}.png", metadata={"Software": None})


def of_regression() -> None:
    """What drives the progression of diabetes."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    y = y.rename("progression")
    model = BKerNNRegressor(n_directions=2, random_state=0).fit(X, y)
    picture("link", lambda ax: LinkDisplay.from_estimator(model, X, y, ax=ax))
    slow = BKerNNRegressor(alpha=0.01, penalty="feature", optimizer="plain", random_state=0)
    slow.fit(X, y)
    picture("convergence", lambda ax: ConvergenceDisplay.from_estimator(slow, ax=ax))
    picture("alpha", lambda ax: AlphaSearchDisplay.from_estimator(model, ax=ax))
    machine = RFMRegressor(n_directions=2, random_state=0).fit(X, y)
    picture("importances", lambda ax: ImportancesDisplay.from_estimator(machine, ax=ax))
    picture(
        "sensitivity",
        lambda ax: SensitivityDisplay.from_estimator(
            machine, X, response_name="progression", ax=ax
        ),
    )
    picture("spectrum", lambda ax: SpectrumDisplay.from_estimator(SIR().fit(X, y), ax=ax))
    learner = BKerNNRegressor(n_particles=30, penalty="variable", random_state=0)
    path = regularization_path(learner, X, y, alphas=np.logspace(1, -2, 7), cv=5)
    picture("path", lambda ax: RegularizationPathDisplay.from_path(path, ax=ax))
    picture(
        "predicted",
        lambda ax: PredictionErrorDisplay.from_estimator(
            machine, X, y, kind="actual_vs_predicted", ax=ax
        ),
    )


def of_classes() -> None:
    """Malignant tumours, three wines, and a roll in three dimensions."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("tumour")
    model = HKRRClassifier(n_directions=2, random_state=0).fit(X, y)
    picture(
        "surface",
        lambda ax: SurfaceDisplay.from_estimator(model, X, y, target="malignant", ax=ax),
    )
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = y.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"}).rename("wine")
    wine = HKRRClassifier(n_directions=2, random_state=0).fit(X, y)
    picture("classes", lambda ax: EmbeddingDisplay.from_estimator(wine, X, y, ax=ax))
    X, place = make_swiss_roll(800, random_state=0)
    place = pd.Series(place, name="angle on the roll")
    roll = KernelLaplacianEmbedding(random_state=0).fit(X)
    picture("embedding", lambda ax: EmbeddingDisplay.from_estimator(roll, X, place, ax=ax))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    of_regression()
    of_classes()
