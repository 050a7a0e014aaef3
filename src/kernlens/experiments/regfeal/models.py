"""The estimators of the RegFeaL paper, with its own settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.datasets import SyntheticData, make_quartic, make_two_sines
from kernlens.methods.mars import MARSRegressor
from kernlens.methods.regfeal import RegFeaLRegressor, Reweighting
from kernlens.metrics import feature_learning_score

PAPER, OURS, MAVE_NAME, RIDGE = "RegFeaL", "RegFeaL (our defaults)", "MAVE", "kernel ridge"
#: Number of hidden features.
N_RELEVANT = 2
#: Factors of a term of MARS at most.
MOST_FACTORS = 10
GENERATORS = {"sinus": make_two_sines, "polynomial": make_quartic}
STRUCTURES = {"feature": "features", "variable": "variables"}


def draw_rows(
    dataset: str, setting: str, n: int, d: int, seed: int, **options: Any
) -> tuple[SyntheticData, FloatArray, FloatArray]:
    """The published draw: the first n rows of 1000, or all if more are wanted."""
    drawn = GENERATORS[dataset](
        max(n, 1000), d, structure=STRUCTURES[setting], random_state=seed, **options
    )
    return drawn, drawn.X[:n], drawn.y[:n]


def paper_regfeal(setting: str, n_steps: int, **options: Any) -> RegFeaLRegressor:
    """Algorithm 1 on all directions, its own function, inputs and predictions as they are."""
    settings: dict[str, Any] = {
        "structure": STRUCTURES[setting],
        "refit": None,
        "linear_part": False,
        "descent": Reweighting(accelerate=False),
        "max_iter": n_steps,
        "clip": None,
        "truncate": None,
        "standardize": False,
        "n_directions": N_RELEVANT,
        "random_state": 0,
    }
    return RegFeaLRegressor(**(settings | options))


def kernel_ridge() -> RegFeaLRegressor:
    """Ridge regression with the kernel of all polynomials; alpha and rho by five folds."""
    return paper_regfeal("feature", 1, structure="none", n_directions=1)


def followed_directions(model: RegFeaLRegressor) -> FloatArray:
    """All directions in the order of their shares, one per row, in the columns of the data."""
    directions = np.zeros((len(model.shares_), model.n_features_in_))
    directions[:, model.inputs_] = model.rotation_.T
    directions /= model.scale_
    return directions[np.argsort(-model.shares_, kind="stable")]


def leading_score(data: SyntheticData, directions: FloatArray) -> float:
    """Feature score of the first two directions; 0 if there are not as many."""
    assert data.components is not None
    if len(directions) < N_RELEVANT:
        return 0.0
    return feature_learning_score(data.components, directions[:N_RELEVANT])


def spline_score(
    directions: FloatArray, X: FloatArray, y: FloatArray, data: SyntheticData
) -> float:
    """R2 of MARS on the projected rows, with as many factors as there are directions."""
    if not len(directions):
        return float(1.0 - np.mean((data.y_test - y.mean()) ** 2) / data.y_test.var())
    spline = MARSRegressor(degree=min(len(directions), MOST_FACTORS), n_directions=1)
    spline.fit(X @ directions.T, y)
    return float(spline.score(data.X_test @ directions.T, data.y_test))
