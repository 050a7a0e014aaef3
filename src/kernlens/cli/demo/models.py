"""BKerNN and what it is compared with; each tunes itself on the rows it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernlens.methods.bkernn import BKerNNRegressor

OURS = "BKerNN"
#: Fewer than the default of 100: enough for ten columns, and the demonstration stays short.
N_PARTICLES = 30


@dataclass(frozen=True, eq=False)
class Contender:
    """A model, and how its parameters are chosen in words."""

    model: Any
    tuning: str


def make_bkernn(seed: int, *, verbose: bool = False) -> BKerNNRegressor:
    """The model of the demonstration; it standardises the columns itself."""
    return BKerNNRegressor(n_particles=N_PARTICLES, random_state=seed, verbose=verbose)


def make_contenders(seed: int) -> dict[str, Contender]:
    """All models by name, ours first."""
    ridge = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-3, 4, 15)))
    # KernelRidge has no intercept; without a centred target it would be handicapped.
    centered = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler())
    prefix = "transformedtargetregressor__regressor__"
    kernel_ridge = GridSearchCV(
        make_pipeline(StandardScaler(), centered),
        {f"{prefix}alpha": np.logspace(-3, 1, 5), f"{prefix}gamma": np.logspace(-3, 0, 5)},
        cv=3,
    )
    return {
        OURS: Contender(make_bkernn(seed), "alpha: its own search, 3 folds"),
        "ridge regression": Contender(ridge, "alpha: 15 values, leave-one-out"),
        "kernel ridge (Gaussian)": Contender(kernel_ridge, "alpha, gamma: 25 pairs, 3 folds"),
    }
