"""The optimisers of the HKRR paper, and the fits of its Figure 2."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernlens.datasets import make_oscillating_products, make_rising_sines
from kernlens.experiments.contract import Cell, Measured
from kernlens.methods.hkrr import AlternatingGradient, HKRRRegressor
from kernlens.methods.rfm import RFMRegressor

VARPRO, AGD, LBFGS = "VarPro", "AGD", "VarPro (our L-BFGS)"
OURS, RFM, RIDGE = "HKRR (our defaults)", "RFM", "kernel ridge"
#: Methods that do not have the number of rows of B as a setting.
WITHOUT_D = (OURS, RFM, RIDGE)
#: In place of that number.
ANY = "any"
N_RELEVANT, N_COLUMNS = 3, 50
#: The paper's first coefficients and steps per step in B are not printed.
N_COEFFICIENT_STEPS = 5
DATASETS = {"dataset 1": make_rising_sines, "dataset 2": make_oscillating_products}
#: What the experiments of Figure 2 say.
NOTES = (
    "Budgets are iterations, not seconds, so that a second run gives the same numbers. VarPro is "
    "Algorithm 3 and AGD Algorithm 4 with five steps in the coefficients per step in B, neither of "
    "which is printed; VarPro (our L-BFGS) is the optimiser of this library on the same objective.",
    "Every fit starts from the best few of ten random maps and one from a plain kernel ridge fit, "
    "approaches alpha from above, lifts the constraint on B, and tunes length scale and alpha of "
    "the last fit by folds instead of a validation set of its own.",
    "HKRR (our defaults) is HKRRRegressor(random_state=0) as it comes, and RFM is RFMRegressor as "
    "it comes; kernel ridge is Gaussian with gamma and alpha by three folds. They do not have d.",
)


def fit_cell(cell: Cell) -> Measured:
    """Test R2 of one fit of Figure 2."""
    drawn = DATASETS[cell["dataset"]](cell["n"], N_COLUMNS, random_state=cell["seed"])
    model = _model(cell)
    start = time.perf_counter()
    model.fit(drawn.X, drawn.y)
    times = {"fit": time.perf_counter() - start}
    return Measured({"r2": model.score(drawn.X_test, drawn.y_test)}, times=times)


def _model(cell: Cell) -> Any:
    method = cell["method"]
    if method == OURS:
        return HKRRRegressor(random_state=0, n_directions=N_RELEVANT)
    if method == RFM:
        return RFMRegressor(n_directions=N_RELEVANT)
    if method == RIDGE:
        return _kernel_ridge()
    optimizers: dict[str, Any] = {
        VARPRO: "varpro_gradient",
        AGD: AlternatingGradient(n_coefficient_steps=N_COEFFICIENT_STEPS),
        LBFGS: "varpro",
    }
    return HKRRRegressor(
        n_components=cell["d"],
        centers=cell["centers"],
        alpha=cell["alpha"],
        optimizer=optimizers[method],
        max_iter=cell["steps"],
        tol=1e-4 if method == LBFGS else 0.0,
        refit="exact" if cell["n"] <= 600 else "auto",
        linear_part=False,
        n_directions=1,
        random_state=cell["seed"],
    )


def _kernel_ridge() -> Any:
    centered = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler())
    prefix = "transformedtargetregressor__regressor__"
    grid = {
        f"{prefix}alpha": 10.0 ** np.arange(-4.0, 2.0),
        f"{prefix}gamma": 2.0 ** np.arange(-4, 4) / N_COLUMNS,
    }
    return GridSearchCV(make_pipeline(StandardScaler(), centered), grid, cv=3)
